"""Threads of the library, also in a process that was forked from one that had used it.

The threads of a process are not in its forks, and GNU's OpenMP would wait for them for ever: so a fork has one thread.
"""

import os

from . import _core
from ._types import whole


def set_threads(count: int) -> None:
    """Sets the number of threads of calls to `count`; 0 restores the default, one for each processor.

    Results do not depend on it, and the threads of NumPy's BLAS are a setting of their own.
    """
    _core.set_threads(whole(count, "count", 0, 2**16))


def threads() -> int:
    """How many threads calls take."""
    return _core.threads()


os.register_at_fork(after_in_child=lambda: _core.set_threads(1))
