"""Results on several datasets: one report for each, and an overview of all. Nothing is formatted
here but figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cc_hf.errors import InputError
from cc_hf.reports.evaluators import evaluator_name
from cc_hf.reports.figure_text import (
    data_name,
    figure_name,
    metric_meaning,
    metric_name,
    pair_of_data,
    title_of_data,
)
from cc_hf.reports.key_figures import gap_of, main_figure
from cc_hf.reports.numbers import limits, percent
from cc_hf.reports.report import Report
from cc_hf.results import EvaluationResult

__all__ = [
    "OVERVIEW_CAPTION",
    "Collection",
    "Figure",
    "OverviewRow",
    "build_collection",
    "overview",
]

#: What a reader must know of the overview.
OVERVIEW_CAPTION = (
    "Figures are in percent, gaps in percentage points; the brackets hold intervals. The main"
    " figure is the one by which systems are ranked. A gap is the one that the metric measures,"
    " else that of the best and the worst category."
)


@dataclass(frozen=True)
class Collection:
    """Reports on several datasets.

    Attributes:
        reports: one report per dataset, configuration and target language.
    """

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


class Figure(NamedTuple):
    """A figure as text.

    Attributes:
        label: its name in words.
        meaning: what it means; "" if the name says so.
        value: the figure in percent.
        interval: its interval; "" if there is none.
    """

    label: str
    meaning: str
    value: str
    interval: str


class OverviewRow(NamedTuple):
    """What the overview says of a system by one metric on one dataset.

    Attributes:
        report: index of the report in the collection.
        data: dataset and configuration in words.
        languages: the languages in words.
        metric: the metric in words.
        about: what the metric does.
        main: the main figure; None for a result without scores.
        gap: the gap; None if there is none.
        evaluator: the evaluator without its revision; "" for a metric that needs none.
    """

    report: int
    data: str
    languages: str
    system: str
    metric: str
    about: str
    main: Figure | None
    gap: Figure | None
    evaluator: str


def build_collection(reports: Sequence[Report]) -> Collection:
    """Combine reports on different datasets.

    Args:
        reports: at least two reports.

    Raises:
        InputError: for fewer, or for two on the same data.
    """
    if len(reports) < 2:
        raise InputError(f"expected reports on at least two datasets, got {len(reports)}")
    names = [data_name(report.first) for report in reports]
    if len(set(names)) < len(names):
        raise InputError(f"expected reports on different data, got {', '.join(names)}")
    return Collection(tuple(reports))


def overview(collection: Collection) -> tuple[OverviewRow, ...]:
    """Return one row for each system and metric on each dataset, in the order of the reports."""
    return tuple(
        OverviewRow(
            index,
            title_of_data(report.first),
            pair_of_data(result),
            system.name,
            metric_name(metric),
            metric_meaning(metric),
            _main(result),
            _gap(result),
            evaluator_name(result),
        )
        for index, report in enumerate(collection.reports)
        for system in report.systems
        for metric, result in system.results.items()
    )


def _main(result: EvaluationResult) -> Figure | None:
    name = main_figure(result)
    if not name:
        return None
    label, _, meaning = figure_name(result.metric, name)
    value, interval = result.scores[name], limits(result.intervals.get(name))
    return Figure(label, meaning, percent(value).replace("-", "−"), interval)


def _gap(result: EvaluationResult) -> Figure | None:
    gap = gap_of(result)
    if gap is None:
        return None
    value = percent(gap.value).replace("-", "−")
    return Figure(gap.label, gap.meaning, value, limits(gap.interval))
