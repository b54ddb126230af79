"""What there is: methods, sketches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Tuple

from . import _core


@dataclass(frozen=True)
class Option:
    """An option of a method or a sketch: the values it may have, its default value, what it does."""

    name: str
    values: str
    default: str
    doc: str


@dataclass(frozen=True)
class Method:
    """An approximation of attention. Facts are those without options. `vjp`: it has derivatives."""

    name: str
    source: str
    target: str
    options: Tuple[Option, ...]
    doc: str
    random: bool
    causal: bool
    rectangular: bool
    vjp: bool


@dataclass(frozen=True)
class SketchDistribution:
    """A distribution of sketches. `weighted`: it takes a weight for every row."""

    name: str
    source: str
    options: Tuple[Option, ...]
    doc: str
    weighted: bool


@dataclass(frozen=True)
class Claim:
    """A claim of a paper in one reading. `proof` is empty where there is none."""

    name: str
    kind: str
    source: str
    doc: str
    reading: str
    hypotheses: str
    proof: str


def methods() -> List[Method]:
    """All methods, in the order of the documentation.

    >>> import croquis
    >>> [m.name for m in croquis.methods() if m.target == "kernelized"]
    ['skyformer']
    """
    return [Method(**_with_options(entry)) for entry in _core.methods()]


def sketches() -> List[SketchDistribution]:
    """All distributions of sketches.

    >>> import croquis
    >>> [s.name for s in croquis.sketches() if s.weighted]
    ['importance']
    """
    return [SketchDistribution(**_with_options(entry)) for entry in _core.sketches()]


def _with_options(entry: Dict[str, Any]) -> Dict[str, Any]:
    return {**entry, "options": tuple(Option(*option) for option in entry["options"])}
