"""What the levels of judges promise, on judges whose mistakes are known.

Judges with known rates are drawn, labels on translations by other systems show some of their
mistakes, and `trust_by` says how far the figures of a new system can be trusted. Among figures
that it calls supported, few may be far from the truth; few of the differences that it calls may
point the wrong way; and good judges must not be refused.

python -m benchmarks.levels --output docs/measurements.md
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
import typer

from benchmarks.command import run_main
from benchmarks.documents import write_tables
from cc_hf.evidence import Evidence, rates
from cc_hf.levels import LEVELS, RANKS_ONLY, SCREEN, SUPPORTED, call_differs, trust_by
from cc_hf.reports.numbers import percent
from cc_hf.score_limits import Z95, score_limits
from cc_hf.statistics.score_intervals import wilson_interval

__all__ = [
    "CASES",
    "Case",
    "Counts",
    "called_share",
    "errors_table",
    "main",
    "power_table",
    "simulate",
    "supported_shares",
]

Random = np.random.Generator
Floats = npt.NDArray[np.float64]
#: Draws the rates of a judge, shape (2 readings, 2): of right translations that it finds right, and
#: of wrong ones that it finds wrong.
Draw = Callable[[Random], Floats]

_READINGS = ("female", "male")
_LABELS = (50, 100, 200, 400)  # for each role and reading
_PER_READING = 900  # translations of a result: 1,800 in all
_ACCURACIES = (0.3, 0.95)
_MARGIN = 0.03  # how far beyond its interval a supported figure may be
_MOST_WRONG = 0.05
_LARGEST_DIFFERENCE = 0.1
_KAPPA = 0.95  # of people among themselves: .953 on WinoMT en-de


@dataclass(frozen=True)
class Case:
    """Judges of one kind.

    Attributes:
        draw: draws the rates of a judge.
        spread: standard deviation of its rates from system to system.
        n_systems: number of systems with labels, which have equally many.
    """

    name: str
    draw: Draw
    spread: float = 0.0
    n_systems: int = 1


@dataclass
class Counts:
    """How the figures and differences of a case were judged.

    Attributes:
        levels: number of results by level.
        n_supported: number of figures that are called supported.
        n_beyond: how many of them are more than 3 points beyond their interval.
        n_outside: how many of them are outside their interval.
        n_differences: number of differences between two systems, whatever their level.
        n_called: how many of them are called.
        n_wrong_way: how many of those that are called point the wrong way.
    """

    levels: Counter[str] = field(default_factory=Counter)
    n_supported: int = 0
    n_beyond: int = 0
    n_outside: int = 0
    n_differences: int = 0
    n_called: int = 0
    n_wrong_way: int = 0


def _uniform(low: float) -> Draw:
    return lambda random: random.uniform(low, 1, (2, 2))


def _rare(random: Random) -> Floats:
    """Draw judges that err on .2 to 20 %, all magnitudes alike."""
    return 1 - np.exp(random.uniform(math.log(0.002), math.log(0.2), (2, 2)))


def _alike(random: Random) -> Floats:
    """Draw judges that err alike on women and on men."""
    return np.tile(_rare(random)[:1], (2, 1))


def _fixed(rate: float) -> Draw:
    return lambda _: np.full((2, 2), rate)


#: All judges that are drawn.
CASES = (
    Case("err on .2 to 20 %, alike on women and men", _alike),
    Case("err on .2 to 20 %, differently on women and men", _rare),
    Case("err on up to 10 %", _uniform(0.9)),
    Case("err on up to 40 %", _uniform(0.6)),
    Case("err on .2 to 20 %, sd .02 between systems, 1 labelled", _rare, 0.02),
    Case("err on .2 to 20 %, sd .02 between systems, 4 labelled", _rare, 0.02, 4),
    Case("err on .2 to 20 %, sd .05 between systems, 4 labelled", _rare, 0.05, 4),
)


def _of_system(of_judge: Floats, spread: float, random: Random) -> Floats:
    """Return the rates of a judge on one system."""
    if not spread:
        return of_judge
    return np.clip(of_judge + random.normal(0, spread, of_judge.shape), 0, 1)


def _evidence(case: Case, of_judge: Floats, n_labels: int, random: Random) -> list[Evidence]:
    """Return what labels show of a judge: `n_labels` for each role and reading."""
    rows = []
    for system in range(case.n_systems):
        of_system = _of_system(of_judge, case.spread, random)
        n = n_labels // case.n_systems
        n_found = random.binomial(n, of_system)
        rows += [
            Evidence(
                *("judge@1", "en-de", "template", "simulated", reading, "people", 2),
                *(f"system {system}", ""),
                n_right=n,
                n_right_found=int(right),
                n_wrong=n,
                n_wrong_found=int(wrong),
                people_kappa=_KAPPA,
            )
            for reading, (right, wrong) in zip(_READINGS, n_found, strict=True)
        ]
    return rows


def _judged(accuracies: Floats, case: Case, of_judge: Floats, random: Random) -> Floats:
    """Return the accuracies that a judge finds for both readings."""
    right, wrong = _of_system(of_judge, case.spread, random).T
    n_right = random.binomial(_PER_READING, accuracies * right + (1 - accuracies) * (1 - wrong))
    return np.asarray(n_right / _PER_READING, dtype=np.float64)


def _figures(observed: Floats) -> dict[str, tuple[str, float]]:
    return {name: (name, float(share)) for name, share in zip(_READINGS, observed, strict=True)}


def _is_significant(first: float, second: float, n: int) -> bool:
    """Return whether two shares of n samples each differ at 5 %, by the z test."""
    pooled = (first + second) / 2
    return abs(first - second) > Z95 * math.sqrt(2 * pooled * (1 - pooled) / n)


def simulate(case: Case, n_labels: int, *, n_judges: int, seed: int = 0) -> Counts:
    """Draw judges with labels for each role and reading, and two systems each, and count calls."""
    counts = Counts()
    for number in range(n_judges):
        random = np.random.default_rng([seed, n_labels, number])
        of_judge = case.draw(random)
        rows = _evidence(case, of_judge, n_labels, random)
        first = random.uniform(*_ACCURACIES, 2)
        distance = random.uniform(-_LARGEST_DIFFERENCE, _LARGEST_DIFFERENCE, 2)
        second = np.clip(first + distance, *_ACCURACIES)
        observed = [_judged(truth, case, of_judge, random) for truth in (first, second)]
        levels = []
        for truth, shares in zip((first, second), observed, strict=True):
            trust = trust_by(rows, _figures(shares))
            levels.append(trust.level)
            counts.levels[trust.level] += 1
            if trust.level == SUPPORTED:
                _count_figures(counts, truth, shares, [trust.bias[name] for name in _READINGS])
        is_ranked = max(levels, key=LEVELS.index) != SCREEN
        for i, reading in enumerate(_READINGS):
            share, other_share = observed[0][i], observed[1][i]
            counts.n_differences += 1
            if (
                is_ranked
                and _is_significant(share, other_share, _PER_READING)
                and call_differs(share, other_share, rates(rows, reading))
            ):
                counts.n_called += 1
                counts.n_wrong_way += (other_share - share) * (second[i] - first[i]) <= 0
    return counts


def _count_figures(
    counts: Counts, truth: Floats, observed: Floats, moved: Sequence[tuple[float, float]]
) -> None:
    """Count supported figures, and those far beyond their interval, which the possible bias widens
    as in `cc_hf.reports.what_to_cite`.
    """
    for value, share, (down, up) in zip(truth, observed, moved, strict=True):
        low, high = score_limits(float(share), _PER_READING)
        low, high = low - max(0.0, up), high - min(0.0, down)
        distance = max(low - value, value - high)
        counts.n_supported += 1
        counts.n_beyond += distance > _MARGIN
        counts.n_outside += distance > 0


def supported_shares(
    rate: float, n_labels: int, *, n_judges: int, seed: int = 0
) -> dict[int, tuple[int, int]]:
    """Return how many results of a judge are called supported, and of how many, by the number of
    their figures: of two, both must be; or the first is asked for alone.

    Args:
        rate: the share of right and of wrong translations that it finds what they are.
        n_labels: number of labels for each role and reading.
    """
    case, n_supported = Case("", _fixed(rate)), Counter[int]()
    for number in range(n_judges):
        random = np.random.default_rng([seed, n_labels, number])
        of_judge = case.draw(random)
        rows = _evidence(case, of_judge, n_labels, random)
        figures = _figures(_judged(random.uniform(*_ACCURACIES, 2), case, of_judge, random))
        for n in (1, 2):
            chosen = dict(islice(figures.items(), n))
            n_supported[n] += trust_by(rows, chosen).level == SUPPORTED
    return {n: (n_supported[n], n_judges) for n in (1, 2)}


def called_share(rate: float, n_labels: int, *, n_judges: int, seed: int = 0) -> tuple[int, int]:
    """Return how many true differences of 10 points, over all 1,800 translations, are called, and
    of how many.
    """
    case, n_called = Case("", _fixed(rate)), 0
    low, high = _ACCURACIES
    for number in range(n_judges):
        random = np.random.default_rng([seed, n_labels, number])
        of_judge = case.draw(random)
        rows = _evidence(case, of_judge, n_labels, random)
        truth = random.uniform(low, high - _LARGEST_DIFFERENCE, 2)
        both = [
            _judged(accuracies, case, of_judge, random)
            for accuracies in (truth, truth + _LARGEST_DIFFERENCE)
        ]
        levels = [trust_by(rows, _figures(observed)).level for observed in both]
        first, second = (float(observed.mean()) for observed in both)
        n_called += (
            SCREEN not in levels
            and second > first
            and _is_significant(first, second, 2 * _PER_READING)
            and all(call_differs(first, second, rates(rows, reading)) for reading in _READINGS)
        )
    return n_called, n_judges


def errors_table(*, n_judges: int, seed: int = 0) -> str:
    """Return a table of how often the levels are wrong, by kind of judge and number of labels, and
    whether that is at most the 5 % that are asked for.
    """
    lines = [
        "| judges | labels | supported | ranks only | screen | supported: outside the interval |"
        " > 3 points beyond it | differences called: the wrong way |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    failures = []
    for case in CASES:
        for n_labels in _LABELS:
            counts = simulate(case, n_labels, n_judges=n_judges, seed=seed)
            wrong = {
                "> 3 points beyond": (counts.n_beyond, counts.n_supported),
                "the wrong way": (counts.n_wrong_way, counts.n_called),
            }
            failures += [
                f"{case.name}, {n_labels} labels ({name})"
                for name, (part, whole) in wrong.items()
                if part > _MOST_WRONG * whole
            ]
            of_levels = (
                _of(counts.levels[level], counts.levels.total(), in_full=False)
                for level in (SUPPORTED, RANKS_ONLY, SCREEN)
            )
            outside = _of(counts.n_outside, counts.n_supported, in_full=False)
            cells = [case.name, str(n_labels), *of_levels, outside]
            cells += [_of(part, whole) for part, whole in wrong.values()]
            lines.append(f"| {' | '.join(cells)} |")
    told = "; ".join(failures) or "none"
    return "\n".join(lines) + f"\n\nAbove the 5 % that are asked for: {told}."


def power_table(*, n_judges: int, seed: int = 0) -> str:
    """Return a table of how often good judges are supported and true differences called, by number
    of labels.
    """
    lines = [
        "| labels | errs on 1 %: one figure supported | both supported | errs on 10 %: difference"
        " of 10 points called |",
        "|--:|--:|--:|--:|",
    ]
    for n_labels in (*_LABELS[:3], 300, *_LABELS[3:]):
        supported = supported_shares(0.99, n_labels, n_judges=n_judges, seed=seed)
        called = called_share(0.9, n_labels, n_judges=n_judges, seed=seed)
        cells = [str(n_labels), *(_of(*supported[n]) for n in (1, 2)), _of(*called)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _of(part: int, whole: int, *, in_full: bool = True) -> str:
    """Return a share in percent, in full with its interval and its number; a dash without any."""
    if not whole:
        return "–"
    share = percent(part / whole)
    if not in_full:
        return share
    interval = wilson_interval(part, whole)
    return f"{share} ({percent(interval.low)} – {percent(interval.high)}) of {whole:,}"


def main(
    judges: Annotated[int, typer.Option(min=10, help="Judges of each kind.")] = 2000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    output: Annotated[Path | None, typer.Option(help="Page whose tables are replaced.")] = None,
) -> None:
    """Simulate all judges, and print or write the tables."""
    tables = {"levels-errors": errors_table, "levels-power": power_table}
    write_tables(
        output,
        {name: partial(table, n_judges=judges, seed=seed) for name, table in tables.items()},
    )


if __name__ == "__main__":
    run_main(main)
