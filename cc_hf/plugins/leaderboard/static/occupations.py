"""Occupations by the share of women in the statistics from which WinoMT was made, against the share
of translations that a system writes as women. Nothing is formatted here.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.plugins.leaderboard.static.board import Ranking
from cc_hf.plugins.leaderboard.static.sentences import judged
from cc_hf.reports.samples import Sample
from cc_hf.results import Interval, NoInterval
from cc_hf.schema import Judgement, Reading
from cc_hf.statistics.checks import is_constant
from cc_hf.statistics.regression import least_squares
from cc_hf.tables.rows import read_rows

__all__ = [
    "FEWEST_OCCUPATIONS",
    "FEWEST_TRANSLATIONS",
    "Occupation",
    "OccupationShares",
    "SystemOccupations",
    "Trend",
    "occupation_shares",
    "percent_women",
]

#: Translations of an occupation in which a woman or a man is read, below which it has no share.
FEWEST_TRANSLATIONS = 10
#: Occupations with a share, below which a system is not shown.
FEWEST_OCCUPATIONS = 10
_IS_WOMAN = {"female": True, "feminine": True, "male": False, "masculine": False}
_OPEN = "open"  # category of samples in whose sources nothing tells who is meant
_Counts = Mapping[str, Counter[bool]]


@dataclass(frozen=True, slots=True)
class Occupation:
    """How a system writes an occupation."""

    name: str
    statistics: float  # share of women there, in [0, 1]
    n_women: int  # translations in which a woman is read
    n: int  # those in which a woman or a man is read

    @property
    def share(self) -> float:
        """n_women / n, in [0, 1]."""
        return self.n_women / self.n


@dataclass(frozen=True, slots=True)
class Trend:
    """The least-squares line of the share written as women over the share in the statistics."""

    slope: float  # 0 for as many women whatever the statistics say, 1 for as they say
    constant: float
    interval: Interval | NoInterval  # 95 %, with occupations as observations

    @classmethod
    def of(cls, occupations: Sequence[Occupation]) -> Trend:
        """Fit the line, in which every occupation has the same weight.

        Examples:
            >>> trend = Trend.of([Occupation(str(x), x / 9, 5, 10) for x in range(10)])
            >>> trend.slope, trend.interval.reason
            (0.0, 'all occupations have the same share')
        """
        x = [occupation.statistics for occupation in occupations]
        y = [occupation.share for occupation in occupations]
        try:
            constant, slope = least_squares(("written", y), {"statistics": x}).coefficients
        except (InputError, MissingDependencyError) as error:
            line = statistics.linear_regression(x, y)
            return cls(line.slope, line.intercept, NoInterval(_why_not(y, error)))
        return cls(slope.value, constant.value, slope.interval)

    def expected(self, share: float) -> float:
        """Return what the line says of a share of women in the statistics."""
        return self.constant + self.slope * share


def _why_not(shares: Sequence[float], error: Exception) -> str:
    if isinstance(error, MissingDependencyError):
        return str(error)
    return (
        "all occupations have the same share" if is_constant(shares) else "no dot is off the line"
    )


@dataclass(frozen=True)
class SystemOccupations:
    """The occupations of a system, in the order of the statistics."""

    system: str
    occupations: tuple[Occupation, ...]
    trend: Trend

    def share(self, *, has_many_women: bool) -> float | None:
        """Return the share written as women in occupations with more, or fewer, than half women."""
        chosen = [o for o in self.occupations if (o.statistics > 0.5) == has_many_women]
        return sum(o.n_women for o in chosen) / sum(o.n for o in chosen) if chosen else None

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data for JSON."""
        return {
            "system": self.system,
            "slope": self.trend.slope,
            "constant": self.trend.constant,
            "interval": asdict(self.trend.interval),
            "few_women": self.share(has_many_women=False),
            "many_women": self.share(has_many_women=True),
            "occupations": [
                {**asdict(occupation), "share": occupation.share} for occupation in self.occupations
            ],
        }


@dataclass(frozen=True)
class OccupationShares:
    """What the systems of a ranking make of occupations."""

    ranking: str
    systems: tuple[SystemOccupations, ...]
    # The counts of a system that is always right; None if no sentence tells who is meant.
    meant: SystemOccupations | None

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data for JSON."""
        return {
            "ranking": self.ranking,
            "meant": self.meant.to_dict() if self.meant else None,
            "systems": [system.to_dict() for system in self.systems],
        }


def occupation_shares(ranking: Ranking, samples: Sequence[Sample]) -> OccupationShares | None:
    """Count by system and occupation in how many translations a woman is read.

    None if no system has enough occupations.
    """
    known = {name.casefold() for name in percent_women()}
    named = [sample for sample in samples if _name(sample).casefold() in known]
    # Sentences in which nothing tells who is meant come first; else those that mean a woman or a
    # man and have a verdict.
    for is_open in (True, False):
        chosen = [sample for sample in named if is_open == (_meant(sample) is None)]
        reads = _read_openly if is_open else _read_in_verdict
        systems = []
        for index, name in enumerate(ranking.results):
            if occupations := _with_enough(_counts(chosen, partial(reads, system=index))):
                systems.append(SystemOccupations(name, occupations, Trend.of(occupations)))
        if systems:
            meant = None if is_open else _with_enough(_counts(chosen, _meant))
            return OccupationShares(
                ranking.name,
                tuple(systems),
                SystemOccupations("", meant, Trend.of(meant)) if meant else None,
            )
    return None


@cache
def percent_women() -> Mapping[str, float]:
    """Return the percentage of women in the 40 occupations of WinoBias, under WinoMT's names.

    They are of the US Bureau of Labor Statistics, 2017, as in Table 1 of Zhao et al. 2018.
    """
    rows = read_rows(Path(__file__).with_suffix(".tsv"))
    return {row["occupation"]: float(row["percent_women"]) for _, row in rows}


def _name(sample: Sample) -> str:
    return str(sample.example.extra.get("occupation", "")) if sample.example else ""


def _meant(sample: Sample) -> bool | None:
    """Return whether the source means a woman; None for neither woman nor man."""
    return _IS_WOMAN.get(getattr(sample.example, "gold", ""))


def _read_openly(sample: Sample, system: int) -> bool | None:
    """Return whether a woman is read where the source leaves it open; None for neither."""
    reading = judged(sample, system)
    if not isinstance(reading, Reading) or reading.category != _OPEN:
        return None
    return _IS_WOMAN.get(reading.reading)


def _read_in_verdict(sample: Sample, system: int) -> bool | None:
    """Return whether a woman is read where the source tells who is meant; None for neither."""
    judgement, meant = judged(sample, system), _meant(sample)
    if not isinstance(judgement, Judgement):
        return None
    if judgement.predicted:
        return _IS_WOMAN.get(judgement.predicted)
    if judgement.probability_correct is None or not judgement.is_decided or meant is None:
        return None
    # A judge that compares probabilities names no gender: the wrong one is the other one.
    return meant == judgement.is_correct


def _counts(samples: Sequence[Sample], is_woman: Callable[[Sample], bool | None]) -> _Counts:
    """Return how often each occupation, in small letters, is a woman and how often not."""
    counts: dict[str, Counter[bool]] = {}
    for sample in samples:
        if (woman := is_woman(sample)) is not None:
            counts.setdefault(_name(sample).casefold(), Counter())[woman] += 1
    return counts


def _with_enough(counts: _Counts) -> tuple[Occupation, ...]:
    """Return the occupations that are counted often enough; () if these are too few."""
    occupations = tuple(
        Occupation(name, percent / 100, count[True], count.total())
        for name, percent in percent_women().items()
        if (count := counts.get(name.casefold(), Counter())).total() >= FEWEST_TRANSLATIONS
    )
    return occupations if len(occupations) >= FEWEST_OCCUPATIONS else ()
