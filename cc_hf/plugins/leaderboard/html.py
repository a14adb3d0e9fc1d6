"""Parts of the page as HTML, from the templates in pieces.html.jinja, which escape every text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from cc_hf.plugins.leaderboard.store import Store
from cc_hf.plugins.leaderboard.table import LeaderboardRow
from cc_hf.reports.formats.notebook import as_html
from cc_hf.reports.tables.base import result_table
from cc_hf.reports.templates import render_piece
from cc_hf.results import EvaluationResult

__all__ = [
    "HUB_NAME",
    "about_html",
    "citation_html",
    "genders_html",
    "header",
    "lead",
    "message",
    "notes_html",
    "result_html",
    "side_by_side",
    "submit_html",
    "system_order",
]

#: The name of a system that is that of a model on the Hub.
HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)


def header(board: str) -> Markup:
    """Return the part above all tabs; `board` is the address of the board, "" for none."""
    return _piece("header", board=board)


def lead(text: str) -> Markup:
    """Return the introduction of a tab."""
    return _piece("lead", text=text)


def message(text: str) -> Markup:
    """Return an error message.

    Examples:
        >>> message("expected <b>")
        Markup('<div class="cc-error" role="alert">expected &lt;b&gt;</div>')
    """
    return _piece("message", text=text)


def genders_html(made: Any) -> Markup:
    """Return a masculine and a feminine translation whose differences are marked."""
    sides = [
        (label, _marked(text, [pair[side] for pair in made.check.differing]))
        for side, (label, text) in enumerate(
            (("for a man", made.masculine), ("for a woman", made.feminine))
        )
        if text is not None and made.check is not None
    ]
    return _piece("genders", sides=sides, made=made)


def _marked(text: str, differing: Iterable[str]) -> list[tuple[str, bool]]:
    """Return the parts of a text, and whether each differs."""
    parts, end = [], 0
    for words in filter(None, differing):
        pattern = r"\W+".join(map(re.escape, words.split()))
        match = re.compile(rf"(?<!\w){pattern}(?!\w)").search(text, end)
        if match is not None:
            parts += [(text[end : match.start()], False), (match.group(), True)]
            end = match.end()
    return [*parts, (text[end:], False)]


def side_by_side(pieces: Iterable[Markup]) -> Markup:
    """Return parts in a row, or one below the other if the window is narrow."""
    return _piece("side_by_side", pieces=pieces)


def system_order(rows: Iterable[LeaderboardRow]) -> list[str]:
    """Return the systems in the order of their colours, which are the same for every choice."""
    return sorted({row.system for row in rows}, key=lambda name: (name.casefold(), name))


def about_html(datasets: Sequence[object], metrics: Sequence[object]) -> Markup:
    """Return what the figures of the table mean."""
    return _piece("about", datasets=datasets, metrics=metrics)


def citation_html(bibtex: str) -> Markup:
    """Return the papers to cite."""
    return _piece("citation", bibtex=bibtex)


def submit_html() -> Markup:
    """Return how results are made and handed in."""
    return _piece("submit")


def notes_html(store: Store) -> str:
    """Return which files of the folder could not be read, and why; "" if there are none."""
    if store.entries and not store.broken:
        return ""
    return _piece("notes", is_empty=not store.entries, broken=store.broken)


def result_html(result: EvaluationResult) -> str:
    """Return every figure of a result with its interval, its notes, and its signature."""
    pieces = [*result_table(result), f"signature: {result.signature}"]
    return f'<section class="cc-result">{as_html(pieces)}</section>'


def _piece(name: str, **values: object) -> Markup:
    return render_piece("plugins/leaderboard/pieces.html.jinja", name, **values)
