"""Tables of papers for the terminal, with one's own figures above the printed ones."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from cc_hf.citations import CITATIONS
from cc_hf.comparing.published import PublishedTable
from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import count, decimal
from cc_hf.reports.tables.base import heading, plain_table
from cc_hf_studies.common.own_results import OwnRow

__all__ = ["paper_name", "published_table"]

_WIDTH = 76  # columns of a terminal, without the margins of the table and its names
_PADDING = 3  # blanks beside a column
_NAME = 44  # longer names of rows are continued on further lines


def paper_name(paper: str) -> str:
    """Return how a paper is called in a text.

    Args:
        paper: key of `cc_hf.citations`, or the text itself.

    Examples:
        >>> paper_name("currey-2022"), paper_name("Emelin 2023")
        ('Currey et al. 2022', 'Emelin 2023')
    """
    return CITATIONS[paper].short_name if paper in CITATIONS else paper


def published_table(table: PublishedTable, results: Sequence[OwnRow] = ()) -> Group:
    """Return one's own rows, and below them the rows that the paper prints.

    Args:
        results: what one's own results hold of the table.
    """
    tables = []
    for columns in _parts(table, results):
        shown = plain_table("", *(column.replace(" ", "\n") for column in columns))
        for row in results:
            shown.add_row(Text(row.name), *(_cell(table, column, row) for column in columns))
        for name, printed in table.rows.items():
            style = "italic" if results else ""
            shown.add_row(Text(name, style=style), *(printed.get(column, "") for column in columns))
        tables.append(shown)
    source = f"printed in {paper_name(table.paper)}, section {table.section}"
    source = source.replace("section appendix", "appendix")
    notes = [Text(table.note, style="italic")] if table.note else []
    return Group(heading(f"{table.name}: {table.title}"), *tables, Text(source), *notes)


def _parts(table: PublishedTable, results: Sequence[OwnRow]) -> list[list[str]]:
    """Return the columns in parts that fit the width of a terminal."""
    parts: list[list[str]] = [[]]
    names = [*table.rows, *(row.name for row in results)]
    room = _WIDTH - min(_NAME, max(map(len, names), default=0))
    left = room
    for column in table.columns:
        cells = [cells.get(column, "") for cells in table.rows.values()]
        cells += [_cell(table, column, row) for row in results if column in row.intervals]
        width = _PADDING + max(map(len, [*column.split(" "), *cells]))
        if width > left and parts[-1]:
            parts.append([])
            left = room
        parts[-1].append(column)
        left -= width
    return parts


def _cell(table: PublishedTable, column: str, row: OwnRow) -> str:
    """Return a figure with the digits of the printed ones and its interval; "" for none."""
    value, interval = row.cells.get(column), row.intervals.get(column)
    if value is None:
        return ""
    if not isinstance(value, int | float):
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    printed = [cells[column].split(" ")[0] for cells in table.rows.values() if column in cells]
    digits = max(sum(map(str.isdigit, text.partition(".")[2])) for text in printed)
    if table.unit == "percent":
        return with_interval(value, interval, digits=digits)
    return count(value) if isinstance(value, int) else decimal(value, interval, digits=digits)
