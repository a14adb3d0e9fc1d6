"""Attack all doors with random cases: `python -m tests.fuzz.attack`.

A case fails that ends in another error than a CCError, that changes a file which it only reads, or
that takes longer than `MOST_SECONDS` of processor time. Cases depend on the seed alone. A case that
fails is printed as JSON; add it to corpus.jsonl when its defect is fixed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

#: Processor time that one case may take.
MOST_SECONDS = 20.0
#: Door -> its share of the cases.
SHARES = {
    **{"files": 0.25, "options": 0.17, "kept": 0.17, "metric": 0.1, "rows": 0.05},
    **{"table": 0.04, "sentence": 0.03, "cache": 0.04, "model": 0.02},
    **{"server": 0.04, "requests": 0.03, "convert": 0.03, "parts": 0.03},
}


class _TooLongError(BaseException):
    """A case took too long. No handler of errors must end it."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise _TooLongError(f"more than {seconds:.0f} s of processor time")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def attack(door: str, n: int, start: int) -> tuple[Counter[str], list[str]]:
    """Run cases at a door, each in a folder of its own.

    Returns:
        Outcome, a result or the class of an error, -> number; and the cases that failed, with their
        tracebacks.
    """
    from tests.fuzz.cases import STRATEGIES
    from tests.fuzz.doors import run_case
    from tests.fuzz.kept import FILES, mutated, outcome_of
    from tests.helpers.models import save_tiny_marian

    outcomes: Counter[str] = Counter()
    failures: list[str] = []

    def run(case: dict[str, Any], folder: Path) -> str:
        if door != "kept":
            return run_case(json.loads(json.dumps(case)), folder, model)
        file = FILES[case["file"] % len(FILES)]
        data = mutated(file, random.Random(f"{file.name} {case['seed']}"))
        return "InputError" if outcome_of(file, data, folder) else "result"

    def run_safely(case: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            try:
                with _limited(MOST_SECONDS):
                    outcomes[run(case, Path(folder))] += 1
            except (Exception, _TooLongError):  # noqa: BLE001
                outcomes["failed"] += 1
                failures.append(f"{json.dumps(case)[:3000]}\n{traceback.format_exc(limit=-6)}")

    with tempfile.TemporaryDirectory() as home:
        model = save_tiny_marian(Path(home), max_positions=48)
        if door == "kept":
            for number in range(n):
                run_safely({"door": door, "file": number, "seed": f"{start} {number}"})
        else:
            drawn = settings(
                max_examples=n,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )(given(case=STRATEGIES[door])(run_safely))
            seed(start)(drawn)()
    return outcomes, failures


def _attack(task: tuple[str, int, int]) -> tuple[str, Counter[str], list[str], float]:
    before = time.perf_counter()
    outcomes, failures = attack(*task)
    return task[0], outcomes, failures, time.perf_counter() - before


def main() -> int:
    """Attack all doors, and print the outcomes and what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="number of cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    parser.add_argument("--doors", nargs="*", default=list(SHARES), choices=list(SHARES))
    options = parser.parse_args()
    total = sum(SHARES[door] for door in options.doors)
    parts = 2 * options.jobs
    tasks = [
        (door, max(1, round(options.n * SHARES[door] / total / parts)), options.seed * parts + part)
        for door in options.doors
        for part in range(parts)
    ]
    seconds = dict.fromkeys(options.doors, 0.0)
    outcomes: dict[str, Counter[str]] = {door: Counter() for door in options.doors}
    all_failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="cc-hf-attack-") as home:
        os.environ.update(HF_HOME=home, HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1", COLUMNS="80")
        os.environ.update(TOKENIZERS_PARALLELISM="false", HF_HUB_DISABLE_PROGRESS_BARS="1")
        os.environ.pop("CC_HF_DATA_DIR", None)
        # Processes begin anew: a thread of torch does not survive a fork.
        with get_context("spawn").Pool(options.jobs) as pool:
            for door, of_door, failures, took in pool.imap_unordered(_attack, tasks):
                outcomes[door] += of_door
                seconds[door] += took
                all_failures += failures
    for door, of_door in outcomes.items():
        words = ", ".join(f"{n} {outcome}" for outcome, n in of_door.most_common())
        print(f"{door:9} {sum(of_door.values()):5} cases in {seconds[door]:4.0f} s: {words}")
    for failure in all_failures:
        print(f"\n{failure}")
    print(f"{len(all_failures)} failed")
    return 1 if all_failures else 0


if __name__ == "__main__":
    sys.exit(main())
