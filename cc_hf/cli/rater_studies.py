"""cc-hf analyze rater-sheets, gender-ratings: translations that people judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.options import AsJson, DataDir, FiguresOutput, Quiet
from cc_hf.cli.output import check_output, json_text, print_result
from cc_hf.cli.rater_files import (
    DrawSeed,
    KeyOutput,
    Raters,
    Sheets,
    SheetsOutput,
    TableKind,
    check_rater_files,
    write_rater_files,
)
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.results import EvaluationResult
    from cc_hf.comparing.people.sheets import SheetKey

__all__ = ["gender_ratings", "rater_sheets"]

_MT_GENEVAL = "mt_geneval"
#: Number of translations of each system, and of sources of each sub-category, in the papers.
_N_TRANSLATIONS, _N_SOURCES = 200, 100


def rater_sheets(
    results: Annotated[
        list[Path],
        typer.Argument(
            help=(
                "JSON files that `cc-hf evaluate --output` wrote, one of each system on the same"
                " data: mucow, winomt or simplegen with pattern matching, or contextual_* of"
                " mt_geneval with gender_accuracy."
            )
        ),
    ],
    output: SheetsOutput,
    key: KeyOutput,
    n: Annotated[
        int | None,
        typer.Option(
            "--n",
            min=1,
            help=(
                "Number of translations of each system on the sheets, or all that there are; for"
                " mt_geneval, number of sources of each of the six sub-categories. Default: as in"
                " the papers, 200, and 100 for mt_geneval."
            ),
        ),
    ] = None,
    rated: Annotated[
        str | None,
        typer.Option(
            help=(
                "Which translations people rate: undecided, those that pattern matching leaves open"
                " (verdicts on the others stand for labels), or all, in the ratio of both."
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
                " one by pattern matching, or gender_accuracy."
            )
        ),
    ] = None,
    raters: Raters = 2,
    table: TableKind = "csv",
    seed: DrawSeed = 0,
    data_dir: DataDir = None,
    quiet: Quiet = False,
) -> None:
    """Draw translations for raters, and write blind, shuffled sheets with guidelines.

    The methods are those of Vamvas & Sennrich (2021), appendix E, and, for mt_geneval, of Currey et
    al. (2022), section 5.1. `cc-hf analyze human-agreement --key` reads the filled sheets, and
    `cc-hf analyze gender-ratings` those of mt_geneval.
    """
    from cc_hf.data.loading import load_examples
    from cc_hf.comparing.people.agreement import examples_without_corpora
    from cc_hf.comparing.people.annotations import read_earlier
    from cc_hf.comparing.people.sampling import draw_sample
    from cc_hf.studies.mt_geneval.ratings import draw_contextual_sample

    check_rater_files(output, key)
    judged = _by_system(results, metric)
    first = next(iter(judged.values()))
    if not first.dataset:
        raise InputError("results: expected those on a dataset of cc_hf, got one on your own data")
    examples = load_examples(first.dataset, first.config, data_dir=data_dir)
    drawn: SheetKey
    if first.dataset == _MT_GENEVAL:
        if rated or without_corpus or earlier:
            raise InputError("rated, without_corpus, earlier: not for mt_geneval; omit them")
        drawn = draw_contextual_sample(judged, examples, n=n or _N_SOURCES, seed=seed)
    else:
        population = (
            examples_without_corpora(first, without_corpus, data_dir=data_dir)
            if without_corpus
            else None
        )
        drawn = draw_sample(
            judged,
            examples,
            n=n or _N_TRANSLATIONS,
            rated=rated,
            population=population,
            earlier=None if earlier is None else read_earlier(earlier),
            seed=seed,
        )
    write_rater_files(drawn, output, key, n_raters=raters, table=table, seed=seed, quiet=quiet)


def _by_system(paths: list[Path], metric: str | None) -> dict[str, EvaluationResult]:
    """Return the result of each file by the metric, by name of the system."""
    from cc_hf.data.files.result_files import read_result_file, system_names

    chosen = []
    for path in paths:
        results = read_result_file(path).results
        fitting = [
            result
            for result in results
            if result.metric == metric or (metric is None and _is_usual(result))
        ]
        if len(fitting) != 1:
            raise InputError(
                f"metric: {path}: expected one result by {metric or 'pattern matching'}, got"
                f" {', '.join(r.metric for r in fitting) or 'none'} among"
                f" {', '.join(r.metric for r in results)}; name a metric"
            )
        chosen.append((path, fitting[0]))
    names = system_names(chosen)
    if len(set(names)) < len(names):
        raise InputError(
            f"results: expected those of different systems, got {', '.join(names)}; give one file"
            " for each, with a name of its own"
        )
    return {name: result for name, (_, result) in zip(names, chosen, strict=True)}


def _is_usual(result: EvaluationResult) -> bool:
    if result.dataset == _MT_GENEVAL:
        return result.metric == "gender_accuracy"
    return result.metric.endswith("_pattern_matching") or result.metric == "simplegen_accuracy"


def gender_ratings(
    key: Annotated[
        Path, typer.Argument(help="Key that `cc-hf analyze rater-sheets` wrote for mt_geneval.")
    ],
    sheets: Sheets,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """Read the filled sheets of MT-GenEval: accuracy by people, and how well a metric agrees.

    The figures correspond to Currey et al. (2022), Tables 5 and 7: accuracy by the preferred rater,
    who accepts most references, Krippendorff's alpha, and F-scores of the metric's verdicts.
    """
    from cc_hf.studies.mt_geneval.tables import ratings_json, ratings_tables
    from cc_hf.studies.mt_geneval.ratings import FORM, rate_genders
    from cc_hf.comparing.people.sheets import read_key, read_sheets

    check_output(output)
    sheet_key = read_key(key, [FORM])
    ratings = rate_genders(sheet_key, read_sheets(sheets, sheet_key))
    print_result(
        as_json,
        json_text(ratings_json(ratings)),
        lambda: [ratings_tables(ratings)],
        output=output,
    )
