"""Several processes that work together, and threads in their place."""

import multiprocessing
import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cc_hf.evaluators.distributed import Team
from tests.helpers.served_pages import free_port

# Importing takes most of the time of a small job: processes are forked from one that has imported.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["accelerate", "transformers.trainer_seq2seq", __name__])


def together(n: int, work: Callable[[Team], Any]) -> list[Any]:
    """Return what the work of each member returns, or the error that it raises."""
    barrier, given_items, actual = threading.Barrier(n, timeout=3600), [None] * n, [None] * n

    def member(rank: int) -> None:
        def exchange(item: Any) -> list[Any]:
            given_items[rank] = item
            barrier.wait()
            items = list(given_items)
            barrier.wait()
            return items

        try:
            actual[rank] = work(Team(rank, n, exchange))
        except Exception as error:  # noqa: BLE001 - it is what the test looks at
            actual[rank] = error  # type: ignore[call-overload]

    threads = [threading.Thread(target=member, args=(rank,)) for rank in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return actual


def _run(folder: Path, words: list[str], rank: str, team: dict[str, str]) -> None:
    """Run a module as `python -m` does, and print to files."""
    import torch

    os.environ.update({**team, "COLUMNS": "100"})
    if team:
        os.environ["RANK"] = os.environ["LOCAL_RANK"] = rank
    os.chdir(folder)
    torch.set_num_threads(1)
    for number, name in enumerate(("stdout", "stderr"), 1):
        os.dup2(os.open(f"{rank}.{name}", os.O_WRONLY | os.O_CREAT), number)
        setattr(sys, name, open(number, "w", encoding="utf-8", buffering=1))  # noqa: SIM115
    sys.argv = [word.replace("{rank}", rank) for word in words]
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)


def started(n: int, folder: Path, *words: str | Path) -> list[Any]:
    """Start a module in processes of a team as torchrun does; for several, sockets must be allowed.

    They run in the folder, and print to files of it named as their rank, which end in .stdout and
    .stderr. A word may hold "{rank}".
    """
    team = dict[str, str]()
    if n > 1:
        team = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(n)}
    given = [(folder, [*map(str, words)], str(rank), team) for rank in range(n)]
    processes = [_FORKS.Process(target=_run, args=of_rank) for of_rank in given]
    for process in processes:
        process.start()
    return processes


def in_processes(n: int, folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Return how the processes of a team ended and what all of them printed, see `started`."""
    team = started(n, folder, *words)
    for process in team:
        process.join()
    files = [sorted(folder.glob(f"[0-9].{name}")) for name in ("stdout", "stderr")]
    printed = ["".join(path.read_text(encoding="utf-8") for path in side) for side in files]
    return subprocess.CompletedProcess(words, max(abs(p.exitcode) for p in team), *printed)
