"""The option --log of `cc-hf evaluate`, which says in a file what was evaluated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from cc_hf.cli.command import Outcome

__all__ = ["evaluate_log"]


def evaluate_log(
    evaluate: Callable[..., Outcome],
    /,
    *,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append dataset and metric, a line for each run."),
    ] = None,
    **arguments: Any,
) -> Outcome:
    """Run the command, then write the line."""
    outcome = evaluate(**arguments)
    if log is not None:
        with log.open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{arguments['dataset']} {arguments['metric']}\n")
    return outcome
