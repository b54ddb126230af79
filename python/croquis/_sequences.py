"""Heads on sequences, as arrays or lists of arrays give them."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from ._types import (
    Array,
    Flag,
    HasArray,
    Matrix,
    Vector,
    Whole,
    Wholes,
    counted,
    head_options,
    is_one,
    items,
    shown,
    wholes,
)

Arrays = Union[Array, HasArray, Sequence[Any]]


def sequences_of(Q: Arrays, K: Arrays, V: Arrays) -> List[List[Tuple[Matrix, Matrix, Matrix]]]:
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
            times = wanted // k if q == wanted and k == v and 0 < k < wanted and wanted % k == 0 else 0
            groups = f"; for groups of queries repeat K and V, as numpy.repeat(K, {times}, axis=-3)" if times else ""
            raise ValueError(
                f"choose: sequence {s} has {counted(q, 'head')} in Q, {k} in K and {v} in V; give each sequence "
                f"{counted(wanted, 'head')}, as Q has in the first{groups}"
            )
    return [list(zip(*sequence)) for sequence in zip(*matrices)]


def options_of(
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


def names_of(
    heads: int, has_sequences: bool, layers: Optional[Wholes], name: str, position: str
) -> List[Tuple[str, Optional[int], Optional[int]]]:
    """The name, layer and number of every head; as in the program, one that is alone has a number among sequences only.

    `position` stands after every name: ";causal" and the like.
    """
    if layers is None:
        is_alone = heads == 1 and not has_sequences
        if is_alone:
            return [(name + position, None, None)]
        return [(f"{name};head={h}{position}", None, h) for h in range(heads)]
    numbers = wholes(layers, "layers", 0)
    if len(numbers) != heads:
        raise ValueError(f"layers: there are {len(numbers)} for {counted(heads, 'head')}")
    names: List[Tuple[str, Optional[int], Optional[int]]] = []
    for i, layer in enumerate(numbers):
        head = numbers[:i].count(layer)
        names.append((f"{name};layer={layer};head={head}{position}", layer, head))
    return names


def dimensions_of(given: Any, name: str) -> int:
    """Those of an array, or of a list of arrays, whose first one is looked at."""
    try:
        return int(given.ndim) if _is_array(given) else 1 + numpy.ndim(given[0])
    except (TypeError, LookupError, ValueError):
        raise ValueError(f"{name}: {shown(given)} is neither an array nor a list of arrays") from None


def _matrices(given: Arrays, name: str) -> List[List[Matrix]]:
    """A matrix for every head of every sequence."""
    array: Any = given
    dimensions = dimensions_of(array, name)
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
    raise ValueError(f"{name}: has {counted(dimensions, 'dimension')}; give (n, width), (heads, n, width) or several of these")


def _heads(sequence: Any, name: str) -> List[Matrix]:
    """A matrix for every head of a sequence among several."""
    dimensions = dimensions_of(sequence, name)
    if dimensions != 3:
        raise ValueError(f"{name} has {counted(dimensions, 'dimension')}; give (heads, n, width)")
    return list(sequence)


def _is_array(given: Any) -> bool:
    return isinstance(getattr(given, "ndim", None), int)
