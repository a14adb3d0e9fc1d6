"""What all benchmarks write: the machine, whether it was idle, and a block of a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path

import typer

from benchmarks.machine import describe
from cc_hf.errors import InputError
from cc_hf.hub.cards import with_block

__all__ = ["IDLE", "check_block", "measured_on", "write_block", "write_tables"]

#: The largest load of an idle machine, on which only the benchmark has just started.
IDLE = 0.7


def measured_on(threads: int, device: str, *, load: float) -> str:
    """Return the machine, the day, and the load if the machine was not idle."""
    noise = f"; not idle, load {load:.1f}" if load > IDLE else ""
    return f"{describe(threads, device)}; {datetime.now(timezone.utc):%Y-%m-%d}{noise}"


def check_block(document: Path | None, name: str) -> None:
    """Check that a document, if there is one, has a block, before hours are measured."""
    if document is None:
        return
    if not document.is_file():
        raise InputError(
            f"--output: expected a document with the block {name!r} between markers, there is no"
            f" {document}"
        )
    with_block(document.read_text(encoding="utf-8"), name, "")


def write_block(document: Path | None, name: str, text: str) -> None:
    """Write a document, if there is one, with a block replaced."""
    check_block(document, name)
    if document is not None:
        old = document.read_text(encoding="utf-8")
        document.write_text(with_block(old, name, text), encoding="utf-8", newline="\n")


def write_tables(document: Path | None, tables: Mapping[str, Callable[[], str]]) -> None:
    """Make tables, print each, and write it into its block of a document, if there is one."""
    for name in tables:
        check_block(document, name)
    for name, table in tables.items():
        text = table()
        typer.echo(text)
        write_block(document, name, f"{text}\n")
