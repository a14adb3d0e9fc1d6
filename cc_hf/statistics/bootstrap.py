"""The bootstrap: how samples are drawn, and how intervals are computed from them.

Callers compute what each sample contributes to sums, draw these sums with `resampled_strata` or
`resampled_sums`, apply their figure to the sums, and pass its values to `percentile_interval`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, TypedDict

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.rules import AtLeast, check_fields
from cc_hf.statistics.checks import (
    as_counts,
    as_floats,
    as_labels,
    check_level,
    check_type,
)

__all__ = [
    "MOST_UNDEFINED",
    "Bootstrap",
    "check_bootstrap",
    "known_intervals",
    "missing_intervals",
    "percentile_interval",
    "resampled_strata",
    "resampled_sums",
    "whole_groups",
]

#: Largest share of resamples in which a figure may be undefined and still have an interval.
MOST_UNDEFINED = 0.05

# Number of samples drawn at once. It bounds the memory, and it does not change the stream of random
# numbers.
_DRAWN_AT_ONCE = 1 << 20
_MOST_KEPT = 1 << 22  # numbers of 4 bytes: the draws of 4,194 samples in 1,000 resamples
_SEEDS = AtLeast(0, 2**64 - 1)
_RESAMPLES = AtLeast(1, 10_000_000)  # all resamples are held in memory
_ROUNDING = 1e-12  # a smaller width is 0 apart from floating-point rounding

_Floats = npt.NDArray[np.float64]


class _Options(TypedDict):
    seed: int
    n_resamples: int


@dataclass(frozen=True)
class Bootstrap:
    """Settings of the bootstrap.

    Attributes:
        seed: seed of numpy's default generator, 0 or more.
        n_resamples: number of resamples, at least 1.

    Raises:
        InputError: for a seed or a number of resamples out of range (`check_bootstrap`).
    """

    seed: Annotated[int, _SEEDS] = 0
    n_resamples: Annotated[int, _RESAMPLES] = 1000

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def options(self) -> _Options:
        """Seed and n_resamples, as keywords of the functions that draw.

        Examples:
            >>> Bootstrap(seed=7).options
            {'seed': 7, 'n_resamples': 1000}
        """
        return {"seed": self.seed, "n_resamples": self.n_resamples}


def check_bootstrap(*, seed: int, n_resamples: int, level: float = 0.95) -> None:
    """Refuse options that are out of range, before anything slow is computed.

    Args:
        seed: seed of numpy's default generator, from 0 to 2**64 - 1.
        n_resamples: number of resamples, from 1 to 10,000,000.
        level: confidence level, in (0, 1).

    Raises:
        InputError: for an option that is out of range, or of the wrong type.

    Examples:
        >>> check_bootstrap(seed=-1, n_resamples=1000)
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: seed: expected an integer from 0 to 1.8e+19, got -1
    """
    _SEEDS.check("seed", seed)
    _RESAMPLES.check("n_resamples", n_resamples)
    check_level(level)


def resampled_strata(
    columns: npt.NDArray[np.generic],
    strata: Sequence[str] | None = None,
    *,
    groups: Sequence[Hashable] | None = None,
    counts: Sequence[int] | npt.NDArray[np.int64] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> dict[str, _Floats]:
    """Draw resamples within each stratum, and return the sums of what the drawn samples contribute.

    Every stratum keeps its number of samples. To draw the same samples for several systems, put the
    figures of the systems side by side as columns.

    Args:
        columns: shape (n, k), what each sample contributes to k sums; exact for integers below
            2**53.
        strata: n names of strata; None puts all samples into one stratum, "all".
        groups: n names of groups. Samples of one group are drawn together, such as the labels of
            several annotators on one translation, and must be in one stratum. None draws each
            sample on its own.
        counts: n numbers of identical samples that each row of `columns` stands for, so that the
            cost depends on the number of rows; None for one sample per row. Not to be combined with
            `groups`.

    Returns:
        A mapping from stratum to sums of shape (n_resamples, k), sorted by name.

    Raises:
        InputError: for no sample, other values, strata, groups or counts of a different length, a
            group in two strata, or options out of range.

    Examples:
        >>> parts = resampled_strata(np.array([[1], [1], [5]]), ["a", "a", "b"], n_resamples=2)
        >>> {name: sums.tolist() for name, sums in parts.items()}
        {'a': [[2.0], [2.0]], 'b': [[5.0], [5.0]]}
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples)
    values = as_floats("columns", columns, shape=(None, None), are_flags=True)
    n = len(values)
    names = ["all"] * n if strata is None else as_labels("strata", strata, n=n, are_texts=True)
    times = None if counts is None else as_counts("counts", counts, shape=(n,))
    if groups is not None:
        values, names = whole_groups(values, names, as_labels("groups", groups, n=n))
    where = np.asarray(names)
    # Sorted, so that one seed draws the same whichever stratum comes first in the data.
    members = {name: where == name for name in sorted(set(names))}
    sizes = tuple(int(of_stratum.sum()) for of_stratum in members.values())
    draws: Iterable[Iterable[npt.NDArray[np.integer]]]
    if times is None and len(values) * n_resamples <= _MOST_KEPT:
        draws = _kept_draws(sizes, n_resamples, seed)
    else:
        generator = np.random.default_rng(seed)
        draws = (
            _draws(size, None if times is None else times[of_stratum], n_resamples, generator)
            for size, of_stratum in zip(sizes, members.values(), strict=True)
        )
    return {
        name: np.concatenate([n_drawn @ values[of_stratum] for n_drawn in blocks])
        for (name, of_stratum), blocks in zip(members.items(), draws, strict=True)
    }


def resampled_sums(
    columns: npt.NDArray[np.generic],
    strata: Sequence[str] | None = None,
    *,
    groups: Sequence[Hashable] | None = None,
    counts: Sequence[int] | npt.NDArray[np.int64] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> _Floats:
    """Draw resamples as `resampled_strata` does, and return the sums over all strata.

    Args:
        columns: shape (n, k), what each sample contributes to k sums.

    Returns:
        Sums of shape (n_resamples, k).

    Raises:
        InputError: for no sample, other values, strata, groups or counts of a different length, a
            group in two strata, or options out of range.

    Examples:
        >>> resampled_sums(np.array([[1.0, 2.0]] * 3), n_resamples=2).tolist()
        [[3.0, 6.0], [3.0, 6.0]]
    """
    parts = resampled_strata(
        columns, strata, groups=groups, counts=counts, n_resamples=n_resamples, seed=seed
    )
    total: _Floats = np.sum(list(parts.values()), axis=0)
    return total


def whole_groups(
    values: _Floats, names: Sequence[str], groups: Sequence[Hashable]
) -> tuple[_Floats, list[str]]:
    """Return the sums of each group's rows, and its stratum, in the order of first occurrence.

    Args:
        values: shape (n, k).
        names: n names of strata.
        groups: n names of groups.

    Raises:
        InputError: for a group in two strata.

    Examples:
        >>> whole_groups(np.array([[1.0], [2.0], [3.0]]), ["a", "b", "b"], [0, 1, 1])
        (array([[1.],
               [5.]]), ['a', 'b'])
    """
    # `first` numbers the groups in the order of their first occurrence.
    first: dict[Hashable, int] = {}
    members = [first.setdefault(group, len(first)) for group in groups]
    strata: dict[int, str] = {}
    for row, (member, name) in enumerate(zip(members, names, strict=True)):
        if strata.setdefault(member, name) != name:
            raise InputError(
                f"row {row}: expected a group in one stratum, got group {groups[row]!r} in"
                f" {strata[member]!r} and {name!r}"
            )
    summed = np.zeros((len(first), values.shape[1]))
    np.add.at(summed, members, values)
    return summed, list(strata.values())


@lru_cache(maxsize=1)
def _kept_draws(
    sizes: tuple[int, ...], n_resamples: int, seed: int
) -> tuple[tuple[npt.NDArray[np.integer], ...], ...]:
    """Return the draws of all strata, which are kept for the next figure of the same samples."""
    # Drawing takes ten times as long as the sums of what is drawn.
    generator = np.random.default_rng(seed)
    return tuple(
        tuple(n_drawn.astype(np.int32) for n_drawn in _draws(size, None, n_resamples, generator))
        for size in sizes
    )


def _draws(
    n: int,
    times: npt.NDArray[np.int64] | None,
    n_resamples: int,
    generator: np.random.Generator,
) -> Iterator[npt.NDArray[np.integer]]:
    """Yield how often each of the n rows of one stratum is drawn, resamples in rows."""
    at_once = max(1, _DRAWN_AT_ONCE // n)
    total = n if times is None else int(times.sum())
    for start in range(0, n_resamples, at_once):
        rows = min(at_once, n_resamples - start)
        if times is None:
            # Each resample has its own range of n indices, so that one bincount serves them all.
            drawn = generator.integers(0, n, size=(rows, n)) + n * np.arange(rows)[:, None]
            yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        else:
            # The numbers of identical samples are drawn directly, without drawing each sample.
            yield generator.multinomial(total, times / max(1, total), size=rows)


def percentile_interval(values: _Floats, *, level: float = 0.95) -> Interval | NoInterval:
    """Return the percentile interval of a figure from its values in all resamples.

    Resamples in which the figure is undefined (NaN) are ignored and counted. There is no interval
    if they are more than `MOST_UNDEFINED` of all, or if all resamples agree. Intervals of shares in
    `cc_hf.statistics.score_intervals` cover better.

    Args:
        values: value of the figure in each resample.
        level: confidence level, in (0, 1).

    Returns:
        The interval, or the reason why there is none.

    Raises:
        InputError: for no values, or values or a level that are not numbers.

    Examples:
        >>> percentile_interval(np.arange(5.0), level=0.5)
        Interval(low=1.0, high=3.0, level=0.5, n_undefined=0, method='percentile')
        >>> percentile_interval(np.array([0.5, float("nan")])).reason
        'it is undefined in 1 of 2 resamples, more than 5 %'
    """
    values = as_floats("values", values, is_finite=False)
    check_level(level)
    defined = values[np.isfinite(values)]
    n_undefined = len(values) - len(defined)
    if n_undefined > MOST_UNDEFINED * len(values):
        return NoInterval(
            f"it is undefined in {n_undefined} of {len(values)} resamples, more than"
            f" {100 * MOST_UNDEFINED:g} %",
            n_undefined,
        )
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    # A width of 0 is no certainty: no resample could differ.
    if high - low > _ROUNDING:
        return Interval(float(low), float(high), level, n_undefined)
    return NoInterval("it is the same in every resample", n_undefined)


def known_intervals(intervals: Mapping[str, Interval | NoInterval]) -> dict[str, Interval]:
    """Return the intervals that exist, without the figures that have a reason in their place.

    Examples:
        >>> intervals = {"accuracy": Interval(0.4, 0.6), "delta": NoInterval("it is undefined")}
        >>> list(known_intervals(intervals)), list(missing_intervals(intervals))
        (['accuracy'], ['delta'])
    """
    check_type("intervals", intervals, Mapping)
    return {
        name: interval for name, interval in intervals.items() if isinstance(interval, Interval)
    }


def missing_intervals(intervals: Mapping[str, Interval | NoInterval]) -> dict[str, NoInterval]:
    """Return the reasons of the figures that have no interval."""
    check_type("intervals", intervals, Mapping)
    return {
        name: interval for name, interval in intervals.items() if isinstance(interval, NoInterval)
    }
