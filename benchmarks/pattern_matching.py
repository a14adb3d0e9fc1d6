"""How long WinoMT's pattern matching takes for the translations of a system, and in which stage.

Each system has two processes of its own. In one of them the stages are timed; the other judges the
system as `cc-hf evaluate` does.

python -m benchmarks.pattern_matching --data-dir DIR --output docs/performance.md
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import median
from typing import Annotated, Any, TypeVar

import typer

from benchmarks.children import in_child
from benchmarks.command import run_main
from cc_hf.data.files.translations import read_translations
from cc_hf.errors import MissingDependencyError
from cc_hf.evaluation.evaluate import evaluate
from cc_hf.evaluation.material import load_material
from cc_hf.metrics.figures import summarize
from cc_hf.plugins.timing.machine import load_average
from cc_hf.schema import Judgement
from cc_hf.test_sets.winomt.gender import gender_predictor
from cc_hf.test_sets.winomt.gender_figures import count_cells, gender_figures, gender_intervals
from cc_hf.test_sets.winomt.pattern_matching import WinomtPatternMatching, judge_rows
from cc_hf.text.alignment import space_tokens
from cc_hf.text.fast_align import fast_align

__all__ = ["Stages", "Whole", "main", "measure_stages", "measure_whole", "table"]

_TRANSLATIONS = "gabrielStanovsky/mt_gender/translations/{}.txt"
_SYSTEMS = "aws/en-de,google/en-de,google/en-ru,google/en-uk,google/en-he,google/en-ar,google/en-es"
_CONFIG = "all"
_BLOCK = "pattern-matching"

T = TypeVar("T")


@dataclass(frozen=True)
class Stages:
    """Seconds of the processor in each stage of one process.

    Attributes:
        libraries: start of Python and import of libraries.
        rows: reading the examples and the translations.
        tokens: splitting sources and translations into tokens.
        alignment: estimating the model of fast_align, and aligning.
        genders: loading the rules or dictionaries of the language, and judging each translation.
    """

    libraries: float
    rows: float
    tokens: float
    alignment: float
    genders: float
    figures: float


@dataclass(frozen=True)
class Whole:
    """One system that is judged as `cc-hf evaluate` does.

    Attributes:
        processor: seconds of the processor, with the start of the process.
        seconds: seconds that passed, with the start of the process.
    """

    n: int
    processor: float
    seconds: float


class _Clock:
    """Seconds of the processor by stage."""

    def __init__(self) -> None:
        self.seconds = {"libraries": time.process_time()}

    def timed(self, stage: str, function: Callable[[], T]) -> T:
        """Return what a function returns, and add its seconds to a stage."""
        start = time.process_time()
        returned = function()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.process_time() - start
        return returned


def measure_stages(system: str, data_dir: Path) -> Stages:
    """Return the seconds of each stage for one system of mt_gender, such as "aws/en-de"."""
    clock, lang = _Clock(), system[-2:]
    material = load_material("winomt", _CONFIG, tgt_lang=lang, data_dir=data_dir)
    examples = clock.timed("rows", lambda: material.examples)
    references = clock.timed("rows", lambda: WinomtPatternMatching.references(examples))
    path = data_dir / _TRANSLATIONS.format(system)
    translations = clock.timed("rows", lambda: read_translations(path, examples).translations)
    sources = [reference["source"] for reference in references]
    sides = sources, translations
    tokens = clock.timed("tokens", lambda: [list(map(space_tokens, side)) for side in sides])
    links = clock.timed("alignment", lambda: fast_align(*tokens))
    predictor = clock.timed("genders", lambda: gender_predictor(lang))
    judgements = clock.timed(
        "genders", lambda: judge_rows(translations, references, links, predictor)
    )
    clock.timed("figures", lambda: _compute_figures(judgements, references))
    return Stages(**clock.seconds)


def _compute_figures(
    judgements: Sequence[Judgement], references: Sequence[Mapping[str, Any]]
) -> None:
    summarize(judgements)
    cells = count_cells(
        [judgement.gold for judgement in judgements],
        [reference["stereotype"] for reference in references],
        [judgement.predicted for judgement in judgements],
    )
    gender_figures(cells)
    gender_intervals(cells)


def measure_whole(system: str, data_dir: Path, started: float) -> Whole:
    """Return the seconds of the whole evaluation of a system, from the start of the process on."""
    material = load_material("winomt", _CONFIG, tgt_lang=system[-2:], data_dir=data_dir)
    path = data_dir / _TRANSLATIONS.format(system)
    result = evaluate(material, translations=path, metric="winomt_pattern_matching")
    return Whole(result.n, time.process_time(), time.time() - started)


def table(
    systems: Sequence[str], data_dir: Path, n_rounds: int, launch: Callable[..., Any] = in_child
) -> str:
    """Return a table in Markdown with the medians over the rounds."""
    names = ("sentences", *(stage.name for stage in fields(Stages)), "all", "seconds")
    lines = [f"| system | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    missing = []
    for system in systems:
        try:
            WinomtPatternMatching.check_available(system[-2:])
        except MissingDependencyError as error:
            missing.append(f"- {system}: not measured, {error}")
            continue
        rounds = [_round(system, data_dir, launch) for _ in range(n_rounds)]
        stages = [median(column) for column in zip(*(astuple(s) for s, _ in rounds), strict=True)]
        n, processor, seconds = (
            median(column) for column in zip(*(astuple(w) for _, w in rounds), strict=True)
        )
        cells = [f"{value:.2f}" for value in (*stages, processor, seconds)]
        lines.append(f"| {system} | {n:,.0f} | {' | '.join(cells)} |")
    return "\n".join([*lines, *([""] if missing else []), *missing])


def _round(system: str, data_dir: Path, launch: Callable[..., Any]) -> tuple[Stages, Whole]:
    stages = launch(measure_stages, 1, system, data_dir)
    whole = launch(measure_whole, 1, system, data_dir, time.time())
    return stages, whole


def main(
    data_dir: Annotated[Path, typer.Option(help="Upstream repositories, DIR/owner/repository.")],
    systems: Annotated[
        str, typer.Option(help="Translations in mt_gender, separated by commas.")
    ] = _SYSTEMS,
    rounds: Annotated[int, typer.Option(min=1, help="Each system is measured so often.")] = 3,
    output: Annotated[
        Path | None, typer.Option(help="docs/performance.md, whose table is replaced.")
    ] = None,
) -> None:
    """Measure, print the table, and write it to a document if one is named."""
    load = load_average()
    rows = table(systems.split(","), data_dir, rounds)
    # The measured processes import this module, too, and do not need what these import.
    from benchmarks.documents import measured_on, write_block

    machine = measured_on(1, "cpu", load=load)
    text = f"Measured on {machine}. Medians of {rounds} rounds.\n\n{rows}"
    typer.echo(text)
    write_block(output, _BLOCK, text)


if __name__ == "__main__":
    run_main(main)
