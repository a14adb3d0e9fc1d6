"""The command of the study: decoding time against BLEU and gender accuracy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import (
    CommandGroup,
    NewFile,
    Outcome,
    PictureFile,
    add_command,
)
from cc_hf.plugins.seeds.seeds_command import SystemOptionsFields
from cc_hf.plugins.seeds.system_inputs import SystemOptions
from cc_hf_studies.common.published_command import add_published
from cc_hf_studies.speed.train_commands import train

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Compare decoding time with BLEU and gender accuracy.",
    no_args_is_help=True,
)


def drops(
    systems: Annotated[
        list[Path] | None,
        typer.Argument(
            help=(
                "Table of systems (.csv or .tsv), such as `cc-hf compare --by seed --table` writes:"
                " columns model or system, seconds, bleu, and FoFc, MoFc, MoMc, FoMc in percent;"
                " tgt_lang and part separate several comparisons, seeds are averaged. Or results on"
                " simplegen, with --bleu and --timing. Default: Table 4 of the paper."
            ),
        ),
    ] = None,
    *,
    options: Annotated[
        SystemOptions,
        replace(SystemOptionsFields, rare="", defaults={"metric": "simplegen_accuracy"}),
    ],
    baseline: Annotated[
        str, typer.Option(help="Model that relative drops are measured from.")
    ] = "baseline",
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw drops by the time that is saved: a .svg, .png or .pdf file.",
        ),
        PictureFile(),
    ] = None,
) -> Outcome:
    """Compare decoding time with BLEU and SimpleGEN accuracies, as relative drops and trend lines.

    The method is that of Renduchintala et al. (2021), section 5. The paper's row "max rel. % drop"
    follows no single rule, so both are printed: the drop to the fastest system, and the largest.

    Example: cc-hf study speed drops
    """
    from cc_hf_studies.speed.points import PUBLISHED, speed_json, speed_studies
    from cc_hf_studies.speed.tables import speed_plot, speed_tables

    rows, notes = options.table(systems or [PUBLISHED])
    studies = speed_studies(rows, baseline=baseline)
    files = []
    if plot is not None:
        files.append(NewFile(plot, speed_plot(studies, file_format=PictureFile.format_of(plot))))
    return Outcome(speed_json(studies), lambda: speed_tables(studies), files=files, notes=notes)


add_command(app, "drops", drops)
add_command(app, "train", train)
add_published(app, "speed", "--table 4", Path(__file__).parent)
