"""Tables and lines as text for `print`, and as HTML for notebooks, where all text is escaped."""

from __future__ import annotations

import io
from collections.abc import Iterable
from itertools import groupby

from cc_hf.reports.formats.terminal import show
from cc_hf.reports.report_parts import Line, Piece, ReportTable, is_item
from cc_hf.reports.templates import render_page

__all__ = ["as_html", "as_text"]

_WIDTH = 80  # columns, whatever the window has, so that what is printed is the same everywhere


def as_text(pieces: Iterable[Piece]) -> str:
    """Return pieces as a terminal of 80 columns shows them, without colours."""
    stream = io.StringIO()
    # In a notebook, rich would display the pieces beside the stream.
    show(pieces, file=stream, width=_WIDTH, force_jupyter=False)
    return "\n".join(line.rstrip() for line in stream.getvalue().strip("\n").split("\n"))


def as_html(pieces: Iterable[Piece]) -> str:
    """Return pieces as a part of a page, in the colours of whatever shows it.

    Examples:
        >>> "&lt;b&gt;" in as_html(["<b>"])
        True
    """
    blocks: list[tuple[str, object]] = []
    for are_items, group in groupby(pieces, is_item):
        if are_items:
            blocks.append(("items", [*group]))
            continue
        for piece in group:
            is_table = isinstance(piece, ReportTable)
            line = piece if is_table or isinstance(piece, Line) else Line(str(piece))
            blocks.append(("table" if is_table else "line", line))
    return render_page("reports/formats/notebook.html.jinja", blocks=blocks)
