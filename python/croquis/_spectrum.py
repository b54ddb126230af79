"""Singular values of the matrices of a head, and its statistical dimension."""

from __future__ import annotations

from typing import Optional

from . import _core
from ._rows import Rows, rows_of
from ._types import (
    Flag,
    Matrix,
    Real,
    Reals,
    Whole,
    Words,
    draws,
    head_options,
    joined,
    positive,
    real,
    seed_of,
    sorted_once,
    text,
)


def spectrum(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    matrices: Words = "all",
    method: str = "auto",
    seed: Whole = 1,
    *,
    leading: Whole = 128,
    probes: Whole = 16,
    causal: Flag = False,
    length: Optional[Whole] = None,
    name: str = "arrays",
) -> Rows:
    """Singular values of score matrices and outputs: the rows of ``croquis spectrum``.

    Parameters
    ----------
    Q, K, V : arrays (n_q, p), (n_k, p), (n_k, p_v) of float32 or float64
    matrices : str or list of str
        Of "a" (over its largest entry), "b", "c" (n_q x n_k) and the outputs "bv", "cv" (n_q x p_v), or "all".
    method : str
        "dense": all singular values. "lanczos": the `leading` largest, without storing the matrix, and an interval for
        the sum of the others from `probes` random vectors. "auto": lanczos above 4096 x 4096.
    seed : int
        Of the random vectors of lanczos.
    causal, length
        As for `exact`.
    name : str
        The column ``input``. No draw depends on it.

    Returns
    -------
    Rows
        One for each singular value, in descending order.

    >>> import croquis, numpy
    >>> rng = numpy.random.default_rng(1)
    >>> Q, K, V = rng.normal(size=(30, 8)), rng.normal(size=(50, 8)), rng.normal(size=(50, 5))
    >>> rows = croquis.spectrum(Q, K, V, ["b", "bv"])
    >>> [(rows["matrix"] == m).sum() for m in ("b", "bv")]
    [30, 5]
    """
    wanted = joined(matrices, "matrices")
    chosen = _core.spectrum_matrices() if wanted == "all" else [matrix.strip() for matrix in wanted.split(",")]
    for i, matrix in enumerate(chosen):
        if matrix not in _core.spectrum_matrices():
            raise ValueError(f"matrices: {matrix!r} is none of {' '.join(_core.spectrum_matrices())}")
        if matrix in chosen[:i]:
            raise ValueError(f"matrices: {matrix!r} stands there twice")
    return rows_of(
        _core.spectrum(
            Q,
            K,
            V,
            head_options(causal, None, length),
            chosen,
            text(method, "method"),
            draws(leading, "leading"),
            draws(probes, "probes", 2),
            seed_of(seed),
            text(name, "name"),
        )
    )


def dimension(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    epsilons: Reals = (0.01, 0.1, 0.5),
    widths: Reals = (1.0,),
    trials: Whole = 20,
    seed: Whole = 1,
    *,
    delta: Real = 0.1,
    method: str = "auto",
    leading: Whole = 128,
    probes: Whole = 16,
    length: Optional[Whole] = None,
    name: str = "arrays",
) -> Rows:
    """Statistical dimension of the lift of a head, and the landmarks that it asks for: the rows of ``croquis dimension``.

    Parameters
    ----------
    Q, K, V : arrays (n, p), (n, p), (n, p_v) of float32 or float64
        V is not used.
    epsilons : float or list of float
        lambda = epsilon ||C||, each below 1.
    widths : float or list of float
        Factors on the kernel's width p^(1/4).
    trials : int
        Draws for the number of landmarks that suffices; 0: it is not searched for.
    seed : int
        Of all draws.
    delta : float
        Probability of failure of the theorem.
    method, leading, probes
        How the eigenvalues are computed, as for `spectrum`: "dense" is for n up to 4096.
    length : int, optional
        As for `exact`.
    name : str
        The column ``input``. No draw depends on it.

    Returns
    -------
    Rows
        One for each width and epsilon, in ascending order and each once.

    >>> import croquis, numpy
    >>> rng = numpy.random.default_rng(1)
    >>> Q, K, V = rng.normal(size=(60, 8)), rng.normal(size=(60, 8)), rng.normal(size=(60, 5))
    >>> rows = croquis.dimension(Q, K, V, epsilons=[0.1, 0.5], trials=0)
    >>> bool(rows["d_stat"][0] > rows["d_stat"][1] > 0)
    True
    """
    return rows_of(
        _core.dimension(
            Q,
            K,
            V,
            head_options(False, None, length),
            [positive(epsilon, "epsilons", 1) for epsilon in sorted_once(epsilons, "epsilons")],
            [positive(width, "widths") for width in sorted_once(widths, "widths")],
            real(delta, "delta"),
            draws(trials, "trials", 0),
            text(method, "method"),
            draws(leading, "leading"),
            draws(probes, "probes", 2),
            seed_of(seed),
            text(name, "name"),
        )
    )
