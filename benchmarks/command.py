"""Running a benchmark from the command line."""

from __future__ import annotations

from collections.abc import Callable

import typer

from cc_hf.errors import CCError

__all__ = ["run_main"]


def run_main(main: Callable[..., None]) -> None:
    """Call a function with the options of the command line, and exit with errors of cc_hf."""
    try:
        typer.run(main)
    except CCError as error:
        raise SystemExit(str(error)) from None
