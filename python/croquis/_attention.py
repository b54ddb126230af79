"""Attention, exact and approximated."""

from __future__ import annotations

from typing import Mapping, Optional, Tuple, Union, overload

from . import _core
from ._types import Array, Flag, Matrix, Setting, Vector, Whole, head_options, seed_of, text, text_of, whole

# Arguments of PyTorch's scaled_dot_product_attention that have another name here, or none.
_OF_PYTORCH = {
    "is_causal": "is called causal here",
    "attn_mask": "no mask but that of causal=True is taken; bias= adds a number for each distance of two tokens",
    "dropout_p": "there is no dropout",
}


def request(
    method: str,
    target: Optional[str],
    features: Optional[Whole],
    seed: Whole,
    trial: Whole,
    options: Mapping[str, Setting],
) -> _core.Request:
    """What is computed: a draw of a method, or exact attention to a target."""
    for name, way in _OF_PYTORCH.items():
        if name in options:
            raise ValueError(f"{name}: {way}")
    drawn = None if text(method, "method") == "exact" else method
    if drawn is None and options:
        raise ValueError(f"exact attention has no options, got {', '.join(options)}")
    texts = {name: text_of(value, name) for name, value in options.items()}
    return _core.Request(
        None if target is None else text(target, "target"),
        drawn,
        texts,
        None if features is None else whole(features, "features", 1),
        seed_of(seed),
        whole(trial, "trial", 1),
    )


def exact(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    target: str = "softmax",
    causal: Flag = False,
    *,
    bias: Optional[Vector] = None,
    length: Optional[Whole] = None,
) -> Array:
    """Exact attention of one head, computed by blocks: no n x n matrix is stored.

    Parameters
    ----------
    Q, K, V : arrays (n_q, p), (n_k, p), (n_k, p_v) of float32 or float64
        Queries, keys, values; Q is not divided by sqrt(p).
    target : str
        "softmax": O = B V, B the softmax of Q K^T / sqrt(p) by rows. "kernelized": O = C V, c_ij = exp(-|q_i - k_j|^2
        / (2 sqrt(p))). "normalized": softmax of queries and keys of unit length, without 1 / sqrt(p). "softmax-rpe",
        "normalized-rpe": with the bias, and without one the same as "softmax", "normalized".
    causal : bool
        Query i attends to the keys j <= i + n_k - n_q, with n_q and n_k without padding. Needs n_q <= n_k.
    bias : array (2 max(n_q, n_k) - 1,), optional
        b_t for t = j - i + n_q - n_k from the most negative; -inf masks. With a `length`, n_q and n_k in t are those
        without padding, and there are still as many b_t as with it. Only the targets with "-rpe" take one, and the
        methods that approximate these.
    length : int, optional
        Keys from this one on are padding; with n_q = n_k so are queries, whose rows of the output are zero.

    Returns
    -------
    array (n_q, p_v)
        Of float32 if Q, K and V all are, else of float64; in Fortran order if all three are, else in C order.

    Cost: 2 n_q n_k (p + p_v) flops and n_q n_k exponentials.

    >>> import croquis, numpy
    >>> Q, K, V = numpy.ones((2, 3)), numpy.zeros((5, 3)), numpy.arange(20.0).reshape(5, 4)
    >>> croquis.exact(Q, K, V)
    array([[ 8.,  9., 10., 11.],
           [ 8.,  9., 10., 11.]])
    """
    wanted = request("exact", text(target, "target"), None, 1, 1, {})
    return _core.Forward(Q, K, V, head_options(causal, bias, length), wanted, False).output()


def approximate(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    method: str = "skyformer",
    features: Optional[Whole] = None,
    seed: Whole = 1,
    trial: Whole = 1,
    *,
    target: Optional[str] = None,
    causal: Flag = False,
    bias: Optional[Vector] = None,
    length: Optional[Whole] = None,
    **options: Setting,
) -> Array:
    """The output of a method: one draw, that of the row of `error`, and of ``croquis error`` on arrays, with this seed
    and trial. (On a text or a model ``croquis error`` has other draws for the same numbers.)

    Arrays of float32 have the draws of float64 (and their rows are those with precision float), except for the Gaussian
    sketches of "linformer" and "linformer-unreduced", whose normals are other draws in float32.

    Parameters
    ----------
    Q, K, V, causal, bias, length
        As for `exact`. A method that has no causal form, or that needs n_q = n_k, refuses others.
    method : str
        One of `methods`; its target says which exact output it approximates, that of "skyformer" is "kernelized" and
        not "softmax". "exact" is exact attention to `target`.
    features : int, optional
        The number of features d: landmarks, sampled columns, rows of a sketch (default 128, or as many as
        the method takes here, at most n_k).
    seed, trial : int
        Which draw.
    target : str, optional
        Of exact attention, as for `exact` (default "softmax"). A method has its own, and refuses another.
    **options
        Options of the method, as ``ridge=0.1`` or ``preset="code"``.

    Returns
    -------
    array (n_q, p_v)
        With dtype and order as for `exact`.

    >>> import croquis, numpy
    >>> rng = numpy.random.default_rng(1)
    >>> Q, K, V = rng.normal(size=(64, 8)), rng.normal(size=(64, 8)), rng.normal(size=(64, 5))
    >>> croquis.approximate(Q, K, V, "nystromformer", features=16, iterations=8).shape
    (64, 5)
    >>> croquis.approximate(Q, K, V, "nystromformer", features=16, iterations=-1)
    Traceback (most recent call last):
    ValueError: nystromformer: iterations is a number from 0 to 100, got iterations = -1
    """
    draw = request(method, target, features, seed, trial, options)
    return _core.Forward(Q, K, V, head_options(causal, bias, length), draw, False).output()


@overload
def vjp(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    G: Matrix,
    method: str = ...,
    features: Optional[Whole] = ...,
    seed: Whole = ...,
    trial: Whole = ...,
    *,
    target: Optional[str] = ...,
    causal: Flag = ...,
    bias: None = ...,
    length: Optional[Whole] = ...,
    **options: Setting,
) -> Tuple[Array, Array, Array]: ...


@overload
def vjp(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    G: Matrix,
    method: str = ...,
    features: Optional[Whole] = ...,
    seed: Whole = ...,
    trial: Whole = ...,
    *,
    target: Optional[str] = ...,
    causal: Flag = ...,
    bias: Vector,
    length: Optional[Whole] = ...,
    **options: Setting,
) -> Tuple[Array, Array, Array, Array]: ...


def vjp(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    G: Matrix,
    method: str = "exact",
    features: Optional[Whole] = None,
    seed: Whole = 1,
    trial: Whole = 1,
    *,
    target: Optional[str] = None,
    causal: Flag = False,
    bias: Optional[Vector] = None,
    length: Optional[Whole] = None,
    **options: Setting,
) -> Union[Tuple[Array, Array, Array], Tuple[Array, Array, Array, Array]]:
    """The vector-Jacobian product: the derivatives of <G, O> by Q, K, V, and by the bias if there is one.

    Parameters
    ----------
    Q, K, V, causal, bias, length
        As for `exact`.
    G : array (n_q, p_v)
        The derivative of a loss by the output.
    method : str
        "exact", for exact attention to `target`; or one of `methods` with ``vjp`` true.
    features, seed, trial, **options
        As for `approximate`: which draw of the method. What was drawn or chosen is held constant.
    target : str, optional
        Of exact attention, as for `exact` (default "softmax"). A method has its own, and refuses another.

    Returns
    -------
    dQ, dK, dV : arrays of the shapes of Q, K, V
    dbias : array (2 max(n_q, n_k) - 1,)
        Only if `bias` is given.

    Raises
    ------
    RuntimeError
        Where the method breaks down, as for `approximate`; and where a derivative is not finite though G is, because
        numbers on the way to it overflow. Then give float64, or smaller numbers.

    >>> import croquis, numpy
    >>> rng = numpy.random.default_rng(1)
    >>> Q, K, V = rng.normal(size=(20, 8)), rng.normal(size=(30, 8)), rng.normal(size=(30, 5))
    >>> G = rng.normal(size=(20, 5))
    >>> dQ, dK, dV = croquis.vjp(Q, K, V, G)
    >>> dQ.shape, dK.shape, dV.shape
    ((20, 8), (30, 8), (30, 5))
    >>> step = 1e-6 * rng.normal(size=V.shape)
    >>> change = (G * (croquis.exact(Q, K, V + step) - croquis.exact(Q, K, V))).sum()
    >>> bool(abs(change - (dV * step).sum()) < 1e-12)
    True
    """
    draw = request(method, target, features, seed, trial, options)
    return _core.Forward(Q, K, V, head_options(causal, bias, length), draw, True).vjp(G)
