"""How fast and how exact scoring is, on models of real size with random weights.

The program writes the tables of docs/performance.md.

python -m benchmarks.scoring --data-dir DIR --output docs/performance.md
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.alternatives import ALTERNATIVES
from benchmarks.children import in_child
from benchmarks.command import run_main
from benchmarks.documents import IDLE, check_block, measured_on, write_block
from benchmarks.machine import busy_cores, kernels
from benchmarks.measure import Measured, measure, prepare
from benchmarks.models import FOLDER, SIZES, ModelSize
from benchmarks.processes import Comparison, compare_processes
from benchmarks.report import as_json, processes_table, scoring_tables
from benchmarks.texts import DATASETS, Decisions, read_decisions
from cc_hf.errors import InputError
from cc_hf.plugins.timing.machine import cpu_count, load_average
from cc_hf.systems.machine import wait_briefly

_MODES = ("exact", "bf16", "int8", "auto")
_CORES = cpu_count()


def main(
    sizes: Annotated[
        str, typer.Option(help=f"Models, separated by commas: {', '.join(SIZES)}.")
    ] = ",".join(SIZES),
    data: Annotated[
        str, typer.Option(help=f"Pairs, separated by commas: {', '.join(DATASETS)}.")
    ] = "winomt,mucow",
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Upstream repositories, DIR/owner/repository/path. Else CC_HF_DATA_DIR."),
    ] = None,
    alternatives: Annotated[
        str, typer.Option(help="Ways of scoring, separated by commas.")
    ] = ",".join(ALTERNATIVES),
    pairs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Pairs per dataset and round. Default: a number that suits the model."
        ),
    ] = None,
    rounds: Annotated[
        int, typer.Option(min=1, help="Each way runs once per round; figures are medians.")
    ] = 5,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the CPU.")] = _CORES,
    device: Annotated[
        str, typer.Option(help="cpu, or cuda for the ways of scoring that run on a GPU.")
    ] = "cpu",
    processes: Annotated[
        bool,
        typer.Option(
            "--processes",
            help="Compare as many processes as threads with one process that has all threads.",
        ),
    ] = False,
    busy: Annotated[
        int,
        typer.Option(min=0, help="Other processes that compute all the time, started by this one."),
    ] = 0,
    modes: Annotated[
        str, typer.Option(help="Modes that --processes compares, separated by commas.")
    ] = "exact,bf16",
    folder: Annotated[
        Path, typer.Option(help="Folder of the models, which are kept: 10 GB.")
    ] = FOLDER,
    output: Annotated[
        Path | None,
        typer.Option(help="A document with blocks between markers, such as docs/performance.md."),
    ] = None,
    block: Annotated[
        str | None,
        typer.Option(
            help=(
                "Block of the document; default: scoring-cpu-MODEL, scoring-gpu-MODEL or"
                " scoring-processes."
            )
        ),
    ] = None,
    json_output: Annotated[
        Path | None, typer.Option("--json", help="All figures, unrounded.")
    ] = None,
) -> None:
    """Measure scoring, print the tables, and write them to a document if one is named."""
    wait_briefly()  # as the command line does; the processes of this program inherit it
    chosen = {name: SIZES[name] for name in _listed("sizes", sizes, SIZES)}
    names = _listed("alternatives", alternatives, ALTERNATIVES)
    decisions = [read_decisions(name, data_dir) for name in _listed("data", data, DATASETS)]
    blocks = {
        name: (
            block
            or (
                "scoring-processes"
                if processes
                else f"scoring-{'cpu' if device == 'cpu' else 'gpu'}-{name}"
            )
        )
        for name in chosen
    }
    for block_name in blocks.values():
        check_block(output, block_name)
    load = load_average()
    machine = measured_on(threads, device, load=load)
    if load > IDLE:
        _tell(
            f"the machine is not idle (load {load:.1f}): figures of this run will be too low and"
            " uneven; the tables will say so"
        )
    if device == "cpu":
        names_of_kernels = ", ".join(f"{mode} {name}" for mode, name in kernels().items())
        machine += f"; kernels of oneDNN: {names_of_kernels or 'none'}"
    if busy:
        machine += f"; beside {busy} other processes that compute all the time"
    models: list[Measured] = []
    comparisons: list[Comparison] = []
    texts: dict[str, str] = {}
    # Tables are written model by model, so that those of earlier models are kept if one fails.
    for name, size in chosen.items():
        n_pairs = pairs or size.n_pairs
        with busy_cores(busy):
            if processes:
                comparisons += _compared(
                    size,
                    decisions,
                    _listed("modes", modes, _MODES),
                    folder=folder,
                    threads=threads,
                    n_pairs=n_pairs,
                    n_rounds=rounds,
                )
            else:
                models.append(
                    measure(
                        size,
                        decisions,
                        folder=folder,
                        names=names,
                        n_pairs=n_pairs,
                        n_rounds=rounds,
                        threads=threads,
                        device=device,
                        tell=_tell,
                    )
                )
        of_block = [
            measured
            for other, measured in zip(list(chosen)[: len(models)], models, strict=True)
            if blocks[other] == blocks[name]
        ]
        texts[blocks[name]] = (
            processes_table(comparisons, machine)
            if processes
            else scoring_tables(of_block, machine)
        )
        write_block(output, blocks[name], texts[blocks[name]])
        if json_output is not None:
            json_output.write_text(
                json.dumps(as_json(models, comparisons, machine), indent=1, allow_nan=False),
                encoding="utf-8",
                newline="\n",
            )
    typer.echo("\n\n".join(texts.values()))


def _compared(
    size: ModelSize,
    data: Sequence[Decisions],
    modes: Sequence[str],
    *,
    folder: Path,
    threads: int,
    n_pairs: int,
    n_rounds: int,
) -> list[Comparison]:
    """Return the comparison of processes in each mode, on the first dataset."""
    if threads < 2:
        raise InputError(f"--processes: expected --threads 2 or more, got {threads}")
    setting = in_child(prepare, threads, size, folder, list(data), threads, "cpu")
    title = size.title.partition(" (")[0]
    return [
        compare_processes(
            setting, data[0], mode, title=title, n_pairs=n_pairs, n_rounds=n_rounds, tell=_tell
        )
        for mode in modes
    ]


def _listed(option: str, text: str, known: Iterable[str]) -> list[str]:
    """Return the names in a text separated by commas."""
    names, allowed = [name.strip() for name in text.split(",") if name.strip()], list(known)
    if not names or set(names) - set(allowed):
        raise InputError(
            f"--{option}: expected some of {', '.join(allowed)}, separated by commas, got {text!r}"
        )
    return names


def _tell(line: str) -> None:
    typer.echo(line, err=True)


if __name__ == "__main__":
    run_main(main)
