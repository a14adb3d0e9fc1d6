"""Batches that are computed beside each other, each on a share of the threads.

Threads that share every product of a batch wait for each other after each of them. Where each
thread has batches of its own, nobody waits: that is faster, and on a machine whose cores other
programs use, much faster.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

import torch

from cc_hf.evaluators.fast.arithmetic import fast_exact_products, first_products, small_caches

__all__ = ["MOST_LANES", "in_lanes"]

#: Each lane has a batch in memory, and many lanes of a small model would wait for Python's lock.
MOST_LANES = 4

T = TypeVar("T")
R = TypeVar("R")


def in_lanes(function: Callable[[T], R], batches: Sequence[T]) -> Iterator[R]:
    """Return what a function returns for each batch, in order, from threads that share torch's.

    There are as many lanes as threads, at most 4. Batches that are left over when all lanes have
    had the same number use all threads, one after the other; so does everything if torch has one
    thread. After an error, which is raised, no lane begins another batch.
    """
    n_threads = torch.get_num_threads()
    n_lanes = min(n_threads, MOST_LANES)
    n_shared = len(batches) - len(batches) % n_lanes if n_lanes > 1 else 0
    left_over = map(function, batches[n_shared:])
    if not n_shared:
        return left_over
    return itertools.chain(
        _beside_each_other(function, batches[:n_shared], n_threads, n_lanes), left_over
    )


def _beside_each_other(
    function: Callable[[T], R], batches: Sequence[T], n_threads: int, n_lanes: int
) -> Iterator[R]:
    # What is permitted holds for all threads, so that it must not change between batches.
    with fast_exact_products():
        yield from _pool(n_threads, n_lanes).map(function, batches)


@cache
def _pool(n_threads: int, n_lanes: int) -> ThreadPoolExecutor:
    """Return the lanes, which are kept with the memory that their products write to."""
    shares = [n_threads // n_lanes + (i < n_threads % n_lanes) for i in range(n_lanes)]
    started = threading.Barrier(n_lanes)

    def start() -> None:
        try:
            torch.get_num_threads()  # a thread's first call takes the number that all have
            torch.set_num_threads(shares.pop())
            first_products()
        finally:
            started.wait()

    pool = ThreadPoolExecutor(n_lanes, "lane", initializer=start)
    # No lane begins before all have started, so that each of these calls starts one.
    with small_caches():
        wait([pool.submit(int) for _ in range(n_lanes)])
    torch.set_num_threads(n_threads)  # what a lane has set, threads of others would have
    return pool


# A forked process has no threads but its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
