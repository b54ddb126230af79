"""What is measured of methods on a head."""

from __future__ import annotations

from typing import Optional

from . import _core
from ._rows import Rows, rows_of
from ._types import (
    Flag,
    Matrix,
    Vector,
    Whole,
    Wholes,
    Words,
    draws,
    features_of,
    flag,
    head_options,
    joined,
    precision_of,
    seed_of,
    text,
    whole,
)


def error(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    methods: Words = "all",
    features: Optional[Wholes] = None,
    trials: Whole = 20,
    seed: Whole = 1,
    *,
    causal: Flag = False,
    bias: Optional[Vector] = None,
    length: Optional[Whole] = None,
    precision: str = "double",
    rows: Optional[Whole] = None,
    scores: Flag = False,
    row_errors: Flag = False,
    bounds: Flag = False,
    name: str = "arrays",
) -> Rows:
    """Errors of methods against exact attention: the rows that ``croquis error`` writes for the same seed.

    Parameters
    ----------
    Q, K, V : arrays (n_q, p), (n_k, p), (n_k, p_v) of float32 or float64
    methods : str or list of str
        Names with options, as ``["v-mean", "skyformer:ridge=0.1"]``, or "all".
    features : int or list of int, optional
        Numbers of features, which most methods take up to n_k (default 16, 32, 64, 128, 256, up to
        what all of these methods take here, at most n_k).
    trials : int
        Draws of every random method; the others have one row for each number of features.
    seed : int
        Of all draws.
    causal, length
        As for `exact`.
    bias
        As for `exact`, for methods whose target has "-rpe"; "all" are these then.
    precision : "double" or "float"
        In which the methods compute, whatever the dtype of the arrays. Errors are always computed in double.
    rows : int, optional
        For large n: so many random rows of the exact output, at least 20, stand for all, and the errors have
        intervals. ``all`` is then without the methods that compute all scores.
    scores, row_errors, bounds : bool
        More columns: errors of the score matrices, of single rows, and what theorems guarantee.
    name : str
        The column ``input``.

    Returns
    -------
    Rows
        One for each method, number of features and trial. Where a method fails, ``status`` says why.

    Cost: exact attention once for each target, then a call of the method for each row.

    >>> import croquis, numpy
    >>> rng = numpy.random.default_rng(1)
    >>> Q, K, V = rng.normal(size=(40, 8)), rng.normal(size=(70, 8)), rng.normal(size=(70, 5))
    >>> rows = croquis.error(Q, K, V, ["skeinformer", "v-mean"], features=[8, 16], trials=3)
    >>> len(rows), set(rows["status"])
    (8, {'ok'})
    >>> rows[["method", "features", "trial", "n", "n_q", "p", "p_v"]][0].item()
    ('skeinformer', 8, 1, 70, 40, 8, 5)
    """
    return rows_of(
        _core.error(
            Q,
            K,
            V,
            head_options(causal, bias, length),
            joined(methods, "methods"),
            features_of(features),
            draws(trials, "trials"),
            seed_of(seed),
            precision_of(precision),
            None if rows is None else whole(rows, "rows", 1),
            flag(scores, "scores"),
            flag(row_errors, "row_errors"),
            flag(bounds, "bounds"),
            text(name, "name"),
        )
    )


def gradient(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    methods: Words = "all",
    features: Optional[Wholes] = None,
    trials: Whole = 20,
    seed: Whole = 1,
    *,
    causal: Flag = False,
    bias: Optional[Vector] = None,
    length: Optional[Whole] = None,
    precision: str = "double",
    name: str = "arrays",
) -> Rows:
    """Errors of the derivatives of methods against those of exact attention: the rows of ``croquis gradient``.

    Parameters
    ----------
    Q, K, V : arrays (n_q, p), (n_k, p), (n_k, p_v) of float32 or float64
    methods : str or list of str
        Names with options, each of a method with `vjp`; "all" are these.
    features : int or list of int, optional
        Numbers of features, which most methods take up to n_k (default 16, 32, 64, 128, 256, up to
        what all of these methods take here, at most n_k).
    trials : int
        Draws of every random method, whose derivatives are compared with their mean as well.
    seed : int
        Of all draws, and of the cotangent, which has N(0, 1) entries.
    causal, length
        As for `exact`.
    bias
        As for `exact`, for methods whose target has "-rpe"; "all" are these then.
    precision : "double" or "float"
        As for `error`.
    name : str
        The column ``input``.

    Returns
    -------
    Rows
        One for each method, number of features and trial: relative error, cosine and spread of dQ and dK together, of
        each derivative alone, and the error of the output.

    Cost: exact attention and its adjoint once for each target, a method and its adjoint for each row.

    >>> import croquis, numpy
    >>> rng = numpy.random.default_rng(1)
    >>> Q, K, V = rng.normal(size=(40, 8)), rng.normal(size=(70, 8)), rng.normal(size=(70, 5))
    >>> rows = croquis.gradient(Q, K, V, ["skyformer-softmax", "linformer"], features=[16], trials=3)
    >>> len(rows), bool((rows["qk_rel"] > rows["output_rel"]).all())
    (6, True)
    """
    return rows_of(
        _core.gradient(
            Q,
            K,
            V,
            head_options(causal, bias, length),
            joined(methods, "methods"),
            features_of(features),
            draws(trials, "trials"),
            seed_of(seed),
            precision_of(precision),
            text(name, "name"),
        )
    )


def cost(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    methods: Words = "all",
    features: Optional[Wholes] = None,
    repeats: Whole = 7,
    seed: Whole = 1,
    *,
    warmup: Whole = 1,
    causal: Flag = False,
    bias: Optional[Vector] = None,
    length: Optional[Whole] = None,
    precision: str = "double",
    name: str = "arrays",
) -> Rows:
    """Time, memory and flops of exact attention and of methods on a head: as ``croquis cost``, which draws its head.

    Parameters
    ----------
    Q, K, V : arrays (n_q, p), (n_k, p), (n_k, p_v) of float32 or float64
    methods : str or list of str
        Names with options, or "all", which leaves out the oracle "best-rank-d"; exact attention is timed with
        them, and "exact" is that alone.
    features : int or list of int, optional
        Numbers of features, which most methods take up to n_k (default 64, or as many as all of
        these methods take here, at most n_k).
    repeats, warmup : int
        Timed calls of each, one after the other with all `threads`, and calls before them.
    seed : int
        Of the draws, the same in all calls.
    causal, length
        As for `exact`.
    bias
        As for `exact`, for methods whose target has "-rpe"; "all" are these then.
    precision : "double" or "float"
        In which everything is computed, whatever the dtype of the arrays.
    name : str
        The column ``input``.

    Returns
    -------
    Rows
        One for each call. Memory is that of the whole process: nothing else should run meanwhile.

    >>> import croquis, numpy
    >>> rng = numpy.random.default_rng(1)
    >>> Q, K, V = rng.normal(size=(40, 8)), rng.normal(size=(70, 8)), rng.normal(size=(70, 5))
    >>> rows = croquis.cost(Q, K, V, ["skeinformer"], features=[8, 16], repeats=3)
    >>> [(row["method"], int(row["features"]), int(row["flops"])) for row in rows[rows["repeat"] == 1]]
    [('exact', 0, 75600), ('skeinformer', 8, 24880), ('skeinformer', 16, 49760)]
    >>> bool((rows["seconds"] > 0).all())
    True
    """
    return rows_of(
        _core.cost(
            Q,
            K,
            V,
            head_options(causal, bias, length),
            joined(methods, "methods"),
            features_of(features),
            draws(repeats, "repeats"),
            draws(warmup, "warmup", 0),
            seed_of(seed),
            precision_of(precision),
            text(name, "name"),
        )
    )
