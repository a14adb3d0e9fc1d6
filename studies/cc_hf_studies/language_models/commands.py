"""The command of the study: printed figures beside one's own."""

from __future__ import annotations

from pathlib import Path

import typer

from cc_hf.cli.command import CommandGroup
from cc_hf_studies.common.published_command import add_published

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Show printed figures of language models that were asked in words.",
    no_args_is_help=True,
)
add_published(app, "language_models", "--table 4.20", Path(__file__).parent)


@app.callback()
def _group() -> None:
    """Keep `published` a command of a group, although it is alone."""
