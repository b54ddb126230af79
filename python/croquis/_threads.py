"""Threads of the library, also in a process that was forked from one that has imported it.

The threads of a process are not in its forks, and GNU's OpenMP would wait for them for ever: so a fork has one thread.
"""

import os

from . import _core
from ._types import whole

_is_fork = False


def set_threads(count: int) -> None:
    """Sets the number of threads of calls to `count`; 0 restores the default, one for each processor.

    Results do not depend on it, and the threads of NumPy's BLAS are a setting of their own. A process that was forked
    after croquis was imported has one thread, and refuses another `count`.
    """
    number = whole(count, "count", 0, 2**16)
    if _is_fork and number != 1:
        instead = "start processes by spawn for more"
        raise ValueError(f"count: {number} is not 1, and a forked process has one thread; {instead}")
    _core.set_threads(number)


def threads() -> int:
    """How many threads calls take."""
    return _core.threads()


def _begin_fork() -> None:
    global _is_fork
    _is_fork = True
    _core.set_threads(1)


os.register_at_fork(after_in_child=_begin_fork)
