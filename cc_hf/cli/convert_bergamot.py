"""cc-hf convert-bergamot: convert a student of Bergamot to a folder of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import Quiet
from cc_hf.cli.output import Console

__all__ = ["convert_bergamot"]


def convert_bergamot(
    student: Annotated[
        str,
        typer.Argument(
            help=(
                "Name such as bergamot:en-pt, or a folder with model*.bin (or .npz) and vocab*.spm;"
                " files may be compressed by gzip."
            )
        ),
    ],
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="New folder to write: safetensors and SentencePiece, as the Hub keeps models.",
        ),
    ],
    quiet: Quiet = False,
) -> None:
    """Convert a student of Bergamot (Firefox Translations) to a folder of transformers."""
    from cc_hf.conversion.student import convert_student

    folder = convert_student(student, output=output)
    if not quiet:
        Console().print(Text(f"{folder}  bergamot"), soft_wrap=True)
