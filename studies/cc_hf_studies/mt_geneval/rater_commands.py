"""Commands for raters of MT-GenEval: sheets that people fill, and what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import DataDir, OneMetric
from cc_hf.plugins.raters.rater_files import (
    DrawSeed,
    KeyOutput,
    RaterFiles,
    Raters,
    SheetsOutput,
)
from cc_hf_studies.common.sheet_options import Sheets

__all__ = ["build_sheets", "gender_ratings"]


def build_sheets(
    results: Annotated[
        list[Path],
        typer.Argument(
            help=(
                "Results of `cc-hf evaluate mt_geneval contextual_* --output` by gender_accuracy,"
                " one of each system on the same data."
            )
        ),
    ],
    *,
    output: SheetsOutput,
    key: KeyOutput,
    n: Annotated[
        int,
        typer.Option("--n", min=1, help="Number of sources of each of the six sub-categories."),
    ] = 100,
    metric: OneMetric = None,
    raters: Raters = 2,
    seed: DrawSeed = 0,
    data_dir: DataDir = None,
) -> Outcome:
    """Draw translations for raters, and write blind, shuffled sheets with guidelines.

    The method is that of Currey et al. (2022), section 5.1. `cc-hf study mt_geneval
    gender-ratings` reads the filled sheets.

    Example: cc-hf study mt_geneval build-sheets a.json b.json -o sheets --key key.json
    """
    from cc_hf.data.loading import load_examples
    from cc_hf.plugins.raters.drawn_results import results_by_system
    from cc_hf_studies.mt_geneval.ratings import draw_contextual_sample

    files = RaterFiles(output, key, raters, seed)
    judged = results_by_system(results, metric, usual=["gender_accuracy"])
    first = next(iter(judged.values()))
    examples = load_examples(first.declared or first.dataset, first.config, data_dir=data_dir)
    drawn = draw_contextual_sample(judged, examples, n=n, seed=seed)
    return files.outcome(drawn)


def gender_ratings(
    key: Annotated[
        Path, typer.Argument(help="Key that `cc-hf study mt_geneval build-sheets` wrote.")
    ],
    sheets: Sheets,
) -> Outcome:
    """Read the filled sheets of MT-GenEval: accuracy by people, and how well a metric agrees.

    The figures correspond to Currey et al. (2022), Tables 5 and 7: accuracy by the preferred rater,
    who accepts most references, Krippendorff's alpha, and F-scores of the metric's verdicts.

    Example: cc-hf study mt_geneval gender-ratings key.json sheets/rater1.csv sheets/rater2.csv
    """
    from cc_hf.plugins.raters.sheets import SheetKey
    from cc_hf_studies.mt_geneval.ratings import FORM, rate_genders
    from cc_hf_studies.mt_geneval.tables import ratings_json, ratings_tables

    sheet_key = SheetKey.read(key, [FORM])
    ratings = rate_genders(sheet_key, sheet_key.read_sheets(sheets))
    return Outcome(ratings_json(ratings), lambda: ratings_tables(ratings))
