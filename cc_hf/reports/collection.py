"""Results on several datasets: one report for each, and an overview of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cc_hf.errors import InputError
from cc_hf.figure_keys import category_name, figure_key
from cc_hf.metrics.headline import MOST_CATEGORIES, counted_in, headline
from cc_hf.reports.derived_figures import known_figure
from cc_hf.reports.evaluators import evaluator_name
from cc_hf.reports.figure_text import (
    data_name,
    figure_name,
    is_gap,
    metric_meaning,
    metric_name,
    pair_of_data,
    title_of_data,
)
from cc_hf.reports.numbers import limits, percent
from cc_hf.reports.report import Report
from cc_hf.results import EvaluationResult

__all__ = [
    "OVERVIEW_CAPTION",
    "Collection",
    "OverviewCell",
    "OverviewRow",
    "PairRow",
    "PairTable",
    "build_collection",
    "overview",
    "pair_table",
]

#: What a reader must know of the overview.
OVERVIEW_CAPTION = (
    "Figures are in percent; the brackets hold intervals. Each row has the figure by which systems"
    " are ranked on these data by this metric, or a gap that the metric measures; rows cannot be"
    " compared with each other. A line goes from the worst to the best category."
)


@dataclass(frozen=True)
class Collection:
    """Reports, one per dataset, configuration and target language."""

    reports: tuple[Report, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of all systems, each once."""
        names = [system.name for report in self.reports for system in report.systems]
        return tuple(dict.fromkeys(names))

    @property
    def title(self) -> str:
        """The name of the only system, or the number of systems."""
        return self.systems[0] if len(self.systems) == 1 else f"{len(self.systems):,} systems"


class OverviewCell(NamedTuple):
    """The figure of a system.

    Attributes:
        value: the figure in percent.
        interval: its interval; "" if there is none.
        lowest, highest: names and accuracies of the worst and the best category; None where the
            figure is a difference, or the result has no or many categories.
        report: index of the report in the collection.
        is_unfit: whether the figures of its row are not fit to be cited.
    """

    value: str
    interval: str
    lowest: tuple[str, float] | None
    highest: tuple[str, float] | None
    report: int
    is_unfit: bool


class OverviewRow(NamedTuple):
    """What the overview says, in words, of one figure of a metric on one dataset.

    Attributes:
        report: index of the report in the collection.
        about: what the metric does.
        meaning: what the figure means; "" if the name says so.
        evaluator: the evaluators without their revisions; "" for a metric that needs none.
        is_unfit: whether none of the cells is fit to be cited.
        cells: one per system of the collection; None for a system without the figure.
    """

    report: int
    data: str
    languages: str
    metric: str
    about: str
    figure: str
    meaning: str
    evaluator: str
    is_unfit: bool
    cells: tuple[OverviewCell | None, ...]


class PairRow(NamedTuple):
    """What a system does in one language pair.

    Attributes:
        cells: one per column of the table; None where the pair or the system has no figure.
    """

    languages: str
    system: str
    cells: tuple[OverviewCell | None, ...]


class PairTable(NamedTuple):
    """Test sets by language pair; each column is the first row of the overview with its figure."""

    columns: tuple[OverviewRow, ...]
    rows: tuple[PairRow, ...]


def build_collection(reports: Sequence[Report]) -> Collection:
    """Combine reports on different datasets."""
    if len(reports) < 2:
        raise InputError(f"expected reports on at least two datasets, got {len(reports)}")
    names = [data_name(report.first) for report in reports]
    if len(set(names)) < len(names):
        raise InputError(f"expected reports on different data, got {', '.join(names)}")
    return Collection(tuple(reports))


def overview(collection: Collection) -> tuple[OverviewRow, ...]:
    """Return a row for the main figure of each metric on each dataset, in the order of the reports,
    then one for each gap that a metric measures besides.
    """
    main_rows, gap_rows = [], []
    for index, report in enumerate(collection.reports):
        for metric in report.metrics:
            results = report.of_metric(metric).values()
            names = dict.fromkeys(name for r in results for name in headline(r).overview)
            main_rows += [_row(collection, index, metric, name) for name in names]
            gaps = dict.fromkeys(name for r in results for name in r.scores if is_gap(metric, name))
            gap_rows += [
                _row(collection, index, metric, name) for name in gaps if name not in names
            ]
    return (*main_rows, *gap_rows)


def pair_table(collection: Collection) -> PairTable | None:
    """Arrange the overview by language pair: a row for each pair and system, a column for each test
    set and figure; None for fewer than two language pairs.
    """
    rows = overview(collection)
    if len({row.languages for row in rows if row.languages}) < 2:
        return None
    columns: dict[tuple[str, str, str], OverviewRow] = {}
    cells: dict[tuple[str, str], dict[tuple[str, str, str], OverviewCell]] = {}
    for row in rows:
        # Configurations that differ in their languages only are one test set.
        column = (row.data, row.metric, row.figure)
        columns.setdefault(column, row)
        for system, cell in zip(collection.systems, row.cells, strict=True):
            if cell is not None:
                cells.setdefault((row.languages, system), {})[column] = cell
    return PairTable(
        tuple(columns.values()),
        tuple(
            PairRow(languages, system, tuple(map(figures.get, columns)))
            for pair in dict.fromkeys(languages for languages, _ in cells)
            for (languages, system), figures in cells.items()
            if languages == pair
        ),
    )


def _row(collection: Collection, index: int, metric: str, name: str) -> OverviewRow:
    report = collection.reports[index]
    results = report.of_metric(metric)
    figure = figure_name(metric, name)
    evaluators = dict.fromkeys(evaluator_name(result) for result in results.values())
    is_unfit = all(result.why_unfit(name) for result in results.values())
    return OverviewRow(
        index,
        title_of_data(report.first),
        pair_of_data(next(iter(results.values()))),
        metric_name(metric),
        metric_meaning(metric),
        figure.label,
        figure.meaning,
        ", ".join(filter(None, evaluators)),
        is_unfit,
        tuple(
            _cell(results[system], name, index, is_unfit) if system in results else None
            for system in collection.systems
        ),
    )


def _cell(result: EvaluationResult, name: str, report: int, is_unfit: bool) -> OverviewCell | None:
    if (figure := known_figure(result, name)) is None:
        return None
    lowest, highest = (None, None) if is_gap(result.metric, name) else _extremes(result, name)
    value = percent(figure[0]).replace("-", "−")
    return OverviewCell(value, limits(figure[1]), lowest, highest, report, is_unfit)


def _extremes(
    result: EvaluationResult, name: str
) -> tuple[tuple[str, float], tuple[str, float]] | tuple[None, None]:
    """Return the worst and the best category with their accuracies, corrected as the figure is;
    None for fewer than two categories, for many, and for figures that are no accuracies.
    """
    reference = figure_key(name).reference
    accuracies = [
        (result.scores[f"{reference}accuracy_{c.category}"], c.category)
        for c in counted_in(result)
        if f"{reference}accuracy_{c.category}" in result.scores
    ]
    if not 2 <= len(accuracies) <= MOST_CATEGORIES or "accuracy" not in name:
        return None, None
    (low, worst), (high, best) = min(accuracies), max(accuracies)
    return (category_name(worst), low), (category_name(best), high)
