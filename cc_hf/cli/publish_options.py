"""Options that the commands of `cc-hf publish` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["FolderOutput", "Private", "PullRequest", "Repo", "Requirement", "Yes"]

Repo = Annotated[str, typer.Option(help="Repository on the Hub, as ORGANISATION/NAME.")]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        help=(
            "Upload the files. Without this option, the command only lists what would be uploaded."
        ),
    ),
]
Private = Annotated[
    bool,
    typer.Option(
        "--private/--public", help="Visibility of the repository, if the command creates it."
    ),
]
Requirement = Annotated[
    str | None,
    typer.Option(
        help=(
            "Line of requirements.txt with which pip installs cc_hf. Default: this version of cc_hf"
            " or a newer one."
        )
    ),
]
FolderOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the files to this new folder, and upload nothing."),
]
PullRequest = Annotated[
    bool,
    typer.Option(
        "--pull-request",
        help=("Open a pull request in an existing repository, instead of committing the files."),
    ),
]
