"""Tables of papers for the terminal, with one's own figures above the printed ones."""

from __future__ import annotations

from collections.abc import Sequence

from cc_hf.citations import CITATIONS
from cc_hf.comparing.published import PublishedTable
from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import count, decimal
from cc_hf.reports.report_parts import Piece, ReportTable
from cc_hf_studies.common.own_results import OwnRow

__all__ = ["paper_name", "published_table"]


def paper_name(paper: str) -> str:
    """Return the short name of a paper's key in `cc_hf.citations`, or the text itself."""
    return CITATIONS[paper].short_name if paper in CITATIONS else paper


def published_table(table: PublishedTable, results: Sequence[OwnRow] = ()) -> list[Piece]:
    """Return one's own rows, and below them the rows that the paper prints."""
    columns = table.columns
    rows = [(row.name, *(_cell(table, column, row) for column in columns)) for row in results]
    for name, printed in table.rows.items():
        rows.append((name, *(printed.get(column, "") for column in columns)))
    source = f"printed in {paper_name(table.paper)}, section {table.section}"
    source = source.replace("section appendix", "appendix")
    title = f"{table.name}: {table.title}"
    return [ReportTable.of(title, ("", *columns), rows, table.note), source]


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
