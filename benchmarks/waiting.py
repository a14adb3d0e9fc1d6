"""How fast scoring is by how threads share the work and wait for each other, on an idle machine and
on a busy one.

python -m benchmarks.waiting --data-dir DIR --output docs/performance.md
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Annotated, Any
from unittest.mock import patch

import typer

from benchmarks.children import in_child
from benchmarks.command import run_main
from cc_hf.plugins.timing.machine import cpu_count, load_average

__all__ = ["WAYS", "main", "table"]

_MODEL = "cc-tiny-en-de"
_BLOCK = "waiting-threads"
_WARM_UP_PAIRS = 32
_VARIABLES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
_BRIEF = {"GOMP_SPINCOUNT": "10000"}
#: Title -> whether batches are computed beside each other, and variables of the environment.
WAYS: dict[str, tuple[bool, Mapping[str, str]]] = {
    "batches beside each other": (True, {}),
    "batches beside each other, `GOMP_SPINCOUNT=10000`": (True, _BRIEF),
    "one batch after the other": (False, {}),
    "one batch after the other, `GOMP_SPINCOUNT=10000`": (False, _BRIEF),
    "one batch after the other, `OMP_WAIT_POLICY=PASSIVE`": (False, {"OMP_WAIT_POLICY": "PASSIVE"}),
}


def _rate(mode: str, data_dir: Path, n_pairs: int, threads: int, has_lanes: bool) -> float:
    """Return the pairs of WinoMT that are scored per second, without loading."""
    # Imported here: OpenMP reads the environment when torch is imported, in a process of its own.
    import torch

    from benchmarks.texts import read_decisions
    from cc_hf.evaluators.fast import lanes
    from cc_hf.evaluators.loading import load_evaluator

    torch.set_num_threads(threads)
    decisions = read_decisions("winomt", data_dir)
    evaluator = load_evaluator(_MODEL, mode=mode, cache=False, device="cpu")
    evaluator.score(decisions.limited(_WARM_UP_PAIRS).requests, src_lang="en", tgt_lang="de")
    requests = decisions.limited(n_pairs).requests
    with contextlib.nullcontext() if has_lanes else patch.object(lanes, "MOST_LANES", 1):
        start = time.perf_counter()
        evaluator.score(requests, src_lang="en", tgt_lang="de")
        return len(requests) / (time.perf_counter() - start)


def table(
    modes: list[str],
    data_dir: Path,
    *,
    n_pairs: int,
    n_rounds: int,
    threads: int,
    n_busy: int,
    launch: Callable[..., Any] = in_child,
) -> str:
    """Return a table in Markdown with pairs per second, medians over the rounds; beside other
    processes also how many times as long a pair takes.

    Args:
        n_pairs: number of pairs on the idle machine; a quarter of them on the busy one.
        n_busy: number of other processes that compute all the time.
    """
    from benchmarks.machine import busy_cores

    cells: dict[tuple[str, str, int], list[float]] = {}
    for _ in range(n_rounds):
        for busy in (0, n_busy):
            with busy_cores(busy):
                for way, (has_lanes, variables) in WAYS.items():
                    others = {k: v for k, v in os.environ.items() if k not in _VARIABLES}
                    with patch.dict(os.environ, {**others, **variables}, clear=True):
                        for mode in modes:
                            n = max(2, n_pairs // 4) if busy else n_pairs
                            rate = launch(_rate, threads, mode, data_dir, n, threads, has_lanes)
                            cells.setdefault((way, mode, busy), []).append(rate)
    heads = [f"{mode}{', busy' if busy else ''}" for busy in (0, n_busy) for mode in modes]
    lines = [f"| threads | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    for way in WAYS:
        idle, busy_rates = ([median(cells[way, mode, n]) for mode in modes] for n in (0, n_busy))
        rates = [f"{rate:,.0f}" for rate in idle]
        rates += [f"{b:,.0f} ({i / b:.1f} ×)" for i, b in zip(idle, busy_rates, strict=True)]
        lines.append(f"| {way} | {' | '.join(rates)} |")
    return "\n".join(lines)


def main(
    data_dir: Annotated[Path, typer.Option(help="Upstream repositories, DIR/owner/repository.")],
    modes: Annotated[str, typer.Option(help="Modes, separated by commas.")] = "exact,bf16",
    pairs: Annotated[int, typer.Option(min=2, help="Pairs on the idle machine.")] = 1024,
    rounds: Annotated[int, typer.Option(min=1, help="Each way is measured so often.")] = 3,
    threads: Annotated[int, typer.Option(min=1, help="Threads of torch.")] = cpu_count(),
    busy: Annotated[int, typer.Option(min=1, help="Other processes on the busy machine.")] = 2,
    output: Annotated[
        Path | None, typer.Option(help="docs/performance.md, whose table is replaced.")
    ] = None,
) -> None:
    """Measure, print the table, and write it to a document if one is named."""
    load = load_average()
    from benchmarks.documents import measured_on, write_block

    rows = table(
        *(modes.split(","), data_dir),
        n_pairs=pairs,
        n_rounds=rounds,
        threads=threads,
        n_busy=busy,
    )
    which = "1 round" if rounds == 1 else f"medians of {rounds} rounds"
    text = (
        f"Measured on {measured_on(threads, 'cpu', load=load)}. Pairs of WinoMT per second with the"
        f" embedded evaluator, {which} of {pairs:,} pairs (busy: {pairs // 4:,}"
        f" beside {busy} other processes that compute all the time; in brackets how many times as"
        f" long a pair takes then).\n\n{rows}"
    )
    typer.echo(text)
    write_block(output, _BLOCK, text)


if __name__ == "__main__":
    run_main(main)
