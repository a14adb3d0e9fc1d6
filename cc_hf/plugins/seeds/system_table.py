"""Tables of systems, with a row per system and its figures in columns.

Such tables are typed by hand, printed in papers, or written from result files.
"""

from __future__ import annotations

from pathlib import Path

from cc_hf.errors import FileError
from cc_hf.tables.rows import TABLES, read_rows

__all__ = ["read_system_table"]


def read_system_table(path: Path) -> list[dict[str, str]]:
    """Read the rows of a table of systems; cells are kept as text."""
    rows = [row for _, row in read_rows(path, TABLES)]
    if not rows:
        raise FileError(path, "expected a line of names and at least one row, got names only")
    return rows
