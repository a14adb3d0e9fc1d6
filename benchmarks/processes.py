"""Several processes of one thread compared with one process of several threads, each started by
torchrun; and the program that torchrun starts.

The arguments of the program are FOLDER of the model, FAMILY, MODE, THREADS, DECISIONS (JSON) and
OUTPUT (JSON, written by the main process).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from benchmarks.alternatives import Setting, UnavailableError, ours
from benchmarks.children import thread_environment
from benchmarks.texts import Decisions
from cc_hf.errors import CCError, EvaluatorError
from cc_hf.evaluators.distributed import is_main_process, leave

__all__ = ["Comparison", "compare_processes"]

_WARM_UP_PAIRS = 32
_ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Comparison:
    """Pairs per second of one process and of several, as medians over rounds.

    Attributes:
        threads: number of threads of the one process, and number of the several processes.
        ratio: median of the ratios within a round.
    """

    title: str
    mode: str
    threads: int
    one_process: float
    several_processes: float
    ratio: float


def compare_processes(
    setting: Setting,
    decisions: Decisions,
    mode: str,
    *,
    title: str,
    n_pairs: int | None,
    n_rounds: int,
    tell: Callable[[str], None] = lambda line: None,
) -> Comparison:
    """Measure both in interleaved rounds, and return medians over these.

    Args:
        n_pairs: number of pairs per round; None for all.
    """
    rates: dict[int, list[float]] = {1: [], setting.threads: []}
    for i in range(n_rounds):
        sample = decisions.limited(n_pairs, shift=i)
        for n_processes in sorted(rates, reverse=bool(i % 2)):
            tell(f"{title}: round {i + 1} of {n_rounds}, {mode}, processes: {n_processes}")
            rates[n_processes].append(
                len(sample.requests) / _seconds(setting, sample, mode, n_processes)
            )
    single, several = np.array(rates[1]), np.array(rates[setting.threads])
    return Comparison(
        title,
        mode,
        setting.threads,
        float(np.median(single)),
        float(np.median(several)),
        float(np.median(several / single)),
    )


def _seconds(setting: Setting, sample: Decisions, mode: str, n_processes: int) -> float:
    """Return the seconds that a number of processes need for the pairs of a sample."""
    threads = setting.threads // n_processes
    with tempfile.TemporaryDirectory() as folder:
        decisions, output = Path(folder) / "decisions.json", Path(folder) / "seconds.json"
        decisions.write_text(json.dumps(asdict(sample)), encoding="utf-8", newline="\n")
        launcher = [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc_per_node",
            str(n_processes),
            "-m",
            "benchmarks.processes",
        ]
        arguments = [
            str(setting.folder.resolve()),
            setting.family,
            mode,
            str(threads),
            str(decisions),
            str(output),
        ]
        environment = {**os.environ, **thread_environment(threads)}
        ended = subprocess.run(
            [*launcher, *arguments],
            cwd=_ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode or not output.is_file():
            raise EvaluatorError(
                f"{n_processes} processes, {mode}: expected seconds, the processes failed:"
                f" {ended.stderr.strip()[-500:]}"
            )
        return float(json.loads(output.read_text(encoding="utf-8")))


def main(folder: str, family: str, mode: str, threads: str, decisions: str, output: str) -> None:
    """Score in one of the processes, and write the seconds in the main one."""
    torch.set_num_threads(int(threads))
    run = ours(mode, distributed=True)(Setting(Path(folder), family, Path(), int(threads)))
    sample = Decisions(**json.loads(Path(decisions).read_text(encoding="utf-8")))
    run(sample.limited(_WARM_UP_PAIRS))
    start = time.perf_counter()
    run(sample)
    if is_main_process():
        Path(output).write_text(
            json.dumps(time.perf_counter() - start), encoding="utf-8", newline="\n"
        )
    leave()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (CCError, UnavailableError) as error:
        raise SystemExit(str(error)) from None
