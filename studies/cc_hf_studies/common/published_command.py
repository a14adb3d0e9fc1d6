"""cc-hf study NAME published: the figures that a paper prints, beside one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome, add_command
from cc_hf.errors import InputError, UnknownNameError

__all__ = ["add_published"]

_Results = Annotated[
    list[Path] | None,
    typer.Argument(
        help=(
            "JSON files that commands wrote with --output, whose figures stand above the printed"
            " ones. Default: the printed ones alone."
        )
    ),
]
_Table = Annotated[
    str | None,
    typer.Option(
        help="Number of the table, figure or section, such as 4.7. Default: all that fit."
    ),
]


def add_published(app: typer.Typer, study: str, example: str, *folders: Path) -> None:
    """Add the command `published` to the commands of a study.

    Args:
        example: arguments with which the command runs, for its help.
        folders: folders with the printed figures, see `cc_hf.comparing.published`.
    """
    add_command(app, "published", _published(f"cc-hf study {study} published {example}", folders))


def _published(example: str, folders: tuple[Path, ...]) -> Callable[..., Outcome]:
    def published(results: _Results = None, *, table: _Table = None) -> Outcome:
        from cc_hf.comparing.published import read_published
        from cc_hf_studies.common.own_results import own_rows, read_own
        from cc_hf_studies.common.published_tables import published_table

        tables = [part for part in read_published(*folders).values() if part.rows]
        if table is not None:
            known = sorted({part.number for part in tables})
            if not (tables := [part for part in tables if table in (part.number, part.name)]):
                raise UnknownNameError("table", table, known)
        read = read_own(results or ())
        beside = {part.name: own_rows(part, read) for part in tables}
        if results:
            tables = [part for part in tables if beside[part.name]]
        if not tables:
            raise InputError(
                f"results: expected a result with figures of {table or 'a printed table'}, got"
                f" {', '.join(name for name, _ in read)}; docs/reproduce.md names the command of"
                " each table"
            )
        return Outcome(
            [
                {
                    "table": part.name,
                    "paper": part.paper,
                    "section": part.section,
                    "title": part.title,
                    "unit": part.unit,
                    "printed": part.rows,
                    "results": [
                        {"name": row.name, "cells": row.cells} for row in beside[part.name]
                    ],
                }
                for part in tables
            ],
            lambda: [
                piece for part in tables for piece in published_table(part, beside[part.name])
            ],
        )

    published.__doc__ = f"""Show the figures that the paper prints, below those of your own results.

    Example: {example}
    """
    return published
