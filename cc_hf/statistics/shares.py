"""Shares: k of n samples, with the interval of k / n, and quotients of sums that may be 0."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.checks import as_flags, as_floats, as_labels
from cc_hf.statistics.score_intervals import share_interval, wilson_interval

__all__ = ["Share", "part_shares", "quotients", "wilson_share"]


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some samples, k of n, have a property; n is at least 1."""

    k: int
    n: int
    interval: Interval | NoInterval

    @property
    def value(self) -> float:
        """k / n, in [0, 1]."""
        return self.k / self.n

    @property
    def limits(self) -> tuple[float, float]:
        """The limits of the interval; the value itself for both where there is none."""
        if isinstance(self.interval, Interval):
            return self.interval.low, self.interval.high
        return self.value, self.value

    def to_row(self, *, value: str, k: str = "") -> dict[str, Any]:
        """Return the share for JSON, under the names that its file has for it; "" leaves k out."""
        counts = {"n": self.n, k: self.k} if k else {"n": self.n}
        return {**counts, value: self.value, "interval": asdict(self.interval)}


def wilson_share(k: int, n: int) -> Share:
    """Return a share of independent samples, with Wilson's 95 % score interval.

    Examples:
        >>> share = wilson_share(2, 2)
        >>> share.value, round(share.limits[0], 3)
        (1.0, 0.342)
    """
    return Share(k, n, wilson_interval(k, n))


def part_shares(
    is_one: npt.NDArray[np.bool_],
    parts: Sequence[npt.NDArray[np.bool_]],
    *,
    groups: Sequence[Hashable] | None = None,
) -> tuple[Share, ...]:
    """Return the share of samples that have a property, in several parts of the samples.

    Args:
        is_one: shape (n,), whether a sample has the property.
        parts: one array of shape (n,) for each part, whether a sample belongs to it; at least one
            sample does. Parts may overlap.
        groups: n names of groups whose samples are not independent, such as the sub-words of a
            sentence or the attacks on a seed; None for independent samples.

    Examples:
        >>> both = np.array([True, True])
        >>> part_shares(both, [both])[0].interval.method
        'wilson'
        >>> part_shares(both, [both], groups=["a", "a"])[0].interval.reason
        'all samples are in one group'
    """
    is_one = as_flags("is_one", is_one)
    members = as_flags("parts", parts, shape=(None, len(is_one)))
    labels = None if groups is None else as_labels("groups", groups, n=len(is_one))
    shares = []
    for row, is_member in enumerate(members):
        if not is_member.any():
            raise InputError(f"parts: row {row}: expected at least one sample, got none")
        of_part = None if labels is None else [labels[i] for i in np.flatnonzero(is_member)]
        ones = is_one[is_member]
        interval = share_interval(ones, np.ones(len(ones)), groups=of_part)
        shares.append(Share(int(ones.sum()), len(ones), interval))
    return tuple(shares)


def quotients(
    parts: npt.NDArray[np.generic], wholes: npt.NDArray[np.generic]
) -> npt.NDArray[np.float64]:
    """Return `parts` by `wholes`, and NaN where a whole is not above 0, such as in a resample
    without any sample that counts.

    Examples:
        >>> quotients(np.array([1, 0]), np.array([2, 0])).tolist()
        [0.5, nan]
    """
    numerators = as_floats("parts", parts, shape=None, is_finite=False)
    shape = numerators.shape
    denominators = as_floats("wholes", wholes, shape=shape, is_finite=False)
    ratios = np.full(shape, np.nan)
    # `where` leaves out 0 / 0, which numpy would warn of; it stays NaN.
    np.divide(numerators, denominators, out=ratios, where=denominators > 0)
    return ratios
