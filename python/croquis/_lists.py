"""What there is: methods, sketches, claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Tuple

from . import _core


@dataclass(frozen=True)
class Option:
    """An option of a method or a sketch: the values it may have, its default value, what it does.

    Of a claim: a size or a threshold that is fixed, and why it is this one.
    """

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
    """A distribution of sketches. `target`: what all of them have in the mean. `weighted`: it takes a weight for every row.

    With weights, an index of weight zero is never drawn, and the identity has a zero there.
    """

    name: str
    source: str
    target: str
    options: Tuple[Option, ...]
    doc: str
    weighted: bool


@dataclass(frozen=True)
class Claim:
    """A claim of a paper in one reading. `proof` is empty where there is none.

    `target` is the sentence of the paper, whose readings are claims of their own: "sky.thm2" of "sky.thm2/order". `verify`
    takes it for all of them.
    `options` are the sizes and thresholds with which it is decided. They were fixed before anything was measured, so
    ``values`` and ``default`` are the same; "NAME (quick)" is NAME with `quick`. Of `verify` only the arguments `quick`,
    `thorough` and `trials` change some of them: the numbers of draws.
    """

    name: str
    kind: str
    source: str
    target: str
    options: Tuple[Option, ...]
    doc: str
    reading: str
    hypotheses: str
    proof: str


def methods() -> List[Method]:
    """All methods, in the order of `croquis list methods`.

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
    >>> croquis.sketches()[0].target
    'E[S S^T] = I'
    """
    return [SketchDistribution(**_with_options(entry)) for entry in _core.sketches()]


def claims() -> List[Claim]:
    """All claims of the ledger, each in one reading.

    >>> import croquis
    >>> [c.name for c in croquis.claims() if c.target == "sky.lemma3"]
    ['sky.lemma3/strict', 'sky.lemma3/charitable']
    >>> next(c.source for c in croquis.claims() if c.name == "sky.lemma1/strict")
    'Skyformer Lemma 1'
    """
    return [Claim(**_with_options(entry)) for entry in _core.claims()]


def _with_options(entry: Dict[str, Any]) -> Dict[str, Any]:
    return {**entry, "options": tuple(Option(*option) for option in entry["options"])}
