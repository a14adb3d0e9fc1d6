"""A function in a process of its own.

No torch here: the process reads how many threads it has before torch does.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from cc_hf.errors import EvaluatorError

__all__ = ["call", "in_child", "thread_environment"]

T = TypeVar("T")


def call(function: Callable[..., T], _threads: int, *arguments: Any) -> T:
    """The function in this process; in place of `in_child`."""
    return function(*arguments)


def in_child(function: Callable[..., T], threads: int, *arguments: Any) -> T:
    """The function in a new process, whose libraries have so many threads from the start.

    Raises:
        EvaluatorError: when the process was killed, such as for want of memory.
    """
    own = thread_environment(threads)
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            found: T = pool.submit(function, *arguments).result()
            return found
    except BrokenProcessPool as error:
        raise EvaluatorError(
            "its process was killed; most likely the memory of the machine was too small"
        ) from error
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def thread_environment(threads: int) -> dict[str, str]:
    """What the libraries read at their import."""
    return dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), str(threads))
