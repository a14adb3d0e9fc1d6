"""Widths of the columns of a LaTeX table, as shares of the width of the text.

They are estimated from the texts for the text width of A4 with margins of 2.5 cm. A wrong estimate
costs a line more in a cell, never a table that is too wide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cc_hf.reports.report_parts import Cell, ReportTable

__all__ = ["Layout", "layout", "parts_of"]

_TEXT = 455  # points: A4 with margins of 2.5 cm
_SIZE, _SMALL = 10, 8  # points of `\small` and `\scriptsize` in a document of 11 points
_SEPARATION = 0.008  # between column and border, as a share of the width of the text
_NARROWEST_NAMES, _WIDEST_NAMES = 0.16, 0.5
_WIDEST_COLUMN = 0.22
_HEADER = 60  # points; a longer word of a header is hyphenated
_EM = {".": 0.28, ",": 0.28, " ": 0.34, "[": 0.28, "]": 0.28, "−": 0.78, "–": 0.5, "+": 0.78}


@dataclass(frozen=True, slots=True)
class Layout:
    """How the cells of a table are arranged.

    Attributes:
        widths: width of each column without its borders, as a share of the width of the text.
        is_stacked: whether an interval stands below its figure, not beside it.
        are_words: whether each column holds words.
    """

    widths: tuple[float, ...]
    is_stacked: bool
    are_words: tuple[bool, ...]

    @property
    def separation(self) -> float:
        """Half the distance of two columns, as a share of the width of the text."""
        return _SEPARATION

    @property
    def columns(self) -> str:
        """The columns as the argument of a tabular environment."""
        alignments = ["raggedright" if holds else "raggedleft" for holds in self.are_words]
        return "".join(
            rf">{{\{alignment}\arraybackslash}}p{{{width:.3f}\linewidth}}"
            for alignment, width in zip(alignments, self.widths, strict=True)
        )

    def span(self, first: int, n: int) -> str:
        """Return the width of `n` columns from the index `first`, as a share of the width of the
        text.
        """
        return f"{sum(self.widths[first : first + n]) + 2 * (n - 1) * _SEPARATION:.3f}"


def layout(table: ReportTable) -> Layout:
    """Return the layout of a table: intervals beside figures if names have room, else below."""
    names = (table.corner, *(row.name for row in table.rows))
    name_width = max(_share(_width(name, _SIZE)) for name in names)
    name_width = min(max(name_width, _NARROWEST_NAMES), _WIDEST_NAMES)
    for is_stacked in (False, True):
        widths = [_column_width(table, index, is_stacked) for index in range(len(table.columns))]
        room = 1 - sum(widths) - 2 * _SEPARATION * (len(widths) + 1)
        if room >= name_width:
            break
    widths = [max(min(name_width, room), _NARROWEST_NAMES), *widths]
    scale = min(1, (1 - 2 * _SEPARATION * len(widths)) / sum(widths))
    # Shares are written with three decimals, and rounding up must not make the table too wide.
    are_words = (True, *(name in table.words for name in table.columns))
    shares = tuple(int(1000 * scale * width) / 1000 for width in widths)
    return Layout(shares, is_stacked, are_words)


def parts_of(table: ReportTable) -> Iterator[ReportTable]:
    """Yield a table in parts that fit on the width of the text; groups of columns stay whole."""
    spans = [n for _, n in table.groups] or [1] * len(table.columns)
    widths = [_column_width(table, index, True) for index in range(len(table.columns))]
    first = first_span = 0
    while first < len(widths):
        end, end_span, total = first, first_span, _NARROWEST_NAMES + 2 * _SEPARATION
        while end_span < len(spans):
            total += sum(widths[end : end + spans[end_span]]) + 2 * _SEPARATION * spans[end_span]
            if total > 1 and end > first:
                break
            end, end_span = end + spans[end_span], end_span + 1
        yield replace(
            table,
            columns=table.columns[first:end],
            rows=tuple(replace(row, cells=row.cells[first:end]) for row in table.rows),
            groups=table.groups[first_span:end_span],
            caption="" if first else table.caption,
        )
        first, first_span = end, end_span


def _column_width(table: ReportTable, index: int, is_stacked: bool) -> float:
    header = max(_width(word, _SIZE) for word in re.split(r"[\s-]+", table.columns[index]))
    cells = max((_cell_width(row.cells[index], is_stacked) for row in table.rows), default=0.0)
    return min(_share(max(min(header, _HEADER), cells)), _WIDEST_COLUMN)


def _cell_width(cell: Cell, is_stacked: bool) -> float:
    parts = [_width(cell.value, _SIZE)]
    if cell.interval:
        parts.append(_width(f"[{cell.interval.replace(' – ', ', ')}]", _SMALL))
    if cell.difference:
        parts.append(_width(f"{cell.difference}*", _SMALL))
    # Bold figures are wider, and figures that stand beside each other need a distance.
    return max(parts) if is_stacked else 1.08 * sum(parts) + 9 * (len(parts) - 1)


def _width(text: str, size: float) -> float:
    """Return roughly how wide a text is, in points."""
    return 1.06 * size * sum(_EM.get(c, 0.72 if c.isupper() else 0.5) for c in text)


def _share(points: float) -> float:
    return points / _TEXT
