"""Pieces of the page as HTML. Every text is escaped here, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from cc_hf.leaderboard.store import Store
from cc_hf.leaderboard.table import Row
from cc_hf.reports.figures import QualityPoint
from cc_hf.reports.page.charts import quality_chart
from cc_hf.reports.tables import (
    category_key,
    interval_notes,
    limits,
    percent,
    resampling_text,
    tie_text,
)
from cc_hf.results import EvaluationResult, Interval

__all__ = ["lead", "message", "notes_html", "plot_html", "result_html"]

_PLOT = "Minimum accuracy against BLEU"
_FIRST = ("accuracy", "weighted_accuracy", "min_accuracy", "weighted_min_accuracy")


def message(text: str) -> str:
    """An error, for people.

    >>> message("expected <b>")
    '<div class="cc-error" role="alert">expected &lt;b&gt;</div>'
    """
    return f'<div class="cc-error" role="alert">{escape(text)}</div>'


def plot_html(rows: Sequence[Row]) -> str:
    """Minimum accuracy, with intervals, over BLEU, as in Figure 5 of Vamvas & Sennrich (2021); ""
    where no row has both.
    """
    shown = [
        (row, row.bleu, row.min_accuracy)
        for row in rows
        if row.bleu is not None and row.min_accuracy is not None
    ]
    if not shown:
        return ""
    points = [
        QualityPoint(at, bleu, accuracy, _interval(row))
        for at, (row, bleu, accuracy) in enumerate(shown)
    ]
    is_several = (
        len({(row.dataset, row.config, row.language, row.metric) for row, _, _ in shown}) > 1
    )
    note = (
        '<p class="cc-note">Several datasets, languages or metrics are in this chart; choose one of'
        " each to compare systems.</p>"
        if is_several
        else ""
    )
    chart = quality_chart(points, [row.system for row, _, _ in shown], label=_PLOT)
    return f'<figure class="cc-figure"><figcaption>{_PLOT}</figcaption>{chart}{note}</figure>'


def _interval(row: Row) -> Interval | None:
    low, high = row.min_accuracy_low, row.min_accuracy_high
    return None if low is None or high is None else Interval(low, high)


def lead(text: str) -> str:
    """What a tab is for."""
    return f'<p class="cc-lead">{escape(text)}</p>'


def notes_html(store: Store) -> str:
    """What the folder holds that the table does not show, and why; "" where there is nothing to
    say.
    """
    parts = (
        []
        if store.entries
        else [
            "<p>No results yet: write some into the folder with"
            " `cc-hf evaluate ... --output FOLDER/NAME.json` and start anew.</p>"
        ]
    )
    if store.broken:
        n = len(store.broken)
        parts.append(
            _details(
                f"{n} {'file' if n == 1 else 'files'} of the folder could not be read", store.broken
            )
        )
    if store.not_run:
        skipped = {
            f"{file}: {metric.replace('_', ' ')}": reason
            for file, metrics in store.not_run.items()
            for metric, reason in metrics.items()
        }
        parts.append(_details("Metrics that evaluations left out", skipped))
    return f'<div class="cc-notes">{"".join(parts)}</div>' if parts else ""


def _details(title: str, rows: Mapping[str, str]) -> str:
    items = "".join(
        f"<li><b>{escape(name)}</b>: {escape(reason)}</li>" for name, reason in rows.items()
    )
    return f"<details open><summary>{escape(title)}</summary><ul>{items}</ul></details>"


def result_html(result: EvaluationResult) -> str:
    """Every figure of a result with its interval, its notes, and its signature."""
    categories = {
        c.category: c for c in sorted(result.categories, key=lambda c: category_key(c.category))
    }
    order = [*_FIRST, *(f"{w}accuracy_{c}" for w in ("", "weighted_") for c in categories)]
    names = [name for name in order if name in result.scores] + [
        name for name in result.scores if name not in order
    ]
    sizes = {"accuracy": result.n} | {f"accuracy_{name}": c.n for name, c in categories.items()}
    rows = []
    for name in names:
        values = (
            sizes.get(name, ""),
            percent(result.scores[name]),
            limits(result.intervals.get(name)),
        )
        figures = "".join(f"<td>{value}</td>" for value in values)
        rows.append(f'<tr><th scope="row">{escape(name.replace("_", " "))}</th>{figures}</tr>')
    title = " ".join(filter(None, (result.dataset, result.config, result.tgt_lang)))
    counts = ", ".join(
        f"{name.removeprefix('n_').replace('_', ' ')} {count}"
        for name, count in result.counts.items()
    )
    said = [
        f"intervals by bootstrap {resampling_text([result.metric])}",
        *interval_notes(result),
        *filter(None, [tie_text(result)]),
    ]
    notes = "".join(f'<p class="cc-note">{escape(note)}</p>' for note in (counts, *said))
    head = "".join(f'<th scope="col">{name}</th>' for name in ("", "n", "percent", "95 %"))
    notes = (
        "".join(
            f'<p class="cc-note cc-caution" role="note">{escape(note)}</p>' for note in result.notes
        )
        + notes
    )
    return (
        f'<section class="cc-result"><h3>{escape(title)}:'
        f" {escape(result.metric.replace('_', ' '))}</h3>"
        f'<div class="cc-scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{notes}"
        f'<p class="cc-signature">{escape(result.signature)}</p></section>'
    )
