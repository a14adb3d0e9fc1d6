"""cc-hf study lexical_shortcuts average: the mean of several checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.options import AsJson, Quiet
from cc_hf.cli.output import json_text, print_result, say_written
from cc_hf.errors import InputError

__all__ = ["average"]


def average(
    checkpoints: Annotated[
        list[Path],
        typer.Argument(
            help=(
                "Folders that save_pretrained wrote, or .safetensors files, of one model; or, with"
                " --last, the output folder of a Trainer."
            )
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="New folder for the averaged model.")
    ],
    last: Annotated[
        int | None,
        typer.Option(
            min=2, help="Average so many of the last checkpoint-STEP folders in a folder."
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Average the weights of several checkpoints of one model, as safetensors.

    Emelin (2023), section 5.3.1, tests the mean of the last 5 checkpoints, or 16 of large models.
    """
    from cc_hf.studies.lexical_shortcuts.checkpoint_averaging import (
        average_checkpoints,
        last_checkpoints,
    )

    if last is not None:
        if len(checkpoints) != 1:
            raise InputError(
                f"--last: expected one folder with checkpoints, got {len(checkpoints)} paths"
            )
        checkpoints = last_checkpoints(checkpoints[0], last)
    averaged = average_checkpoints(checkpoints, output)
    names = [str(path) for path in averaged.checkpoints]
    print_result(
        as_json,
        json_text(
            {
                "checkpoints": names,
                "n_weights": averaged.n_weights,
                "n_parameters": averaged.n_parameters,
                "files": averaged.files,
            }
        ),
        lambda: [
            f"mean of {len(names)} checkpoints ({averaged.n_weights:,} weights,"
            f" {averaged.n_parameters:,} values): {', '.join(names)}"
        ],
        output=None,
    )
    if not quiet:
        say_written(output)
