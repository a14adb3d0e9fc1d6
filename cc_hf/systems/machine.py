"""How threads wait on a machine. Without torch."""

from __future__ import annotations

import os

__all__ = ["wait_briefly"]

# How long a waiting thread spins, for any OpenMP, that of GNU, and those of Intel and LLVM.
_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
_SPINS = "10000"  # some tens of microseconds; to sleep at once is slower on an idle machine


def wait_briefly() -> None:
    """Let the threads of GNU's OpenMP sleep soon when they wait for each other, unless the
    environment says how they wait.

    Programs call this before torch is loaded, because OpenMP reads the environment only once.
    """
    # By default they spin for milliseconds. Where other programs use the cores, a spinning thread
    # holds a core that the thread which it waits for needs. The variable also holds for the
    # programs that this process starts.
    if not any(name in os.environ for name in _WAITING):
        os.environ["GOMP_SPINCOUNT"] = _SPINS
