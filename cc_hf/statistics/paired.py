"""Two systems on the same samples: differences by paired bootstrap within categories, and McNemar's
exact test.

Every resample draws the same samples for all systems. A sample's weight is part of its judgement
and travels with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import (
    check_bootstrap,
    figures_of_sums,
    percentile_interval,
    resampled_strata,
)

__all__ = [
    "McNemar",
    "PairedDifference",
    "difference_in_resamples",
    "mcnemar",
    "paired_differences",
]

_ROUNDING = 1e-12  # differences that are closer count as equal


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A figure of two systems, with their difference and its significance.

    Attributes:
        first: figure of the first system, in [0, 1].
        second: figure of the second system, in [0, 1].
        difference: second minus first, in [-1, 1].
        interval: bootstrap interval of the difference, or why there is none.
        p_value: two-sided p, in (0, 1].
    """

    first: float
    second: float
    difference: float
    interval: Interval | NoInterval
    p_value: float


@dataclass(frozen=True, slots=True)
class McNemar:
    """The result of McNemar's test.

    Attributes:
        n_only_first: number of samples that only the first system has right.
        n_only_second: number of samples that only the second system has right.
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
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[dict[str, PairedDifference], ...]:
    """Compare every system with the first one.

    The figures are accuracy, min_accuracy, accuracy_<category>, and with weights also their
    weighted variants; accuracy_<group>; inconclusive_rate and inconclusive_rate_<group>, if it is
    known what is inconclusive; and differences of these.

    p is the share of resampled differences, shifted to mean 0, that are at least as far from 0 as
    the observed difference. One is added to both counts (Riezler & Maxwell 2005, as in sacreBLEU;
    unlike there, a difference of 0 has p = 1).

    Args:
        correct: shape (s, n), the verdicts on s systems, at least 2.
        categories: n names.
        weights: shape (s, n), positive; None for no weighted figures.
        inconclusive: shape (s, n), whether there is no verdict; None for no such rates.
        groups: name -> categories that have a figure together. A group without a sample is left
            out.
        deltas: name -> the two figures that it is the difference of. One that lacks either is left
            out.
        n_resamples: number of resamples, at least 1.
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
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    if correct.ndim != 2 or len(correct) < 2 or correct.shape[1] == 0:
        raise InputError(
            f"expected at least two systems and one sample, got an array of shape {correct.shape}"
        )
    if len(categories) != correct.shape[1] or (
        weights is not None and weights.shape != correct.shape
    ):
        raise InputError(
            f"expected a category, and a weight, for each of {correct.shape[1]} samples, got"
            f" {len(categories)} categories" + _shape(weights)
        )
    weight = (np.ones(correct.shape) if weights is None else weights).astype(np.float64)
    kinds = [np.ones(correct.shape), correct, weight, weight * correct]
    kinds += [inconclusive] if inconclusive is not None else []
    # Shape (n, k s): what each sample contributes to the k sums of each system.
    columns = np.stack(kinds).reshape(-1, correct.shape[1]).T
    names = np.asarray(categories)
    parts = resampled_strata(columns, categories, n_resamples=n_resamples, seed=seed)
    observed = {name: columns[names == name].sum(axis=0).reshape(len(kinds), -1) for name in parts}
    values = _figures(observed, groups or {}, deltas or {})
    # The sums of each category have shape (k, n_resamples, s).
    samples = _figures(
        {
            name: sums.reshape(n_resamples, len(kinds), -1).swapaxes(0, 1)
            for name, sums in parts.items()
        },
        groups or {},
        deltas or {},
    )
    figures = [name for name in values if weights is not None or not name.startswith("weighted_")]
    return tuple(
        {
            name: difference_in_resamples(values[name], samples[name], system, level=level)
            for name in figures
        }
        for system in range(1, len(correct))
    )


def _figures(
    parts: Mapping[str, npt.NDArray[np.float64]],
    groups: Mapping[str, Sequence[str]],
    deltas: Mapping[str, tuple[str, str]],
) -> dict[str, npt.NDArray[np.float64]]:
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


def mcnemar(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> McNemar:
    """Apply McNemar's test in its exact, binomial form, for any number of samples.

    Args:
        first: shape (n,), whether the first system is right on each sample.
        second: shape (n,), the same for the second system.

    Returns:
        The counts of samples on which the systems differ, and p. Without such a sample, p is 1.

    Raises:
        InputError: for shapes that differ.

    Examples:
        >>> mcnemar(np.array([True] * 9 + [False]), np.array([False] * 8 + [True] * 2))
        McNemar(n_only_first=8, n_only_second=1, p_value=0.0390625)
    """
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


def difference_in_resamples(
    values: npt.NDArray[np.float64],
    samples: npt.NDArray[np.float64],
    system: int,
    *,
    level: float = 0.95,
) -> PairedDifference:
    """Return the difference of one system from the first in a figure that was computed on resamples
    of the same samples for all systems.

    Args:
        values: shape (s,), the observed figure of each system.
        samples: shape (n_resamples, s), the figure in every resample; NaN where it is undefined.
        system: index of the system that is compared with the first one.
        level: confidence level, in (0, 1).

    Returns:
        The difference with its interval and p, as `paired_differences` describes them.

    Examples:
        >>> samples = np.array([[0.5, 0.75], [0.25, 0.5], [0.5, 0.5]])
        >>> difference_in_resamples(np.array([0.5, 0.75]), samples, 1).difference
        0.25
    """
    first, second = float(values[0]), float(values[system])
    differences = samples[:, system] - samples[:, 0]
    defined = differences[np.isfinite(differences)]
    mean = defined.mean() if len(defined) else 0.0
    as_far = int((np.abs(defined - mean) >= abs(second - first) - _ROUNDING).sum())
    return PairedDifference(
        first,
        second,
        second - first,
        percentile_interval(differences, level=level),
        (as_far + 1) / (len(defined) + 1),
    )


def _shape(weights: npt.NDArray[np.int64] | None) -> str:
    return "" if weights is None else f" and weights of shape {weights.shape}"
