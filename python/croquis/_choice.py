"""The cheapest approximation that is good enough."""

from __future__ import annotations

import os
import warnings
from typing import Any, Dict, Optional, Sequence, Union

from . import _core
from ._choice_file import replaceable, write_whole
from ._rows import Rows, rows_of
from ._sequences import Arrays, dimensions_of, names_of, options_of, sequences_of
from ._types import (
    Flag,
    Real,
    Vector,
    Whole,
    Wholes,
    Words,
    draws,
    features_of,
    flag,
    joined,
    path_of,
    positive,
    precision_of,
    real,
    seed_of,
    shown,
    text,
    whole,
)


def choose(
    Q: Arrays,
    K: Arrays,
    V: Arrays,
    eps: Real = 0.1,
    delta: Real = 0.05,
    *,
    confidence: Real = 0.95,
    metric: str = "frobenius_rel",
    cost: str = "flops",
    max_cost: Real = 1.0,
    per: str = "head",
    methods: Words = "all",
    features: Optional[Wholes] = None,
    trials: Optional[Whole] = None,
    rows: Optional[Whole] = None,
    causal: Flag = False,
    bias: Union[Vector, Sequence[Vector], None] = None,
    length: Optional[Wholes] = None,
    precision: str = "double",
    seed: Whole = 1,
    layers: Optional[Wholes] = None,
    name: str = "arrays",
    save: Union[str, os.PathLike[str], None] = None,
) -> Rows:
    """For each head the cheapest method with P(error <= eps) >= 1 - delta, with a guarantee: as ``croquis choose``.

    The probability is over the draws of the method and, where there are several sequences, over a new sequence from
    where these came. The guarantee: with probability `confidence`, over all that is random in the call, no method that
    is returned fails more often than delta. docs/choose.md has the theorem.

    Parameters
    ----------
    Q, K, V : arrays or lists of arrays
        (n_q, p), (n_k, p), (n_k, p_v): one head on one sequence. (heads, n, width): several heads on one sequence.
        (sequences, heads, n, width), or lists of arrays (heads, n, width) for sequences of different lengths: several
        heads on several sequences. One head on several sequences is (sequences, 1, n, width), or the list
        ``[q[None] for q in ...]`` of its arrays. With one sequence the answer is about draws on it, not about other
        sequences.
    eps : float
        The largest error that is good enough.
    delta : float
        How often it may be exceeded, between 0 and 1.
    confidence : float
        That all choices of the call hold together.
    metric : str
        The error: "frobenius_rel", "spectral_rel", "row_rel_q99", ...
    cost : "flops" or "seconds"
        What is to be least; seconds are those of the heads themselves with one sequence, and those of random tokens
        of their size with several (column ``time_ratio``).
    max_cost : float
        In units of exact attention: where a method costs as much or more, exact attention is used.
    per : "head", "layer" or "model"
        One choice for each head, for each of `layers`, or for all.
    methods, features
        As for `error`, up to n_k only where all heads have one shape; "all" are those of softmax attention, with a bias
        of "softmax-rpe", that do not compute all scores.
    trials : int, optional
        On one sequence the most draws of a candidate (default 1000), on each of several its draws (default 1).
    rows : int, optional
        For large n: errors from so many random rows; the upper end of their interval decides.
    causal, precision, seed
        As for `error`.
    bias : array (2 max(n_q, n_k) - 1,), optional
        As for `error`, the same for all heads; or a list of arrays, one for each sequence.
    length : int or list of int, optional
        As for `exact`, of all sequences or of each: its tokens from this one on are padding. Costs are those without.
    layers : list of int, optional
        The layer of each head; heads are numbered within their layer.
    name : str
        The column ``input`` begins with it; parts for a bias and for `causal` are added, as the program does.
    save : str or path, optional
        A file for the choices, choice.json, which `read_choices` reads, and which ``croquis model`` takes by its option
        --choice. A file that is there is replaced if it has choices. Where it has not, or cannot be written, is said
        before anything is computed. Where writing fails afterwards, as on a full disk, a file that is there stays as it
        was, and a RuntimeWarning gives the reason: the choices are returned all the same.

    Returns
    -------
    Rows
        One for each choice. ``status`` is "chosen", "exact" (nothing cheaper is good enough) or "undecided" (the column
        ``needed`` says how many sequences or draws may decide). ``sequences`` is 1 where the answer is about draws on
        one sequence. `method_arguments` hands a row to `approximate`. On a head of fewer tokens than ``features``, or
        where the method's flops are not below ``flops_limit`` times exact attention's, the choice is `exact`. All
        errors are against exact attention to ``target``, which is what an exact choice takes.

    >>> import croquis, numpy
    >>> rng = numpy.random.default_rng(1)
    >>> Q, K, V = rng.normal(size=(256, 8)), rng.normal(size=(256, 8)), rng.normal(size=(256, 5)) + 2
    >>> choice = croquis.choose(Q, K, V, eps=0.2, methods=["v-mean", "skeinformer"], features=[16, 64])
    >>> choice["method"][0], choice["status"][0]
    ('v-mean', 'chosen')
    >>> croquis.approximate(Q, K, V, **croquis.method_arguments(choice[0])).shape
    (256, 5)
    """
    target = None if save is None else replaceable(path_of(save, "save"))
    if text(per, "per") == "layer" and layers is None:
        raise ValueError("per: 'layer' needs layers, that of each head")
    sequences = sequences_of(Q, K, V)
    parts = text(name, "name").split(";")  # which may say already what the bias is
    position = ";bias=array" if bias is not None and not any(p.startswith("bias=") for p in parts) else ""
    position += ";causal" if flag(causal, "causal") and "causal" not in parts else ""
    columns, document = _core.choose(
        sequences,
        options_of(len(sequences), causal, bias, length),
        names_of(len(sequences[0]), dimensions_of(Q, "Q") > 3, layers, name, position),
        name + position,
        flag(causal, "causal"),
        bias is not None,
        joined(methods, "methods"),
        features_of(features),
        positive(real(eps, "eps"), "eps"),
        real(delta, "delta"),
        real(confidence, "confidence"),
        text(metric, "metric"),
        per,
        text(cost, "cost"),
        real(max_cost, "max_cost"),
        None if trials is None else draws(trials, "trials"),
        None if rows is None else whole(rows, "rows", 1),
        seed_of(seed),
        precision_of(precision),
    )
    rows = rows_of(columns)
    if target is not None:
        try:
            write_whole(target, document)
        except OSError as wrong:  # the work of hours is not lost by it
            why = f"{target!r} cannot be written ({wrong.strerror or wrong}); the choices are returned all the same"
            warnings.warn(f"save: {why}", RuntimeWarning, stacklevel=2)
    return rows


def method_arguments(row: Any) -> Dict[str, Any]:
    """What a row says of the method, as arguments of `approximate`, `vjp` and ``croquis.torch.attention``.

    Parameters
    ----------
    row : one row
        Of `choose`, `read_choices`, `error`, `gradient` or `cost`, also of a pandas.DataFrame.

    Returns
    -------
    dict
        ``method``, ``features`` and the options of the method. Of an "exact" or "undecided" choice it is the method
        "exact" and, unless that is softmax attention, the row's ``target``: what leads without a decision is no answer.
        (``croquis model`` runs the model's own attention there, whatever the target.) Of a row of `cost` for
        "exact-TARGET" it is exact attention to that target.

    >>> import croquis, numpy
    >>> Q, K, V = numpy.random.default_rng(1).normal(size=(3, 64, 8))
    >>> rows = croquis.error(Q, K, V, "skeinformer:pilot=8", features=16, trials=3)
    >>> best = rows[rows["frobenius_rel"].argmin()]
    >>> croquis.method_arguments(best)
    {'method': 'skeinformer', 'features': 16, 'pilot': '8'}
    >>> output = croquis.approximate(Q, K, V, **croquis.method_arguments(best), trial=best["trial"])
    >>> exact = croquis.exact(Q, K, V)
    >>> error = numpy.linalg.norm(output - exact) / numpy.linalg.norm(exact)
    >>> bool(abs(error / best["frobenius_rel"] - 1) < 1e-9)
    True
    """
    method, preset, status, features, target = (
        _field(row, name) for name in ("method", "preset", "status", "features", "target")
    )
    if not all(isinstance(word, str) for word in (method, preset, status)):
        raise ValueError(f"row: {shown(row)} is not one row with method, preset, features and status; give one, as rows[0]")
    if method == "exact" or status == "undecided":
        return _exact("softmax" if target is None else target)
    if method.startswith("exact-"):
        return _exact(method[len("exact-") :])
    options = _core.options_of_preset(text(preset, "row: preset"))
    return {"method": str(method), "features": whole(features, "row: features", 1), **options}


def _exact(target: Any) -> Dict[str, Any]:
    """Arguments for exact attention, which is to softmax where nothing is said."""
    return {"method": "exact"} if target == "softmax" else {"method": "exact", "target": str(text(target, "row: target"))}


def _field(row: Any, name: str) -> Any:
    """Of a row; None where it has no such field."""
    try:
        return row[name]
    except (TypeError, LookupError, ValueError):
        return None
