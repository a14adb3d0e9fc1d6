"""What was counted of occupations: genders at each stage, flows between neighbouring stages, means
over several runs, and the agreement of the female share with figures from elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from cc_hf.errors import FileError, InputError, in_file
from cc_hf.reading import AS_WRITTEN, finite_number
from cc_hf.records import COUNT, POSITIVE, read_json
from cc_hf.rules import AtLeast, Kind
from cc_hf.signature import unparse
from cc_hf.tables.rows import TABLES, read_rows
from cc_hf_studies.common.corpus_blocks import DAMAGED
from cc_hf_studies.common.pearson import PearsonCorrelation, pearson_correlation

__all__ = [
    "GENDERS",
    "OUTCOMES",
    "FemaleShares",
    "OccupationCounts",
    "average_counts",
    "correlate_female_shares",
    "counts_of_paths",
    "read_occupation_counts",
    "read_women",
]

GENDERS = ("male", "female")
#: What a translation shows of an occupation: forms of one gender only, or none or both.
OUTCOMES = (*GENDERS, "other")

_WOMEN = ("occupation", "percent_women")
_NUMBERS = Kind(
    f"a number from 0 for each of {', '.join(OUTCOMES)}",
    lambda value: (
        isinstance(value, dict)
        and value.keys() == set(OUTCOMES)
        and all(map(AtLeast(0.0, 2.0**53).fits, value.values()))
    ),
)
#: What `OccupationCounts.to_json` writes.
_FORM = {
    "signature": str,
    "stages": [str],
    "counts": {str: [_NUMBERS]},
    "flows": {str: [dict.fromkeys(OUTCOMES, _NUMBERS)]},
    "n_pairs": COUNT | None,
    "n_damaged": COUNT,
    "damaged": [DAMAGED],
    "n_runs": POSITIVE,
    "share_deviations": [_NUMBERS],
    "change_deviations": [_NUMBERS],
}

Numbers = Mapping[str, float]
Flow = Mapping[str, Numbers]


@dataclass(frozen=True)
class OccupationCounts:
    """Genders of occupations at one or more stages.

    Attributes:
        counts: occupation -> for each stage, one of `OUTCOMES` -> number of pairs.
        flows: occupation -> for each stage but the first, outcome before -> outcome here -> number.
        n_pairs: number of pairs in the corpus; None where it is not known.
        n_damaged: number of pairs without text on a side, which are not counted.
        damaged: pairs of the 1-based line of a damaged pair and what is wrong with it.
        n_runs: number of runs of which the numbers are means.
        share_deviations: for each stage, outcome -> standard deviation of its share over the runs;
            empty for one run.
        change_deviations: the same of the change of the share, for each stage but the first.
    """

    signature: str
    stages: tuple[str, ...]
    counts: Mapping[str, tuple[Numbers, ...]]
    flows: Mapping[str, tuple[Flow, ...]]
    n_pairs: int | None = None
    n_damaged: int = 0
    damaged: tuple[tuple[int, str], ...] = ()
    n_runs: int = 1
    share_deviations: tuple[Numbers, ...] = ()
    change_deviations: tuple[Numbers, ...] = ()

    @property
    def n(self) -> float:
        """The number of counted pairs of all occupations."""
        return sum(self.total(0).values())

    def total(self, stage: int, occupations: Iterable[str] | None = None) -> dict[str, float]:
        """Return the number of pairs of some or all occupations with each outcome at a stage."""
        names = list(self.counts if occupations is None else occupations)
        return {o: sum(self.counts[name][stage][o] for name in names) for o in OUTCOMES}

    def total_flow(
        self, step: int, occupations: Iterable[str] | None = None
    ) -> dict[str, dict[str, float]]:
        """Return numbers of pairs that go from an outcome at stage `step` to one at the next."""
        names = list(self.counts if occupations is None else occupations)
        return {
            before: {
                after: sum(self.flows[name][step][before][after] for name in names)
                for after in OUTCOMES
            }
            for before in OUTCOMES
        }

    def shares(self, stage: int) -> dict[str, float]:
        """Return the share of each outcome at a stage, in [0, 1]."""
        return {outcome: number / self.n for outcome, number in self.total(stage).items()}

    def female_shares(self, stage: int = 0) -> dict[str, float]:
        """Return female / (male + female) of every occupation with a form of either."""
        shares = {}
        for occupation, stages in self.counts.items():
            male, female = stages[stage]["male"], stages[stage]["female"]
            if male + female:
                shares[occupation] = female / (male + female)
        return shares

    def by_frequency(self) -> list[str]:
        """Return the occupations that occur, the most frequent first."""
        numbers = {name: sum(stages[0].values()) for name, stages in self.counts.items()}
        return sorted((name for name in numbers if numbers[name]), key=lambda n: -numbers[n])

    def to_json(self) -> str:
        """Return the counts as JSON, which `read_occupation_counts` reads."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"


def counts_of_paths(
    signature: str,
    stages: Sequence[str],
    occupations: Iterable[str],
    paths: Mapping[tuple[str, ...], float],
    **more: Any,
) -> OccupationCounts:
    """Return counts and flows from numbers of pairs by their outcomes at all stages."""
    numbers: dict[str, list[dict[str, float]]] = {}
    flows: dict[str, list[dict[str, dict[str, float]]]] = {}
    for name in occupations:
        numbers[name] = [dict.fromkeys(OUTCOMES, 0) for _ in stages]
        flows[name] = [{o: dict.fromkeys(OUTCOMES, 0) for o in OUTCOMES} for _ in stages[1:]]
    for (name, *outcomes), number in paths.items():
        for stage, outcome in enumerate(outcomes):
            numbers[name][stage][outcome] += number
        for step, (before, after) in enumerate(pairwise(outcomes)):
            flows[name][step][before][after] += number
    return OccupationCounts(
        signature,
        tuple(stages),
        {name: tuple(of_stages) for name, of_stages in numbers.items()},
        {name: tuple(steps) for name, steps in flows.items()},
        **more,
    )


def average_counts(runs: Sequence[OccupationCounts]) -> OccupationCounts:
    """Return the means of several runs, such as teachers and students of several seeds."""
    if len(runs) < 2:
        raise InputError(f"runs: expected at least two files of counts, got {len(runs)}")
    first = runs[0]
    for number, run in enumerate(runs[1:], 2):
        if (run.stages, set(run.counts)) != (first.stages, set(first.counts)):
            raise InputError(
                f"run {number}: expected the stages {', '.join(first.stages)} and the same"
                f" {len(first.counts)} occupations as in run 1, got {', '.join(run.stages)} and"
                f" {len(run.counts)} occupations"
            )
    counts = {
        name: tuple(
            {o: statistics.fmean(run.counts[name][stage][o] for run in runs) for o in OUTCOMES}
            for stage in range(len(first.stages))
        )
        for name in first.counts
    }
    flows = {
        name: tuple(
            {
                before: {
                    after: statistics.fmean(run.flows[name][step][before][after] for run in runs)
                    for after in OUTCOMES
                }
                for before in OUTCOMES
            }
            for step in range(len(first.stages) - 1)
        )
        for name in first.counts
    }
    signatures = "\n".join(run.signature for run in runs)
    of = hashlib.sha256(signatures.encode()).hexdigest()[:7]
    shares = [[run.shares(stage) for stage in range(len(run.stages))] for run in runs]
    return OccupationCounts(
        unparse(
            "occupations.mean", {"stages": "+".join(first.stages), "runs": len(runs), "of": of}
        ),
        first.stages,
        counts,
        flows,
        first.n_pairs if len({run.n_pairs for run in runs}) == 1 else None,
        max(run.n_damaged for run in runs),
        n_runs=len(runs),
        share_deviations=tuple(
            {o: statistics.stdev(of_run[stage][o] for of_run in shares) for o in OUTCOMES}
            for stage in range(len(first.stages))
        ),
        change_deviations=tuple(
            {o: statistics.stdev(s[step + 1][o] - s[step][o] for s in shares) for o in OUTCOMES}
            for step in range(len(first.stages) - 1)
        ),
    )


def read_occupation_counts(path: str | Path) -> OccupationCounts:
    """Read counts that `OccupationCounts.to_json` wrote."""
    what = "the JSON of `cc-hf study distillation occupations --output`"
    row = read_json(path, what, _FORM, remedy=AS_WRITTEN)
    counts = OccupationCounts(
        row["signature"],
        tuple(row["stages"]),
        {name: tuple(stages) for name, stages in row["counts"].items()},
        {name: tuple(steps) for name, steps in row["flows"].items()},
        row["n_pairs"],
        row["n_damaged"],
        tuple((line, reason) for line, reason in row["damaged"]),
        row["n_runs"],
        tuple(row["share_deviations"]),
        tuple(row["change_deviations"]),
    )
    with in_file(path, AS_WRITTEN):
        _check_counts(counts)
    return counts


def _check_counts(counts: OccupationCounts) -> None:
    """Check that numbers are numbers, and that flows add up to them."""
    n = len(counts.stages)
    if not n or counts.counts.keys() != counts.flows.keys():
        raise InputError("expected one stage or more, and counts and flows of the same occupations")
    for key, n_expected in (("share_deviations", n), ("change_deviations", n - 1)):
        if len(getattr(counts, key)) not in (0, n_expected):
            raise InputError(f"{key}: expected none, or {n_expected} for {n} stages")
    for name, of_stages in counts.counts.items():
        if len(of_stages) != n or len(counts.flows[name]) != n - 1:
            raise InputError(f"{name}: expected numbers for {n} stages")
        for step, flow in enumerate(counts.flows[name]):
            for outcome in OUTCOMES:
                leaving = sum(flow[outcome].values())
                arriving = sum(flow[before][outcome] for before in OUTCOMES)
                before, after = of_stages[step][outcome], of_stages[step + 1][outcome]
                if not (math.isclose(leaving, before) and math.isclose(arriving, after)):
                    raise InputError(
                        f"{name}: {outcome}: expected flows that add up to {before:g} before and"
                        f" {after:g} after, got {leaving:g} and {arriving:g}"
                    )


@dataclass(frozen=True)
class FemaleShares:
    """Agreement of the female share of occupations with the percentages of a table.

    Attributes:
        missing: occupations of the table without a male or female form in the counts.
        unlisted: occupations of the counts that the table lacks.
    """

    stage: str
    correlation: PearsonCorrelation
    missing: tuple[str, ...]
    unlisted: tuple[str, ...]


def correlate_female_shares(
    counts: OccupationCounts, women: Mapping[str, float]
) -> tuple[FemaleShares, ...]:
    """Return how well the female share at each stage agrees with shares in [0, 1] (appendix C)."""
    results = []
    for stage, name in enumerate(counts.stages):
        shares = counts.female_shares(stage)
        both = [occupation for occupation in shares if occupation in women]
        try:
            correlation = pearson_correlation([shares[o] for o in both], [women[o] for o in both])
        except InputError as error:
            raise InputError(
                f"women: expected the percentages of four or more occupations that were counted"
                f" ({', '.join(list(shares)[:9])}), got {len(both)} at the stage {name} ({error})"
            ) from None
        results.append(
            FemaleShares(
                name,
                correlation,
                tuple(o for o in women if o not in shares),
                tuple(o for o in shares if o not in women),
            )
        )
    return tuple(results)


def read_women(path: str | Path) -> dict[str, float]:
    """Read a CSV or TSV file of occupations and `percent_women`, and return shares in [0, 1]."""
    women: dict[str, float] = {}
    for where, row in read_rows(Path(path), TABLES, dict.fromkeys(_WOMEN)):
        percent = finite_number(row["percent_women"])
        if percent is None or not 0 <= percent <= 100:
            raise FileError(
                where,
                f"percent_women: expected a number from 0 to 100, got {row['percent_women']!r}",
            )
        if row["occupation"] in women:
            raise FileError(where, f"{row['occupation']} occurs twice; keep one row")
        women[row["occupation"]] = percent / 100
    return women
