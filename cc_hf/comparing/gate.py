"""A gate for releases: did a system lose more than is tolerated, or can it not be told?"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from cc_hf import signature
from cc_hf.comparing.alignment import AlignedJudgements, check_whole
from cc_hf.comparing.bands import shared_units
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bands import holm
from cc_hf.statistics.checks import check_number
from cc_hf.statistics.randomization import exchange_p
from cc_hf.statistics.score_intervals import FEWEST, difference, estimate_share

__all__ = ["CLOSED", "Gate", "GateFigure", "Verdict", "gate"]

Verdict = Literal["pass", "fail", "cannot tell"]
#: What is not a pass -> the exit status of `cc-hf compare --gate`. 1 and 2 are errors.
CLOSED: Mapping[str, int] = {"fail": 3, "cannot tell": 4}

_LEVEL, _POWER = 0.95, 0.8
_VERSION = 1


@dataclass(frozen=True, slots=True)
class GateFigure:
    """What the gate says of one figure.

    Attributes:
        metric: name of the metric.
        figure: "accuracy", or "accuracy_" and a category.
        n: number of samples.
        baseline, system: the accuracies, in [0, 1].
        low: one-sided lower limit of the second minus the first.
        p_value: one-sided p of a drop, exact by paired randomisation, and corrected by Holm for all
            figures.
        margin: the drop that is not tolerated; None for categories.
        verdict: "pass" if a drop as large as the margin is ruled out, else "fail" if a drop is
            shown, else "cannot tell".
        n_needed: number of samples with which a system that lost nothing passes in 80 % of all
            cases; None without a margin.
    """

    metric: str
    figure: str
    n: int
    baseline: float
    system: float
    low: float
    p_value: float
    margin: float | None
    verdict: Verdict
    n_needed: int | None


@dataclass(frozen=True)
class Gate:
    """The decision on a system.

    Attributes:
        baseline, system: names of the results.
        verdict: "fail" if any figure fails, else "cannot tell" if any figure with a margin does not
            pass, else "pass".
        unfit: why the verdicts that are compared are not fit to be cited, with the name of the
            result.
    """

    baseline: str
    system: str
    verdict: Verdict
    figures: tuple[GateFigure, ...]
    signature: str
    unfit: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the decision as strict JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def gate(results: Mapping[str, EvaluationResult], *, margin: float) -> Gate:
    """Decide whether a system may take the place of another one.

    A system that lost as much as the margin passes in about 5 % of all cases. One that lost nothing
    fails in at most 5 %, since p is corrected for all figures together.

    Args:
        results: two results of each metric on the same data, those of the baseline first.
        margin: the drop in accuracy that is not tolerated, in (0, 1]. A category only fails where
            a drop is shown, since its few samples cannot rule one out.

    Raises:
        InputError: for anything but two results of a metric, results that cannot be compared,
            results on some examples only, or numbers out of range.

    Examples:
        >>> from cc_hf.schema import Judgement
        >>> def result(name, n_right):
        ...     judgements = tuple(
        ...         Judgement(str(i), "all", right, "", "correct" if right else "incorrect")
        ...         for i, right in enumerate([True] * n_right + [False] * (400 - n_right))
        ...     )
        ...     text = "m|data:d/c|n:400"
        ...     return EvaluationResult("d", "c", "de", "m", text, 400, {}, {}, (), judgements)
        >>> decided = gate({"old": result("old", 300), "new": result("new", 299)}, margin=0.02)
        >>> decided.verdict, decided.figures[0].system
        ('pass', 0.7475)
        >>> gate({"old": result("old", 300), "new": result("new", 280)}, margin=0.02).verdict
        'fail'
    """
    check_number("margin", margin, low=0, high=1)
    if margin == 0:
        raise InputError("margin: expected a number above 0, got 0")
    by_metric: dict[str, list[str]] = {}
    if not results:
        raise InputError("results: expected two results of each metric, got none")
    for name, result in results.items():
        check_whole(result)
        by_metric.setdefault(result.metric, []).append(name)
    aligned = AlignedJudgements.of(results)
    flags = [flag for names in by_metric.values() for flag in _flags(aligned, names)]
    figures = [
        _decided(flag, p, margin if flag.figure == "accuracy" else None)
        for flag, p in zip(flags, holm([flag.p_of_drop for flag in flags]), strict=True)
    ]
    verdict: Verdict = "pass"
    if any(figure.verdict == "fail" for figure in figures):
        verdict = "fail"
    elif any(f.margin is not None and f.verdict != "pass" for f in figures):
        verdict = "cannot tell"
    first = next(iter(results.values()))
    fields: dict[str, str | int] = {
        "data": signature.parse(first.signature)[1].get("data", "own"),
        "n": first.n,
        "margin": f"{margin:g}",
        "level": f"{_LEVEL:g}",
        "m": _VERSION,
    }
    baseline, system = next(iter(by_metric.values()))
    unfit = [f"{name}: {why}" for name, r in results.items() if (why := r.why_unfit("accuracy"))]
    signed = signature.build("gate", fields)
    return Gate(baseline, system, verdict, tuple(figures), signed, tuple(unfit))


@dataclass(frozen=True)
class _Flags:
    """The verdicts behind a figure: shape (2, n), baseline first."""

    metric: str
    figure: str
    correct: npt.NDArray[np.bool_]
    units: Sequence[str]

    @property
    def p_of_drop(self) -> float:
        """One-sided p of a drop."""
        p = exchange_p(*self.correct, units=self.units) / 2
        before, after = self.correct.sum(axis=1)
        return p if after < before else 1 - p


def _flags(aligned: AlignedJudgements, names: Sequence[str]) -> list[_Flags]:
    """Return the verdicts of two systems, on all samples and in each category.

    Raises:
        InputError: for more or fewer systems, or other samples.
    """
    metric = aligned.results[names[0]].metric
    if len(names) != 2:
        raise InputError(
            f"gate: expected two results of {metric}, the baseline first, got {', '.join(names)}"
        )
    if reason := aligned.why_examples_differ(*names):
        raise InputError(f"{reason}; evaluate both on the same examples")
    table = aligned.rows(names)
    units = shared_units(table)
    correct = np.array([[j.is_correct for j in row] for row in table], dtype=np.bool_)
    categories = [j.category for j in table[0]]
    flags = [_Flags(metric, "accuracy", correct, units)]
    for name in sorted({*categories}) if len({*categories}) > 1 else ():
        rows = [row for row, category in enumerate(categories) if category == name]
        of_rows = [units[row] for row in rows]
        flags.append(_Flags(metric, f"accuracy_{name}", correct[:, rows], of_rows))
    return flags


def _decided(flags: _Flags, p_value: float, margin: float | None) -> GateFigure:
    two_sided = 1 - 2 * (1 - _LEVEL)
    shares = [
        estimate_share(row, np.ones(len(row)), groups=flags.units, level=two_sided)
        for row in flags.correct
    ]
    estimate = difference(shares[1], shares[0])
    low = estimate.interval.low
    verdict: Verdict = "cannot tell"
    if len({*flags.units}) >= FEWEST:
        if margin is not None and low > -margin:
            verdict = "pass"
        elif p_value <= 1 - _LEVEL:
            verdict = "fail"
    n_needed = None
    if margin is not None:
        z, z_power = NormalDist().inv_cdf(_LEVEL), NormalDist().inv_cdf(_POWER)
        error = (estimate.value - low) / z
        n_needed = math.ceil(flags.correct.shape[1] * ((z + z_power) * error / margin) ** 2)
    return GateFigure(
        flags.metric,
        flags.figure,
        flags.correct.shape[1],
        shares[0].value,
        shares[1].value,
        low,
        p_value,
        margin,
        verdict,
        n_needed,
    )
