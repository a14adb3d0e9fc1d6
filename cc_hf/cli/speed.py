"""cc-hf analyze speed: decoding time against BLEU and gender accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.options import AsJson, FiguresOutput
from cc_hf.cli.output import check_output, json_text, print_result, say_written, write_atomically
from cc_hf.errors import InputError

__all__ = ["speed"]


def speed(
    systems: Annotated[
        Path | None,
        typer.Argument(
            help=(
                "Table of systems (.csv or .tsv): columns model, seconds, bleu, and FoFc, MoFc,"
                " MoMc, FoMc in percent; tgt_lang and part separate several comparisons."
            ),
        ),
    ] = None,
    baseline: Annotated[
        str, typer.Option(help="Model that relative drops are measured from.")
    ] = "baseline",
    published: Annotated[
        bool,
        typer.Option("--published", help="Use Table 4 of Renduchintala et al. (2021), not a file."),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw drops by the time that is saved: a .svg, .png or .pdf file."),
    ] = None,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """Compare decoding time with BLEU and SimpleGEN accuracies, as relative drops and trend lines.

    The method is that of Renduchintala et al. (2021), section 5. The paper's row "max rel. % drop"
    follows no single rule, so both are printed: the drop to the fastest system, and the largest.
    """
    from cc_hf.reports.studies.calibrations import check_plot
    from cc_hf.reports.studies.speed import speed_plot, speed_tables
    from cc_hf.studies.speed.points import PUBLISHED, speed_json, speed_studies
    from cc_hf.studies.system_table import read_system_table

    check_output(output)
    check_output(plot, "plot")
    check_plot(plot)
    if (systems is None) != published:
        raise InputError("expected a table of systems or --published, got both or neither")
    studies = speed_studies(read_system_table(systems or PUBLISHED), baseline=baseline)
    if plot is not None:
        picture = speed_plot(studies, file_format=plot.suffix.lower().removeprefix("."))
        write_atomically(plot, picture)
    print_result(
        as_json,
        json_text(speed_json(studies)),
        lambda: [speed_tables(studies)],
        output=output,
    )
    say_written(output)
    say_written(plot)
