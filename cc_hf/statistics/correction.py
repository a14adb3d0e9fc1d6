"""Shares that include the mistakes of a judge, from trusted verdicts on some of the samples.

Where the trusted verdicts are on a random part of the samples that the judge has seen,
`corrected_share` needs no assumption about the judge. Where they are on other samples,
`transferred_share` assumes that the judge errs alike on both.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.schema import counted_categories
from cc_hf.score_limits import score_limits
from cc_hf.statistics.checks import as_counts, as_floats, as_labels, check_level, check_number
from cc_hf.statistics.score_intervals import FEWEST, Estimate, difference, estimate_share, lowest

__all__ = ["corrected_accuracies", "corrected_share", "labels_needed", "transferred_share"]

_Floats = npt.NDArray[np.float64]


def corrected_share(
    judged: npt.NDArray[np.generic],
    trusted: npt.NDArray[np.float64],
    *,
    inclusion: npt.NDArray[np.float64] | None = None,
    level: float = 0.95,
) -> Estimate:
    """Return the share of samples that are right by trusted verdicts, known for a random part.

    The estimate is prediction-powered (Angelopoulos et al. 2023): the share by the judge, on all
    samples, plus the mean difference of both verdicts on the part. The judge has the weight, from 0
    to 1, that makes the variance smallest (PPI++, Angelopoulos, Duchi & Zrnic 2023, section 6). The
    interval is Wilson's with the effective number of samples.

    Args:
        judged: shape (n,), the verdicts of the judge, or its probability of being right, in [0, 1].
        trusted: shape (n,), the trusted verdicts, in [0, 1]; NaN where there is none.
        inclusion: shape (n,), with which probability each sample was drawn, above 0; None if it is
            the same for all.

    Returns:
        The share, in [0, 1]. Its `n` is the number of samples, labelled or not.

    Examples:
        >>> judged = np.array([1.0] * 80 + [0.0] * 20)
        >>> trusted = np.where(np.arange(100) % 2, np.nan, judged)
        >>> share = corrected_share(judged, trusted)
        >>> share.value, share.interval.method
        (0.8, 'ppi')
    """
    check_level(level)
    f = as_floats("judged", judged, are_flags=True)
    labels = as_floats("trusted", trusted, shape=f.shape, is_finite=False)
    has_label = ~np.isnan(labels)
    y, n = labels[has_label], int(has_label.sum())
    if not n:
        raise InputError("trusted: expected at least one verdict, got none")
    for name, values in (("judged", f), ("trusted", y)):
        if ((values < 0) | (values > 1)).any():
            raise InputError(f"{name}: expected numbers from 0 to 1, got others")
    weights = np.ones(n)
    if inclusion is not None:
        # Samples weigh by the inverse of their probability (Horvitz & Thompson 1952).
        weights = 1 / _inclusion(inclusion, has_label)[has_label]
        # With a mean of 1, sums over the labelled stay comparable with those of plain labels.
        weights *= n / weights.sum()
    # Every sample has a label, so that the judge adds nothing.
    if n == len(f):
        return estimate_share(y * weights, weights, level=level)
    # The weight of the judge is tuned, so that a bad judge does no harm.
    share_of_judge = _weight_of_judge(y, f, has_label, weights)
    tuned = share_of_judge * len(f) / (len(f) - n)  # of the mean over all samples, not the others
    residuals = y - tuned * f[has_label]
    rectifier = float((weights * residuals).mean())
    # The corrected sum may leave the range of a share by chance.
    value = min(1.0, max(0.0, tuned * float(f.mean()) + rectifier))
    influence = tuned * (f - f.mean()) / len(f)
    influence[has_label] += weights * (residuals - rectifier) / n
    # The numbers of both parts are fixed, so that only what varies within each counts.
    for part in (has_label, ~has_label):
        influence[part] -= influence[part].mean()
    mean = float((weights * (y - share_of_judge * f[has_label])).mean())
    n_effective = _n_effective(value, influence, share_of_judge, mean, n)
    limits = score_limits(value, n_effective, NormalDist().inv_cdf((1 + level) / 2))
    return Estimate(value, Interval(*limits, level, method="ppi"), len(f), influence, n_effective)


def corrected_accuracies(
    judged: npt.NDArray[np.generic],
    trusted: npt.NDArray[np.float64],
    categories: Sequence[str],
    *,
    inclusion: npt.NDArray[np.float64] | None = None,
    shown: tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    deltas: Mapping[str, tuple[str, str]] | None = None,
    uncounted: Collection[str] = (),
    level: float = 0.95,
) -> dict[str, Estimate]:
    """Return the accuracies that trusted verdicts on a part of the samples correct: total, by
    category, minimum, and differences of these.

    A figure with fewer than `FEWEST` trusted verdicts is omitted, and the minimum if that of a
    category is.

    Args:
        shown: whether a sample shows any reading, so that accuracies count it: by the judge, and by
            the trusted verdicts, which are read where `trusted` has one. Each shape (n,). None if
            all do.

    Examples:
        >>> trusted = np.where(np.arange(100) < 60, np.ones(100), np.nan)
        >>> found = corrected_accuracies(np.ones(100), trusted, ["a"] * 50 + ["b"] * 50)
        >>> list(found)
        ['accuracy', 'accuracy_a']
    """
    check_level(level)
    judged = as_floats("judged", judged, are_flags=True)
    trusted = as_floats("trusted", trusted, shape=judged.shape, is_finite=False)
    if inclusion is not None:
        inclusion = _inclusion(inclusion, ~np.isnan(trusted))
    labels = as_labels("categories", categories, n=len(judged), are_texts=True)
    names = np.asarray(labels)
    present = sorted(set(labels))
    parts = {"accuracy": np.ones(len(names), dtype=np.bool_)} | {
        f"accuracy_{name}": names == name for name in present
    }
    parts |= {f"accuracy_{name}": np.isin(names, list(m)) for name, m in (groups or {}).items()}
    estimates: dict[str, Estimate] = {}
    for figure, part in parts.items():
        # No figure without an interval that holds.
        if np.count_nonzero(~np.isnan(trusted[part])) < FEWEST:
            continue
        of_part = None if inclusion is None else inclusion[part]
        share = corrected_share(judged[part], trusted[part], inclusion=of_part, level=level)
        if shown is not None:
            # Accuracy is right / shows a reading, and the labels correct both shares.
            labels_of_shown = np.where(np.isnan(trusted[part]), np.nan, shown[1][part])
            whole = corrected_share(shown[0][part], labels_of_shown, inclusion=of_part, level=level)
            if not whole.value:
                continue
            share = _quotient(share, whole, level)
        influence = np.zeros(len(names))
        influence[part] = share.influence
        estimates[figure] = replace(share, influence=influence)
    counted = counted_categories(present, uncounted)
    if all(f"accuracy_{name}" in estimates for name in counted):
        minimum = lowest([estimates[f"accuracy_{name}"] for name in counted])
        estimates = {"accuracy": estimates["accuracy"], "min_accuracy": minimum, **estimates}
    for name, (left, right) in (deltas or {}).items():
        if {left, right} <= estimates.keys():
            estimates[name] = difference(estimates[left], estimates[right])
    return estimates


def _quotient(part: Estimate, whole: Estimate, level: float) -> Estimate:
    """Return a share of a share, by the delta method (Cochran 1977, section 2.11)."""
    value = min(1.0, part.value / whole.value)
    # Effective numbers include what labels of few samples may hide; influences do not.
    influence = (_widened(part) - value * _widened(whole)) / whole.value
    variance = float((influence**2).sum())
    n_effective = value * (1 - value) / variance if 0 < value < 1 and variance else part.n_effective
    limits = score_limits(value, n_effective, NormalDist().inv_cdf((1 + level) / 2))
    interval = Interval(*limits, level, method="ppi")
    return Estimate(value, interval, part.n, influence, n_effective)


def _widened(share: Estimate) -> _Floats:
    """Return the influence of the samples, as large as the effective number of samples says."""
    spread = float((share.influence**2).sum())
    if not spread or not 0 < share.value < 1:
        return share.influence
    scale = share.value * (1 - share.value) / share.n_effective / spread
    return share.influence * max(1.0, math.sqrt(scale))


def _inclusion(probabilities: _Floats, has_label: npt.NDArray[np.bool_]) -> _Floats:
    """Return the probabilities, of which those of samples with labels are checked."""
    floats = as_floats("inclusion", probabilities, shape=has_label.shape)
    if ((floats[has_label] <= 0) | (floats[has_label] > 1)).any():
        raise InputError("inclusion: expected probabilities above 0, up to 1, got others")
    return floats


def _weight_of_judge(
    y: _Floats, f: _Floats, has_label: npt.NDArray[np.bool_], weights: _Floats
) -> float:
    """Return the weight of the judge that makes the variance smallest, in [0, 1]."""
    judged = f[has_label]
    spread = float(np.var(f, ddof=1))
    # A judge that says the same of everything tells nothing about the others.
    if not spread:
        return 0.0
    means = [(weights * values).mean() for values in (y, judged)]
    covariance = float((weights**2 * (y - means[0]) * (judged - means[1])).mean())
    scale = float((weights**2).mean())
    n, n_others = len(y), int((~has_label).sum())
    return min(1.0, max(0.0, covariance / scale / ((1 + n / (scale * n_others)) * spread)))


def _n_effective(
    value: float, influence: _Floats, share_of_judge: float, mean: float, n: int
) -> float:
    share = (value * n + 1) / (n + 2)
    # One sample of each pair of verdicts, of weight 1 / 2, is added: few labels may show no mistake
    # of a judge that makes some.
    added = np.array([1 - share_of_judge, 0.0, 1.0, -share_of_judge])
    squares = float((influence**2).sum()) * n * n + float(((added - added.mean()) ** 2).sum()) / 2
    squares += 2 * n / (n + 2) * (mean - float(added.mean())) ** 2
    return share * (1 - share) / (squares / (n + 2) ** 2) * n / (n + 2)


def labels_needed(
    judged: npt.NDArray[np.generic],
    trusted: npt.NDArray[np.float64],
    width: float,
    *,
    inclusion: npt.NDArray[np.float64] | None = None,
    level: float = 0.95,
) -> int:
    """Return how many labels in all, at most one per sample, narrow the interval of
    `corrected_share` to a width, if further ones are like those so far.

    Args:
        width: the width, from 1e-6 to 1.

    Examples:
        >>> judged = np.arange(1000) % 4 > 0
        >>> trusted = np.where(np.arange(1000) < 50, judged * 1.0, np.nan)
        >>> labels_needed(judged, trusted, 0.1)
        38
    """
    check_number("width", width, low=1e-6, high=1)
    share = corrected_share(judged, trusted, inclusion=inclusion, level=level)
    n, n_labels = share.n, int((~np.isnan(trusted)).sum())
    if n_labels == n:
        return n
    z = NormalDist().inv_cdf((1 + level) / 2)
    # The variance is a / n + b / labels, where a is that of the judge's verdicts.
    of_judge = float(np.var(np.asarray(judged, dtype=np.float64))) / n
    variance = share.value * (1 - share.value) / share.n_effective
    per_label = max(0.0, variance - of_judge) * n_labels
    for k in range(FEWEST, n):
        p = share.value
        n_effective = p * (1 - p) / (of_judge + per_label / k) if 0 < p < 1 else float(k)
        low, high = score_limits(p, n_effective, z)
        if high - low <= width:
            return k
    return n


def transferred_share(
    judged: npt.NDArray[np.int64], labels: npt.NDArray[np.int64], *, level: float = 0.95
) -> tuple[float, Interval | NoInterval]:
    """Return the share of right samples from verdicts of a judge whose mistakes are known from
    other samples, on which it is assumed to err alike.

    It is (p + specificity - 1) / (sensitivity + specificity - 1), where p is the share by the judge
    (Rogan & Gladen 1978), with the interval of Lang & Reiczigel (2014), which includes the
    uncertainty of the labels.

    Args:
        judged: shape (2,), numbers of samples that are right and wrong by the judge.
        labels: shape (2, 2), numbers of labelled samples: right and wrong in truth by row, by the
            judge in columns.

    Returns:
        The share, in [0, 1], and its interval, or why there is none: few labels, a judge that is
        not better than chance, or verdicts of which even the limits are beyond 0 or 1.

    Examples:
        >>> share, interval = transferred_share(np.array([70, 30]), np.array([[90, 10], [20, 80]]))
        >>> round(share, 3), round(interval.low, 3), round(interval.high, 3)
        (0.714, 0.563, 0.858)
    """
    check_level(level)
    judged = as_counts("judged", judged, shape=(2,))
    labels = as_counts("labels", labels, shape=(2, 2))
    n = int(judged.sum())
    n_right, n_wrong = (int(row.sum()) for row in labels)
    if not (n and n_right and n_wrong):
        raise InputError(
            f"expected judged samples, and labels of right and of wrong ones, got {n}, {n_right}"
            f" and {n_wrong}"
        )

    def share(p: float, sensitivity: float, specificity: float) -> float:
        return (p + specificity - 1) / (sensitivity + specificity - 1)

    p, sensitivity, specificity = judged[0] / n, labels[0, 0] / n_right, labels[1, 1] / n_wrong
    by_chance = NoInterval("the judge is not better than chance on the labelled samples")
    # A coin has a sum of 1; below it, the correction would turn verdicts round.
    if sensitivity + specificity <= 1:
        return float(p), by_chance
    value = min(1.0, max(0.0, float(share(p, sensitivity, specificity))))
    if min(n_right, n_wrong) < FEWEST:
        return value, NoInterval(
            f"{n_right} right and {n_wrong} wrong labels, and an interval needs {FEWEST} of each"
        )
    z = NormalDist().inv_cdf((1 + level) / 2)
    # Lang & Reiczigel 2014: one success and one failure are added to the labels of both kinds,
    # z² / 2 of each to the verdicts.
    many = n + z * z
    p = (judged[0] + z * z / 2) / many
    sensitivity, specificity = (
        (labels[0, 0] + 1) / (n_right + 2),
        (labels[1, 1] + 1) / (n_wrong + 2),
    )
    youden = sensitivity + specificity - 1
    if youden <= 0:  # the added labels make it so
        return value, by_chance
    middle = share(p, sensitivity, specificity)
    of_right = sensitivity * (1 - sensitivity) / (n_right + 2)
    of_wrong = specificity * (1 - specificity) / (n_wrong + 2)
    shift = 2 * z * z * (middle * of_right - (1 - middle) * of_wrong)
    variance = p * (1 - p) / many + middle**2 * of_right + (1 - middle) ** 2 * of_wrong
    half = z * math.sqrt(variance) / youden
    low, high = (min(1.0, max(0.0, float(middle + shift + s * half))) for s in (-1, 1))
    # The limits are around the share with the added samples, which may leave out the share itself.
    low, high = min(low, value), max(high, value)
    if low == high:
        return value, NoInterval("the known mistakes of the judge do not explain its verdicts")
    return value, Interval(low, high, level, method="lang-reiczigel")
