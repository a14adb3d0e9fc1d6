"""The Poisson bootstrap, whose resamples need neither all samples at once nor their order.

In each resample every sample counts as often as a Poisson variable of mean 1 says (Hanley &
MacGibbon 2006; Chamandy et al. 2012). The number follows from the hash of the sample's id, the seed
and the number of the resample alone. Sums over any parts of the samples therefore add up to the
sums over all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import Bootstrap, percentile_interval
from cc_hf.statistics.shares import quotients
from cc_hf.statistics.verdict_columns import VerdictColumns

__all__ = ["poisson_intervals", "poisson_sums"]

# Confidences are drawn as whole numbers of this unit, so that sums do not depend on their order.
_UNIT = 2.0**-32
_VERDICTS_AT_ONCE = 1 << 17
# How many of 65,536 values of 16 bits stand for 0, 1, 2, ... samples: e^-1 / k! of them. Their mean
# is 1.00005, their variance 1.0002.
_SHARES = (24109, 24109, 12055, 4018, 1005, 201, 33, 5, 1)
_NUMBERS = np.repeat(np.arange(len(_SHARES), dtype=np.uint8), _SHARES)
_ROWS_AT_ONCE, _HASHES_AT_ONCE = 4096, 64
_NUMBERS_PER_HASH = 4
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MASK = 2**64 - 1

_Hashes = npt.NDArray[np.uint64]


def poisson_intervals(
    verdicts: VerdictColumns, ids: npt.NDArray[np.integer[Any]], bootstrap: Bootstrap
) -> dict[str, Interval | NoInterval]:
    """Return percentile intervals by the Poisson bootstrap; a minimum has none.

    `ids`, (n,), has a hash for each sample, see `poisson_sums`.
    """
    # The numbers of samples of the categories are drawn, too. A weight is part of a sample's
    # judgement; weights are not ranked again. Percentiles of a minimum do not cover it.
    sums: dict[str, npt.NDArray[np.int64]] = {}
    for name, members in zip(verdicts.names, verdicts.members(), strict=True):
        sums[name] = np.zeros((bootstrap.n_resamples, 6), dtype=np.int64)
        for start in range(0, len(members), _VERDICTS_AT_ONCE):
            rows = members[start : start + _VERDICTS_AT_ONCE]
            weight, right = verdicts.weights[rows], verdicts.is_correct[rows].astype(np.int64)
            confidence = verdicts.confidence[rows] / _UNIT
            ones = np.ones(len(rows), dtype=np.int64)
            counted = ones if verdicts.is_neither is None else 1 - verdicts.is_neither[rows]
            columns = np.stack(
                [
                    *(counted, right, weight, weight * right),
                    *(np.rint(confidence).astype(np.int64), ones),
                ],
                axis=1,
            )
            sums[name] += poisson_sums(columns, ids[rows], **bootstrap.options)
    total = np.sum(list(sums.values()), axis=0)
    of_total = {"accuracy": (1, 0), "weighted_accuracy": (3, 2), "mean_confidence": (4, 5)}
    drawn = {name: quotients(total[:, a], total[:, b]) for name, (a, b) in of_total.items()}
    drawn["mean_confidence"] *= _UNIT
    for name, part in sums.items():
        drawn[f"accuracy_{name}"] = quotients(part[:, 1], part[:, 0])
        drawn[f"weighted_accuracy_{name}"] = quotients(part[:, 3], part[:, 2])
    if verdicts.is_neither is not None:
        of_all = {"": total, **{f"_{name}": part for name, part in sums.items()}}
        for ending, part in of_all.items():
            drawn[f"neither_share{ending}"] = quotients(part[:, 5] - part[:, 0], part[:, 5])
    intervals = {name: percentile_interval(values) for name, values in drawn.items()}
    return {
        name: replace(i, method="poisson") if isinstance(i, Interval) else i
        for name, i in intervals.items()
    }


def poisson_sums(
    columns: npt.NDArray[np.int64],
    ids: npt.NDArray[np.integer[Any]],
    *,
    n_resamples: int = 1000,
    seed: int = 0,
) -> npt.NDArray[np.int64]:
    """Draw Poisson resamples, and return the sums of what the drawn samples contribute.

    Args:
        columns: shape (n, k), what each sample contributes to k sums; whole numbers from 0 to
            2**36, up to which the sums of a block are exact and do not depend on its order.
        ids: shape (n,), a hash of 64 bits for each sample, which is the same in every part of the
            data. Samples of one hash are drawn together.
        seed: from 0 to 2**64 - 1.

    Returns:
        Sums of shape (n_resamples, k). Those of two parts of the samples, added, are the sums of
            all samples to the bit.

    Examples:
        >>> columns, ids = np.array([[1], [1], [5]]), np.array([11, 12, 13])
        >>> whole = poisson_sums(columns, ids, n_resamples=9)
        >>> parts = poisson_sums(columns[:1], ids[:1], n_resamples=9)
        >>> np.array_equal(whole, parts + poisson_sums(columns[1:], ids[1:], n_resamples=9))
        True
    """
    hashes = ids.astype(np.uint64)
    keys = _keys(seed, -(-n_resamples // _NUMBERS_PER_HASH))
    sums = np.zeros((_NUMBERS_PER_HASH * len(keys), columns.shape[1]), dtype=np.int64)
    for start in range(0, len(columns), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        block = columns[rows].astype(np.float64)
        for first in range(0, len(keys), _HASHES_AT_ONCE):
            some = keys[first : first + _HASHES_AT_ONCE]
            numbers = _numbers(hashes[rows], some)
            # Products of such numbers are exact in float64, and faster than those of integers.
            drawn = numbers.astype(np.float64).T @ block
            begin = _NUMBERS_PER_HASH * first
            sums[begin : begin + len(drawn)] += drawn.astype(np.int64)
    return sums[:n_resamples]


def _numbers(hashes: _Hashes, keys: _Hashes) -> npt.NDArray[np.uint8]:
    """Return how often each sample is drawn, in four resamples for each key."""
    mixed = _mixed(hashes[:, None] + keys[None, :])
    numbers: npt.NDArray[np.uint8] = _NUMBERS[mixed.astype("<u8", copy=False).view("<u2")]
    return numbers


def _keys(seed: int, n: int) -> _Hashes:
    """Return n numbers that follow from the seed, as the generator SplitMix64 makes them."""
    start = np.array([(seed * _STEP) & _MASK], dtype=np.uint64)
    return _mixed(_mixed(start) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(_STEP))


def _mixed(numbers: _Hashes) -> _Hashes:
    """Return the numbers with mixed bits, as SplitMix64 ends (Steele et al. 2014), modulo 2**64."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(_FIRST)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(_SECOND)
    return numbers ^ (numbers >> np.uint64(31))
