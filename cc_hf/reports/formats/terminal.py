"""Tables and lines in a terminal, where control characters of external text are escaped."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from cc_hf.reports.report_parts import Cell, Line, Piece, ReportTable
from cc_hf.writing import printable

__all__ = ["show"]

_UNLIMITED = 100_000  # columns
_NARROWEST_WORDS, _NARROWEST_HEAD = 12, 13  # columns that names keep
_FRAME = 80  # columns of a frame, since a pipe has none
_THEME = Theme(
    {
        "title": "bold",
        "heading": "italic",
        "about": "italic",
        "item": "none",
        "unfit": "grey50",
        "alert": "bold yellow",
        "whole": "none",
    }
)


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Raise for `cc_hf.cli.main.run`; rich would silence stdout if any stream broke."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def show(pieces: Iterable[Piece], *, is_whole: bool = False, **options: Any) -> None:
    """Print tables and lines.

    A table that is too wide has its names folded, then its intervals below their figures, and is
    then continued below; figures are never broken.

    Args:
        is_whole: whether lines of text are not broken.
        options: those of `rich.console.Console`, such as `stderr`.
    """
    console = _Console(theme=_THEME, **options)
    if not (console.is_terminal or "width" in options or os.environ.get("COLUMNS", "").strip("0")):
        # No table is cut in a file or a pipe.
        console.width = _UNLIMITED
    for piece in pieces:
        if isinstance(piece, ReportTable):
            for part in _table(piece, console.width):
                console.print(part)
            continue
        line = piece if isinstance(piece, Line) else Line(str(piece))
        # A word such as a signature or a path is left whole, so that it can be copied.
        longest = max(map(cell_len, line.text.split()), default=0)
        is_copied = is_whole or line.style == "whole"
        soft_wrap = is_copied or (longest > console.width and not line.frame)
        console.print(_line(line), soft_wrap=soft_wrap)


def _line(line: Line) -> RenderableType:
    text = Text("- " * (line.style == "item"), "" if line.frame else line.style)
    end = 0
    for start, stop, style in line.marks:
        text.append(printable(line.text[end:start])).append(printable(line.text[start:stop]), style)
        end = stop
    text.append(printable(line.text[end:]))
    if line.frame:
        frame = Text(printable(line.frame))
        return Panel(text, title=frame, title_align="left", border_style=line.style, width=_FRAME)
    return Padding.indent(text, line.indent) if line.indent else text


def _table(table: ReportTable, width: int) -> Iterator[RenderableType]:
    """Yield the title, the table, or its parts, and the caption."""
    if table.title:
        yield Text(printable(table.title), "heading")
    if table.lead:
        yield Text(printable(table.lead), "unfit")
    for part in _parts(table, width):
        yield _grid(table, part, width)
    if table.caption:
        yield Text(printable(table.caption), "about")


class _Column(NamedTuple):
    head: str
    cells: Sequence[Text]
    is_words: bool = False

    @property
    def width(self) -> int:
        """The width with which nothing is folded."""
        return max(cell_len(self.head), _width(self.cells))

    @property
    def least(self) -> int:
        """The width with which no figure is broken."""
        if self.is_words:
            return min(self.width, _NARROWEST_WORDS)
        longest_word = max(map(cell_len, self.head.split()), default=0)
        return max(min(longest_word, _NARROWEST_HEAD), _width(self.cells))


def _width(cells: Iterable[Text]) -> int:
    return max((cell_len(line) for cell in cells for line in cell.plain.split("\n")), default=0)


def _least(columns: Sequence[_Column]) -> int:
    # Each column has a space on both sides and an edge.
    return 1 + sum(column.least + 3 for column in columns)


def _parts(table: ReportTable, width: int) -> Iterator[Sequence[_Column]]:
    """Yield the columns of a table that fits, or of each of its parts."""
    for is_stacked in (False, True):
        columns = _columns(table, is_stacked=is_stacked)
        if _least(columns) <= width:
            yield columns
            return
    repeated, others = columns[: 1 + table.n_repeated], columns[1 + table.n_repeated :]
    while others:
        n = len(others)
        while n > 1 and _least([*repeated, *others[:n]]) > width:
            n -= 1
        yield [*repeated, *others[:n]]
        others = others[n:]


def _columns(table: ReportTable, *, is_stacked: bool) -> list[_Column]:
    """Return the columns. The differences of a single column get columns of their own."""
    labels = [
        Text(printable(row.name), "" if any(cell.value for cell in row.cells) else "bold")
        for row in table.rows
    ]
    columns = [_Column(printable(table.corner), labels, is_words=True)]
    of_columns = [[row.cells[index] for row in table.rows] for index in range(len(table.columns))]
    n_compared = sum(any(cell.difference for cell in cells) for cells in of_columns)
    for head, name, cells in zip(table.heads, table.columns, of_columns, strict=True):
        has_own = n_compared == 1 and not is_stacked and any(cell.difference for cell in cells)
        shown = [_cell(cell, is_stacked=is_stacked, has_difference=not has_own) for cell in cells]
        columns.append(_Column(printable(head), shown, name in table.words))
        if has_own:
            columns.append(_Column("difference (95 %)", [Text(cell.difference) for cell in cells]))
            columns.append(_Column("p", [Text(cell.p) for cell in cells]))
    return columns


def _cell(cell: Cell, *, is_stacked: bool, has_difference: bool) -> Text:
    text = cell.value + (f" ({cell.interval})" if cell.interval else "")
    star = "*" * cell.is_significant
    if cell.difference and has_difference:
        number, _, interval = cell.difference.partition(" ")
        text += ("\n" if cell.interval else " ") + number + star
        text = "\n".join(filter(None, (text, interval, cell.p_equation)))
    elif not cell.difference:
        text += star
    style = "bold" if cell.is_best else ""
    if cell.is_better is not None and (cell.is_significant or not cell.difference):
        style = "green" if cell.is_better else "red"
    return Text(printable(text.replace(" (", "\n(") if is_stacked else text), style)


def _grid(table: ReportTable, columns: Sequence[_Column], width: int) -> Table:
    """Return a table in which only names are folded."""
    room = width - _least(columns)
    for_heads = sum(column.width - column.least for column in columns if not column.is_words)
    grid = Table(box=box.SIMPLE_HEAD)
    for column in columns:
        head = Text(column.head, no_wrap=False, overflow="fold")
        if column.is_words:
            grid.add_column(head, overflow="fold")
        else:
            size = column.width if for_heads <= room else column.least
            grid.add_column(head, justify="right", no_wrap=True, width=size)
    for index, row in enumerate(table.rows):
        if row.begins_section:
            grid.add_section()
        grid.add_row(*(column.cells[index] for column in columns))
    return grid
