"""cc-hf build sheets: translations that people judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import Results
from cc_hf.cli.rater_files import (
    DrawSeed,
    KeyOutput,
    Raters,
    SheetsOutput,
    check_rater_files,
    sheets_outcome,
)
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.results import EvaluationResult

__all__ = ["results_by_system", "sheets"]

#: Number of translations of each system in the paper.
_N_TRANSLATIONS = 200


def sheets(
    results: Results,
    *,
    output: SheetsOutput,
    key: KeyOutput,
    n: Annotated[
        str | None,
        typer.Option(
            "--n",
            metavar="NUMBER|WIDTH%",
            help=(
                "Number of translations of each system on the sheets, or all that there are."
                " Default: as in the paper, 200. Or a width such as 10%: as many as the corrected"
                " accuracy of every category needs for an interval of that width, by the labels"
                " that the results have so far."
            ),
        ),
    ] = None,
    rated: Annotated[
        str | None,
        typer.Option(
            help=(
                "Which translations people rate: undecided, those that pattern matching leaves open"
                " (verdicts on the others stand for labels); all, in the ratio of both; or"
                " uncertain, those of which the evaluator is less sure with more probability."
                " Default: as in the paper, undecided for senses, all for genders."
            )
        ),
    ] = None,
    without_corpus: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Corpus from which no sentence is drawn (opensubs in the paper). May be repeated."
            )
        ),
    ] = None,
    earlier: Annotated[
        Path | None,
        typer.Option(
            help=(
                "JSONL file of earlier labels, with the keys id, translation and label_earlier;"
                " their translations are all drawn, and the agreement with them is reported. Only"
                " where all are rated."
            )
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help=(
                "Metric whose verdicts are used, if a file holds those of several. Default: the"
                " one by pattern matching."
            )
        ),
    ] = None,
    raters: Raters = 2,
    seed: DrawSeed = 0,
) -> Outcome:
    """Draw translations, and write sheets on which people label them.

    The sheets are blind and shuffled; the results are those of several systems on mucow, winomt or
    simplegen. The method is that of Vamvas & Sennrich (2021), appendix E. `cc-hf compare --by rater
    --labels` reads the filled sheets and the key.

    Example: cc-hf build sheets tiny.json --metric contrastive_conditioning -o s --key k.json
    """
    from cc_hf.comparing.people.agreement import examples_without_corpora
    from cc_hf.comparing.people.annotations import read_earlier
    from cc_hf.comparing.people.sampling import draw_sample
    from cc_hf.data.loading import load_examples

    check_rater_files(output, key)
    judged = results_by_system(results, metric)
    number, notes = _number(n, judged)
    first = next(iter(judged.values()))
    examples = load_examples(first.declared or first.dataset, first.config)
    population = examples_without_corpora(first, without_corpus) if without_corpus else None
    drawn = draw_sample(
        judged,
        examples,
        n=number,
        rated=rated,
        population=population,
        earlier=None if earlier is None else read_earlier(earlier),
        seed=seed,
    )
    outcome = sheets_outcome(drawn, output, key, n_raters=raters, seed=seed)
    return replace(outcome, notes=[*outcome.notes, *notes])


def _number(n: str | None, judged: Mapping[str, EvaluationResult]) -> tuple[int, list[str]]:
    """Return how many translations of each system are drawn, and notes on what they are for."""
    if n is None:
        return _N_TRANSLATIONS, []
    text = n.strip()
    width = text.removesuffix("%")
    if text.isascii() and text.isdigit() and int(text):
        return int(text), []
    if width == text or not width.replace(".", "", 1).isdigit():
        raise InputError(f"n: expected a whole number from 1, or a width such as 10%, got {n!r}")
    from cc_hf.evaluation.correction import labels_for_width

    number, notes = 1, []
    for system, result in judged.items():
        needed = labels_for_width(result, float(width) / 100)
        sizes = Counter(j.category for j in result.judgements)
        number = max(number, *(math.ceil(k * result.n / sizes[c]) for c, k in needed.items()))
        listed = ", ".join(f"{k:,} of {category}" for category, k in needed.items())
        notes.append(f"{system}: intervals of {text} need {listed}")
    return number, notes


def results_by_system(
    paths: list[Path], metric: str | None, *, usual: Sequence[str] = ()
) -> dict[str, EvaluationResult]:
    """Return the result of each file by one metric, by name of the system.

    Args:
        paths: files of results on a dataset of cc_hf.
        metric: the metric; None for the only one of the usual ones that a file has.
        usual: the usual metrics; none for all by pattern matching.
    """
    from cc_hf.data.files.result_files import read_result_file, system_names

    chosen = []
    for path in paths:
        results = read_result_file(path).results
        fitting = [
            result
            for result in results
            if result.metric == metric or (metric is None and _is_usual(result.metric, usual))
        ]
        if len(fitting) != 1:
            raise InputError(
                f"metric: {path}: expected one result by {metric or 'pattern matching'}, got"
                f" {', '.join(r.metric for r in fitting) or 'none'} among"
                f" {', '.join(r.metric for r in results)}; name a metric"
            )
        if not fitting[0].dataset:
            raise InputError(
                "results: expected those on a dataset of cc_hf, got one on your own data"
            )
        chosen.append((path, fitting[0]))
    names = system_names(chosen)
    if len(set(names)) < len(names):
        raise InputError(
            f"results: expected those of different systems, got {', '.join(names)}; give one file"
            " for each, with a name of its own"
        )
    return {name: result for name, (_, result) in zip(names, chosen, strict=True)}


def _is_usual(metric: str, usual: Sequence[str]) -> bool:
    if usual:
        return metric in usual
    return metric.endswith("_pattern_matching") or metric == "simplegen_accuracy"
