"""Commands that regress scores of systems, and show the systems of the case study."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.options import AsJson, Bleu, FiguresOutput, OneMetric, pairs_of
from cc_hf.cli.output import check_output, json_text, print_result
from cc_hf.cli.report_systems import (
    BySeed,
    Figures,
    Means,
    SystemsPlot,
    SystemTable,
    Weighted,
    check_systems_files,
    show_systems,
)
from cc_hf.cli.system_inputs import (
    Group,
    Names,
    SeqKD,
    Size,
    SystemOptions,
    Timing,
    table_of_systems,
)
from cc_hf.errors import InputError

__all__ = ["regression", "systems"]


def regression(
    systems: Annotated[
        list[Path] | None,
        typer.Argument(
            help=(
                "Table of systems: a CSV or TSV file whose first line names the columns, such as"
                " `cc-hf report systems --output` writes; or the JSON files of results, from which"
                " that table is made."
            ),
        ),
    ] = None,
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
    name: Names = None,
    bleu: Bleu = None,
    timing: Timing = None,
    group: Group = None,
    size: Size = None,
    seqkd: SeqKD = None,
    metric: OneMetric = None,
    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help=(
                "Compute the four regressions of the case study (Vamvas & Sennrich 2021, Table"
                " 3), without a file."
            ),
        ),
    ] = False,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """Regress a score of systems on other columns by least squares.

    Each coefficient has a standard error, an interval and a p-value. Figures are in percent, BLEU
    in points; each seed of a system is a row.
    """
    from cc_hf.comparing.system_table import regress, select_systems
    from cc_hf.studies.distillation.case_study import case_study_regressions
    from cc_hf.studies.distillation.regression_tables import (
        published_regression_tables,
        regression_tables,
    )

    check_output(output)
    options = SystemOptions(name, bleu, timing, group, size, seqkd, metric)
    if published:
        if systems or dependent or independent or where or options != SystemOptions():
            raise InputError(
                "--published: expected neither files nor columns, because it has its own"
            )
        blocks = case_study_regressions()
        regressions = [{"published": asdict(block), **asdict(fit)} for block, fit in blocks]
        print_result(
            as_json,
            json_text({"regressions": regressions}),
            lambda: [published_regression_tables(blocks)],
            output=output,
        )
        return
    if not systems or not dependent or not independent:
        raise InputError(
            "expected FILE ... --dependent COLUMN --independent COLUMN ..., or --published"
        )
    rows = table_of_systems(systems, options)
    fit = regress(
        select_systems(rows, pairs_of(where, "--where")) if where else rows, dependent, independent
    )
    print_result(as_json, json_text(asdict(fit)), lambda: [regression_tables(fit)], output=output)


def systems(
    figure: Figures = None,
    weighted: Weighted = False,
    plot: SystemsPlot = None,
    by_seed: BySeed = False,
    output: SystemTable = None,
    means: Means = None,
    as_json: AsJson = False,
) -> None:
    """Make the table of the systems of the case study, as `cc-hf report systems` does of results.

    The systems are those of Vamvas & Sennrich (2021), appendix H. Their accuracies are weighted.
    """
    from cc_hf.studies.distillation.case_study import case_study_systems

    check_systems_files(output, plot, means)
    show_systems(
        case_study_systems(),
        figure=figure,
        weighted=weighted,
        plot=plot,
        by_seed=by_seed,
        output=output,
        means=means,
        as_json=as_json,
    )
