"""cc-hf study lexical_shortcuts train and curve: transformers with shortcuts, or without."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, PictureFile
from cc_hf.errors import check_choice
from cc_hf_studies.common.scratch.options import TrainingOptions
from cc_hf_studies.common.scratch_command import (
    DevPairs,
    TestSources,
    TestTargets,
    TrainingFields,
    TrainingFolder,
    TrainPairs,
    trained,
)
from cc_hf_studies.lexical_shortcuts.variants import VARIANTS, WARMUP

__all__ = ["curve", "train"]


def train(
    *,
    train: TrainPairs,
    dev: DevPairs,
    test_source: TestSources = None,
    test_target: TestTargets = None,
    output: TrainingFolder,
    shortcut: Annotated[
        str,
        typer.Option(
            help=(
                "Form of the shortcuts: none, lexical (gates, with projections of their own),"
                " fusion (one projection reads embeddings and states), or residual (added without"
                " gates)."
            )
        ),
    ] = "lexical",
    variant: Annotated[
        str,
        typer.Option(
            help=(
                "Where the shortcuts are: self (self-attention of both sides), encoder or decoder"
                " (of one side), cross (attention over the source), both (self and cross), or"
                " non-lexical (as self, but from the layer two below)."
            )
        ),
    ] = "self",
    average: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of last checkpoints whose mean is the model; 1 for the best checkpoint.",
        ),
    ] = 5,
    options: Annotated[
        TrainingOptions,
        replace(
            TrainingFields,
            defaults={
                **TrainingFields.defaults,
                "size": "transformer-base",
                "steps": 150_000,
                "max_tokens": 100,
                "dropout": 0.1,
                "warmup": None,
                "patience": 10,
                "choose_by": "loss",
                "beams": 16,
            },
            helps={
                "warmup": (
                    "Number of steps in which the learning rate rises. Default: 4000 without"
                    " shortcuts, 6000 for lexical and residual, 8000 for fusion."
                ),
            },
        ),
    ],
    quiet: bool = False,
) -> Outcome:
    """Train a transformer with lexical shortcuts, from random weights (Emelin 2023, chapter 5).

    The variants are those of Table 5.5 and Figure 5.4. The model is the mean of the last
    checkpoints, in the folder `averaged`; figures.json is beside it.

    Example: cc-hf study lexical_shortcuts train --train a.en a.de --dev b.en b.de -o lexical
    """
    from cc_hf_studies.lexical_shortcuts.training import train_shortcuts

    check_choice("shortcut", shortcut, WARMUP)
    check_choice("variant", variant, VARIANTS)
    return trained(
        options,
        train=train,
        dev=dev,
        tests=(test_source, test_target),
        output=output,
        quiet=quiet,
        run=lambda *given, **more: train_shortcuts(
            *given, shortcut=shortcut, variant=variant, average=average, **more
        ),
        model_folder="best" if average == 1 else "averaged",
    )


def curve(
    figures: Annotated[
        list[Path], typer.Argument(help="Files figures.json of trainings with any command.")
    ],
    *,
    name: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Name of a training. Repeat it once per file. Default: shortcuts, variant and seed."
            )
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the curves in this .svg, .png or .pdf file."),
        PictureFile(),
    ] = None,
) -> Outcome:
    """Show BLEU of the development pairs by training step, or the loss where BLEU was not computed.

    The plot corresponds to Emelin (2023), Figure 5.4, with trainings by --choose-by bleu.

    Example: cc-hf study lexical_shortcuts curve lexical/figures.json --plot curve.svg
    """
    from cc_hf_studies.lexical_shortcuts.training_curves import (
        curve_chart,
        curve_table,
        read_curves,
    )

    figure, curves = read_curves(figures, name)
    files = []
    if plot is not None:
        drawn = curve_chart(figure, curves, file_format=PictureFile.format_of(plot))
        files.append(NewFile(plot, drawn))
    return Outcome(
        {"figure": figure, "curves": curves}, lambda: [curve_table(figure, curves)], files=files
    )
