"""Types of arguments and results."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Union

import numpy
import numpy.typing

Array = numpy.typing.NDArray[Any]
Words = Union[str, Sequence[str]]
Setting = Union[str, int, float]


def head_options(causal: bool, bias: Optional[Array], length: Optional[int]) -> Dict[str, object]:
    """What goes with Q, K and V, as the module takes it."""
    if bias is not None:
        bias = numpy.asarray(bias, dtype=numpy.float64)
        if bias.ndim != 1:
            raise ValueError(f"bias: its shape is {bias.shape}; give 2 max(n_q, n_k) - 1 numbers")
    return {"causal": bool(causal), "bias": bias, "length": length}


def text_of(value: Setting) -> str:
    """A setting as the program's command line has it: 0.1, 4, exact."""
    plain: object = value.item() if isinstance(value, numpy.generic) else value
    if isinstance(plain, bool) or not isinstance(plain, (str, int, float)):
        raise ValueError(f"options: {value!r} is neither a number nor a word")
    return plain if isinstance(plain, str) else repr(plain)


def joined(words: Words) -> str:
    """A list as the program's command line has it: a,b:x=1."""
    return words if isinstance(words, str) else ",".join(words)


def whole(value: object, name: str, minimum: int, maximum: int = 2**63 - 1) -> int:
    """The number, or ValueError unless it is a whole one in this range."""
    number: object = value.__index__() if hasattr(value, "__index__") else None
    if not isinstance(number, int) or isinstance(value, bool) or not minimum <= number <= maximum:
        limit = f" and at most {maximum}" if maximum < 2**63 - 1 else ""
        raise ValueError(f"{name}: {value!r} is no whole number of at least {minimum}{limit}")
    return number


def wholes(values: Union[int, Sequence[int]], name: str, minimum: int) -> List[int]:
    """The numbers of a list, or one alone, as `whole`."""
    if isinstance(values, (int, float, numpy.generic)):
        return [whole(values, name, minimum)]
    return [whole(value, name, minimum) for value in values]


def precision_of(name: str) -> str:
    """The name, or ValueError."""
    if name not in ("double", "float"):
        raise ValueError(f"precision: {name!r} is none of 'double' 'float'")
    return name
