"""cc-hf study lexical_shortcuts average: the mean of several checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome
from cc_hf.cli.options import NewFolder
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
    *,
    output: NewFolder,
    last: Annotated[
        int | None,
        typer.Option(
            min=2, help="Average so many of the last checkpoint-STEP folders in a folder."
        ),
    ] = None,
) -> Outcome:
    """Average the weights of several checkpoints of one model, as safetensors.

    Emelin (2023), section 5.3.1, tests the mean of the last 5 checkpoints, or 16 of large models.

    Example: cc-hf study lexical_shortcuts average trained --last 5 -o averaged
    """
    from cc_hf_studies.lexical_shortcuts.checkpoint_averaging import (
        average_checkpoints,
        last_checkpoints,
    )

    if last is not None:
        if len(checkpoints) != 1:
            raise InputError(
                f"last: expected one folder with checkpoints, got {len(checkpoints)} paths"
            )
        checkpoints = last_checkpoints(checkpoints[0], last)
    averaged = average_checkpoints(checkpoints, output)
    names = [str(path) for path in averaged.checkpoints]
    return Outcome(
        {
            "checkpoints": names,
            "n_weights": averaged.n_weights,
            "n_parameters": averaged.n_parameters,
            "files": averaged.files,
        },
        lambda: [
            f"mean of {len(names)} checkpoints ({averaged.n_weights:,} weights,"
            f" {averaged.n_parameters:,} values): {', '.join(names)}"
        ],
        files=[NewFile(output, None)],
    )
