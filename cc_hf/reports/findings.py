"""What the figures of a report say, in sentences, and the cells of its data that differ most. A
sentence is made only where the intervals bear it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cc_hf.figure_keys import category_name, is_corrected
from cc_hf.fit_to_cite import OF_A_FIRST_LOOK
from cc_hf.metrics.headline import uncounted_of
from cc_hf.reports.figure_text import (
    category_key,
    figure_label,
    metric_name,
    with_interval,
)
from cc_hf.reports.highlights import (
    Attribute,
    Group,
    Spread,
    category_spreads,
    judged_samples,
)
from cc_hf.reports.numbers import count, limits, percent
from cc_hf.reports.report import Report
from cc_hf.results import EvaluationResult
from cc_hf.schema import counted_categories
from cc_hf.statistics.score_intervals import wilson_interval

__all__ = ["Split", "SplitTable", "findings", "most_split", "splits"]

_SMALLEST = 10  # a cell with fewer samples says little about a system
_MOST_CATEGORIES = 6  # among more, the best and the worst are extremes of small samples
#: Categories that are named by another word in a sentence.
_WORDS = {"female": "women", "male": "men"}


class Split(NamedTuple):
    """A value, such as an occupation, on which a system is right more often in one category than
    another.
    """

    value: str
    spread: Spread


def splits(report: Report, metric: str, attribute: Attribute) -> dict[int, tuple[Split, ...]]:
    """Return the values of an attribute with at least ten samples in each of two categories, by the
    index of the system, those with the largest gap first.
    """
    by_system: dict[int, tuple[Split, ...]] = {}
    counted = counted_categories(report.categories, uncounted_of(metric))
    for system in range(len(report.systems)):
        n: Counter[tuple[str, str]] = Counter()
        n_correct: Counter[tuple[str, str]] = Counter()
        for index, judgement in judged_samples(report, metric, system):
            cell = attribute.values[index], report.samples[index].category
            n[cell] += 1
            n_correct[cell] += judgement.is_correct
        groups: dict[str, list[Group]] = {}
        for (value, category), size in n.items():
            # The category that minimum accuracies ignore is left out.
            if value and size >= _SMALLEST and category in counted:
                group = Group(category, size, n_correct[value, category])
                groups.setdefault(value, []).append(group)
        of_system = [
            Split(value, Spread(system, tuple(sorted(of, key=lambda g: category_key(g.name)))))
            for value, of in groups.items()
            if len(of) > 1
        ]
        by_system[system] = tuple(sorted(of_system, key=lambda s: (-s.spread.gap, s.value)))
    return {system: of_system for system, of_system in by_system.items() if of_system}


class SplitTable(NamedTuple):
    """The values of an attribute, by the index of the system, on which its categories differ."""

    attribute: Attribute
    by_system: Mapping[int, tuple[Split, ...]]


def most_split(report: Report, attributes: Sequence[Attribute]) -> SplitTable | None:
    """Return the attribute of words with the most values that `splits` finds by the first metric
    that judges; None if no attribute has two.

    Args:
        attributes: those of `cc_hf.reports.highlights.attributes`; () if the data are not at hand.
    """
    if not report.judging:
        return None
    metric = report.judging[0]
    fit = _fit_systems(report, metric)
    tables = []
    for attribute in attributes:
        if attribute.has_words:
            by_value = splits(report, metric, attribute)
            # Verdicts that are not fit to be cited are left out if others are.
            chosen = {n: of for n, of in by_value.items() if n in fit or not fit}
            tables.append(SplitTable(attribute, chosen))
    best = max(tables, key=_most_values, default=None)
    return best if best is not None and _most_values(best) > 1 else None


def _most_values(table: SplitTable) -> int:
    return max(map(len, table.by_system.values()), default=0)


def _fit_systems(report: Report, metric: str) -> set[int]:
    """Return the systems whose verdicts by a metric are fit to be cited."""
    return {
        index
        for index, system in enumerate(report.systems)
        if metric in system.results and not system.results[metric].why_unfit()
    }


def findings(report: Report, split_table: SplitTable | None) -> list[str]:
    """Return sentences on figures that are fit to be cited; without any, on first looks, which say
    so.

    They say which system is best by the first metric, and by the first that judges how much worse
    the worst category is, and the cell that shows it most. All may be missing.
    """
    sentences = list(_best(report, report.metrics[0])) if report.metrics else []
    if not report.judging:
        return sentences
    fit, metric = _fit_systems(report, report.judging[0]), report.judging[0]
    # Nothing speaks against these figures but that the judge is a small one, or the samples few.
    looks = fit or {
        index
        for index, system in enumerate(report.systems)
        if metric in system.results
        and system.results[metric].unfit
        and system.results[metric].unfit.keys() <= OF_A_FIRST_LOOK
    }
    if looks:
        worst = _worst_category(report, metric, looks)
        found_out = [*_on_worst(report, worst), *_cell(report, split_table, worst)]
        sentences += found_out if fit else [f"By a first look: {text}" for text in found_out]
    return sentences


def _best(report: Report, metric: str) -> Iterator[str]:
    """Yield which system is best by the figure that ranks, if it can be told."""
    ranks = report.ranks.get(metric)
    if ranks is None:
        return
    results = report.of_metric(metric)
    standings = {s: standing for s, standing in ranks.by_system.items() if s in results}
    ranked = sorted(standings, key=lambda system: -standings[system].accuracy)
    if len(ranked) < 2:
        return
    best, second = ranked[:2]
    label = figure_label(metric, ranks.by)
    meaning = ", the accuracy on the worst category" if ranks.by.endswith("min_accuracy") else ""
    by = f"{meaning} ({metric_name(metric)})"
    if ranks.is_shared:
        by += f" on the {count(ranks.n_samples)} samples that every system reads"
        texts = [with_interval(standings[s].accuracy, None) for s in (best, second)]
    else:
        texts = [_in_a_sentence(results[system], ranks.by) for system in (best, second)]
    if any(results[system].why_unfit(ranks.by) for system in (best, second)):
        # The judge is good enough for a ranking only, so that the figures are not quoted.
        before = percent(standings[best].accuracy - standings[second].accuracy)
        which = "best" if standings[best].last == 1 else "first, but not apart from every other,"
        yield f"{best} is {which} by {label}{by}: {before} points before {second}."
    elif standings[best].last == 1:
        yield f"{best} is best by {label}{by}: {texts[0]} %; {second} has {texts[1]} %."
    else:
        yield (
            f"By {label}{by}, {best} ({texts[0]} %) is before {second} ({texts[1]} %), but cannot"
            " be told apart from every other system."
        )


def _in_a_sentence(result: EvaluationResult, name: str) -> str:
    """Return a figure with its interval, whose limits tables align by blanks."""
    interval = limits(result.intervals.get(name))
    return percent(result.scores[name]) + (f" ({interval})" if interval else "")


def _worst_category(report: Report, metric: str, fit: set[int]) -> tuple[Spread, ...]:
    """Return the accuracies of systems by category if one category is clearly the worst of each; ()
    if not.
    """
    spreads = tuple(s for s in category_spreads(report, metric) if s.system in fit)
    is_clear = (
        len({spread.lowest.name for spread in spreads}) == 1
        and all(len(spread.groups) <= _MOST_CATEGORIES for spread in spreads)
        and all(_least_gap(spread, 0.05 / _n_pairs(spread)) > 0 for spread in spreads)
    )
    return spreads if is_clear else ()


def _n_pairs(spread: Spread) -> int:
    """Return among how many pairs of groups the worst and the best were chosen."""
    return math.comb(len(spread.groups), 2)


def _on_worst(report: Report, spreads: Sequence[Spread]) -> Iterator[str]:
    """Yield which category is the worst, and by how much."""
    if not spreads:
        return
    lowest = _word(spreads[0].lowest.name)
    highest = {spread.highest.name for spread in spreads}
    than = f" than {_word(highest.pop())}" if len(highest) == 1 else " than the best category"
    ordered = sorted(spreads, key=lambda spread: spread.gap)
    gaps = [
        f"{percent(spread.gap)} points with {report.systems[spread.system].name}"
        for spread in dict.fromkeys((ordered[0], ordered[-1]))
    ]
    who = f"With every system, {lowest}" if len(spreads) > 1 else lowest[:1].upper() + lowest[1:]
    yield f"{who} are translated right less often{than}: by {' to '.join(gaps)}."


def _cell(report: Report, table: SplitTable | None, worst: Sequence[Spread]) -> Iterator[str]:
    """Yield the value whose categories differ most; if a category is the worst in general, one
    where it is the worst, too.
    """
    if table is None:
        return
    cells = [split for of_system in table.by_system.values() for split in of_system]
    error = 0.05 / sum(_n_pairs(split.spread) for split in cells)
    alike = [s for s in cells if not worst or s.spread.lowest.name == worst[0].lowest.name]
    split = max(alike, key=lambda split: _least_gap(split.spread, error), default=None)
    if split is None or _least_gap(split.spread, error) <= 0:
        return
    system = report.systems[split.spread.system].name
    low, high = split.spread.lowest, split.spread.highest
    result = report.systems[split.spread.system].results[report.judging[0]]
    by = ", by the judge alone" * any(map(is_corrected, result.scores))
    yield (
        f"“{split.value}”{by}: {system} has {count(low.n_correct)} of {count(low.n)}"
        f" {_word(low.name)} right, and {count(high.n_correct)} of {count(high.n)}"
        f" {_word(high.name)}."
    )


def _least_gap(spread: Spread, error: float) -> float:
    """Return the lower limit of the difference of the best and the worst group (Newcombe 1998)."""
    high, low = spread.highest, spread.lowest
    if high.corrected and low.corrected:
        (_, of_high), (_, of_low) = high.corrected, low.corrected
        return spread.gap - math.hypot(high.accuracy - of_high.low, of_low.high - low.accuracy)
    of_high = wilson_interval(high.n_correct, high.n, level=1 - error)
    of_low = wilson_interval(low.n_correct, low.n, level=1 - error)
    return spread.gap - math.hypot(high.accuracy - of_high.low, of_low.high - low.accuracy)


def _word(category: str) -> str:
    return _WORDS.get(category, category_name(category))
