"""The tables of a report, as cells of text in percent. The page, Markdown and LaTeX render the same
tables.
"""

from __future__ import annotations

from dataclasses import dataclass

from cc_hf.reports.figure_text import (
    category_key,
    category_label,
    figure_rows,
    limits,
    p_text,
    percent,
)
from cc_hf.reports.report import Report
from cc_hf.reports.tables import resampling_text
from cc_hf.results import EvaluationResult

__all__ = [
    "Cell",
    "ReportTable",
    "TableRow",
    "category_table",
    "figures_table",
    "label_agreement_table",
    "metric_name",
    "report_tables",
    "summary_table",
]

_TOTALS = {
    "accuracy": "accuracy",
    "weighted_accuracy": "weighted",
    "min_accuracy": "minimum",
    "weighted_min_accuracy": "weighted min.",
}
_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure as text.

    Attributes:
        value: the figure.
        interval: its interval; "" if there is none.
        difference: its difference to the baseline, with a sign; "" if there is none.
        p: the p-value of the difference; "" if there is none.
        is_significant: whether p < 0.05.
    """

    value: str
    interval: str = ""
    difference: str = ""
    p: str = ""
    is_significant: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    Attributes:
        label: its name.
        cells: one per column.
        note: a remark that follows the name in brackets.
    """

    label: str
    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table.

    Attributes:
        title: its title.
        corner: the name of the first column, which holds the labels of the rows.
        columns: the names of all other columns.
        rows: its rows.
        groups: names above the columns, each with the number of columns that it spans; () for none.
        caption: the text below it.
    """

    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    groups: tuple[tuple[str, int], ...] = ()
    caption: str = ""


def metric_name(metric: str) -> str:
    """Return the name of a metric in words.

    Args:
        metric: its registered name.

    Examples:
        >>> metric_name("contrastive_conditioning")
        'contrastive conditioning'
    """
    return metric.replace("_", " ")


def report_tables(report: Report) -> tuple[ReportTable, ...]:
    """Return all tables of a report: the summary, the categories and all figures of each metric,
    and agreement with human labels if there are any.

    Args:
        report: the report.
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
    )


def summary_table(report: Report) -> ReportTable:
    """Return a table of systems by metrics.

    It shows the totals and minima of each metric, its differences and gaps, and BLEU if it is
    known. All systems except the baseline have their difference to it.

    Args:
        report: the report.
    """
    figures = {metric: _headline(report, metric) for metric in report.metrics}
    has_bleu = any(system.bleu is not None for system in report.systems)
    rows = []
    for system in report.systems:
        cells = [Cell("" if system.bleu is None else percent(system.bleu))] * has_bleu
        for metric, names in figures.items():
            cells += [_cell(report, metric, system.name, name) for name in names]
        rows.append(
            TableRow(
                system.name,
                tuple(cells),
                "baseline" if system.name == report.baseline and len(report.systems) > 1 else "",
            )
        )
    columns = [
        _TOTALS.get(name, name.replace("_", " ")) for names in figures.values() for name in names
    ]
    groups = tuple((metric_name(metric), len(names)) for metric, names in figures.items())
    return ReportTable(
        "Systems and metrics",
        "system",
        (*["BLEU"] * has_bleu, *columns),
        tuple(rows),
        (*[("quality", 1)] * has_bleu, *groups),
        " ".join(_caption(report)),
    )


def category_table(report: Report, metric: str) -> ReportTable:
    """Return a table of categories by systems, with accuracy, and weighted accuracy if the metric
    has it.

    Args:
        report: the report.
        metric: the name of a metric that has categories.
    """
    results = report.of_metric(metric)
    sizes = {c.category: c.n for result in results.values() for c in result.categories}
    kinds = [
        "accuracy",
        *["weighted_accuracy"]
        * any("weighted_accuracy" in result.scores for result in results.values()),
    ]
    labels = {
        c.category: category_label(result, c.category)
        for result in results.values()
        for c in result.categories
    }
    rows = [
        (f"_{name}", labels[name], f"n = {sizes[name]}") for name in sorted(sizes, key=category_key)
    ] + [("", "all", f"n = {max(result.n for result in results.values())}")]
    return ReportTable(
        f"Accuracy by category: {metric_name(metric)}",
        "category",
        (
            tuple(_TOTALS[kind] for _ in results for kind in kinds)
            if len(kinds) > 1
            else tuple(results)
        ),
        tuple(
            TableRow(
                label,
                tuple(
                    _cell(report, metric, name, f"{kind}{suffix}")
                    for name in results
                    for kind in kinds
                ),
                note,
            )
            for suffix, label, note in rows
        ),
        tuple((name, len(kinds)) for name in results) if len(kinds) > 1 else (),
    )


def figures_table(report: Report, metric: str) -> ReportTable:
    """Return a table of every figure of a metric by systems.

    Args:
        report: the report.
        metric: the name of a metric.
    """
    results = report.of_metric(metric)
    rows = {row.name: row for result in results.values() for row in figure_rows(result)}
    table_rows = []
    for name, row in rows.items():
        note = f"n = {row.n}" if row.n and name != "n_inconclusive" else ""
        table_rows.append(
            TableRow(
                row.label, tuple(_cell(report, metric, system, name) for system in results), note
            )
        )
    return ReportTable(
        f"All figures: {metric_name(metric)}", "figure", tuple(results), tuple(table_rows)
    )


def label_agreement_table(report: Report) -> ReportTable:
    """Return a table of how often each metric agrees with the human labels of each system's
    translations.

    Args:
        report: a report with human labels.
    """
    rows = []
    for label_agreement in report.agreements:
        agreement = label_agreement.agreement
        weighted = (
            Cell("")
            if agreement.weighted_agreement is None
            else Cell(percent(agreement.weighted_agreement), limits(agreement.weighted_interval))
        )
        kappa = Cell(f"{agreement.kappa:.2f}", limits(agreement.kappa_interval, digits=2))
        cells = (
            Cell(str(agreement.n_labels)),
            Cell(percent(agreement.agreement), limits(agreement.interval)),
            weighted,
            kappa,
        )
        rows.append(TableRow(label_agreement.system, cells, metric_name(label_agreement.metric)))
    caption = (
        "Labels of both annotators, pooled; agreement in percent, Cohen's kappa. 95 % intervals by"
        " bootstrap over translations."
    )
    return ReportTable(
        "Agreement with human labels",
        "system",
        ("labels", "agreement", "weighted", "kappa"),
        tuple(rows),
        caption=caption,
    )


def _headline(report: Report, metric: str) -> list[str]:
    """Return totals and minima, then differences and gaps; or every score, for a metric that has
    none of these.
    """
    names = list(
        dict.fromkeys(
            name for result in report.of_metric(metric).values() for name in result.scores
        )
    )
    chosen = [name for name in _TOTALS if name in names]
    chosen += [name for name in names if name.startswith("delta") or name.endswith("_gap")]
    return chosen or names


def _cell(report: Report, metric: str, system: str, name: str) -> Cell:
    result = report.of_metric(metric).get(system)
    if result is None:
        return Cell("")
    if name == "n_inconclusive":
        n = result.counts.get(name, 0)
        return Cell(percent(n / result.n))
    if name not in result.scores:
        return Cell("")
    compared = report.comparisons.get((metric, system))
    difference = compared.differences.get(name) if compared else None
    value, interval = percent(result.scores[name]), limits(result.intervals.get(name))
    if difference is None:
        return Cell(value, interval)
    return Cell(
        value,
        interval,
        _signed(difference.difference),
        p_text(difference.p_value),
        difference.p_value < _SIGNIFICANT,
    )


def _signed(value: float) -> str:
    """Return a difference with a sign, using a real minus; without a sign if it rounds to zero."""
    text = percent(value)
    return f"−{text[1:]}" if text.startswith("-") else f"+{text}" if text != "0.0" else text


def _caption(report: Report) -> list[str]:
    levels = sorted(
        {_level(result) for system in report.systems for result in system.results.values()} - {""}
    )
    sentences = ["Figures are in percent."]
    if levels:
        sentences.append(
            f"The brackets hold {' and '.join(levels)} intervals by bootstrap"
            f" {resampling_text(report.metrics)}."
        )
    if report.comparisons:
        sentences.append(
            f"Differences to {report.baseline} are in percentage points, with a two-sided p-value"
            " by paired bootstrap that is not corrected for multiple comparisons; * marks p < 0.05."
        )
    return sentences


def _level(result: EvaluationResult) -> str:
    first = next(iter(result.intervals.values()), None)
    return "" if first is None else f"{100 * first.level:g} %"
