"""Types of arguments and results."""

from __future__ import annotations

import math
import operator
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Protocol, Sequence, SupportsIndex, Union

import numpy
import numpy.typing

Array = numpy.typing.NDArray[Any]


class HasArray(Protocol):
    """What NumPy makes an array of, as a tensor of PyTorch without derivatives."""

    def __array__(self) -> Array: ...


# What arguments may be; what they are in fact is found by the functions below and by the module.
Vector = Union[Array, HasArray, Sequence[float]]
Matrix = Union[Array, HasArray, Sequence[Union[Array, Sequence[float]]]]
Whole = SupportsIndex
Wholes = Union[Whole, Iterable[Whole]]
Real = Union[float, "numpy.floating[Any]", "numpy.integer[Any]"]
Reals = Union[Real, Iterable[Real]]
Flag = Union[bool, numpy.bool_]
Words = Union[str, Iterable[str]]
Setting = Union[str, Real, Flag]


def shown(value: object) -> str:
    """What was given, for a message: on one line, and not a long one."""
    try:
        line = " ".join(repr(value).split())
    except ValueError:  # of numbers of thousands of digits
        line = f"this {type(value).__name__}"
    return line if len(line) <= 60 else line[:57] + "..."


def head_options(causal: object, bias: Optional[Vector], length: Optional[Whole]) -> Dict[str, object]:
    """What goes with Q, K and V, as the module takes it."""
    numbers: Optional[Array] = None
    if bias is not None:
        is_masked: Any = numpy.ma.is_masked  # which has no types before NumPy 2
        if is_masked(bias):
            raise ValueError("bias: some of its entries are masked; give bias.filled(...), with -inf for no weight")
        try:
            given = numpy.asarray(bias)
            if given.dtype.kind not in "biufO":
                raise TypeError
            numbers = given.astype(numpy.float64, copy=False)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"bias: {shown(bias)} are no real numbers") from None
        if numbers.ndim != 1 or numbers.size == 0:
            raise ValueError(f"bias: its shape is {numbers.shape}; give 2 max(n_q, n_k) - 1 numbers")
    whole_length = None if length is None else whole(length, "length", 1)
    return {"causal": flag(causal, "causal"), "bias": numbers, "length": whole_length}


def text_of(value: Setting, name: str) -> str:
    """The setting of an option as the program's command line has it: 0.1, 4, exact, yes."""
    plain: object = value.item() if isinstance(value, numpy.generic) else value
    if isinstance(plain, os.PathLike):
        plain = os.fspath(plain)
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if not isinstance(plain, (str, int, float)):
        way = "; give the name of a .npy file" if name == "indices" else ""
        raise ValueError(f"option: {name} = {shown(value)} is neither a number nor a word{way}")
    if isinstance(plain, str):
        return text(plain, f"option: {name}")
    real(plain, f"option: {name}")  # refuses one that is too large
    return repr(plain)


def text(value: object, name: str) -> str:
    """The string, or ValueError unless it is one without line breaks and the like."""
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"{name}: {shown(value)} is no line of text")
    return value


def path_of(value: object, name: str) -> Union[str, os.PathLike[str]]:
    """The path of a file, or ValueError unless it is one: `open` would take numbers too."""
    return value if isinstance(value, os.PathLike) else text(value, name)


def dtype_of(value: Any, name: str) -> numpy.dtype[Any]:
    """float32 or float64, or ValueError."""
    dtype: Optional[numpy.dtype[Any]]
    try:
        dtype = numpy.dtype(value)
    except (TypeError, ValueError, SyntaxError):  # NumPy evaluates some texts
        dtype = None
    if dtype is None or dtype not in (numpy.float32, numpy.float64):
        raise ValueError(f"{name}: the dtype is {shown(value) if dtype is None else dtype}; give float32 or float64")
    return dtype


def items(values: Any, name: str) -> List[Any]:
    """What is in a list, or ValueError unless it is one: a text is none of letters, nor a dict one of its keys."""
    try:
        if isinstance(values, (str, bytes, Mapping)):
            raise TypeError
        return list(values)
    except TypeError:
        raise ValueError(f"{name}: {shown(values)} is no list") from None


def is_one(value: object) -> bool:
    """Whether it is a number, not several; an array without dimensions is one too."""
    return getattr(value, "ndim", 0) == 0 and (hasattr(value, "__index__") or hasattr(value, "__float__"))


def counted(count: int, what: str) -> str:
    """1 head, 2 heads."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def joined(words: Words, name: str) -> str:
    """A list as the program's command line has it: a,b:x=1."""
    several = [words] if isinstance(words, str) else items(words, name)
    line = ",".join(text(word, name) for word in several)
    if not line.strip():
        raise ValueError(f"{name}: there are none")
    if not all(item.strip() for item in line.split(",")):
        raise ValueError(f"{name}: an empty item in {line!r}")
    return line


def flag(value: object, name: str) -> bool:
    """The truth value, or ValueError unless it is one, 0 or 1."""
    if not isinstance(value, (int, numpy.bool_, numpy.integer)) or value not in (0, 1):
        raise ValueError(f"{name}: {shown(value)} is neither True nor False")
    return bool(value)


def real(value: object, name: str) -> float:
    """The number, or ValueError unless it is a real one."""
    number: Any = value
    if getattr(value, "ndim", None) == 0 and not isinstance(value, (numpy.generic, numpy.ma.MaskedArray)):
        number = number.item()  # of an array without dimensions
    if isinstance(number, bool) or not isinstance(number, (int, float, numpy.integer, numpy.floating)):
        raise ValueError(f"{name}: {shown(value)} is no real number")
    try:
        return float(number)
    except OverflowError:
        raise ValueError(f"{name}: {shown(value)} is too large") from None


def positive(number: float, name: str, end: float = math.inf) -> float:
    """The number, or ValueError unless it is above 0 and below `end`."""
    if not 0 < number < end:
        limit = "finite" if end == math.inf else f"below {end:g}"
        raise ValueError(f"{name}: {number} is not positive and {limit}")
    return number


def reals(values: Reals, name: str) -> List[float]:
    """The numbers of a list, or one alone, as `real`; ValueError if there are none."""
    numbers = [real(value, name) for value in ([values] if is_one(values) else items(values, name))]
    if not numbers:
        raise ValueError(f"{name}: there are none; give one number or several, as [0.1, 0.5]")
    return numbers


def sorted_once(values: Reals, name: str) -> List[float]:
    """The numbers of `reals`, in order; ValueError if one stands there twice."""
    numbers = sorted(reals(values, name))
    for one, another in zip(numbers, numbers[1:]):
        if one == another:
            raise ValueError(f"{name}: {one} stands there twice")
    return numbers


def whole(value: object, name: str, minimum: int, maximum: int = 2**63 - 1) -> int:
    """The number, or ValueError unless it is a whole one in this range."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = minimum - 1
    if isinstance(value, bool) or not minimum <= number <= maximum:
        limit = f" and at most {maximum}" if maximum < 2**63 - 1 or number > maximum else ""
        raise ValueError(f"{name}: {shown(value)} is no whole number of at least {minimum}{limit}")
    return number


def draws(value: object, name: str, minimum: int = 1) -> int:
    """A number of draws, calls or vectors, at most what the program takes: more than anybody reads."""
    return whole(value, name, minimum, 10**7)


def seed_of(value: object) -> int:
    """The seed, or ValueError unless it is a whole number of 64 bits: those of the program."""
    return whole(value, "seed", 0, 2**64 - 1)


def wholes(values: Wholes, name: str, minimum: int) -> List[int]:
    """The numbers of a list, or one alone, as `whole`."""
    return [whole(value, name, minimum) for value in ([values] if is_one(values) else items(values, name))]


def features_of(values: Optional[Wholes]) -> Optional[List[int]]:
    """Numbers of features as the program has them: in ascending order, each once."""
    if values is None:
        return None
    numbers = sorted(set(wholes(values, "features", 1)))
    if not numbers:
        raise ValueError("features: there are none; give one number or several, as [16, 64]")
    return numbers


def precision_of(name: str) -> str:
    """The name, or ValueError."""
    if text(name, "precision") not in ("double", "float"):
        raise ValueError(f"precision: {name!r} is none of 'double' 'float'")
    return name
