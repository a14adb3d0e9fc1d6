"""Which attacks succeed: by kind of change, by the bias of the adjective, and by two judges
(thesis, section 3.3.2). The second judge, contrastive conditioning, is not part of the thesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.agreement import cohen_kappa, kappa_interval, proportion_of_agreement
from cc_hf.statistics.bootstrap import Bootstrap, percentile_interval, resampled_sums
from cc_hf.statistics.shares import quotients
from cc_hf.studies.disambiguation_bias.attacks.changes import KINDS
from cc_hf.studies.disambiguation_bias.attacks.samples import AttackJudgement
from cc_hf.studies.disambiguation_bias.prediction import (
    ErrorPrediction,
    error_rate_by_bias,
    predict_errors,
)

__all__ = [
    "JUDGES",
    "SCORES",
    "AttackFigures",
    "JudgeAgreement",
    "SuccessRate",
    "attack_figures",
    "judge_agreement",
]

#: Ways to decide whether an attack succeeds.
JUDGES = ("lexicon", "contrastive")

#: Biases of the adjective that are correlated with success, in the order of Table 3.10.
SCORES = ("freq_adv", "ppmi_adv", "freq_diff", "ppmi_diff")


@dataclass(frozen=True, slots=True)
class SuccessRate:
    """How many attacks of a group succeed, among samples whose seed is translated correctly.

    Attributes:
        name: the group: a kind of change, or "low to high" of the difference of frequencies.
        n: number of samples whose seed is translated correctly.
        n_success: number of those whose attack succeeds.
        rate: n_success / n, in [0, 1].
        interval: bootstrap interval over seeds, each with all its samples.
    """

    name: str
    n: int
    n_success: int
    rate: float
    interval: Interval | NoInterval


@dataclass(frozen=True)
class AttackFigures:
    """Success of attacks on one system, by one judge.

    Attributes:
        judge: a name of `JUDGES`.
        n_samples: number of samples, whatever became of their seeds.
        n_seeds: number of seeds.
        n_seeds_correct: number of seeds that are translated correctly.
        n_flipped: number of samples flipped to any wrong sense, whose seed is correct; None for a
            judge that sees two senses only.
        total: success among samples whose seed is translated correctly.
        by_kind: the same by kind of change (Figure 3.2), for the kinds that occur.
        by_bias: the same by tenths of the samples, from the lowest difference of frequencies to the
            highest.
        prediction: how well the biases of the adjective predict success, by rank-biserial
            correlation (Table 3.10); an "error" is a success. None if all attacks succeed or none.
    """

    judge: str
    n_samples: int
    n_seeds: int
    n_seeds_correct: int
    n_flipped: int | None
    total: SuccessRate
    by_kind: tuple[SuccessRate, ...]
    by_bias: tuple[SuccessRate, ...]
    prediction: ErrorPrediction | None


@dataclass(frozen=True)
class JudgeAgreement:
    """Agreement of both judges on the samples whose seeds both find correct.

    Attributes:
        n: number of these samples.
        n_success: number of successful attacks by the lexicon and by contrastive conditioning.
        n_both: number of attacks that succeed by both.
        agreement: share of samples on which they agree, in [0, 1].
        kappa: Cohen's kappa.
        kappa_interval: bootstrap interval over seeds.
        n_seeds_agree, n_seeds: number of samples on whose seed both agree, whether it is correct,
            and number of samples that both judged.
    """

    n: int
    n_success: tuple[int, int]
    n_both: int
    agreement: float
    kappa: float
    kappa_interval: Interval | NoInterval
    n_seeds_agree: int
    n_seeds: int


def attack_figures(
    judgements: Sequence[AttackJudgement],
    *,
    judge: str = "lexicon",
    bootstrap: Bootstrap | None = None,
) -> AttackFigures:
    """Return the success of attacks in total, by kind of change and by bias.

    Args:
        judgements: judgements of one system.
        judge: a name of `JUDGES`.
        bootstrap: how the intervals are drawn; None for the defaults.

    Returns:
        Rates in [0, 1], with the counts beside them.

    Raises:
        InputError: for no judgements, or none whose seed is translated correctly.
        MissingDependencyError: without scipy.
    """
    outcomes = [judgement.succeeds(judge) for judgement in judgements]
    counted = [
        (judgement, bool(outcome))
        for judgement, outcome in zip(judgements, outcomes, strict=True)
        if outcome is not None
    ]
    if not counted:
        raise InputError(
            f"expected samples whose seed is translated correctly, by the judge {judge}, got none"
            f" among {len(judgements)}; is this a translation of the samples?"
        )
    samples = [judgement.sample for judgement, _ in counted]
    success = np.array([is_success for _, is_success in counted])
    diffs = np.array([sample.freq_diff for sample in samples])
    parts = error_rate_by_bias(diffs.tolist(), success.tolist())
    scores = {name: [getattr(sample, name) for sample in samples] for name in SCORES}
    groups = {"": np.ones(len(samples), dtype=np.bool_)}
    kinds = np.array([sample.kind for sample in samples])
    groups |= {kind: kinds == kind for kind in KINDS if (kinds == kind).any()}
    n_kinds = len(groups)
    masks = [*groups.values(), *((diffs >= p.low) & (diffs <= p.high) for p in parts)]
    names = [*groups, *(_range(part.low, part.high) for part in parts)]
    rates = _rates(
        names, masks, success, [sample.seed_id for sample in samples], bootstrap or Bootstrap()
    )
    seeds = {(s.seed_id, s.seed_homograph_start) for s in (j.sample for j in judgements)}
    return AttackFigures(
        judge,
        len(judgements),
        len(seeds),
        len({(sample.seed_id, sample.seed_homograph_start) for sample in samples}),
        sum(j.outcome.startswith("flipped") for j, _ in counted) if judge == "lexicon" else None,
        rates[0],
        rates[1:n_kinds],
        rates[n_kinds:],
        predict_errors(scores, success.tolist()) if 0 < success.sum() < len(success) else None,
    )


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _rates(
    names: Sequence[str],
    masks: Sequence[npt.NDArray[np.bool_]],
    success: npt.NDArray[np.bool_],
    seeds: Sequence[str],
    bootstrap: Bootstrap,
) -> tuple[SuccessRate, ...]:
    """Return the rate of each group; one set of resamples of seeds serves all."""
    columns = np.stack([column for mask in masks for column in (mask & success, mask)], axis=1)
    sums = resampled_sums(columns.astype(np.float64), groups=seeds, **bootstrap.options)
    rates = []
    for number, (name, mask) in enumerate(zip(names, masks, strict=True)):
        n, n_success = int(mask.sum()), int((mask & success).sum())
        parts, wholes = sums[:, 2 * number], sums[:, 2 * number + 1]
        values = quotients(parts, wholes)
        rates.append(SuccessRate(name, n, n_success, n_success / n, percentile_interval(values)))
    return tuple(rates)


def judge_agreement(
    judgements: Sequence[AttackJudgement], *, bootstrap: Bootstrap | None = None
) -> JudgeAgreement | None:
    """Return how well contrastive conditioning agrees with the lexicon on which attacks succeed.

    Args:
        judgements: judgements by both.
        bootstrap: how the interval is drawn; None for the defaults.

    Returns:
        The agreement; None if no sample has a seed that both find correct.
    """
    judged = [
        judgement
        for judgement in judgements
        if judgement.seed_outcome and judgement.seed_probability_correct is not None
    ]
    verdicts = [(*(j.succeeds(judge) for judge in JUDGES), j.sample.seed_id) for j in judged]
    both = [row for row in verdicts if row[0] is not None and row[1] is not None]
    if not both:
        return None
    left, right = [row[0] for row in both], [row[1] for row in both]
    return JudgeAgreement(
        len(both),
        (sum(map(bool, left)), sum(map(bool, right))),
        sum(bool(a and b) for a, b in zip(left, right, strict=True)),
        proportion_of_agreement(left, right),
        cohen_kappa(left, right),
        kappa_interval(
            left, right, groups=[row[2] for row in both], **(bootstrap or Bootstrap()).options
        ),
        sum((row[0] is None) == (row[1] is None) for row in verdicts),
        len(verdicts),
    )
