"""Averages over systems that differ only in their random seed: figures are averaged first, and what
is computed from figures is computed from the averages (Renduchintala et al. 2021, section 4).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cc_hf.errors import InputError

__all__ = ["SeedFigure", "average_over_seeds"]


@dataclass(frozen=True, slots=True)
class SeedFigure:
    """A figure of several seeds.

    Attributes:
        mean: the mean over seeds; for a difference, a minimum or a ratio, that of the means of
            other figures.
        sd: standard deviation of the figure over seeds, with n - 1 in the denominator; None for
            one seed.
        values: the figure of each seed.
    """

    mean: float
    sd: float | None
    values: tuple[float, ...]


def average_over_seeds(
    rows: Sequence[Mapping[str, float]],
    *,
    differences: Mapping[str, tuple[str, str]] | None = None,
    minima: Mapping[str, Sequence[str]] | None = None,
    ratios: Mapping[str, tuple[str, str]] | None = None,
) -> dict[str, SeedFigure]:
    """Average the figures of several seeds, such as accuracies, BLEU or seconds.

    A minimum of averages differs from the average of minima where seeds are worst in different
    categories, and a ratio of averages from the average of ratios. Differences of averages are
    equal to averages of differences.

    Args:
        rows: the figures of each seed. Figures that some seeds lack are left out.
        differences: figure -> the two figures that it is the difference of.
        minima: figure -> the figures that it is the lowest of.
        ratios: figure -> the two figures that it is the ratio of. It is left out where the second
            one is 0 for any seed. Rows need not have it.

    Returns:
        The figures in the order of the first row, then ratios.

    Raises:
        InputError: for no rows.

    Examples:
        >>> rows = [{"a": 0.5, "b": 0.75, "min": 0.5}, {"a": 0.75, "b": 0.5, "min": 0.5}]
        >>> average_over_seeds(rows, minima={"min": ("a", "b")})["min"].mean
        0.625
    """
    if not rows:
        raise InputError("expected the figures of at least one seed, got none")
    values = {
        name: tuple(row[name] for row in rows) for name in rows[0] if all(name in r for r in rows)
    }
    means = {name: statistics.fmean(of_name) for name, of_name in values.items()}
    derived = dict(means)
    for name, (left, right) in (differences or {}).items():
        if {name, left, right} <= means.keys():
            derived[name] = means[left] - means[right]
    for name, parts in (minima or {}).items():
        if {name, *parts} <= means.keys() and parts:
            derived[name] = min(means[part] for part in parts)
    for name, (left, right) in (ratios or {}).items():
        if {left, right} <= means.keys() and all(values[right]):
            derived[name] = means[left] / means[right]
            values[name] = tuple(a / b for a, b in zip(values[left], values[right], strict=True))
    return {
        name: SeedFigure(mean, _sd(values[name]), values[name]) for name, mean in derived.items()
    }


def _sd(values: Sequence[float]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None
