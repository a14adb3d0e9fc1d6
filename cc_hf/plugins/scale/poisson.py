"""The Poisson bootstrap, whose resamples need neither all samples at once nor their order.

In each resample every sample counts as often as a Poisson variable of mean 1 says (Hanley &
MacGibbon 2006; Chamandy et al. 2012). The number follows from the hash of the sample's id, the seed
and the number of the resample alone. Sums over any parts of the samples therefore add up to the
sums over all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.statistics.bootstrap import check_bootstrap
from cc_hf.statistics.checks import as_counts, as_hashes

__all__ = ["LARGEST", "poisson_sums"]

#: The largest number in a column, up to which the sums of a block are exact.
LARGEST = 2**36

# How many of 65,536 values of 16 bits stand for 0, 1, 2, ... samples: e^-1 / k! of them. Their mean
# is 1.00005, their variance 1.0002.
_SHARES = (24109, 24109, 12055, 4018, 1005, 201, 33, 5, 1)
_NUMBERS = np.repeat(np.arange(len(_SHARES), dtype=np.uint8), _SHARES)
_ROWS_AT_ONCE, _HASHES_AT_ONCE = 4096, 64
_NUMBERS_PER_HASH = 4
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MASK = 2**64 - 1

_Hashes = npt.NDArray[np.uint64]


def poisson_sums(
    columns: npt.NDArray[np.generic],
    ids: npt.NDArray[np.integer[Any]],
    *,
    n_resamples: int = 1000,
    seed: int = 0,
) -> npt.NDArray[np.int64]:
    """Draw Poisson resamples, and return the sums of what the drawn samples contribute.

    Args:
        columns: shape (n, k), what each sample contributes to k sums; whole numbers from 0 to
            `LARGEST`, so that the sums do not depend on the order of the samples.
        ids: shape (n,), a hash of 64 bits for each sample, which is the same in every part of the
            data. Samples of one hash are drawn together.
        n_resamples: number of resamples, at least 1.
        seed: from 0 to 2**64 - 1.

    Returns:
        Sums of shape (n_resamples, k). Those of two parts of the samples, added, are the sums of
            all samples to the bit.

    Raises:
        InputError: for no sample, other values, ids of another number, or options out of range.

    Examples:
        >>> columns, ids = np.array([[1], [1], [5]]), np.array([11, 12, 13])
        >>> whole = poisson_sums(columns, ids, n_resamples=9)
        >>> parts = poisson_sums(columns[:1], ids[:1], n_resamples=9)
        >>> np.array_equal(whole, parts + poisson_sums(columns[1:], ids[1:], n_resamples=9))
        True
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples)
    values = as_counts("columns", columns, shape=(None, None))
    if values.max() > LARGEST:
        raise InputError(f"columns: expected numbers up to {LARGEST:,}, got {values.max():,}")
    hashes = as_hashes("ids", ids, n=len(values))
    keys = _keys(seed, -(-n_resamples // _NUMBERS_PER_HASH))
    sums = np.zeros((_NUMBERS_PER_HASH * len(keys), values.shape[1]), dtype=np.int64)
    for start in range(0, len(values), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        block = values[rows].astype(np.float64)
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
    """Return the numbers with their bits mixed, as the end of SplitMix64 does (Steele et al. 2014);
    products and sums are modulo 2**64.
    """
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(_FIRST)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(_SECOND)
    return numbers ^ (numbers >> np.uint64(31))
