"""Averages over systems that differ only in their random seed: figures are averaged first, and what
is computed from figures is computed from the averages (Renduchintala et al. 2021, section 4).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cc_hf.errors import InputError
from cc_hf.lists import listed
from cc_hf.statistics.checks import as_floats, as_labels, check_type

__all__ = ["SeedFigure", "average_over_seeds", "seed_figure"]


@dataclass(frozen=True, slots=True)
class SeedFigure:
    """A figure of several seeds.

    Attributes:
        mean: the mean over seeds; for a difference, a minimum or a ratio, that of the means of
            other figures.
        sd: standard deviation over seeds, with n - 1 in the denominator; None for one seed.
    """

    mean: float
    sd: float | None
    values: tuple[float, ...]


def seed_figure(values: Sequence[float]) -> SeedFigure:
    """Return mean and standard deviation of one figure of several seeds, at least one."""
    as_floats("values", values)
    sd = statistics.stdev(values) if len(values) > 1 else None
    return SeedFigure(statistics.fmean(values), sd, tuple(values))


def average_over_seeds(
    rows: Sequence[Mapping[str, float]],
    *,
    differences: Mapping[str, tuple[str, str]] | None = None,
    minima: Mapping[str, Sequence[str]] | None = None,
    ratios: Mapping[str, tuple[str, str]] | None = None,
) -> dict[str, SeedFigure]:
    """Average the figures of several seeds, such as accuracies, BLEU or seconds.

    A minimum or a ratio is computed from averages, which differs from the average of minima or
    ratios.

    Args:
        rows: the figures of each seed. Figures that some seeds lack are omitted.
        differences: figure -> the two figures that it is the difference of.
        minima: figure -> the figures that it is the lowest of.
        ratios: figure -> the two figures that it is the ratio of; omitted where the second one is 0
            for any seed. Rows need not have it.

    Returns:
        The figures in the order of the first row, then ratios.

    Examples:
        >>> rows = [{"a": 0.5, "b": 0.75, "min": 0.5}, {"a": 0.75, "b": 0.5, "min": 0.5}]
        >>> average_over_seeds(rows, minima={"min": ("a", "b")})["min"].mean
        0.625
    """
    rows = listed("rows", rows)
    if not rows:
        raise InputError("expected the figures of at least one seed, got none")
    for number, row in enumerate(rows):
        check_type(f"row {number}", row, Mapping)
    for what, derived in (("differences", differences), ("minima", minima), ("ratios", ratios)):
        check_type(what, derived or {}, Mapping)
        for name, parts in (derived or {}).items():
            n = None if what == "minima" else 2
            as_labels(f"{what}: {name}", parts, n=n, are_texts=True)
    figures = {
        name: seed_figure([row[name] for row in rows])
        for name in rows[0]
        if all(name in row for row in rows)
    }
    means = {name: figure.mean for name, figure in figures.items()}
    for name, (left, right) in (differences or {}).items():
        if {name, left, right} <= means.keys():
            figures[name] = replace(figures[name], mean=means[left] - means[right])
    for name, parts in (minima or {}).items():
        if {name, *parts} <= means.keys() and parts:
            figures[name] = replace(figures[name], mean=min(means[part] for part in parts))
    for name, (left, right) in (ratios or {}).items():
        if {left, right} <= means.keys() and all(figures[right].values):
            pairs = zip(figures[left].values, figures[right].values, strict=True)
            ratio = seed_figure([a / b for a, b in pairs])
            figures[name] = replace(ratio, mean=means[left] / means[right])
    return figures
