"""The file of choices, choice.json: read, and written whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import stat
from typing import Union

import numpy

from . import _core
from ._rows import Rows, rows_of
from ._types import path_of


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


def replaceable(path: Union[str, os.PathLike[str]]) -> str:
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


def write_whole(target: str, text: str) -> None:
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
