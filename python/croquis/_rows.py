"""Rows of measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

import numpy

from . import _core
from ._types import text

if TYPE_CHECKING:
    import pandas


class Rows(numpy.ndarray[Any, Any]):
    """Rows of a measurement: a structured array, one field a column of the program's CSV file.

    ``rows["frobenius_rel"]`` is a column, an ordinary array; ``rows[0]`` is a row; ``rows[rows["trial"] == 1]`` are
    some of the rows. Numbers that there are not are NaN. ``croquis.columns("error")`` says what each column means.

    >>> import croquis, numpy
    >>> X = numpy.eye(6, 4)
    >>> rows = croquis.error(X, X, X, methods="v-mean", features=[2])
    >>> rows.dtype.names[:4], len(rows)
    (('input', 'method', 'preset', 'target'), 1)
    >>> rows["method"][0]
    'v-mean'
    """

    def __getitem__(self, key: Any) -> Any:
        item = super().__getitem__(key)
        if isinstance(item, Rows) and item.dtype.names is None:
            return item.view(numpy.ndarray)
        return item

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas.DataFrame; pandas is imported here and nowhere else."""
        import pandas

        return pandas.DataFrame({name: self[name] for name in self.dtype.names or ()})


def rows_of(columns: Dict[str, Any]) -> Rows:
    """Rows of columns of equal length."""
    arrays = {name: _array(values) for name, values in columns.items()}
    types: List[Tuple[str, Any]] = [(name, array.dtype) for name, array in arrays.items()]
    size = max((len(array) for array in arrays.values()), default=0)
    rows = numpy.empty(size, dtype=types).view(Rows)
    for name, array in arrays.items():
        rows[name][:] = array
    return rows


def _array(values: Any) -> Any:
    return numpy.array(values, dtype=str) if isinstance(values, list) else values


@dataclass(frozen=True)
class Column:
    """A column of rows: its meaning, its unit (empty: none), and the option of the program that adds it."""

    name: str
    meaning: str
    unit: str
    option: str


def columns(of: str) -> List[Column]:
    """The columns of the rows of "error", "gradient", "cost", "spectrum", "dimension", "choose" or "verify".

    >>> import croquis
    >>> next(c.meaning for c in croquis.columns("error") if c.name == "max_abs")
    'largest entry of \\\\|O - O~\\\\|'
    """
    return [Column(*column) for column in _core.columns(text(of, "of"))]
