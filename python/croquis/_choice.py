"""The cheapest approximation that is good enough."""

from __future__ import annotations

import json
import os
import secrets
import stat
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from . import _core
from ._rows import Rows, rows_of
from ._types import (
    Array,
    Flag,
    HasArray,
    Matrix,
    Real,
    Vector,
    Whole,
    Wholes,
    Words,
    counted,
    draws,
    features_of,
    flag,
    head_options,
    is_one,
    items,
    joined,
    path_of,
    precision_of,
    real,
    seed_of,
    shown,
    text,
    whole,
    wholes,
)

Arrays = Union[Array, HasArray, Sequence[Any]]


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
        What is to be least; seconds are measured at the size of the heads.
    max_cost : float
        In units of exact attention: where a method costs as much or more, exact attention is used.
    per : "head", "layer" or "model"
        One choice for each head, for each of `layers`, or for all.
    methods, features
        As for `error`, up to n_k only where all heads have one shape; "all" are those of softmax attention, with a bias
        of "softmax-rpe", that take less than n^2 work.
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
        The column ``input`` begins with it.
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
    target = None if save is None else _replaceable(path_of(save, "save"))
    sequences = _sequences(Q, K, V)
    columns, document = _core.choose(
        sequences,
        _options(len(sequences), causal, bias, length),
        _names(len(sequences[0]), _dimensions(Q, "Q") > 3, layers, name),
        text(name, "name"),
        flag(causal, "causal"),
        bias is not None,
        joined(methods, "methods"),
        features_of(features),
        real(eps, "eps"),
        real(delta, "delta"),
        real(confidence, "confidence"),
        text(metric, "metric"),
        text(per, "per"),
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
            _write_whole(target, document)
        except OSError as wrong:  # the work of hours is not lost by it
            why = f"{target!r} cannot be written ({wrong.strerror or wrong}); the choices are returned all the same"
            warnings.warn(f"save: {why}", RuntimeWarning, stacklevel=2)
    return rows


def read_choices(path: Union[str, os.PathLike[str]]) -> Rows:
    """The choices of a choice.json, which ``croquis choose`` and `choose` write.

    Parameters
    ----------
    path : str or path
        Of the file.

    Returns
    -------
    Rows
        One for each choice, with the columns of `choose` that the file has: ``input``, ``layer``, ``head``, ``eps``,
        ``delta``, ``confidence``, ``metric``, ``method``, ``preset``, ``features``, ``status``, ``cost_unit``,
        ``target``, ``flops_limit``. They are those of `choose`, but for an "undecided" choice, where `choose` shows what
        leads: in the file it is exact attention, which is what to take until it is decided, and has "exact" as
        ``method``, "paper" as ``preset``, 0 as ``features`` and NaN as ``flops_limit``. A column ``heads`` has the
        (layer, head) of all heads of a model that a choice is for. It is empty for heads without a layer, and None where
        the file does not list them: they are those of ``layer`` and ``head`` then, and NaN means all.

    >>> import croquis, numpy, os, tempfile
    >>> rng = numpy.random.default_rng(1)
    >>> Q, K, V = rng.normal(size=(3, 64, 8)), rng.normal(size=(3, 64, 8)), rng.normal(size=(3, 64, 5)) + 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "choice.json")
    ...     _ = croquis.choose(Q, K, V, 0.3, methods="v-mean", features=8, layers=[0, 0, 1], per="layer", save=path)
    ...     choices = croquis.read_choices(path)
    >>> [(row["method"], row["status"], row["heads"]) for row in choices]
    [('v-mean', 'chosen', ((0, 0), (0, 1))), ('v-mean', 'chosen', ((1, 0),))]
    """
    with open(path_of(path, "path"), "rb") as file:
        columns = _core.read_choices(file.read(), os.fsdecode(path))
    heads = numpy.empty(len(columns["heads"]), dtype=object)
    heads[:] = columns["heads"]
    return rows_of({**columns, "heads": heads})


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


def _replaceable(path: Union[str, os.PathLike[str]]) -> str:
    """The file that writing to `path` writes, whatever links and the folder of the process are by then.

    Raises what writing raises, before the work whose result it would lose, and where a file has no choices. Leaves no
    file behind.
    """
    is_new = not os.path.exists(path)
    target = os.path.realpath(os.fsdecode(path))
    with open(path, "a+b") as file:
        is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        file.seek(0)
        found = file.read() if is_file else b""
    if is_new:
        os.remove(target)  # what a link leads to, not the link
    if not is_file:
        raise ValueError(f"save: {os.fsdecode(path)!r} is no regular file; give the name of a file")
    temporary = _name_beside(target)
    with open(temporary, "xb"):
        os.remove(temporary)
    if not found:
        return target
    try:
        document = json.loads(found)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or "choices" not in document:
        raise ValueError(f"save: {os.fsdecode(path)!r} is there and is no choice; give another name, or remove it")
    return target


def _write_whole(target: str, text: str) -> None:
    """The file `target` becomes the text, or stays as it was. It keeps its permissions."""
    temporary = _name_beside(target)
    with open(temporary, "xb") as file:
        try:
            if os.path.exists(target):
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise


def _name_beside(target: str) -> str:
    """A new name in the folder of `target`. It is short: that of the target may be as long as names can be."""
    return os.path.join(os.path.dirname(target), f".croquis-{secrets.token_hex(8)}")


def _sequences(Q: Arrays, K: Arrays, V: Arrays) -> List[List[Tuple[Matrix, Matrix, Matrix]]]:
    """(Q, K, V) of every head of every sequence."""
    matrices = [_matrices(array, name) for array, name in ((Q, "Q"), (K, "K"), (V, "V"))]
    counts = [[len(sequence) for sequence in array] for array in matrices]
    if len({len(array) for array in counts}) != 1:
        lengths = ", ".join(f"{name} has {len(array)}" for name, array in zip("QKV", counts))
        raise ValueError(f"choose: give Q, K, V the same sequences; {lengths}")
    wanted = counts[0][0] if counts[0] else 0
    if wanted == 0:
        raise ValueError("choose: Q has no heads")
    for s, (q, k, v) in enumerate(zip(*counts)):
        if not q == k == v == wanted:
            raise ValueError(
                f"choose: sequence {s} has {q} heads in Q, {k} in K and {v} in V; give each sequence {wanted} heads, as "
                "Q has in the first; for groups of queries repeat K and V, as numpy.repeat(K, 3, axis=-3)"
            )
    return [list(zip(*sequence)) for sequence in zip(*matrices)]


def _options(
    sequences: int,
    causal: Flag,
    bias: Union[Vector, Sequence[Vector], None],
    length: Optional[Wholes],
) -> List[Mapping[str, object]]:
    """What goes with the heads of every sequence."""
    biases: List[Optional[Vector]] = [None] * sequences
    if bias is not None:
        one: Any = bias
        several = items(bias, "bias")
        biases = several if len(several) > 0 and numpy.ndim(several[0]) > 0 else [one] * sequences
    lengths: List[Optional[Whole]] = [None] * sequences
    if length is not None:
        lone: Any = length
        lengths = [lone] * sequences if is_one(length) else items(length, "length")
    for name, given in (("bias", len(biases)), ("length", len(lengths))):
        if given != sequences:
            count = counted(sequences, "sequence")
            raise ValueError(f"{name}: there are {given} for {count}; give one for all, or one for each")
    return [head_options(causal, *each) for each in zip(biases, lengths)]


def _matrices(given: Arrays, name: str) -> List[List[Matrix]]:
    """A matrix for every head of every sequence."""
    array: Any = given
    dimensions = _dimensions(array, name)
    if dimensions == 2:
        return [[array]]
    if dimensions == 3 and not _is_array(array):
        # Heads or sequences: what the answer is about, which is not to be guessed.
        raise ValueError(
            f"{name}: a list of arrays (n, width) may be one head on several sequences or several heads on one; "
            f"give [m[None] for m in {name}] for sequences, numpy.stack({name}) for heads"
        )
    if dimensions == 3:
        return [list(array)]
    if dimensions == 4:
        return [_heads(sequence, f"{name}: sequence {s}") for s, sequence in enumerate(array)]
    raise ValueError(f"{name}: has {dimensions} dimensions; give (n, width), (heads, n, width) or several of these")


def _heads(sequence: Any, name: str) -> List[Matrix]:
    """A matrix for every head of a sequence among several."""
    dimensions = _dimensions(sequence, name)
    if dimensions != 3:
        raise ValueError(f"{name} has {dimensions} dimensions; give (heads, n, width)")
    return list(sequence)


def _is_array(given: Any) -> bool:
    return isinstance(getattr(given, "ndim", None), int)


def _dimensions(given: Any, name: str) -> int:
    """Those of an array, or of a list of arrays, whose first one is looked at."""
    try:
        return int(given.ndim) if _is_array(given) else 1 + numpy.ndim(given[0])
    except (TypeError, LookupError, ValueError):
        raise ValueError(f"{name}: {shown(given)} is neither an array nor a list of arrays") from None


def _names(
    heads: int, has_sequences: bool, layers: Optional[Wholes], name: str
) -> List[Tuple[str, Optional[int], Optional[int]]]:
    """The name, layer and number of every head; as in the program, one that is alone has a number among sequences only."""
    if layers is None:
        is_alone = heads == 1 and not has_sequences
        return [(name, None, None)] if is_alone else [(f"{name};head={h}", None, h) for h in range(heads)]
    numbers = wholes(layers, "layers", 0)
    if len(numbers) != heads:
        raise ValueError(f"layers: there are {len(numbers)} for {counted(heads, 'head')}")
    names: List[Tuple[str, Optional[int], Optional[int]]] = []
    for i, layer in enumerate(numbers):
        head = numbers[:i].count(layer)
        names.append((f"{name};layer={layer};head={head}", layer, head))
    return names
