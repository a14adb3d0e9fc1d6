"""The command of the study: decoding time against BLEU and gender accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import CommandGroup
from cc_hf.cli.options import AsJson, Bleu, FiguresOutput
from cc_hf.cli.output import check_output, json_text, print_result, say_written, write_atomically
from cc_hf.cli.system_inputs import Names, SystemOptions, Timing, table_of_systems
from cc_hf.errors import InputError

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Compare decoding time with BLEU and gender accuracy.",
    no_args_is_help=True,
)


@app.command("drops")
def drops(
    systems: Annotated[
        list[Path] | None,
        typer.Argument(
            help=(
                "Table of systems (.csv or .tsv), such as `cc-hf report systems --output` writes:"
                " columns model or system, seconds, bleu, and FoFc, MoFc, MoMc, FoMc in percent;"
                " tgt_lang and part separate several comparisons, seeds are averaged. Or the JSON"
                " files of results on simplegen, with --bleu and --timing."
            ),
        ),
    ] = None,
    name: Names = None,
    bleu: Bleu = None,
    timing: Timing = None,
    metric: Annotated[
        str, typer.Option(help="With files of results: metric to use.")
    ] = "simplegen_accuracy",
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
    from cc_hf.reports.tables.calibrations import check_plot
    from cc_hf.studies.speed.points import PUBLISHED, speed_json, speed_studies
    from cc_hf.studies.speed.tables import speed_plot, speed_tables

    check_output(output)
    check_output(plot, "plot")
    check_plot(plot)
    if bool(systems) == published:
        raise InputError("expected a table of systems or --published, got both or neither")
    options = SystemOptions(name, bleu, timing, metric=metric)
    studies = speed_studies(table_of_systems(systems or [PUBLISHED], options), baseline=baseline)
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
