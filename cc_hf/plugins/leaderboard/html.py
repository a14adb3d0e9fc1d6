"""Parts of the page as HTML, from the templates in pieces.html.jinja, which escape every text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from cc_hf.languages import pair_codes
from cc_hf.metrics.headline import headline
from cc_hf.plugins.leaderboard.store import Store
from cc_hf.plugins.leaderboard.table import (
    FACTS,
    Figure,
    LeaderboardRow,
    columns_of,
    common_ranks,
    judge_levels,
    ranked,
)
from cc_hf.reports.figure_text import (
    data_name,
    figure_name,
    figure_rows,
    language_pair,
    metric_name,
)
from cc_hf.reports.figures import QualityPoint
from cc_hf.reports.marks import mark_classes
from cc_hf.reports.numbers import count, limits, percent
from cc_hf.reports.page.charts import quality_chart
from cc_hf.reports.report_tables import rank_columns
from cc_hf.reports.tables.base import interval_notes, intervals_text
from cc_hf.reports.templates import render_piece
from cc_hf.reports.what_to_cite import UNFIT
from cc_hf.results import EvaluationResult, Interval

__all__ = [
    "HUB_NAME",
    "about_html",
    "board_html",
    "citation_html",
    "genders_html",
    "header",
    "lead",
    "message",
    "notes_html",
    "plot_html",
    "result_html",
    "side_by_side",
    "submit_html",
    "system_order",
]

#: The name of a system that is that of a model on the Hub.
HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)
# Column -> CSS classes; other columns of `FACTS` are texts.
_CLASSES = {"n": "", "bleu": "", "signature": "cc-text cc-signature"}


class _Cell(NamedTuple):
    """A cell of the table.

    Attributes:
        value: what the column is sorted by; "" for an unknown value.
        text: the figure in percent, or the text.
        interval: the limits of its interval in percent; "" for none.
        track: where figure, lower and upper limit lie on a bar, in percent; () for no bar.
        classes: CSS classes.
    """

    value: str
    text: str
    interval: str = ""
    track: tuple[str, ...] = ()
    classes: str = ""


class _Header(NamedTuple):
    """The header of a column of a table by one metric, ranked by the figure `by`."""

    name: str
    by: str
    metric: str

    @property
    def text(self) -> str:
        """The name of the column in words."""
        return FACTS.get(self.name) or figure_name(self.metric, self.name).label

    @property
    def meaning(self) -> str:
        """What the column holds, for a tooltip."""
        meaning = "" if self.name in FACTS else figure_name(self.metric, self.name).meaning
        return meaning or f"sort by {self.text}"

    @property
    def is_first(self) -> bool:
        """Whether the rows are ranked by the column."""
        return self.name == self.by

    @property
    def best(self) -> str:
        """Where the column is best, by which the page's script sorts it."""
        if self.name == "bleu":
            return "high"
        return "none" if self.name in FACTS else figure_name(self.metric, self.name).best

    @property
    def classes(self) -> str:
        """CSS classes."""
        return _CLASSES.get(self.name, "cc-text") if self.name in FACTS else ""


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

    Examples:
        >>> message("expected <b>")
        Markup('<div class="cc-error" role="alert">expected &lt;b&gt;</div>')
    """
    return _piece("message", text=text)


def genders_html(made: Any) -> Markup:
    """Return a masculine and a feminine translation whose differences are marked.

    Args:
        made: an `Alternatives` of `cc_hf.alternatives`: translations, or why there are none.
    """
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


def board_html(
    rows: Sequence[LeaderboardRow], by: str, columns: Iterable[str], systems: Sequence[str]
) -> Markup:
    """Return the ranked table of one choice.

    Args:
        rows: rows of one choice.
        by: the figure by which systems are ranked.
        columns: the columns to show; those that no row can fill are left out.
        systems: all systems, from `system_order`.
    """
    if not rows:
        return _piece("empty")
    chosen = set(columns)
    present = [name for name in columns_of(rows) if name in chosen or name == by]
    # The figures to cite come first, in their order.
    shown = [
        name for name in dict.fromkeys(n for row in rows for n in row.shown) if name in present
    ]
    present = list(dict.fromkeys([*shown, *present]))
    order = {name: index for index, name in enumerate(systems)}
    # Where no figure is fit to be cited, nothing is ranked; other figures than that of the bands
    # order the rows.
    is_fit = any(by in row.figures and by not in row.unfit for row in rows)
    ranks = common_ranks(rows, by)
    ordered = ranked(rows, by)
    _, language, metric = rows[0].choice
    heads = rank_columns(metric, ranks) if ranks else []
    table = [
        (
            [head.texts.get(row.name, "") for head in heads],
            row,
            row.remark(by),
            mark_classes(order[row.system]),
            [_cell(row, name, is_first=name == by) for name in present],
        )
        for row in ordered
    ]
    return _piece(
        "board",
        title=f"{rows[0].title}, {language_pair(*pair_codes(language))}",
        metric=metric_name(metric),
        by=figure_name(metric, by).label if is_fit else "",
        by_figure=by,
        heads=heads,
        headers=[_Header(name, by if is_fit else "", metric) for name in present],
        rows=table,
        notes=_notes(rows),
        hub_name=HUB_NAME.fullmatch,
    )


def _cell(row: LeaderboardRow, name: str, *, is_first: bool) -> _Cell:
    if name in FACTS:
        value = getattr(row, name)
        if name == "bleu":
            return _Cell(
                "" if value is None else str(value), "" if value is None else percent(value)
            )
        text = count(value) if name == "n" else value
        return _Cell(str(value), text, classes=_CLASSES.get(name, "cc-text"))
    if (figure := row.figures.get(name)) is None:
        return _Cell("", "")
    value, low, high = figure
    interval = "" if low is None or high is None else f"{percent(low)} – {percent(high)}"
    ends = (value, value if low is None else low, value if high is None else high)
    is_share = is_first and min(ends) >= 0
    track = tuple(map(percent, ends)) if is_share else ()
    return _Cell(str(value), percent(value), interval, track)


def _notes(rows: Sequence[LeaderboardRow]) -> list[tuple[str, str]]:
    """Return the levels of the judges, why figures are not fit to be cited, and the distinct notes
    on rows, each with the systems it concerns; "" for all.
    """
    systems: dict[str, list[str]] = {}
    for name, trust in judge_levels(rows):
        systems[f"{name}: {trust.text} Evidence: {trust.labels or 'none'}."] = [
            row.system for row in rows if (row.evaluator, row.level) == (name, trust.level)
        ]
    for row in rows:
        for reason in dict.fromkeys(row.unfit.values()):
            systems.setdefault(f"{UNFIT}: {reason}", []).append(row.system)
    for row in rows:
        for note in row.notes:
            systems.setdefault(note, []).append(row.system)
    return [
        ("" if len(names) == len(rows) else ", ".join(dict.fromkeys(names)), note)
        for note, names in systems.items()
    ]


def plot_html(rows: Sequence[LeaderboardRow], systems: Sequence[str], by: str = "") -> str:
    """Return a chart of minimum accuracy, with intervals, over BLEU, as in Figure 5 of Vamvas &
    Sennrich (2021). Each system has one colour.

    Args:
        rows: rows of one choice.
        systems: all systems, from `system_order`.
        by: the figure by which rows are ranked. If it is weighted, so is the minimum.

    Returns:
        HTML; "" if no row has both figures.
    """
    order = {system: index for index, system in enumerate(systems)}
    is_weighted = by.startswith("weighted_")
    name = "weighted_min_accuracy" if is_weighted else "min_accuracy"
    remarks = {row.system: f" ({remark})" for row in rows if (remark := row.remark(name))}
    names = [f"{system}{remarks.get(system, '')}" for system in systems]
    points = [
        QualityPoint(order[row.system], row.bleu, figure.value, _interval(figure), is_weighted)
        for row in rows
        if row.bleu is not None and (figure := row.figures.get(name)) is not None
    ]
    if not points:
        return ""
    title = f"{points[0].label.capitalize()} against BLEU"
    return _piece("plot", title=title, chart=quality_chart(points, names, label=title))


def _interval(figure: Figure) -> Interval | None:
    is_missing = figure.low is None or figure.high is None
    return None if is_missing else Interval(figure.low or 0.0, figure.high or 0.0)


def about_html(datasets: Sequence[object], metrics: Sequence[object]) -> Markup:
    """Return what the figures of the table mean.

    Args:
        datasets, metrics: objects with `title`, `text` and `links`.
    """
    return _piece("about", datasets=datasets, metrics=metrics)


def citation_html(bibtex: str) -> Markup:
    """Return the papers to cite."""
    return _piece("citation", bibtex=bibtex)


def submit_html() -> Markup:
    """Return how results are made and handed in."""
    return _piece("submit")


def notes_html(store: Store) -> str:
    """Return which files of the folder could not be read, and why.

    Returns:
        HTML; "" if the table shows everything.
    """
    if store.entries and not store.broken:
        return ""
    return _piece("notes", is_empty=not store.entries, broken=store.broken)


def result_html(result: EvaluationResult) -> Markup:
    """Return every figure of a result with its interval, its notes, and its signature."""
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
            f"intervals {intervals_text([result.metric])}",
            *interval_notes(result),
        ],
        signature=result.signature,
        why_unfit=headline(result).why_not,
    )


def _piece(name: str, **values: object) -> Markup:
    return render_piece("plugins/leaderboard/pieces.html.jinja", name, **values)
