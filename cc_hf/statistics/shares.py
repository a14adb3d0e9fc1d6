"""Shares: k of n samples, with the interval of k / n, and quotients of sums that may be 0."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import (
    Bootstrap,
    percentile_interval,
    resampled_sums,
    wilson_interval,
)
from cc_hf.statistics.checks import as_flags, as_floats, check_type

__all__ = ["Share", "quotients", "resampled_shares", "wilson_share"]


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some samples have a property.

    Attributes:
        k: number of samples that have it.
        n: number of samples, at least 1: a share of nothing is None where one can occur.
    """

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
        """Return the share for JSON, under the names that its file has for it; "" leaves k out.

        Examples:
            >>> wilson_share(1, 2).to_row(value="rate", k="n_worse").keys()
            dict_keys(['n', 'n_worse', 'rate', 'interval'])
        """
        counts = {"n": self.n, k: self.k} if k else {"n": self.n}
        return {**counts, value: self.value, "interval": asdict(self.interval)}


def wilson_share(k: int, n: int) -> Share:
    """Return a share of independent samples, with Wilson's 95 % score interval.

    Args:
        k: number of samples that have a property, from 0 to `n`, which is at least 1.

    Raises:
        InputError: for numbers out of range.

    Examples:
        >>> share = wilson_share(2, 2)
        >>> share.value, round(share.limits[0], 3)
        (1.0, 0.342)
    """
    return Share(k, n, wilson_interval(k, n))


def resampled_shares(
    is_one: npt.NDArray[np.bool_],
    parts: Sequence[npt.NDArray[np.bool_]],
    *,
    groups: Sequence[Hashable] | None = None,
    bootstrap: Bootstrap,
) -> tuple[Share, ...]:
    """Return the share of samples that have a property, in several parts of the samples.

    One set of resamples serves all parts. Samples of one group, such as the sub-words of a sentence
    or the attacks on a seed, are not independent: they are drawn together, and if all resamples
    agree, the share has no interval. Only where each sample is drawn on its own does Wilson's
    interval stand in.

    Args:
        is_one: shape (n,), whether a sample has the property.
        parts: one array of shape (n,) for each part, whether a sample belongs to it; at least one
            sample does. Parts may overlap.
        groups: n names of groups; None draws each sample on its own.

    Raises:
        InputError: for no samples, no parts, an empty part, other values or different lengths.

    Examples:
        >>> both, bootstrap = np.array([True, True]), Bootstrap()
        >>> resampled_shares(both, [both], bootstrap=bootstrap)[0].interval.method
        'wilson'
        >>> resampled_shares(both, [both], groups=["a", "a"], bootstrap=bootstrap)[0].interval
        NoInterval(reason='it is the same in every resample', n_undefined=0)
    """
    is_one = as_flags("is_one", is_one)
    members = as_flags("parts", parts, shape=(None, len(is_one)))
    check_type("bootstrap", bootstrap, Bootstrap)
    ones = members & is_one
    columns = np.concatenate([ones, members]).T
    sums = resampled_sums(columns, groups=groups, **bootstrap.options)
    shares = []
    for row, values in enumerate(quotients(sums[:, : len(ones)], sums[:, len(ones) :]).T):
        k, n = int(ones[row].sum()), int(members[row].sum())
        if not n:
            raise InputError(f"parts: row {row}: expected at least one sample, got none")
        proportion = (k, n) if groups is None else None
        shares.append(Share(k, n, percentile_interval(values, proportion=proportion)))
    return tuple(shares)


def quotients(
    parts: npt.NDArray[np.generic], wholes: npt.NDArray[np.generic]
) -> npt.NDArray[np.float64]:
    """Return `parts` by `wholes`, and NaN where a whole is not above 0, such as in a resample
    without any sample that counts.

    Raises:
        InputError: for no values, other values or different shapes.

    Examples:
        >>> quotients(np.array([1, 0]), np.array([2, 0])).tolist()
        [0.5, nan]
    """
    numerators = as_floats("parts", parts, shape=None, is_finite=False)
    shape = numerators.shape
    denominators = as_floats("wholes", wholes, shape=shape, is_finite=False)
    ratios = np.full(shape, np.nan)
    np.divide(numerators, denominators, out=ratios, where=denominators > 0)
    return ratios
