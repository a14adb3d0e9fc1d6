"""Commands that regress scores of systems, and show the systems of the case study."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.errors import InputError
from cc_hf.plugins.seeds.seeds_command import (
    Figures,
    Means,
    SystemOptionsFields,
    SystemsPlot,
    SystemTable,
    systems_outcome,
)
from cc_hf.plugins.seeds.system_inputs import SystemOptions
from cc_hf.reading import pairs_of

__all__ = ["regression", "systems"]


def regression(
    systems: Annotated[
        list[Path] | None,
        typer.Argument(
            help=(
                "Table of systems: a CSV or TSV file whose first line names the columns, such as"
                " `cc-hf compare --by seed --table` writes; or the JSON files of results, from"
                " which that table is made."
            ),
        ),
    ] = None,
    *,
    dependent: Annotated[
        str | None, typer.Option(help="Column that the regression explains, such as min_accuracy.")
    ] = None,
    independent: Annotated[
        list[str] | None,
        typer.Option(
            help="Column that explains it: numbers, or 1 and 0 for yes and no. May be repeated."
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Use only the rows with this value in this column. May be repeated.",
        ),
    ] = None,
    options: Annotated[SystemOptions, SystemOptionsFields],
) -> Outcome:
    """Regress a score of systems on other columns by least squares.

    Each coefficient has a standard error, an interval and a p-value. Figures are in percent, BLEU
    in points; each seed of a system is a row. Without a file, the four regressions of the case
    study are computed (Vamvas & Sennrich 2021, Table 3), and shown beside the printed ones.

    Example: cc-hf study distillation regression
    """
    from cc_hf_studies.common.system_columns import regress, select_systems
    from cc_hf_studies.distillation.case_study import case_study_regressions
    from cc_hf_studies.distillation.regression_tables import (
        published_regression_tables,
        regression_tables,
    )

    if not systems:
        if dependent or independent or where or options != SystemOptions():
            raise InputError("expected FILE ... with options, got options alone")
        blocks = case_study_regressions()
        regressions = [{"published": asdict(block), **asdict(fit)} for block, fit in blocks]
        return Outcome({"regressions": regressions}, lambda: published_regression_tables(blocks))
    if not dependent or not independent:
        raise InputError("expected --dependent COLUMN --independent COLUMN ... with files")
    rows, notes = options.table(systems)
    fit = regress(
        select_systems(rows, pairs_of(where, "where")) if where else rows, dependent, independent
    )
    return Outcome(asdict(fit), lambda: regression_tables(fit), notes=notes)


def systems(
    *,
    figure: Figures = None,
    weighted: Annotated[
        bool,
        typer.Option(
            "--weighted",
            help="Print and draw weighted accuracies, where a metric has them.",
            hidden=True,
        ),
    ] = False,
    table: SystemTable = None,
    means: Means = None,
    plot: SystemsPlot = None,
    each_seed: Annotated[
        bool,
        typer.Option(
            "--each-seed",
            help="Draw each seed by itself, not the means over seeds.",
            hidden=True,
        ),
    ] = False,
) -> Outcome:
    """Make the table of the systems of the case study.

    It is as that of `cc-hf compare --by seed`. The systems are those of Vamvas & Sennrich (2021),
    appendix H. Their accuracies are weighted.

    Example: cc-hf study distillation systems --table systems.tsv
    """
    from cc_hf_studies.distillation.case_study import case_study_systems

    return systems_outcome(
        case_study_systems(),
        figure=figure,
        weighted=weighted,
        plot=plot,
        each_seed=each_seed,
        table=table,
        means=means,
    )
