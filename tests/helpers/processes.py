"""Several processes that work together, and threads in their place."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cc_hf.evaluators.distributed import Team


def together(n: int, work: Callable[[Team], Any]) -> list[Any]:
    """Return what the work of each member returns, or the error that it raises."""
    barrier, given_items, found = threading.Barrier(n, timeout=3600), [None] * n, [None] * n

    def member(rank: int) -> None:
        def exchange(item: Any) -> list[Any]:
            given_items[rank] = item
            barrier.wait()
            items = list(given_items)
            barrier.wait()
            return items

        try:
            found[rank] = work(Team(rank, n, exchange))
        except Exception as error:  # noqa: BLE001 - it is what the test looks at
            found[rank] = error  # type: ignore[call-overload]

    threads = [threading.Thread(target=member, args=(rank,)) for rank in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def torchrun(n: int, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    command = f"-m torch.distributed.run --standalone --nproc_per_node {n} -m".split()
    return subprocess.run(
        [sys.executable, *command, *map(str, arguments)],
        **{"capture_output": True, "text": True, **options},
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100"},
    )
