"""Approximations of attention, measured: Croquis for Python.

A head is given by three arrays of tokens x width: queries Q (n_q, p), keys K (n_k, p) and values V (n_k, p_v), of
float32 or float64. Q is not divided by sqrt(p); Croquis does that. Arrays in Fortran order are not copied.

Every random result follows from ``seed`` alone: the same seed gives the same bits for any number of threads, and the
rows of the ``croquis`` program. Wrong arguments raise ValueError, and Ctrl-C ends a long call.

>>> import croquis, numpy
>>> rng = numpy.random.default_rng(1)
>>> Q, K, V = rng.normal(size=(300, 16)), rng.normal(size=(300, 16)), rng.normal(size=(300, 8))
>>> croquis.exact(Q, K, V).shape
(300, 8)
>>> rows = croquis.error(Q, K, V, methods=["v-mean", "skyformer-softmax"], features=[16, 64], trials=3)
>>> for row in rows[rows["trial"] == 1]:
...     print(row["method"], row["features"], round(row["frobenius_rel"], 1))
v-mean 16 0.8
v-mean 64 0.8
skyformer-softmax 16 0.8
skyformer-softmax 64 0.6
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, List

from ._attention import approximate, exact, vjp
from ._choice import choose, method_arguments
from ._choice_file import read_choices
from ._claims import verify
from ._core import version as __version__
from ._lists import Claim, Method, Option, SketchDistribution, claims, methods, sketches
from ._measure import cost, error, gradient
from ._rows import Column, Rows, columns
from ._sketch import Sketch, sketch
from ._spectrum import dimension, spectrum
from ._threads import set_threads, threads

__all__ = [
    "Claim",
    "Column",
    "Method",
    "Option",
    "Rows",
    "Sketch",
    "SketchDistribution",
    "__version__",
    "approximate",
    "choose",
    "claims",
    "columns",
    "cost",
    "dimension",
    "error",
    "exact",
    "gradient",
    "method_arguments",
    "methods",
    "read_choices",
    "set_threads",
    "sketch",
    "sketches",
    "spectrum",
    "threads",
    "verify",
    "vjp",
]


if not TYPE_CHECKING:  # by which every name would have a type

    # PyTorch takes seconds to load, so that croquis.torch is imported when it is first used.
    def __getattr__(name: str) -> Any:
        if name == "torch":
            try:
                return import_module(".torch", __name__)
            except ImportError as missing:
                raise AttributeError(f"croquis.torch needs PyTorch: {missing}") from missing
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted([*__all__, "torch"])
