"""Calling a function in a process of its own.

This module does not import torch, whose number of threads is decided when it is imported.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

from cc_hf.errors import EvaluatorError

__all__ = ["call", "in_child", "most_memory", "thread_environment"]

T = TypeVar("T")


def call(function: Callable[..., T], _threads: int, *arguments: Any) -> T:
    """Return what a function returns in this process; tests use it instead of `in_child`."""
    return function(*arguments)


def in_child(function: Callable[..., T], threads: int, *arguments: Any) -> T:
    """Return what a picklable function returns in a new process whose libraries have n threads.

    Raises:
        EvaluatorError: when the process was killed, such as for lack of memory.
    """
    # A new process inherits the environment, which its libraries read when they are imported.
    variables = thread_environment(threads)
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            returned: T = pool.submit(function, *arguments).result()
            return returned
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
    """Return the environment variables by which libraries choose their number of threads."""
    return dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), str(threads))


def most_memory() -> int | None:
    """Return the most bytes that this process has held; None if the system does not report them."""
    with contextlib.suppress(OSError):
        # getrusage reports the peak of the parent in a child process.
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        if match := re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE):
            return int(match.group(1)) * 1024
    return None
