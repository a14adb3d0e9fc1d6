"""Parts of the page as HTML, from the templates in pieces.html.jinja, which escape every text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from cc_hf.leaderboard.store import Store
from cc_hf.leaderboard.table import LeaderboardRow
from cc_hf.reports.figure_text import data_name, figure_rows, limits, metric_name, percent
from cc_hf.reports.figures import QualityPoint
from cc_hf.reports.page.charts import quality_chart
from cc_hf.reports.tables import interval_notes, resampling_text, tie_text
from cc_hf.reports.templates import render_piece
from cc_hf.results import EvaluationResult, Interval

__all__ = [
    "header",
    "lead",
    "message",
    "notes_html",
    "plot_html",
    "result_html",
    "side_by_side",
]

_PLOT = "Minimum accuracy against BLEU"


def header() -> Markup:
    """Return the part above all tabs."""
    return _piece("header")


def lead(text: str) -> Markup:
    """Return the introduction of a tab.

    Args:
        text: plain text.
    """
    return _piece("lead", text=text)


def message(text: str) -> Markup:
    """Return an error message.

    Args:
        text: plain text.

    Examples:
        >>> message("expected <b>")
        Markup('<div class="cc-error" role="alert">expected &lt;b&gt;</div>')
    """
    return _piece("message", text=text)


def side_by_side(pieces: Iterable[Markup]) -> Markup:
    """Return parts in a row, or one below the other if the window is narrow.

    Args:
        pieces: the parts.
    """
    return _piece("side_by_side", pieces=pieces)


def plot_html(rows: Sequence[LeaderboardRow]) -> str:
    """Return a chart of minimum accuracy, with intervals, over BLEU, as in Figure 5 of Vamvas &
    Sennrich (2021).

    Args:
        rows: rows of the table.

    Returns:
        HTML; "" if no row has both figures.
    """
    plotted = [
        (row, row.bleu, row.min_accuracy)
        for row in rows
        if row.bleu is not None and row.min_accuracy is not None
    ]
    if not plotted:
        return ""
    points = [
        QualityPoint(index, bleu, accuracy, _interval(row))
        for index, (row, bleu, accuracy) in enumerate(plotted)
    ]
    kinds = {(row.dataset, row.config, row.language, row.metric) for row, _, _ in plotted}
    chart = quality_chart(points, [row.system for row, _, _ in plotted], label=_PLOT)
    return _piece("plot", title=_PLOT, chart=chart, is_several=len(kinds) > 1)


def _interval(row: LeaderboardRow) -> Interval | None:
    low, high = row.min_accuracy_low, row.min_accuracy_high
    return None if low is None or high is None else Interval(low, high)


def notes_html(store: Store) -> str:
    """Return what the folder contains that the table does not show, and why.

    Args:
        store: the folder of results.

    Returns:
        HTML; "" if the table shows everything.
    """
    if store.entries and not store.broken:
        return ""
    return _piece("notes", is_empty=not store.entries, broken=store.broken)


def result_html(result: EvaluationResult) -> Markup:
    """Return every figure of a result with its interval, its notes, and its signature.

    Args:
        result: the result.
    """
    counts = ", ".join(
        f"{name.removeprefix('n_').replace('_', ' ')} {count}"
        for name, count in result.counts.items()
    )
    return _piece(
        "result",
        title=f"{data_name(result)}: {metric_name(result.metric)}",
        figures=[
            (
                row.label,
                row.n,
                percent(result.scores[row.name]),
                limits(result.intervals.get(row.name)),
            )
            for row in figure_rows(result)
            if row.name in result.scores
        ],
        cautions=result.notes,
        notes=[
            counts,
            f"intervals by bootstrap {resampling_text([result.metric])}",
            *interval_notes(result),
            *filter(None, [tie_text(result)]),
        ],
        signature=result.signature,
    )


def _piece(name: str, **values: object) -> Markup:
    return render_piece("leaderboard/pieces.html.jinja", name, **values)
