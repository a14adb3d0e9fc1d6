"""The table of a paper: systems by chosen figures, with the best value of each and the significance
of differences. All figures and tests are those of the report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cc_hf.errors import UnknownNameError
from cc_hf.figure_keys import is_corrected
from cc_hf.metrics.figure_names import BLEU as QUALITY
from cc_hf.metrics.figure_names import distance_to_best
from cc_hf.metrics.headline import headline, shown_figures, why_not_ranked
from cc_hf.reports.derived_figures import DerivedFigure, derived_figures
from cc_hf.reports.evaluators import evaluators_text
from cc_hf.reports.figure_text import (
    column_label,
    data_name,
    figure_name,
    metric_name,
    randomization_text,
)
from cc_hf.reports.numbers import decimal, percent
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Cell, ReportTable, TableRow
from cc_hf.reports.report_tables import figure_cell, interval_levels, row_note
from cc_hf.reports.tables.base import intervals_text

__all__ = ["BLEU", "MOST_FIGURES", "paper_table"]

#: The most figures that fit beside the names on a page of A4 with margins of 2.5 cm.
MOST_FIGURES = 6
#: The name of the column of quality, which is no figure of a metric.
BLEU = "bleu"


def paper_table(report: Report, figures: Sequence[str] = ()) -> ReportTable:
    """Return a table of systems by figures, whose best values are marked."""
    chosen = _chosen(report, figures) if figures else _default(report)
    columns = [_column(report, metric, name) for metric, name in chosen]
    rows = tuple(
        TableRow(
            system.name,
            tuple(replace(column[index], difference="", p="") for column in columns),
            row_note(
                report,
                system,
                is_baseline=bool(report.comparisons) and system.name == report.baseline,
            ),
            system=index,
        )
        for index, system in enumerate(report.systems)
    )
    metrics = list(dict.fromkeys(metric for metric, _ in chosen if metric))
    groups = [(metric_name(m), sum(metric == m for metric, _ in chosen)) for m in metrics]
    has_bleu = not chosen[0][0]
    return ReportTable(
        f"{data_name(report.first)}: {', '.join(name for name, _ in groups)}",
        "system",
        tuple(_label(report, metric, name) for metric, name in chosen),
        rows,
        (*[("quality", 1)] * has_bleu, *groups) if len(groups) > 1 else (),
        " ".join(_caption(report, chosen, columns)),
    )


_Column = list[Cell]


def _chosen(report: Report, figures: Sequence[str]) -> list[tuple[str, str]]:
    """Return the metric and the name of each column; the metric of BLEU is ""."""
    has_bleu = any(system.bleu is not None for system in report.systems)
    known = {metric: _figures_of(report, metric) for metric in report.metrics}
    columns: list[tuple[str, str]] = []
    for figure in figures:
        metric, _, name = figure.rpartition(":")
        of_figure = [
            (other, name)
            for other, names in known.items()
            if name in names and metric in ("", other)
        ]
        if figure == BLEU and has_bleu:
            of_figure = [("", BLEU)]
        if not of_figure:
            names = [*[BLEU] * has_bleu, *dict.fromkeys(n for ns in known.values() for n in ns)]
            raise UnknownNameError("figure", figure, names)
        columns += of_figure
    order = ["", *report.metrics]
    return sorted(dict.fromkeys(columns), key=lambda column: order.index(column[0]))


def _default(report: Report) -> list[tuple[str, str]]:
    """Return as many figures as fit: those that the box names, then the first of each metric before
    the second of any.
    """
    has_bleu = any(system.bleu is not None for system in report.systems)
    keys = {metric: shown_figures(report.of_metric(metric).values()) for metric in report.metrics}
    first = report.metrics[0]
    said = [headline(result) for result in report.of_metric(first).values()]
    names = dict.fromkeys(name for of in said for name in of.in_box)
    columns = [*[("", BLEU)] * has_bleu, *((first, name) for name in names)]
    for number in range(max(len(names) for names in keys.values())):
        columns += [(metric, names[number]) for metric, names in keys.items() if names[number:]]
    columns = list(dict.fromkeys(columns))[:MOST_FIGURES]
    return sorted(columns, key=lambda column: ["", *report.metrics].index(column[0]))


def _label(report: Report, metric: str, name: str) -> str:
    if not metric:
        return QUALITY.label
    derived = _derived(report, metric, name)
    if derived and not is_corrected(name):
        label = next(iter(derived.values())).label
        names = _figures_of(report, metric)
        return label + ", judge alone" * any(map(is_corrected, names))
    return column_label(metric, name, _figures_of(report, metric))


def _figures_of(report: Report, metric: str) -> list[str]:
    results = report.of_metric(metric).values()
    derived = (figure.name for result in results for figure in derived_figures(result))
    return list(dict.fromkeys([*(name for r in results for name in r.scores), *derived]))


def _derived(report: Report, metric: str, name: str) -> dict[str, DerivedFigure]:
    """Return a figure that is not among the scores, such as a ratio, by system."""
    return {
        system: figure
        for system, result in report.of_metric(metric).items()
        for figure in derived_figures(result)
        if figure.name == name
    }


def _column(report: Report, metric: str, name: str) -> _Column:
    """Return one cell per system, in which the best values are marked."""
    shown: Callable[[float], str] = percent
    if not metric:
        best = QUALITY.best
        values = {s.name: s.bleu for s in report.systems if s.bleu is not None}
        cells = [Cell("" if s.bleu is None else percent(s.bleu)) for s in report.systems]
    else:
        results, derived = report.of_metric(metric), _derived(report, metric, name)
        best = next((f.best for f in derived.values()), figure_name(metric, name).best)
        known = {s: r.scores[name] for s, r in results.items() if name in r.scores}
        known |= {system: figure.value for system, figure in derived.items()}
        values = {s: value for s, value in known.items() if not why_not_ranked(results[s], name)}
        cells = [figure_cell(report, metric, system.name, name) for system in report.systems]
        if any(figure.is_ratio for figure in derived.values()):
            shown = decimal
    distances = {
        system: distance
        for system, value in values.items()
        if (distance := distance_to_best(best, float(shown(value)))) is not None
    }
    if len(distances) < 2:
        return cells
    least = min(distances.values())
    return [
        replace(cell, is_best=distances.get(system.name) == least)
        for cell, system in zip(cells, report.systems, strict=True)
    ]


def _caption(
    report: Report, chosen: Sequence[tuple[str, str]], columns: Sequence[_Column]
) -> list[str]:
    metrics = [metric for metric in report.metrics if metric in {metric for metric, _ in chosen}]
    sentences = [f"Evaluator: {evaluators_text(report, metrics)}."] if metrics else []
    has_intervals = any(cell.interval for column in columns for cell in column)
    if has_intervals and (levels := interval_levels(report)):
        sentences.append(
            f"Figures are in percent; the brackets hold {' and '.join(levels)} intervals"
            f" {intervals_text(metrics, [name for _, name in chosen])}."
        )
    else:
        sentences.append("Figures are in percent.")
    if any(cell.is_best for column in columns for cell in column):
        sentences.append("The best value of each column is bold.")
    tested = [any(cell.difference for cell in column) for column in columns]
    if any(tested):
        sentences.append(
            f"* marks a difference to {report.baseline} with p < 0.05 by two-sided"
            f" {randomization_text(report.n_resamples)}, not corrected for multiple comparisons."
        )
        untested = dict.fromkeys(
            _label(report, metric, name)
            for (metric, name), is_tested in zip(chosen, tested, strict=True)
            if not is_tested
        )
        if untested:
            sentences.append(f"Not tested: {', '.join(untested)}.")
    return sentences
