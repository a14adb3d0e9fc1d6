"""Figures that reports derive from results: ratios, which are no shares, and what was read in
samples of neutral gender.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from cc_hf import registry
from cc_hf.evaluation.correction import corrected_estimates
from cc_hf.figure_keys import CORRECTED, figure_key
from cc_hf.metrics.base import registered_metric
from cc_hf.metrics.figure_names import Best, figure_name
from cc_hf.metrics.headline import accuracy_gap, headline
from cc_hf.results import EvaluationResult, Interval, NoInterval, once_per_result
from cc_hf.statistics.gender_ratios import (
    RATIO,
    READING_RATIO,
    GenderRatio,
    accuracy_ratio,
    ratio_of_estimates,
    reading_ratio,
)
from cc_hf.statistics.score_intervals import wilson_interval

__all__ = [
    "DerivedFigure",
    "MissingFigure",
    "derived_figures",
    "known_figure",
    "missing_figures",
    "ratio_figures",
]

_NEUTRAL, _NOTHING = "neutral", "nothing"


class DerivedFigure(NamedTuple):
    """A figure that is not among the scores of a result; `label` is its name in words.

    Attributes:
        interval: its interval, or why there is none.
        n: number of samples that it is a share of; None for others.
    """

    name: str
    label: str
    best: Best
    meaning: str
    value: float
    interval: Interval | NoInterval
    n: int | None = None

    @property
    def is_ratio(self) -> bool:
        """Whether it is a ratio, which is not in percent."""
        return self.best == "one" or (self.n is None and self.best == "none")


class MissingFigure(NamedTuple):
    """A figure that readers expect of a result, and why it cannot have it."""

    label: str
    reason: str


@once_per_result
def derived_figures(result: EvaluationResult) -> list[DerivedFigure]:
    """Return the ratios of a result, and how its samples of neutral gender are read."""
    return [
        *_of_headline(result),
        *ratio_figures(result),
        *(figure for figure in _of_test_sets(result) if isinstance(figure, DerivedFigure)),
        *_neutral_readings(result),
    ]


def known_figure(
    result: EvaluationResult, name: str
) -> tuple[float, Interval | NoInterval | None] | None:
    """Return a score or a derived figure of a result, with its interval; None if it has neither."""
    if name in result.scores:
        return result.scores[name], result.intervals.get(name)
    derived = (figure for figure in derived_figures(result) if figure.name == name)
    return next(((figure.value, figure.interval) for figure in derived), None)


def missing_figures(result: EvaluationResult) -> dict[str, str]:
    """Return the figures that readers expect of a result and that it cannot have.

    Examples:
        >>> from cc_hf.schema import Reading
        >>> read = tuple(Reading(str(i), "stereotype_01", "", "masculine", 0.9) for i in range(9))
        >>> scores = {"masculine_preference": 1.0}
        >>> result = EvaluationResult(
        ...     "", "", "pt", "m", "m|n:9", 9, scores, {}, (), (), readings=read
        ... )
        >>> missing_figures(result)["stereotype score g_s"][:40]
        'fewer than 10 rows of stereotype_01 (9),'
    """
    made = _of_test_sets(result)
    return {figure.label: figure.reason for figure in made if isinstance(figure, MissingFigure)}


def ratio_figures(result: EvaluationResult) -> list[DerivedFigure]:
    """Return the ratios M:F of a result with male and female samples."""
    named: tuple[tuple[str, GenderRatio | None, str, Best, str], ...] = (
        (
            f"{CORRECTED}{RATIO}",
            ratio_of_estimates(corrected_estimates(result.metric, result.judgements)),
            "corrected ratio M:F, 1 is best",
            "one",
            "The ratio M:F with the judge's mistakes included, by trusted verdicts on a part of the"
            " translations.",
        ),
        (
            RATIO,
            accuracy_ratio(result),
            "ratio M:F, 1 is best",
            "one",
            "Accuracy on male divided by accuracy on female. Above 1, men are translated better.",
        ),
        (
            READING_RATIO,
            reading_ratio(result),
            "ratio M:F of readings",
            "none",
            "Translations read as male divided by those read as female. It is 1 for a perfect"
            " system if as many samples are male as female.",
        ),
    )
    return [
        DerivedFigure(name, label, best, meaning, ratio.value, ratio.interval)
        for name, ratio, label, best, meaning in named
        if ratio is not None
    ]


def _of_headline(result: EvaluationResult) -> list[DerivedFigure]:
    """Return the gap between women and men, and what is wrong and unread where much is unread."""
    said, sizes = headline(result), {c.category: c.n for c in result.categories}
    figures = []
    if said.gap and (gap := accuracy_gap(result, figure_key(said.gap).reference)):
        figures.append(_derived(result.metric, said.gap, *gap))
    for cited in said.cited:
        ending = f"_{cited.category}" if cited.category else ""
        for name, share in (("wrong", cited.wrong), ("unread", cited.unread)):
            if share is not None and cited.wrong is not None:
                n = sizes.get(cited.category, result.n)
                figures.append(
                    _derived(result.metric, f"{name}{ending}", share.value, share.interval, n)
                )
    return figures


def _derived(
    metric: str, name: str, value: float, interval: Interval | NoInterval, n: int | None = None
) -> DerivedFigure:
    figure = figure_name(registered_metric(metric).figure_names, name)
    return DerivedFigure(name, figure.label, figure.best, figure.meaning, value, interval, n)


def _of_test_sets(result: EvaluationResult) -> list[DerivedFigure | MissingFigure]:
    """Return what the registered functions derive from a result, which is of any test set."""
    made = (derive(result) for derive in registry.load_all("derived figure").values())
    return [figure for figure in made if figure is not None]


def _neutral_readings(result: EvaluationResult) -> list[DerivedFigure]:
    readings = Counter(j.predicted for j in result.judgements if j.gold == _NEUTRAL)
    n = readings.total()
    return [
        DerivedFigure(
            f"neutral_as_{name}",
            f"{_NEUTRAL} samples read as {name or _NOTHING}",
            "none",
            "The share of samples of neutral gender whose translation is read as"
            f" {name or _NOTHING}.",
            count / n,
            wilson_interval(count, n),
            n,
        )
        for name, count in readings.most_common()
    ]
