"""Sketching operators."""

from __future__ import annotations

import re
from typing import Callable, Iterable, Optional, Tuple

import numpy
import numpy.typing

from . import _core, _types
from ._types import Array, Matrix, Real, Setting, Whole, dtype_of, items, real, seed_of, text_of, whole


class Sketch:
    """A random matrix S (rows x features) with E[S S^T] = I, from `sketch` or `Sketch.from_json`.

    It is a description: products compute S by parts and do not store it.
    """

    def __init__(self, core: _core.Sketch) -> None:
        if not isinstance(core, _core.Sketch):
            raise ValueError("Sketch: is made by croquis.sketch(...) or croquis.Sketch.from_json(...)")
        self._core = core

    @property
    def distribution(self) -> str:
        """Its name in `sketches`."""
        return self._core.distribution

    @property
    def rows(self) -> int:
        """n."""
        return self._core.rows

    @property
    def features(self) -> int:
        """d."""
        return self._core.features

    def left(self, M: Matrix) -> Array:
        """S^T M (features, k) of M (rows, k), computed in the dtype of M, float32 or float64."""
        return self._core.left(M)

    def right(self, M: Matrix) -> Array:
        """M S (k, features) of M (k, rows)."""
        return self._core.right(M)

    def expand(self, M: Matrix) -> Array:
        """S M (rows, k) of M (features, k)."""
        return self._core.expand(M)

    def dense(self, dtype: numpy.typing.DTypeLike = numpy.float64) -> Array:
        """S itself (rows, features). Normal numbers of float32 are draws of their own, not rounded ones of float64."""
        return self._core.dense(dtype_of(dtype, "dense") == numpy.float32)

    def to_json(self) -> str:
        """One line from which `from_json` makes the same S, also in a later version."""
        return self._core.to_json()

    @classmethod
    def from_json(cls, text: str) -> Sketch:
        """The sketch that `to_json` has described."""
        try:
            return cls(_core.Sketch(_types.text(text, "text")))
        except ValueError as wrong:
            why = re.sub(r"^[\w:]+: ", "", str(wrong))  # without the function that has found it
            raise ValueError(f"text: is no description of a sketch: {why}") from None

    def __reduce__(self) -> Tuple[Callable[[str], Sketch], Tuple[str]]:
        """Pickled and copied as its text."""
        return Sketch.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"<croquis.Sketch {self.distribution}, {self.rows} x {self.features}>"


def sketch(
    name: str,
    rows: Whole,
    features: Whole,
    seed: Whole = 1,
    trial: Whole = 1,
    *,
    weights: Optional[Iterable[Real]] = None,
    **parameters: Setting,
) -> Sketch:
    """A draw of a sketching operator, that of the row of ``croquis sketch`` with this seed and trial.

    Parameters
    ----------
    name : str
        One of `sketches`.
    rows, features : int
        n and d: S is n x d.
    seed, trial : int
        Which draw.
    weights : n numbers, for "importance"
    **parameters
        Of the distribution, as ``s=4`` of "sjlt". One that is given is part of the key of the draw, as in the program: with
        its default value the draw is another than without it.

    >>> import croquis, numpy
    >>> S = croquis.sketch("srht", rows=100, features=20, seed=3)
    >>> M = numpy.random.default_rng(1).normal(size=(100, 7))
    >>> S.left(M).shape, S.right(M.T).shape, S.dense().shape
    ((20, 7), (7, 20), (100, 20))
    >>> numpy.allclose(S.left(M), S.dense().T @ M)
    True
    """
    settings = ",".join(f"{key}={text_of(_number(value), key)}" for key, value in parameters.items())
    return Sketch(
        _core.Sketch(
            _types.text(name, "name") + ":" * bool(settings) + settings,
            whole(rows, "rows", 1),
            whole(features, "features", 1),
            seed_of(seed),
            whole(trial, "trial", 1),
            [] if weights is None else [real(w, "weights") for w in items(weights, "weights")],
        )
    )


def _number(value: Setting) -> Setting:
    """Parameters are numbers: what may be or not be is 1 or 0. The draw depends on the spelling, so 3.0 has that of 3."""
    plain: object = value.item() if isinstance(value, numpy.generic) else value
    is_whole = isinstance(plain, bool) or (isinstance(plain, float) and plain.is_integer())
    return int(value) if is_whole else value
