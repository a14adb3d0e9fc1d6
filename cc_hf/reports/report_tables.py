"""The tables of a report, as cells of text in percent. The page, Markdown and LaTeX render the same
tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cc_hf.comparing.bands import Ranks
from cc_hf.figure_keys import CORRECTED
from cc_hf.levels import RANKS_ONLY
from cc_hf.metrics.figure_names import BLEU, Best
from cc_hf.metrics.headline import headline, shown_figures, why_not_ranked
from cc_hf.reports.derived_figures import derived_figures
from cc_hf.reports.figure_text import (
    category_key,
    category_label,
    column_label,
    difference_p,
    figure_label,
    figure_name,
    figure_rows,
    metric_meaning,
    metric_name,
    randomization_text,
    ratio_text,
    signed_percent,
)
from cc_hf.reports.numbers import count, decimal, limits, percent
from cc_hf.reports.reading_counts import reading_sections
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Cell, ReportTable, TableRow
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.tables.base import intervals_text
from cc_hf.reports.what_to_cite import UNFIT, why_unfit
from cc_hf.results import EvaluationResult, Interval, NoInterval

__all__ = [
    "RankColumn",
    "by_main_figure",
    "category_table",
    "figure_cell",
    "figures_table",
    "glossary",
    "group_name",
    "interval_levels",
    "is_unfit",
    "label_agreement_table",
    "rank_columns",
    "report_tables",
    "row_note",
    "summary_table",
]

_FEW = 4  # tables of more systems have them as rows, since columns need the width of the page
_SIGNIFICANT = 0.05


def report_tables(report: Report) -> tuple[ReportTable, ...]:
    """Return all tables of a report: the summary, the categories and all figures of each metric,
    agreement with human labels, and the tables that slices add.
    """
    categories = [
        category_table(report, metric)
        for metric in report.metrics
        if any(result.categories for result in report.of_metric(metric).values())
    ]
    human = [label_agreement_table(report)] if report.agreements else []
    return (
        summary_table(report),
        *categories,
        *(figures_table(report, metric) for metric in report.metrics),
        *human,
        *(
            part.table
            for section in (*reading_sections(report), *report.sections)
            for part in section.parts
        ),
    )


def summary_table(report: Report) -> ReportTable:
    """Return a table of systems by the totals, minima, differences and gaps of metrics, and BLEU,
    with differences to the baseline.
    """
    figures = {metric: _headline(report, metric) for metric in report.metrics}
    of_first = report.ranks.get(report.metrics[0]) if report.metrics else None
    has_bands = of_first is not None and bool(of_first.by_system)
    heads = rank_columns(report.metrics[0], of_first) if of_first and has_bands else []
    has_bleu = any(system.bleu is not None for system in report.systems)
    rows: list[TableRow] = []
    for index, system in enumerate(report.systems):
        cells = [Cell(head.texts.get(system.name, "")) for head in heads]
        cells += [Cell("" if system.bleu is None else percent(system.bleu))] * has_bleu
        for metric, names in figures.items():
            cells += [figure_cell(report, metric, system.name, name) for name in names]
        rows.append(
            TableRow(
                system.name,
                tuple(cells),
                row_note(
                    report,
                    system,
                    is_baseline=system.name == report.baseline and len(report.systems) > 1,
                ),
                system=index,
            )
        )
    rows = by_main_figure(report, rows)
    columns = [
        column_label(metric, name, names) for metric, names in figures.items() for name in names
    ]
    bests = [figure_name(metric, name).best for metric, names in figures.items() for name in names]
    groups = tuple((group_name(report, metric), len(names)) for metric, names in figures.items())
    return ReportTable(
        "Systems and metrics",
        "system",
        (*(head.label for head in heads), *[BLEU.label] * has_bleu, *columns),
        tuple(rows),
        (*[("standing", len(heads))] * has_bands, *[("quality", 1)] * has_bleu, *groups),
        " ".join(_caption(report)),
        dict(glossary(report)) | {head.label: head.meaning for head in heads},
        (*(head.best for head in heads), *[BLEU.best] * has_bleu, *bests),
    )


class RankColumn(NamedTuple):
    """A column that says how systems stand, with the texts of the systems that have a rank.

    Attributes:
        name: "band", "rank" or "shared_accuracy".
        label, best, meaning: as of a figure (`cc_hf.metrics.figure_names.FigureDeclaration`).
    """

    name: str
    label: str
    best: Best
    meaning: str
    texts: Mapping[str, str]


def rank_columns(metric: str, ranks: Ranks) -> list[RankColumn]:
    """Return the columns that say how systems stand: band, rank, and what they stand by, unless a
    column of its own has it.
    """
    standings = ranks.by_system
    columns = [
        RankColumn(
            "band",
            "band",
            "low",
            "Systems of a band cannot all be told apart in what ranks them; p of all pairs is"
            " corrected by Holm's method.",
            {system: str(standing.band) for system, standing in standings.items()},
        ),
        RankColumn(
            "rank",
            "rank",
            "low",
            "The interval of the rank.",
            {
                system: " – ".join(dict.fromkeys((str(standing.first), str(standing.last))))
                for system, standing in standings.items()
            },
        ),
    ]
    if ranks.is_shared:
        column = RankColumn(
            "shared_accuracy",
            f"{figure_label(metric, ranks.by)} on shared samples",
            "high",
            f"Only of the {count(ranks.n_samples)} samples that every system reads.",
            {system: percent(standing.accuracy) for system, standing in standings.items()},
        )
        columns.append(column)
    return columns


def by_main_figure(report: Report, rows: Iterable[TableRow]) -> list[TableRow]:
    """Return rows of systems by the main figure of the first metric, the best first; then those
    whose figure is not fit to be cited, or that have none.
    """

    # Ranked systems first, then fit ones by their figure, then what may not be ranked, as given.
    def key(row: TableRow) -> tuple[int, float]:
        system = report.systems[row.system or 0]
        result = system.results.get(report.metrics[0])
        said = None if result is None else headline(result)
        if result is None or said is None or not said.by or said.why_unranked:
            return 2, 0.0
        of_metric = report.ranks.get(report.metrics[0])
        if of_metric and (standing := of_metric.by_system.get(row.label)):
            return 0, -standing.accuracy
        distance = figure_name(result.metric, said.by).distance(result.scores[said.by])
        return 1, distance or 0.0

    return sorted(rows, key=key)


def is_unfit(report: Report, metric: str) -> bool:
    """Return whether no system has a figure by a metric that is fit to be cited."""
    return all(map(why_unfit, report.of_metric(metric).values()))


def group_name(report: Report, metric: str) -> str:
    """Return the name of a metric, with a remark if none of its figures is fit to be cited."""
    if not is_unfit(report, metric):
        return metric_name(metric)
    ranks = not any(result.why_unranked() for result in report.of_metric(metric).values())
    return f"{metric_name(metric)} ({RANKS_ONLY if ranks else UNFIT})"


def row_note(report: Report, system: ReportedSystem, *, is_baseline: bool) -> str:
    """Return the remark that follows the name of a system."""
    unfit = (metric for metric, result in system.results.items() if why_unfit(result))
    is_marked = any(not is_unfit(report, metric) for metric in unfit)
    return ", ".join(["baseline"] * is_baseline + [UNFIT] * is_marked)


def glossary(report: Report) -> list[tuple[str, str]]:
    """Return what the metrics and the figures of the summary mean: names in words, each with its
    meaning.
    """
    names = [(metric_name(metric), metric_meaning(metric)) for metric in report.metrics]
    for metric in report.metrics:
        for name in _headline(report, metric):
            figure = figure_name(metric, name)
            names.append((figure.label, figure.meaning))
    return [(label, meaning) for label, meaning in dict.fromkeys(names) if meaning]


def category_table(report: Report, metric: str) -> ReportTable:
    """Return a table of categories by systems: accuracy, with corrected and weighted accuracy."""
    results = report.of_metric(metric)
    sizes = {c.category: c.n for result in results.values() for c in result.categories}
    kinds = [
        kind
        for kind in (f"{CORRECTED}accuracy", "accuracy", "weighted_accuracy")
        if kind == "accuracy" or any(kind in result.scores for result in results.values())
    ]
    labels = {
        c.category: category_label(result, c.category)
        for result in results.values()
        for c in result.categories
    }
    categories = [
        (f"_{name}", labels[name], sizes[name]) for name in sorted(sizes, key=category_key)
    ]
    categories.append(("", "all", max(result.n for result in results.values())))
    title = f"Accuracy by category: {metric_name(metric)}"
    kind_labels = [column_label(metric, kind, kinds) for kind in kinds]
    meanings = {
        column_label(metric, kind, kinds): figure_name(metric, kind).meaning for kind in kinds
    }
    if len(results) > max(_FEW, len(categories)):
        indices = {system.name: index for index, system in enumerate(report.systems)}
        rows = [
            TableRow(
                name,
                tuple(
                    figure_cell(report, metric, name, f"{kind}{suffix}")
                    for suffix, _, _ in categories
                    for kind in kinds
                ),
                system=indices[name],
            )
            for name in results
        ]
        heads, corner = [f"{label} (n = {n:,})" for _, label, n in categories], "system"
    else:
        rows = [
            TableRow(
                label,
                tuple(
                    figure_cell(report, metric, name, f"{kind}{suffix}")
                    for name in results
                    for kind in kinds
                ),
                f"n = {n:,}",
                figure_name(metric, f"accuracy{suffix}").meaning,
            )
            for suffix, label, n in categories
        ]
        heads, corner = list(results), "category"
    return ReportTable(
        title,
        corner,
        tuple(kind_labels * len(heads) if len(kinds) > 1 else heads),
        tuple(rows),
        tuple((name, len(kinds)) for name in heads) if len(kinds) > 1 else (),
        meanings=meanings,
        bests=tuple(figure_name(metric, kind).best for _ in heads for kind in kinds),
    )


def figures_table(report: Report, metric: str) -> ReportTable:
    """Return a table of every figure of a metric by systems."""
    results = report.of_metric(metric)
    rows = {row.name: row for result in results.values() for row in figure_rows(result)}
    meanings = {f.name: f.meaning for result in results.values() for f in derived_figures(result)}
    table_rows = []
    scores = {name for result in results.values() for name in result.scores}
    for name, row in rows.items():
        note = f"n = {row.n}" if row.n and name != "n_inconclusive" else ""
        table_rows.append(
            TableRow(
                column_label(metric, name, rows) if name in scores else row.label,
                tuple(figure_cell(report, metric, system, name) for system in results),
                note,
                meanings.get(name) or figure_name(metric, name).meaning,
            )
        )
    return ReportTable(
        f"All figures: {metric_name(metric)}", "figure", tuple(results), tuple(table_rows)
    )


def label_agreement_table(report: Report) -> ReportTable:
    """Return a table of how often metrics agree with human labels of each system's translations."""
    rows = []
    for label_agreement in report.agreements:
        agreement = label_agreement.agreement
        weighted = (
            Cell("")
            if agreement.weighted_agreement is None
            else Cell(percent(agreement.weighted_agreement), limits(agreement.weighted_interval))
        )
        kappa = Cell(decimal(agreement.kappa), limits(agreement.kappa_interval, digits=2))
        cells = (
            Cell(str(agreement.n_labels)),
            Cell(percent(agreement.agreement), limits(agreement.interval)),
            weighted,
            kappa,
        )
        rows.append(TableRow(label_agreement.system, cells, metric_name(label_agreement.metric)))
    caption = (
        "Labels of both annotators, pooled; agreement in percent, Cohen's kappa. 95 % intervals"
        " over translations, of kappa by bootstrap."
    )
    return ReportTable(
        "Agreement with human labels",
        "system",
        ("labels", "agreement", "weighted", "kappa"),
        tuple(rows),
        caption=caption,
    )


def _headline(report: Report, metric: str) -> list[str]:
    """Return the figures to cite, what ranks, and others that say much."""
    return list(shown_figures(report.of_metric(metric).values()))


def figure_cell(report: Report, metric: str, system: str, name: str) -> Cell:
    """Return a figure of a system, with its difference to the baseline if the two were compared."""
    result = report.of_metric(metric).get(system)
    if result is None:
        return Cell("")
    if name == "n_inconclusive":
        n = result.counts.get(name, 0)
        return Cell(percent(n / result.n))
    if name not in result.scores:
        return _derived_cell(result, name)
    compared = report.comparisons.get((metric, system))
    difference = compared.differences.get(name) if compared else None
    value = percent(result.scores[name]).replace("-", "−")
    interval = limits(result.intervals.get(name))
    if difference is None:
        return Cell(value, interval)
    return Cell(
        value,
        interval,
        signed_percent(difference.difference),
        difference_p(difference, report.n_resamples),
        difference.p_value < _SIGNIFICANT,
        _interval_note(difference.interval),
        is_better=None
        if why_not_ranked(result, name)
        else _is_better(metric, name, difference.first, difference.second),
    )


def _is_better(metric: str, name: str, baseline: float, value: float) -> bool | None:
    """Return whether a figure is better than that of the baseline; None if neither is better."""
    before, after = map(figure_name(metric, name).distance, (baseline, value))
    return None if before is None or after is None or before == after else after < before


def _derived_cell(result: EvaluationResult, name: str) -> Cell:
    """Return a figure that is not among the scores; an empty cell if there is none of this name."""
    figure = next((f for f in derived_figures(result) if f.name == name), None)
    if figure is None:
        return Cell("")
    if figure.is_ratio:
        return Cell(ratio_text(figure.value, None), limits(figure.interval, digits=2))
    return Cell(percent(figure.value).replace("-", "−"), limits(figure.interval))


def _interval_note(interval: Interval | NoInterval) -> str:
    """Return the limits of the interval of a difference, or why there is none."""
    if isinstance(interval, NoInterval):
        return f"The difference has {interval.note}"
    return (
        f"{100 * interval.level:g} % interval of the difference:"
        f" {signed_percent(interval.low)} to {signed_percent(interval.high)} points"
    )


def _caption(report: Report) -> list[str]:
    levels = interval_levels(report)
    results = [result for system in report.systems for result in system.results.values()]
    figures = {name for result in results for name in result.scores}
    sentences = ["Figures are in percent."]
    if levels:
        sentences.append(
            f"The brackets hold {' and '.join(levels)} intervals of each system alone,"
            f" {intervals_text(report.metrics, figures)}."
        )
    if report.comparisons:
        sentences.append(
            f"Differences to {report.baseline} are in percentage points. Their p-values come from"
            f" {randomization_text(report.n_resamples)}. So two systems can differ although their"
            " brackets overlap. The p-values are two-sided and not corrected for multiple"
            " comparisons; * marks p < 0.05."
        )
    return sentences


def interval_levels(report: Report) -> list[str]:
    """Return the confidence levels of the intervals in a report, such as "95 %"."""
    results = [result for system in report.systems for result in system.results.values()]
    return sorted({_level(result) for result in results} - {""})


def _level(result: EvaluationResult) -> str:
    first = next(iter(result.intervals.values()), None)
    return "" if first is None else f"{100 * first.level:g} %"
