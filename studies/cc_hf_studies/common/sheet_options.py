"""Options of commands that read the filled sheets of raters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Sheets"]

Sheets = Annotated[
    list[Path],
    typer.Argument(
        help="The filled sheets, one of each rater. Cells are separated by commas, semicolons or"
        " tabs. Or the answers to a campaign, as Pearmut has them."
    ),
]
