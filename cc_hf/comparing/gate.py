"""A gate for releases: did a system lose more than is tolerated, or can it not be told?"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from cc_hf import signature
from cc_hf.comparing.alignment import AlignedJudgements, by_metric, check_whole
from cc_hf.comparing.bands import compared_samples
from cc_hf.errors import InputError
from cc_hf.metrics.headline import headline, uncounted_of
from cc_hf.results import EvaluationResult
from cc_hf.schema import counted_categories
from cc_hf.statistics.bands import holm
from cc_hf.statistics.checks import check_number
from cc_hf.statistics.score_intervals import (
    FEWEST_PAIRED,
    Estimate,
    difference,
    estimate_share,
)

__all__ = ["CLOSED", "Gate", "GateFigure", "Verdict", "gate"]

Verdict = Literal["pass", "fail", "cannot tell"]
#: What is not a pass -> the exit status of `cc-hf compare --gate`. 1 and 2 are errors.
CLOSED: Mapping[str, int] = {"fail": 3, "cannot tell": 4}

_LEVEL, _POWER = 0.95, 0.8
_VERSION = 2


@dataclass(frozen=True, slots=True)
class GateFigure:
    """What the gate says of one figure.

    Attributes:
        figure: "accuracy", or "accuracy_" and a category.
        baseline, system: the accuracies, in [0, 1].
        low: one-sided lower limit of the second minus the first.
        p_value: one-sided p of a drop beyond the margin, by the limits of the change, and corrected
            by Holm for all figures.
        margin: the drop that is tolerated.
        decides: whether the gate stays closed where the figure cannot be told: it is one to cite.
        verdict: "pass" if a drop as large as the margin is ruled out, else "fail" if a larger one
            is shown, else "cannot tell".
        n_needed: number of samples with which a system that lost nothing passes in 80 % of all
            cases.
    """

    metric: str
    figure: str
    n: int
    baseline: float
    system: float
    low: float
    p_value: float
    margin: float
    decides: bool
    verdict: Verdict
    n_needed: int


@dataclass(frozen=True)
class Gate:
    """The decision on a system.

    Attributes:
        verdict: "fail" if any figure fails, else "cannot tell" if any figure that decides does not
            pass, else "pass".
        unfit: why the figures are not fit to be cited, with the name of the result.
        is_shared: whether only the samples are compared that both systems read, because much is
            unread.
    """

    baseline: str
    system: str
    verdict: Verdict
    figures: tuple[GateFigure, ...]
    signature: str
    unfit: tuple[str, ...] = ()
    is_shared: bool = False

    def to_json(self) -> str:
        """Return the decision as strict JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def gate(
    results: Mapping[str, EvaluationResult],
    *,
    margin: float,
    category_margin: float | None = None,
) -> Gate:
    """Decide whether a system may take the place of another one.

    A system that lost as much as the margin passes in about 5 % of all cases. One that lost no more
    than it fails in at most about 5 %, since p is corrected for all figures together.

    Args:
        margin: the drop in accuracy that is tolerated, in (0, 1].
        category_margin: the drop that is tolerated in a category; None for `margin`.
    """
    of_category = margin if category_margin is None else category_margin
    for name, value in (("margin", margin), ("category_margin", of_category)):
        check_number(name, value, low=0, high=1)
        if value == 0:
            raise InputError(f"{name}: expected a number above 0, got 0")
    if not results:
        raise InputError("results: expected two results of each metric, got none")
    for result in results.values():
        check_whole(result)
    of_metrics = by_metric(results)
    flags, shared = [], []
    for of_metric in of_metrics.values():
        # Women and men decide where they are cited, else all samples and the category that is the
        # worst of the baseline.
        of_figures, is_shared = _flags(of_metric)
        flags += of_figures
        shared.append(is_shared)
    changes = [_change(flag) for flag in flags]
    margins = [margin if flag.figure == "accuracy" else of_category for flag in flags]
    # A fail needs one of all figures, so that p is corrected; a pass needs every figure that
    # decides, so that its limits are not. A category that does not decide can still fail.
    p_values = holm([_p_beyond(c, m) for c, m in zip(changes, margins, strict=True)])
    figures = [
        _decided(flag, change, p, m)
        for flag, change, p, m in zip(flags, changes, p_values, margins, strict=True)
    ]
    verdict: Verdict = "pass"
    if any(figure.verdict == "fail" for figure in figures):
        verdict = "fail"
    elif any(figure.decides and figure.verdict != "pass" for figure in figures):
        verdict = "cannot tell"
    first = next(iter(results.values()))
    fields: dict[str, str | int] = {
        "data": signature.parse(first.signature)[1].get("data", "own"),
        "n": first.n,
        "margin": f"{margin:g}",
        **({"of_categories": f"{of_category:g}"} if of_category != margin else {}),
        "level": f"{_LEVEL:g}",
        "m": _VERSION,
    }
    baseline, system = next(iter(of_metrics.values()))
    unfit = [f"{name}: {why}" for name, r in results.items() if (why := headline(r).why_unranked)]
    signed = signature.build("gate", fields)
    return Gate(baseline, system, verdict, tuple(figures), signed, tuple(unfit), any(shared))


@dataclass(frozen=True)
class _Flags:
    """The verdicts behind a figure: shape (2, n), baseline first."""

    metric: str
    figure: str
    correct: npt.NDArray[np.bool_]
    units: list[int]
    decides: bool


def _flags(results: Mapping[str, EvaluationResult]) -> tuple[list[_Flags], bool]:
    """Return the verdicts of two systems, on all samples and in each category that is counted, and
    whether only samples are compared that both read.
    """
    metric = next(iter(results.values())).metric
    if len(results) != 2:
        raise InputError(
            f"gate: expected two results of {metric}, the baseline first, got {', '.join(results)}"
        )
    aligned = AlignedJudgements.of(results)
    if reason := aligned.why_examples_differ(*results):
        raise InputError(f"{reason}; evaluate both on the same examples")
    aligned, is_shared = compared_samples(results)
    shared = aligned.shared(results)
    units, correct = shared.units, shared.is_correct
    rows_of = {
        name: shared.rows_of(name)
        for name in counted_categories(sorted({*shared.categories}), uncounted_of(metric))
    }
    said = headline(next(iter(results.values())))
    cited = rows_of.keys() & {figure.category for figure in said.cited if said.gap}
    # The worst category of the baseline is chosen for its low figure, so the change of it alone is
    # too favourable. Women and men are all samples.
    total = _Flags(metric, "accuracy", correct, units, not cited)
    if said.by.endswith("min_accuracy") and not cited:
        cited = {min(rows_of, key=lambda name: correct[0, rows_of[name]].mean())}
    flags = [total]
    for name, rows in rows_of.items() if len(rows_of) > 1 else ():
        of_rows = [units[row] for row in rows]
        of_category = correct[:, rows]
        flags.append(_Flags(metric, f"accuracy_{name}", of_category, of_rows, name in cited))
    return flags, is_shared


def _change(flags: _Flags) -> Estimate:
    """Return the second accuracy minus the first, whose limits are one-sided ones."""
    # An interval of 90 % has limits that are each wrong in 5 %.
    two_sided = 1 - 2 * (1 - _LEVEL)
    shares = [
        estimate_share(row, np.ones(len(row)), groups=flags.units, level=two_sided)
        for row in flags.correct
    ]
    return difference(shares[1], shares[0])


def _p_beyond(change: Estimate, margin: float) -> float:
    """Return the one-sided p of a drop that is larger than the margin, by a normal distribution."""
    distance, error = -margin - change.value, change.interval.high - change.value
    # Equal verdicts may leave the change no width; then it alone says whether the drop is larger.
    if not error:
        return 0.0 if distance > 0 else 1.0
    return 1 - NormalDist().cdf(distance / error * NormalDist().inv_cdf(_LEVEL))


def _decided(flags: _Flags, change: Estimate, p_value: float, margin: float) -> GateFigure:
    low = change.interval.low
    verdict: Verdict = "cannot tell"
    # Units, since two sentences that differ in the gender alone are one draw.
    if len({*flags.units}) >= FEWEST_PAIRED:
        if low > -margin:
            verdict = "pass"
        elif p_value <= 1 - _LEVEL:
            verdict = "fail"
    z, z_power = NormalDist().inv_cdf(_LEVEL), NormalDist().inv_cdf(_POWER)
    # By the limit that a pass is decided by; that of the other side may be nearer.
    error = (change.value - low) / z
    before, after = (float(row.mean()) for row in flags.correct)
    n = flags.correct.shape[1]
    return GateFigure(
        flags.metric,
        flags.figure,
        n,
        before,
        after,
        low,
        p_value,
        margin,
        flags.decides,
        verdict,
        math.ceil(n * ((z + z_power) * error / margin) ** 2),
    )
