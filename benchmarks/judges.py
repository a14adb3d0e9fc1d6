"""What a verdict of each judge that needs no download costs, beside that of the embedded one.

Each judges the same first sentences of WinoMT, as one system translated them into its language, by
`cc_hf.evaluate`; a dictionary judges alone (`gender_reading`). Processor time is counted, also that
of programs called.

python -m benchmarks.judges --data-dir DIR --output judges/README.md
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import torch
import typer

import cc_hf
from benchmarks.command import run_main
from benchmarks.documents import measured_on, write_block
from benchmarks.students import student_folder
from cc_hf import registry
from cc_hf.data.files.translations import read_translations
from cc_hf.plugins.gender_reading.rules import RULES
from cc_hf.plugins.timing.machine import cpu_count, load_average

__all__ = ["judges", "main", "table"]

_JUDGES = Path(__file__).parent.parent / "judges/cc_hf_judges"
_BASELINE = "cc-tiny-en-de"
_TRANSLATIONS = "gabrielStanovsky/mt_gender/translations/aws/en-{}.txt"
_OF_PT = "ramos-ai/winopt/translations/aws/en-pt.txt"


def judges() -> Iterator[tuple[str, str, Path]]:
    """Yield the name, the language pair and the folder of each."""
    yield _BASELINE, "en-de", registry.resolve("evaluator", _BASELINE).path
    for path in sorted(_JUDGES.glob("cc-tiny-*/")):
        yield path.name, path.name.removeprefix("cc-tiny-"), path
    yield "bergamot:en-pt", "en-pt", student_folder("enpt")


def _ways(data_dir: Path, n: int) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Yield name, size in MB and a call that judges `n` translations."""
    for name, pair, folder in judges():
        lang = pair.partition("-")[2]
        material = cc_hf.load_material("winomt", tgt_lang=lang, data_dir=data_dir, limit=n)
        path = data_dir / (_OF_PT if lang == "pt" else _TRANSLATIONS.format(lang))
        translations = read_translations(path, material.examples).translations
        judge = partial(cc_hf.evaluate, material, translations=translations)
        megabytes = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        evaluator = cc_hf.load_evaluator(folder, src_lang="en", tgt_lang=lang)
        yield f"`{name}`", f"{megabytes:.1f}", partial(judge, evaluator=evaluator)
        if lang in RULES:
            yield f"dictionary alone, {pair}", "", partial(judge, metric="gender_reading")


def _processor_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def table(data_dir: Path, n: int, n_rounds: int) -> str:
    """Return a table in Markdown of what was measured."""
    ways = [*_ways(data_dir, n)]
    seconds: list[list[float]] = [[] for _ in ways]
    for number in range(n_rounds):
        turns = [*range(len(ways))]
        for i in turns[number % len(turns) :] + turns[: number % len(turns)]:
            start = _processor_seconds()
            ways[i][2]()
            seconds[i].append(_processor_seconds() - start)
    lines = ["| judge | size, MB | processor time, ratio |", "|---|--:|--:|"]
    for (name, size, _), taken in zip(ways, seconds, strict=True):
        ratio = median(other / first for other, first in zip(taken, seconds[0], strict=True))
        lines.append(f"| {name} | {size} | {ratio:.2f} |")
    return "\n".join(lines)


def main(
    data_dir: Annotated[Path, typer.Option(help="Upstream repositories, DIR/owner/repository.")],
    examples: Annotated[int, typer.Option(min=1, help="Sentences that each judges.")] = 400,
    rounds: Annotated[int, typer.Option(min=1, help="Each way runs once per round.")] = 5,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the CPU.")] = cpu_count(),
    output: Annotated[Path | None, typer.Option(help="A document with the block.")] = None,
) -> None:
    """Measure the judges, print the table, and write it to a document if one is named."""
    torch.set_num_threads(threads)
    machine = measured_on(threads, "cpu", load=load_average())
    text = (
        f"Measured on {machine}. {rounds} rounds of {examples} sentences of WinoMT.\n\n"
        f"{table(data_dir, examples, rounds)}"
    )
    typer.echo(text)
    write_block(output, "cost", text)


if __name__ == "__main__":
    run_main(main)
