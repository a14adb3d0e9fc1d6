"""Two systems on the same samples: differences, with intervals by paired bootstrap and p by paired
approximate randomisation, and McNemar's exact test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.schema import UNCOUNTED_CATEGORY
from cc_hf.statistics.bootstrap import (
    check_bootstrap,
    figures_of_sums,
    percentile_interval,
    resampled_strata,
)
from cc_hf.statistics.checks import as_counts, as_flags, as_labels
from cc_hf.statistics.randomization import FiguresOfSums, exchange_tests

__all__ = [
    "FEWEST",
    "FEWEST_OF_CATEGORY",
    "McNemar",
    "PairedDifference",
    "figure_differences",
    "mcnemar",
    "paired_differences",
]

#: Fewest samples for which a difference has an interval, in all and on average of the categories
#: that it counts. Chosen by the simulated coverage of 95 % percentile intervals of differences of
#: accuracies (two made-up systems, three or four settings of accuracies and correlation, 1,500 runs
#: of each): 78 to 99 % for one category of 3 or 5 samples, 91 to 98 % for 10, 94 to 98 % for 20,
#: 93 to 97 % for 30; for ten categories 85 to 91 % with 2 samples in each, 91 to 94 % with 5, 94 to
#: 95 % with 10.
FEWEST = 20
FEWEST_OF_CATEGORY = 10

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A figure of two systems, with their difference and its significance.

    Attributes:
        first, second: figures of both systems, in [0, 1].
        difference: second minus first, in [-1, 1].
        interval: bootstrap interval of the difference, or why there is none.
        p_value: two-sided p, in (0, 1], by paired approximate randomisation.
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
    """The result of McNemar's test.

    Attributes:
        p_value: two-sided p, in (0, 1], under the hypothesis that both kinds of samples are equally
            likely.
    """

    n_only_first: int
    n_only_second: int
    p_value: float


def paired_differences(
    correct: npt.NDArray[np.bool_],
    categories: Sequence[str],
    *,
    weights: npt.NDArray[np.int64] | None = None,
    inconclusive: npt.NDArray[np.bool_] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    deltas: Mapping[str, tuple[str, str]] | None = None,
    units: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[dict[str, PairedDifference], ...]:
    """Compare every system with the first one.

    The figures are accuracy, min_accuracy, accuracy_<category>, and with weights also their
    weighted variants; accuracy_<group>; inconclusive_rate and inconclusive_rate_<group>, if it is
    known what is inconclusive; and differences of these.

    Intervals and p are those of `figure_differences`, with categories as strata. A sample's weight
    is part of its judgement and travels with it.

    Args:
        correct: shape (s, n), the verdicts on s systems, at least 2.
        categories: n names.
        weights: shape (s, n), positive; None for no weighted figures.
        inconclusive: shape (s, n), whether there is no verdict; None for no such rates.
        groups: name -> categories that have a figure together. A group without a sample is left
            out.
        deltas: name -> the two figures that it is the difference of. One that lacks either is left
            out.
        units: n names, which samples that belong together share, such as those of a pair; None for
            samples on their own.
        n_resamples: number of resamples and of random exchanges, at least 1.
        level: confidence level, in (0, 1).
        seed: seed of numpy's default generator, 0 or more.

    Returns:
        One mapping from figure to difference for each system but the first.

    Raises:
        InputError: for fewer than two systems, no sample, shapes that differ, or options out of
            range.

    Examples:
        >>> correct = np.array([[True] * 8, [True] * 4 + [False] * 4])
        >>> paired_differences(correct, ["a"] * 8)[0]["accuracy"].difference
        -0.5
    """
    correct = as_flags("correct", correct, shape=(None, None))
    if len(correct) < 2:
        raise InputError(f"correct: expected at least two systems, got {len(correct)}")
    categories = as_labels("categories", categories, n=correct.shape[1], are_texts=True)
    if weights is not None:
        weights = as_counts("weights", weights, shape=correct.shape)
    if inconclusive is not None:
        inconclusive = as_flags("inconclusive", inconclusive, shape=correct.shape)
    weight = (np.ones(correct.shape) if weights is None else weights).astype(np.float64)
    kinds = [np.ones(correct.shape), correct, weight, weight * correct]
    kinds += [inconclusive] if inconclusive is not None else []
    # Shape (s, n, k): what each sample contributes to the k sums of each system.
    baseline, *others = np.stack(kinds, axis=2)

    def figures(parts: Mapping[str, _Floats]) -> dict[str, _Floats]:
        values = _figures(
            {name: sums.T for name, sums in parts.items()}, groups or {}, deltas or {}
        )
        if weights is not None:
            return values
        return {
            figure: value for figure, value in values.items() if not figure.startswith("weighted_")
        }

    return tuple(
        figure_differences(
            baseline,
            other,
            figures,
            sizes=_sizes(Counter(categories), groups or {}, deltas or {}),
            strata=categories,
            groups=units,
            n_resamples=n_resamples,
            level=level,
            seed=seed,
        )
        for other in others
    )


def _figures(
    parts: Mapping[str, _Floats],
    groups: Mapping[str, Sequence[str]],
    deltas: Mapping[str, tuple[str, str]],
) -> dict[str, _Floats]:
    """Return `figures_of_sums`, and the figures of groups and their differences. A fifth sum of a
    category is its number of inconclusive samples.
    """
    figures = figures_of_sums(parts)
    for group, categories in {"": list(parts), **groups}.items():
        members = [parts[name] for name in categories if name in parts]
        if not members:
            continue
        total = np.sum(members, axis=0)
        suffix = f"_{group}" if group else ""
        figures[f"accuracy{suffix}"] = total[1] / total[0]
        if len(total) > 4:
            figures[f"inconclusive_rate{suffix}"] = total[4] / total[0]
    for name, (left, right) in deltas.items():
        if left in figures and right in figures:
            figures[name] = figures[left] - figures[right]
    return figures


def _sizes(
    n: Mapping[str, int],
    groups: Mapping[str, Sequence[str]],
    deltas: Mapping[str, tuple[str, str]],
) -> dict[str, list[int]]:
    """Return the numbers of samples of the categories that each of `_figures` counts: for a minimum
    those of the smallest category, for a difference those of the smaller side.
    """
    counted = {name: number for name, number in n.items() if name != UNCOUNTED_CATEGORY} or n
    sizes = {
        "accuracy": list(n.values()),
        "min_accuracy": [min(counted.values())],
        **{f"accuracy_{name}": [number] for name, number in n.items()},
    }
    sizes |= {f"weighted_{figure}": numbers for figure, numbers in sizes.items()}
    for group, categories in {"": list(n), **groups}.items():
        suffix = f"_{group}" if group else ""
        sizes[f"accuracy{suffix}"] = [n[name] for name in categories if name in n]
        sizes[f"inconclusive_rate{suffix}"] = sizes[f"accuracy{suffix}"]
    for name, sides in deltas.items():
        sizes[name] = min((sizes.get(side, []) for side in sides), key=sum)
    return sizes


def figure_differences(
    first: npt.NDArray[np.generic],
    second: npt.NDArray[np.generic],
    figures: FiguresOfSums,
    *,
    sizes: Mapping[str, Sequence[int]] | None = None,
    strata: Sequence[str] | None = None,
    groups: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, PairedDifference]:
    """Compare two systems in figures that are functions of sums over samples.

    p is that of `cc_hf.statistics.randomization.exchange_tests`. The interval holds the middle of
    the differences in resamples, which draw the same samples for both systems, within strata; a
    difference of few samples has none (`FEWEST`).

    Args:
        first, second: shape (n, k), what the outputs of each system contribute to k sums.
        figures: see `exchange_tests`.
        sizes: figure -> numbers of samples of the strata that it counts; None for figures that
            count all groups.
        strata: n names of strata; None for one stratum, "all".
        groups: n names of groups, whose samples are exchanged together. They are drawn together,
            too, unless there are strata, of which a group may be in several.
        n_resamples: number of resamples and of random exchanges, at least 1.
        level: confidence level of the interval, in (0, 1).
        seed: seed of numpy's default generator, 0 or more.

    Raises:
        InputError: for no sample, shapes, strata or groups of different lengths, or options out of
            range.

    Examples:
        >>> first, second = np.array([[1.0]] * 5), np.array([[0.0]] * 5)
        >>> found = figure_differences(first, second, lambda parts: {"sum": parts["all"][:, 0]})
        >>> found["sum"].p_value, found["sum"].interval.reason
        (0.0625, 'n = 5, and an interval of a difference needs at least 20 samples')
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    tests = exchange_tests(
        first, second, figures, strata=strata, groups=groups, n_resamples=n_resamples, seed=seed
    )
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
            _too_few((sizes or {}).get(name, [n_groups]))
            or percentile_interval(right[name] - left[name], level=level),
            test.p_value,
            test.is_exact,
        )
        for name, test in tests.items()
    }


def _too_few(sizes: Sequence[int]) -> NoInterval | None:
    """Return why samples in strata of these sizes are too few for an interval; None if they are
    enough.
    """
    n, needed = sum(sizes), max(FEWEST, FEWEST_OF_CATEGORY * len(sizes))
    if n >= needed:
        return None
    where = f" in {len(sizes)} categories" if len(sizes) > 1 else ""
    return NoInterval(
        f"n = {n}{where}, and an interval of a difference needs at least {needed} samples"
    )


def mcnemar(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> McNemar:
    """Apply McNemar's test in its exact, binomial form, for any number of samples.

    Args:
        first, second: shape (n,), whether each system is right on each sample.

    Returns:
        The counts, and p, which is 1 if the systems differ on no sample.

    Raises:
        InputError: for shapes that differ, or values that are not true or false.

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
    return McNemar(only_first, only_second, _sign_test(only_first, only_second))


def _sign_test(n_heads: int, n_tails: int) -> float:
    """Return the two-sided p of a fair coin, exact in whole numbers."""
    n = n_heads + n_tails
    term = total = 1  # the ways to throw heads never, and at most as often as the rarer side
    for k in range(min(n_heads, n_tails)):
        term = term * (n - k) // (k + 1)
        total += term
    return min(1.0, 2 * total / (1 << n))
