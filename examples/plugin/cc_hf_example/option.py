"""The option --log of `cc-hf evaluate`, which says in a file what was evaluated."""

from __future__ import annotations

import functools
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
) -> Callable[..., Outcome]:
    """Return what runs the command, then writes the line; the command without the option."""
    return evaluate if log is None else functools.partial(_logged, evaluate, log)


def _logged(evaluate: Callable[..., Outcome], log: Path, /, **arguments: Any) -> Outcome:
    outcome = evaluate(**arguments)
    with log.open("a", encoding="utf-8", newline="\n") as file:
        file.write(f"{arguments['dataset']} {arguments['metric']}\n")
    return outcome
