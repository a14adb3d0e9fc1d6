"""Which of several systems can be told apart on the same samples: bands in place of ranks.

All pairs are tested by paired randomisation, exactly, and p is corrected by Holm (1979), so that
equal systems are told apart in at most 5 % of all comparisons of any number of systems.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, shown
from cc_hf.schema import counted_categories
from cc_hf.statistics.checks import as_flags, as_floats, as_labels, check_level
from cc_hf.statistics.randomization import exchange_p, minimum_p

__all__ = ["Standing", "holm", "standings", "standings_of"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a system stands among others on the same samples.

    Attributes:
        accuracy: the figure by which it stands: the share of correct samples, or the lowest of
            categories.
        first, last: interval of its rank: one more than the number of systems shown to be better,
            and the number of systems that are not shown to be worse.
        band: number of its band, from 1. Each system of a band is shown to be worse than all of the
            bands before; systems of one band cannot all be told apart.
    """

    accuracy: float
    first: int
    last: int
    band: int


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p of several tests, corrected by Holm's step-down method, in the same order.

    If a difference is claimed only where p is at most alpha, at most a share alpha of families of
    tests claims one that is not there.

    Examples:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    p = as_floats("p_values", p_values)
    if ((p < 0) | (p > 1)).any():
        raise InputError(f"p_values: expected numbers from 0 to 1, got {p.min():g} to {p.max():g}")
    order = np.argsort(p, kind="stable")
    # A larger p may not become the smaller after correction (Holm 1979).
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in corrected]


def standings(
    correct: npt.NDArray[np.bool_],
    *,
    categories: Sequence[str] | None = None,
    uncounted: Collection[str] = (),
    units: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> tuple[Standing, ...]:
    """Return how systems stand in accuracy, or in the lowest accuracy over categories, in their
    order.

    Args:
        correct: shape (s, n), the verdicts on s systems.
        units: n names, which samples that belong together share, such as those of a pair; None for
            samples on their own.
        level: confidence level of all statements together, in (0, 1).
    """
    correct = as_flags("correct", correct, shape=(None, None))

    def p_of(first: int, second: int) -> float:
        sides = correct[first], correct[second]
        if categories is None:
            return exchange_p(*sides, units=units)
        return minimum_p(*sides, categories, uncounted=uncounted, units=units)

    accuracies = correct.mean(axis=1)
    if categories is not None:
        names = np.asarray(as_labels("categories", categories, n=correct.shape[1], are_texts=True))
        counted = counted_categories(np.unique(names), uncounted)
        accuracies = np.min([correct[:, names == name].mean(axis=1) for name in counted], axis=0)
    return standings_of(accuracies.tolist(), p_of, level=level)


def standings_of(
    values: Sequence[float], p_of: Callable[[int, int], float], *, level: float = 0.95
) -> tuple[Standing, ...]:
    """Return how systems stand in a figure of which higher is better, in their order.

    Examples:
        >>> [s.band for s in standings_of([0.5, 0.4, 0.1], lambda i, j: 0.001 if j == 2 else 1.0)]
        [1, 1, 2]
    """
    accuracies = as_floats("values", values)
    check_level(level)
    if not callable(p_of):
        raise InputError(f"p_of: expected a function of two numbers, got {shown(p_of)}")
    is_better = np.zeros((len(accuracies), len(accuracies)), dtype=np.bool_)
    pairs = list(itertools.combinations(range(len(accuracies)), 2))
    p_values = holm([p_of(*pair) for pair in pairs] or [1.0])
    for (i, j), p in zip(pairs, p_values[: len(pairs)], strict=True):
        if p <= 1 - level:
            better, worse = (i, j) if accuracies[i] > accuracies[j] else (j, i)
            is_better[better, worse] = True
    # Stable, so that equal figures keep the order in which the systems were given.
    order = np.argsort(-accuracies, kind="stable")
    band, bands = 1, {}
    for rank, system in enumerate(order):
        # A band ends only where every system above beats every one below.
        if rank and is_better[np.ix_(order[:rank], order[rank:])].all():
            band += 1
        bands[int(system)] = band
    return tuple(
        Standing(
            float(accuracies[i]),
            1 + int(is_better[:, i].sum()),
            len(accuracies) - int(is_better[i].sum()),
            bands[i],
        )
        for i in range(len(accuracies))
    )
