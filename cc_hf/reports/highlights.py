"""What stands out in a report, as numbers: groups of samples, the values of an attribute on which
systems fail most, readings that are confused, and samples that divide two systems.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from cc_hf.figure_keys import CORRECTED, category_name
from cc_hf.fit_to_cite import GENDERS
from cc_hf.metrics.headline import uncounted_of
from cc_hf.reports.figure_text import category_key
from cc_hf.reports.report import Report
from cc_hf.reports.samples import Sample
from cc_hf.results import Interval
from cc_hf.schema import (
    NEITHER,
    ContrastiveTranslationExample,
    Example,
    Judgement,
    counted_categories,
)

__all__ = [
    "Attribute",
    "Confusion",
    "Group",
    "HardValue",
    "Spread",
    "attributes",
    "category_spreads",
    "confusions",
    "divided_samples",
    "hard_values",
    "judged_samples",
    "spreads",
]

_FEW = 6  # an attribute with at most so many values divides the samples into groups
_SMALLEST = 10  # a value with fewer samples says little about a system
_READINGS = 8  # a table of more readings is no longer readable


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property of the samples by which they can be filtered.

    Attributes:
        name: the name of a further column of the dataset, or "word" for the words in focus.
        values: one per sample of the report; "" if a sample has none.
    """

    name: str
    values: tuple[str, ...]

    @property
    def distinct(self) -> tuple[str, ...]:
        """Each value once, in the order of the papers and then by name."""
        return tuple(sorted(set(self.values) - {""}, key=category_key))

    @property
    def has_groups(self) -> bool:
        """Whether the attribute has few values, such as "pro" and "anti"."""
        return len(self.distinct) <= _FEW

    @property
    def has_words(self) -> bool:
        """Whether the attribute has many values that are words, such as occupations."""
        return not self.has_groups and not all(value.isdecimal() for value in self.distinct)


@dataclass(frozen=True, slots=True)
class Group:
    """The judgements of a system, at least one, on samples that share a value.

    Attributes:
        gender: the category of all of them, where people of both genders are not pooled; else "".
        corrected: the accuracy with the judge's mistakes, and its interval; None where it is not
            known.
    """

    name: str
    n: int
    n_correct: int
    gender: str = ""
    corrected: tuple[float, Interval] | None = None

    @property
    def label(self) -> str:
        """The value, and the gender if it has one."""
        return category_name(self.name) + (f", {self.gender}" if self.gender else "")

    @property
    def accuracy(self) -> float:
        """The share of correct translations, in [0, 1]."""
        return self.n_correct / self.n if self.corrected is None else self.corrected[0]


@dataclass(frozen=True, slots=True)
class Spread:
    """The accuracies of a system in at least two groups, in the order of the papers.

    Attributes:
        system: index of the system among those of the report.
    """

    system: int
    groups: tuple[Group, ...]

    @property
    def lowest(self) -> Group:
        """The group with the lowest accuracy."""
        return min(self.groups, key=lambda group: group.accuracy)

    @property
    def highest(self) -> Group:
        """The group with the highest accuracy."""
        return max(self.groups, key=lambda group: group.accuracy)

    @property
    def gap(self) -> float:
        """The difference of the two, in [0, 1]."""
        return self.highest.accuracy - self.lowest.accuracy


@dataclass(frozen=True, slots=True)
class HardValue:
    """A value of an attribute on which systems fail often.

    Attributes:
        groups: the judgements of each system in question; None for one without judgements.
    """

    value: str
    groups: tuple[Group | None, ...]
    gender: str = ""

    @property
    def label(self) -> str:
        """The value, and the gender if it has one."""
        return f"{self.value}, {self.gender}" if self.gender else self.value


@dataclass(frozen=True, slots=True)
class Confusion:
    """What a metric read in the translations of a system, by what it should have read.

    Attributes:
        system: index of the system among those of the report.
        golds: the correct readings, which name the rows.
        readings: what was read, which names the columns; "" if nothing could be read.
        counts: number of samples for each row and column.
    """

    system: int
    golds: tuple[str, ...]
    readings: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def attributes(report: Report) -> tuple[Attribute, ...]:
    """Return the attributes by which samples can be filtered: the further columns of the dataset,
    and the words in focus unless a column repeats them; () if the dataset is not available.
    """
    examples = [sample.example for sample in report.samples]
    names = dict.fromkeys(name for example in examples if example for name in example.extra)
    columns = {
        name: tuple("" if example is None else example.extra.get(name, "") for example in examples)
        for name in names
    }
    words = tuple(_focus(example) for example in examples)
    n_repeated = max(
        (
            sum(a.lower() == b for a, b in zip(values, words, strict=True))
            for values in columns.values()
        ),
        default=0,
    )
    if 2 * n_repeated < len(words):
        columns = {"word": words, **columns}
    categories = tuple(sample.category for sample in report.samples)
    return tuple(
        Attribute(name, values)
        for name, values in columns.items()
        # A column whose values hardly ever occur twice (a reference, a number of a sentence) and
        # one that repeats the categories are no attributes.
        if 1 < len({*values} - {""}) <= len(values) / 2 and values != categories
    )


def category_spreads(report: Report, metric: str) -> tuple[Spread, ...]:
    """Return the accuracies of each system in each category that minimum accuracies count; () for
    fewer than two.
    """
    categories = Attribute("category", tuple(sample.category for sample in report.samples))
    return tuple(
        Spread(spread.system, _corrected(report, metric, spread))
        for spread in spreads(report, metric, categories)
    )


def _corrected(report: Report, metric: str, spread: Spread) -> tuple[Group, ...]:
    """Return the categories of a system with their corrected accuracies, if all have one."""
    result = report.systems[spread.system].results[metric]
    names = {group.name: f"{CORRECTED}accuracy_{group.name}" for group in spread.groups}
    if not all(name in result.scores and name in result.intervals for name in names.values()):
        return spread.groups
    return tuple(
        replace(group, corrected=(result.scores[name], result.intervals[name]))
        for group, name in zip(spread.groups, names.values(), strict=True)
    )


def spreads(report: Report, metric: str, attribute: Attribute) -> tuple[Spread, ...]:
    """Return the accuracies of each system for each value of an attribute, without the value
    "none".
    """
    system_spreads = []
    for system in range(len(report.systems)):
        groups = _groups(report, metric, attribute, system)
        counted = [groups[name, ""] for name in attribute.distinct if (name, "") in groups]
        names = counted_categories((group.name for group in counted), uncounted_of(metric))
        counted = [group for group in counted if group.name in names]
        if len(counted) > 1:
            system_spreads.append(Spread(system, tuple(counted)))
    return tuple(system_spreads)


def hard_values(
    report: Report, metric: str, attribute: Attribute, *, n: int, system: int | None = None
) -> tuple[HardValue, ...]:
    """Return the values on which systems fail most, with 10 samples or more, the hardest first.

    Args:
        system: index of the only system; None for the mean accuracy of all systems.
    """
    # Women and men are not pooled: where samples are about both, a value stands for each.
    genders = GENDERS if {*GENDERS} <= {*report.categories} else ()
    systems = range(len(report.systems)) if system is None else [system]
    by_system = [_groups(report, metric, attribute, index, genders) for index in systems]
    ranked = []
    for value, gender in itertools.product(attribute.distinct, genders or ("",)):
        groups = [table[value, gender] for table in by_system if (value, gender) in table]
        if not groups or max(group.n for group in groups) < _SMALLEST:
            continue
        mean = sum(group.accuracy for group in groups) / len(groups)
        if mean < 1:
            ranked.append((mean, -max(group.n for group in groups), value, gender))
    return tuple(
        HardValue(value, tuple(table.get((value, gender)) for table in by_system), gender)
        for _, _, value, gender in sorted(ranked)[:n]
    )


def confusions(report: Report, metric: str) -> tuple[Confusion, ...]:
    """Return for each system what the metric read, by what it should have read."""
    tables = {
        system: Counter(
            (j.gold, j.predicted) for _, j in judged_samples(report, metric, system) if j.gold
        )
        for system in range(len(report.systems))
    }
    pairs = [pair for table in tables.values() for pair in table]
    golds = sorted({gold for gold, _ in pairs}, key=category_key)
    others = {reading for _, reading in pairs} - {*golds}
    readings = [*golds, *sorted(others - {""}), *[""] * ("" in others)]
    if len(readings) > _READINGS or not any(reading for _, reading in pairs):
        return ()
    return tuple(
        Confusion(
            system,
            tuple(golds),
            tuple(readings),
            tuple(tuple(table[gold, reading] for reading in readings) for gold in golds),
        )
        for system, table in tables.items()
        if table
    )


def divided_samples(report: Report, metric: str) -> tuple[tuple[int, ...], ...]:
    """Count for each pair of systems the samples that the first has right and the second wrong."""
    column = report.judging.index(metric)
    indices = range(len(report.systems))
    counts = [[0 for _ in indices] for _ in indices]
    for sample in report.samples:
        verdicts = [row[column] for row in sample.judgements]
        right = [i for i, j in enumerate(verdicts) if j is not None and j.is_correct]
        wrong = [
            i
            for i, j in enumerate(verdicts)
            if j is not None and not j.is_correct and j.verdict != NEITHER
        ]
        for first in right:
            for second in wrong:
                counts[first][second] += 1
    return tuple(map(tuple, counts))


def _groups(
    report: Report, metric: str, attribute: Attribute, system: int, genders: Collection[str] = ()
) -> dict[tuple[str, str], Group]:
    """Return the groups of a system by the value of the attribute and its gender, "" for none."""
    genders_of = {c: c if c in genders else "" for c in report.categories}
    judged = [
        (attribute.values[index], genders_of[report.samples[index].category], j.is_correct)
        for index, j in judged_samples(report, metric, system)
    ]
    n = Counter((value, gender) for value, gender, _ in judged)
    n_correct = Counter((value, gender) for value, gender, is_correct in judged if is_correct)
    return {key: Group(key[0], n[key], n_correct[key], key[1]) for key in n}


def judged_samples(report: Report, metric: str, system: int) -> Iterator[tuple[int, Judgement]]:
    """Yield the index and the judgement of each judged sample that shows a reading."""
    column = report.judging.index(metric)
    samples: Sequence[Sample] = report.samples
    for index, sample in enumerate(samples):
        judgement = sample.judgements[system][column]
        if judgement is not None and judgement.verdict != NEITHER:
            yield index, judgement


def _focus(example: Example | None) -> str:
    if example is None or isinstance(example, ContrastiveTranslationExample):
        return ""
    return "" if example.focus is None else example.focus.text.lower()
