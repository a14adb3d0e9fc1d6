"""The plots of a report as numbers. The page draws them as SVG, `plots` as files."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from cc_hf.figure_keys import CORRECTED
from cc_hf.reports.figure_text import category_key
from cc_hf.reports.report import Report
from cc_hf.results import EvaluationResult, Interval

__all__ = [
    "Bar",
    "Histogram",
    "QualityPoint",
    "category_bars",
    "histograms",
    "nice_ticks",
    "quality_points",
]

N_BINS = 20


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure of a system, by its index in the report, in a category or on some data.

    Attributes:
        category: the category, or the data.
        value: the figure; an accuracy is in [0, 1].
        interval: its interval; None if there is none.
        corrected: the accuracy and its interval with the judge's mistakes included; None for a
            result without.
    """

    category: str
    system: int
    value: float
    interval: Interval | None
    corrected: tuple[float, Interval | None] | None = None


@dataclass(frozen=True, slots=True)
class Histogram:
    """Number of samples of a system by probability_correct.

    Attributes:
        system: index of the system among those of the report.
        counts: samples in bins of equal width over [0, 1]; the last bin includes 1.
    """

    system: int
    counts: tuple[int, ...]
    n_correct: int


@dataclass(frozen=True, slots=True)
class QualityPoint:
    """BLEU and minimum accuracy of a system, in [0, 1].

    Attributes:
        system: index of the system among those of the report.
        interval: interval of the minimum accuracy; None if there is none.
        is_weighted: whether the minimum is that of weighted accuracies.
        is_corrected: whether it includes the judge's mistakes.
    """

    system: int
    bleu: float
    min_accuracy: float
    interval: Interval | None
    is_weighted: bool = False
    is_corrected: bool = False

    @property
    def label(self) -> str:
        """The name of the minimum accuracy in words."""
        kind = "weighted " if self.is_weighted else "corrected " if self.is_corrected else ""
        return f"{kind}minimum accuracy"


def category_bars(report: Report, metric: str) -> tuple[Bar, ...]:
    """Return the accuracy of each system by category, in the order of the papers."""
    bars = [
        Bar(
            c.category,
            system,
            c.accuracy,
            result.intervals.get(f"accuracy_{c.category}"),
            (result.scores[name], result.intervals.get(name))
            if (name := f"{CORRECTED}accuracy_{c.category}") in result.scores
            else None,
        )
        for system, result in _results(report, metric)
        for c in result.categories
    ]
    return tuple(sorted(bars, key=lambda bar: (category_key(bar.category), bar.system)))


def histograms(report: Report, metric: str, *, n_bins: int = N_BINS) -> tuple[Histogram, ...]:
    """Return a histogram per system with probabilities; ties count on the side of their verdict."""
    system_histograms = []
    for system, result in _results(report, metric):
        judged = [j for j in result.judgements if j.probability_correct is not None]
        if judged:
            counts = [0] * n_bins
            for judgement in judged:
                probability = judgement.probability_correct or 0.0
                # p = 0.5 falls into the first bin of the upper half; a tie that counts as incorrect
                # moves one bin down.
                is_tie_below = probability == 0.5 and not judgement.is_correct
                counts[min(int(probability * n_bins), n_bins - 1) - is_tie_below] += 1
            system_histograms.append(
                Histogram(system, tuple(counts), sum(j.is_correct for j in judged))
            )
    return tuple(system_histograms)


def quality_points(report: Report, metric: str) -> tuple[QualityPoint, ...]:
    """Return the systems whose BLEU is known, for a metric that has a minimum accuracy (Vamvas &
    Sennrich 2021, Figure 5, whose accuracies are weighted).
    """
    results = list(_results(report, metric))
    is_weighted = report.is_weighted and all(
        "weighted_min_accuracy" in result.scores for _, result in results
    )
    corrected = f"{CORRECTED}min_accuracy"
    is_corrected = not is_weighted and all(corrected in result.scores for _, result in results)
    name = "weighted_min_accuracy" if is_weighted else "min_accuracy"
    name = corrected if is_corrected else name
    return tuple(
        QualityPoint(
            index,
            bleu,
            result.scores[name],
            result.intervals.get(name),
            is_weighted,
            is_corrected,
        )
        for index, result in results
        if (bleu := report.systems[index].bleu) is not None and name in result.scores
    )


def nice_ticks(low: float, high: float, *, n: int = 5) -> tuple[float, ...]:
    """Return about `n` round numbers in equal steps, from at most `low` to at least `high`.

    Examples:
        >>> nice_ticks(31.2, 38.9)
        (30.0, 32.0, 34.0, 36.0, 38.0, 40.0)
    """
    if high <= low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / n
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    return tuple(round(k * step, 10) for k in range(first, last + 1))


def _results(report: Report, metric: str) -> Iterable[tuple[int, EvaluationResult]]:
    return (
        (index, system.results[metric])
        for index, system in enumerate(report.systems)
        if metric in system.results
    )
