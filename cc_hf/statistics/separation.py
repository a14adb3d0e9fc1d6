"""How well a number tells two groups apart: the area under the ROC curve (AUC), its interval over
whole sentences, and halves of sentences, of which one chooses and the other is reported.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cc_hf.lists import listed
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import Bootstrap, percentile_interval, resampled_sums
from cc_hf.statistics.checks import as_flags, as_floats, with_ties
from cc_hf.statistics.shares import quotients

__all__ = ["auc", "auc_interval", "placements", "reported_half"]

_Floats = npt.NDArray[np.float64]
_Flags = npt.NDArray[np.bool_]


def auc(values: _Floats, is_first: _Flags) -> float:
    """Return the share of pairs in which the value of the first group is the larger one; a tie
    counts as half. For values of 0 and 1 it is the balanced accuracy.

    Raises:
        InputError: for an empty group, a value that is not a finite number, or flags of another
            number.

    Examples:
        >>> auc(np.array([2.0, 3.0, 1.0, 2.0]), np.array([True, True, False, False]))
        0.875
    """
    values = as_floats("values", values)
    is_first = as_flags("is_first", is_first, shape=values.shape)
    return float(placements(values[is_first], values[~is_first]).mean())


def auc_interval(
    values: _Floats,
    is_first: _Flags,
    groups: Sequence[str],
    *,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Interval | NoInterval:
    """Return the interval of `auc`, by a bootstrap that draws whole groups.

    Args:
        groups: n names, such as sentences; values of one name are not independent.
    """
    values = as_floats("values", values)
    is_first = as_flags("is_first", is_first, shape=values.shape)
    placed = np.empty(len(values))
    placed[is_first] = placements(values[is_first], values[~is_first])
    placed[~is_first] = 1 - placements(values[~is_first], values[is_first])
    first = is_first.astype(float)
    # AUC is linear in the placements of both groups to first order, so their sums are enough.
    columns = np.stack([first, first * placed, 1 - first, (1 - first) * placed], axis=1)
    n_first, of_first, n_second, of_second = resampled_sums(
        columns, groups=groups, n_resamples=n_resamples, seed=seed
    ).T
    area = placed[is_first].mean()
    resampled = quotients(of_first, n_first) + quotients(of_second, n_second) - area
    return percentile_interval(np.clip(resampled, 0, 1))


def placements(first: Sequence[float] | _Floats, second: Sequence[float] | _Floats) -> _Floats:
    """Return, for each value of the first group, the share of the second group below it, in [0, 1].

    Their mean is the AUC (DeLong, DeLong & Clarke-Pearson 1988). A tie counts as half.

    Examples:
        >>> placements([2, 3, 3], [1, 1, 2]).round(3).tolist()
        [0.833, 1.0, 1.0]
    """
    x, y = as_floats("first group", first), as_floats("second group", second)
    both = with_ties(np.concatenate([x, y]))
    x, y = both[: len(x)], np.sort(both[len(x) :])
    # Both sides of the search, so that a tie counts as half.
    n_below_twice = np.searchsorted(y, x, "left") + np.searchsorted(y, x, "right")
    shares: _Floats = n_below_twice / (2 * len(y))
    return shares


def reported_half(sentences: Sequence[str], seed: int) -> _Flags:
    """Return which rows are in the half that is reported, at random; rows of one sentence are not
    split.

    Examples:
        >>> reported_half(["a", "b", "a", "b"], seed=0).sum()
        np.int64(2)
    """
    # By sentences, not rows: one sentence in both halves would tune what is reported.
    distinct = sorted(set(listed("sentences", sentences)))
    order = np.random.default_rng(Bootstrap(seed=seed).seed).permutation(len(distinct))
    reported = {distinct[number] for number in order[: len(distinct) // 2]}
    return np.array([sentence in reported for sentence in sentences], dtype=np.bool_)
