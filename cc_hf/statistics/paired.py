"""Two systems on the same samples: differences, with intervals and p by paired approximate
randomisation, and McNemar's exact test.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.lists import listed
from cc_hf.results import Interval, NoInterval
from cc_hf.schema import counted_categories
from cc_hf.statistics.accuracy import accuracy_estimates
from cc_hf.statistics.bootstrap import (
    check_bootstrap,
    percentile_interval,
    resampled_strata,
)
from cc_hf.statistics.checks import as_counts, as_flags, as_labels, check_type
from cc_hf.statistics.randomization import (
    FiguresOfSums,
    exchange_p,
    exchange_tests,
    minimum_p,
)
from cc_hf.statistics.score_intervals import (
    FEWEST_PAIRED,
    Estimate,
    difference,
    estimate_share,
)

__all__ = [
    "McNemar",
    "OfCategories",
    "PairedDifference",
    "difference_interval",
    "estimated_difference",
    "estimated_differences",
    "f1_differences",
    "figure_differences",
    "mcnemar",
    "paired_differences",
]

_Floats = npt.NDArray[np.float64]


class OfCategories(NamedTuple):
    """What the categories of samples make besides their own figures.

    Attributes:
        groups: name -> categories that have a figure together; a group without a sample is omitted.
        deltas: name -> the two figures that it is the difference of; omitted if either is missing.
        uncounted: categories that are in no minimum, besides "none".
    """

    groups: Mapping[str, Sequence[str]] = MappingProxyType({})
    deltas: Mapping[str, tuple[str, str]] = MappingProxyType({})
    uncounted: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A figure of two systems, in [0, 1], with their difference and its significance.

    Attributes:
        difference: second minus first, in [-1, 1].
        interval: interval of the difference, or why there is none.
        p_value: two-sided p, in [0, 1], by paired randomisation; by the interval of the difference
            where nothing can be exchanged (`estimated_difference`).
        is_exact: whether p comes from all exchanges, not from random ones.
    """

    first: float
    second: float
    difference: float
    interval: Interval | NoInterval
    p_value: float
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class McNemar:
    """The result of McNemar's test, with a two-sided p in (0, 1]."""

    n_only_first: int
    n_only_second: int
    p_value: float


def paired_differences(
    correct: npt.NDArray[np.bool_],
    categories: Sequence[str],
    *,
    weights: npt.NDArray[np.int64] | None = None,
    inconclusive: npt.NDArray[np.bool_] | None = None,
    counted: npt.NDArray[np.bool_] | None = None,
    of_categories: OfCategories | None = None,
    units: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[dict[str, PairedDifference], ...]:
    """Compare every system with the first one in accuracy, min_accuracy, accuracy_<category>, and
    the further figures that the arguments ask for.

    Args:
        correct: shape (s, n), the verdicts on s systems, at least 2.
        weights: shape (s, n), positive, or 0 for what is not counted; None for no weighted figures.
        inconclusive: shape (s, n), whether there is no verdict; None for no such rates.
        counted: shape (s, n), whether accuracies count a sample, such as one that shows a reading;
            None for all.
        of_categories: further figures, and what is in no minimum; None for neither.
        units: n names, which samples that belong together share, such as those of a pair; None for
            samples on their own.

    Examples:
        >>> correct = np.array([[True] * 8, [True] * 4 + [False] * 4])
        >>> paired_differences(correct, ["a"] * 8)[0]["accuracy"].difference
        -0.5
    """
    correct = as_flags("correct", correct, shape=(None, None))
    if len(correct) < 2:
        raise InputError(f"correct: expected at least two systems, got {len(correct)}")
    categories = as_labels("categories", categories, n=correct.shape[1], are_texts=True)
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    units = None if units is None else as_labels("units", units, n=correct.shape[1])
    if weights is not None:
        weights = as_counts("weights", weights, shape=correct.shape)
    if inconclusive is not None:
        inconclusive = as_flags("inconclusive", inconclusive, shape=correct.shape)
    if counted is not None:
        counted = as_flags("counted", counted, shape=correct.shape)
        counted = None if counted.all() else counted  # None: accuracies have an exact p
    named = of_categories or OfCategories()
    # The estimates of the baseline serve all comparisons, whatever their number.
    baseline, *others = (
        accuracy_estimates(
            correct[system],
            categories,
            weights=None if weights is None else weights[system],
            is_inconclusive=None if inconclusive is None else inconclusive[system],
            is_counted=None if counted is None else counted[system],
            groups=named.groups,
            deltas=named.deltas,
            uncounted=named.uncounted,
            level=level,
        )
        for system in range(len(correct))
    )
    shares = {"accuracy": correct} if counted is None else {}
    shares |= {"inconclusive_rate": inconclusive} if inconclusive is not None else {}
    columns, figures = _summed(correct, weights, inconclusive, counted, named)
    in_minima = counted_categories(set(categories), named.uncounted)

    def compared(number: int, other: Mapping[str, Estimate]) -> dict[str, PairedDifference]:
        sides = {kind: flags[[0, number]] for kind, flags in shares.items()}
        p_values = _exact_p(sides, categories, named, units)
        tests = exchange_tests(
            columns[0],
            columns[number],
            figures,
            strata=categories,
            groups=units,
            n_resamples=n_resamples,
            seed=seed,
        )
        minima = _same_categories(baseline, other, in_minima)
        return {
            name: PairedDifference(
                test.first,
                test.second,
                test.second - test.first,
                difference_interval(*(of[minima.get(name, name)] for of in (baseline, other))),
                p_values.get(name, test.p_value),
                test.is_exact or name in p_values,
            )
            for name, test in tests.items()
        }

    return tuple(compared(number, other) for number, other in enumerate(others, start=1))


def _summed(
    correct: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.int64] | None,
    inconclusive: npt.NDArray[np.bool_] | None,
    counted: npt.NDArray[np.bool_] | None,
    named: OfCategories,
) -> tuple[_Floats, FiguresOfSums]:
    """Return what each sample contributes to sums, (s, n, k), and the function that makes figures
    of them.
    """
    weight = (np.ones(correct.shape) if weights is None else weights).astype(np.float64)
    whole = np.ones(correct.shape) if counted is None else counted
    kinds = [whole, correct, weight, weight * correct]
    kinds += [inconclusive, np.ones(correct.shape)] if inconclusive is not None else []

    def figures(parts: Mapping[str, _Floats]) -> dict[str, _Floats]:
        sums = {name: of_category.T for name, of_category in parts.items()}
        return _figures(sums, named, has_weights=weights is not None)

    return np.stack(kinds, axis=2), figures


def estimated_differences(
    first: Mapping[str, Estimate], second: Mapping[str, Estimate], counted: Sequence[str]
) -> dict[str, PairedDifference]:
    """Compare two systems in accuracies that are estimated (`estimated_difference`)."""
    for name, of_system in (("first", first), ("second", second)):
        check_type(name, of_system, Mapping)
    minima = _same_categories(first, second, as_labels("counted", counted, are_texts=True))
    return {
        name: estimated_difference(*(of[minima.get(name, name)] for of in (first, second)))
        for name in second
        if name in first
    }


def _exact_p(
    sides: Mapping[str, npt.NDArray[np.bool_]],
    categories: Sequence[str],
    named: OfCategories,
    units: Sequence[Hashable] | None,
) -> dict[str, float]:
    """Return p of the differences in shares, each of shape (2, n), and in the minimum of
    accuracies.
    """
    # Shares that count all samples are sums of exchanges; other figures have a p of random ones.
    members = {"": set(categories), **{f"_{name}": {name} for name in set(categories)}}
    members |= {f"_{name}": set(of_group) for name, of_group in named.groups.items()}
    p_values = {}
    if "accuracy" in sides:
        accuracy = sides["accuracy"]
        p_values["min_accuracy"] = minimum_p(
            accuracy[0], accuracy[1], categories, uncounted=named.uncounted, units=units
        )
    for ending, of_figure in members.items():
        rows = [row for row, category in enumerate(categories) if category in of_figure]
        if not rows:
            continue
        same = None if units is None else [units[row] for row in rows]
        for kind, flags in sides.items():
            p_values[f"{kind}{ending}"] = exchange_p(flags[0, rows], flags[1, rows], units=same)
    return p_values


def _same_categories(
    first: Mapping[str, Estimate], second: Mapping[str, Estimate], counted: Sequence[str]
) -> dict[str, str]:
    """Return the minima that both systems have in the same category, with its accuracy's name."""
    same = {}  # differences of such minima have the interval of the category
    for kind in ("", "weighted_"):
        minimum, names = f"{kind}min_accuracy", [f"{kind}accuracy_{name}" for name in counted]
        if minimum in first and minimum in second:
            lowest = [
                {n for n in names if of[n].value == of[minimum].value} for of in (first, second)
            ]
            if lowest[0] == lowest[1] and len(lowest[0]) == 1:
                same[minimum] = min(lowest[0])
    return same


def difference_interval(first: Estimate, second: Estimate) -> Interval | NoInterval:
    """Return the interval of the second figure minus the first, or why there is none: fewer than
    `FEWEST_PAIRED` samples, or none that the systems differ on.

    Examples:
        >>> from cc_hf.statistics.score_intervals import estimate_share
        >>> share = estimate_share(np.array([1, 0]), np.ones(2))
        >>> difference_interval(share, share).reason
        'n = 2, and an interval of a difference needs at least 30 samples'
    """
    estimate = difference(second, first)
    if few := _too_few(estimate.n):
        return few
    # An interval of width 0 would claim certainty that equal outputs do not give.
    if first.influence.any() and np.array_equal(first.influence, second.influence):
        return NoInterval("the systems differ on no sample")
    return estimate.interval


def estimated_difference(first: Estimate, second: Estimate) -> PairedDifference:
    """Compare two systems in a figure that is estimated, such as one that includes the judge's
    mistakes. p is that of a normal distribution whose interval is that of the difference.
    """
    estimate = difference(second, first)
    low, high = estimate.interval.low, estimate.interval.high
    # The limits need not be symmetric; the side towards 0 decides whether 0 is outside.
    margin = high - estimate.value if estimate.value < 0 else estimate.value - low
    normal = NormalDist()
    z = normal.inv_cdf((1 + estimate.interval.level) / 2)
    p_value = 1.0
    if estimate.value:
        p_value = 2 * normal.cdf(-z * abs(estimate.value) / margin) if margin else 0.0
    return PairedDifference(
        first.value, second.value, estimate.value, difference_interval(first, second), p_value
    )


def _figures(
    parts: Mapping[str, _Floats], named: OfCategories, *, has_weights: bool
) -> dict[str, _Floats]:
    """Return all accuracies, and the figures of groups and their differences.

    Args:
        parts: category -> arrays of one shape: number of samples that count, number of correct
            samples, sum of weights, sum of the weights of the correct samples; and if it is known,
            number of inconclusive samples, and of all.
    """
    total = np.sum(list(parts.values()), axis=0)
    # The rows of what is counted and of what it is counted of.
    kinds = {"": (1, 0), **({"weighted_": (3, 2)} if has_weights else {})}
    shares = {
        # An exchange may leave a system without a sample of a category that counts.
        kind: {name: sums[right] / np.maximum(sums[whole], 1) for name, sums in parts.items()}
        for kind, (right, whole) in kinds.items()
    }
    counted = counted_categories(parts, named.uncounted)
    figures = {
        f"{kind}accuracy": total[right] / np.maximum(total[whole], 1)
        for kind, (right, whole) in kinds.items()
    }
    for kind, of_kind in shares.items():
        figures[f"{kind}min_accuracy"] = np.min([of_kind[name] for name in counted], axis=0)
    for kind, of_kind in shares.items():
        figures |= {f"{kind}accuracy_{name}": values for name, values in of_kind.items()}
    for group, categories in {"": list(parts), **named.groups}.items():
        members = [parts[name] for name in categories if name in parts]
        if not members:
            continue
        total = np.sum(members, axis=0)
        suffix = f"_{group}" if group else ""
        figures[f"accuracy{suffix}"] = total[1] / np.maximum(total[0], 1)
        if len(total) > 4:
            figures[f"inconclusive_rate{suffix}"] = total[4] / total[5]
    for name, (left, right) in named.deltas.items():
        if left in figures and right in figures:
            figures[name] = figures[left] - figures[right]
    return figures


def f1_differences(
    gold: Sequence[str],
    predicted: Sequence[Sequence[str]],
    *,
    labels: Sequence[str],
    deltas: Mapping[str, tuple[str, str]] | None = None,
    units: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[dict[str, PairedDifference], ...]:
    """Compare every system with the first one in F1 by label, and in differences of these.

    Args:
        deltas: name -> the two figures that it is the difference of, such as ("f1_male",
            "f1_female"); omitted if either is missing.
        units: n names, which samples that belong together share; None for samples on their own.

    Examples:
        >>> gold = ["a", "b"] * 20
        >>> found = f1_differences(gold, [gold, ["a"] * 40], labels=["a", "b"])[0]
        >>> round(found["f1_a"].difference, 3), found["f1_b"].second
        (-0.333, 0.0)
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    gold_labels = as_labels("gold", gold, are_texts=True)
    labels = as_labels("labels", labels, are_texts=True)
    if missing := [label for label in labels if label not in gold_labels]:
        raise InputError(f"labels: expected some of those in gold, got {missing[0]!r}")
    names = [f"f1_{label}" for label in labels]
    chosen = {n: pair for n, pair in (deltas or {}).items() if {*pair} <= {*names}}
    sums, estimates = [], []
    rows = listed("predicted", predicted, what="rows of labels")
    if len(rows) < 2:
        raise InputError(f"predicted: expected at least two systems, got {len(rows)}")
    for row in rows:
        of_system = np.array(as_labels("predicted", row, n=len(gold_labels), are_texts=True))
        is_gold = np.array([np.array(gold_labels) == label for label in labels], dtype=np.float64)
        is_predicted = np.array([of_system == label for label in labels], dtype=np.float64)
        # F1 = 2 TP / (gold + predicted), a ratio of sums over rows, so that rows can be resampled.
        doubled, whole = 2 * is_gold * is_predicted, is_gold + is_predicted
        sums.append(np.concatenate([doubled, whole]).T)
        f1 = {
            name: estimate_share(part, total, strata=gold_labels, level=level)
            for name, part, total in zip(names, doubled, whole, strict=True)
        }
        estimates.append(f1 | {n: difference(f1[a], f1[b]) for n, (a, b) in chosen.items()})

    def figures(parts: Mapping[str, _Floats]) -> dict[str, _Floats]:
        # No denominator is 0: every label is that of a sample, whatever is predicted.
        total = parts["all"]
        f1 = {name: total[:, i] / total[:, len(names) + i] for i, name in enumerate(names)}
        return f1 | {n: f1[a] - f1[b] for n, (a, b) in chosen.items()}

    options: dict[str, Any] = {"groups": units, "n_resamples": n_resamples, "seed": seed}
    return tuple(
        {
            name: PairedDifference(
                test.first,
                test.second,
                test.second - test.first,
                difference_interval(estimates[0][name], of_other[name]),
                test.p_value,
                test.is_exact,
            )
            for name, test in exchange_tests(sums[0], of_system, figures, **options).items()
        }
        for of_system, of_other in zip(sums[1:], estimates[1:], strict=True)
    )


def figure_differences(
    first: npt.NDArray[np.generic],
    second: npt.NDArray[np.generic],
    figures: FiguresOfSums,
    *,
    strata: Sequence[str] | None = None,
    groups: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, PairedDifference]:
    """Compare two systems in figures that are functions of sums over samples.

    p is that of `cc_hf.statistics.randomization.exchange_tests`. The interval holds the middle of
    the differences in resamples within strata; there is none for fewer than `FEWEST_PAIRED`
    samples.

    Args:
        first, second: shape (n, k), what the outputs of each system contribute to k sums.
        figures: function of the sums by stratum, see `exchange_tests`.
        strata: n names of strata; None for one stratum, "all".
        groups: n names of groups, whose samples are exchanged together. They are drawn together,
            too, unless there are strata, of which a group may be in several.

    Examples:
        >>> first, second = np.array([[1.0]] * 5), np.array([[0.0]] * 5)
        >>> found = figure_differences(first, second, lambda parts: {"sum": parts["all"][:, 0]})
        >>> found["sum"].p_value, found["sum"].interval.reason
        (0.0625, 'n = 5, and an interval of a difference needs at least 30 samples')
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    tests = exchange_tests(
        first, second, figures, strata=strata, groups=groups, n_resamples=n_resamples, seed=seed
    )
    # Both systems are resampled together: a difference on the same rows varies less.
    n_columns = np.shape(first)[1]
    sums = resampled_strata(
        np.concatenate([first, second], axis=1),
        strata,
        groups=groups if strata is None else None,
        n_resamples=n_resamples,
        seed=seed,
    )
    left = figures({name: values[:, :n_columns] for name, values in sums.items()})
    right = figures({name: values[:, n_columns:] for name, values in sums.items()})
    n_groups = len(first) if groups is None else len(set(groups))
    return {
        name: PairedDifference(
            test.first,
            test.second,
            test.second - test.first,
            _too_few(n_groups) or percentile_interval(right[name] - left[name], level=level),
            test.p_value,
            test.is_exact,
        )
        for name, test in tests.items()
    }


def _too_few(n: int) -> NoInterval | None:
    """Return why n samples are too few for an interval; None if they are enough."""
    if n >= FEWEST_PAIRED:
        return None
    return NoInterval(
        f"n = {n}, and an interval of a difference needs at least {FEWEST_PAIRED} samples"
    )


def mcnemar(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> McNemar:
    """Apply McNemar's test in its exact, binomial form, for any number of samples.

    p is 1 if the systems differ on no sample.

    Examples:
        >>> mcnemar(np.array([True] * 9 + [False]), np.array([False] * 8 + [True] * 2))
        McNemar(n_only_first=8, n_only_second=1, p_value=0.0390625)
    """
    first, second = (
        as_flags("first", first, may_be_empty=True),
        as_flags("second", second, may_be_empty=True),
    )
    if first.shape != second.shape:
        raise InputError(
            f"expected two systems on the same samples, got {first.shape} and {second.shape}"
        )
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    p_value = exchange_p(first, second) if len(first) else 1.0
    return McNemar(only_first, only_second, p_value)
