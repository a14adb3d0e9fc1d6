"""cc-hf build sheets: translations that people judge."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import Results
from cc_hf.plugins.raters.rater_files import (
    DrawSeed,
    KeyOutput,
    RaterFiles,
    Raters,
    SheetsOutput,
)

__all__ = ["sheets"]

_ANSWERS = "annotations.json"  # as the dashboard of Pearmut names it


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
    --labels` reads the filled sheets, or the answers to a campaign of Pearmut, and the key.

    Example: cc-hf build sheets tiny.json --metric contrastive_conditioning -o s --key k.json
    """
    from cc_hf.data.loading import load_examples
    from cc_hf.plugins.raters.drawn_results import (
        examples_without_corpora,
        n_of_systems,
        read_earlier,
        results_by_system,
    )
    from cc_hf.plugins.raters.sampling import draw_sample

    files = RaterFiles(output, key, raters, seed)
    judged = results_by_system(results, metric)
    number, notes = n_of_systems(n, judged)
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
    outcome = files.outcome(drawn)
    sheets = [path for file in outcome.files if (path := str(file.path)).endswith(".csv")]
    labels = [word for path in (str(key), *(sheets or [_ANSWERS])) for word in ("--labels", path)]
    command = shlex.join(["cc-hf", "compare", "--by", "rater", *map(str, results), *labels])
    when = "the sheets are filled" if sheets else f"{_ANSWERS} is downloaded from Pearmut"
    return replace(outcome, notes=[*outcome.notes, f"when {when}: {command}", *notes])
