"""Which attacks succeed: by kind of change, by the bias of the adjective, and by two judges
(thesis, section 3.3.2). The second judge, contrastive conditioning, is not part of the thesis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.agreement import cohen_kappa, kappa_interval, proportion_of_agreement
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.shares import Share, part_shares
from cc_hf_studies.disambiguation_bias.attacks.changes import KINDS
from cc_hf_studies.disambiguation_bias.attacks.samples import AttackJudgement
from cc_hf_studies.disambiguation_bias.prediction import (
    ErrorPrediction,
    error_rate_by_bias,
    predict_errors,
)

__all__ = [
    "JUDGES",
    "SCORES",
    "AttackFigures",
    "JudgeAgreement",
    "attack_figures",
    "judge_agreement",
]

#: Ways to decide whether an attack succeeds.
JUDGES = ("lexicon", "contrastive")

#: Biases of the adjective that are correlated with success, in the order of Table 3.10.
SCORES = ("freq_adv", "ppmi_adv", "freq_diff", "ppmi_diff")


@dataclass(frozen=True)
class AttackFigures:
    """Success of attacks on one system, by one judge.

    Attributes:
        n_samples: number of samples, whatever the outcome of their seeds.
        n_flipped: number of samples flipped to any wrong sense, whose seed is correct; None for a
            judge that sees two senses only.
        total: successful attacks among the samples whose seed is translated correctly. The
            intervals draw seeds, each with all its samples.
        by_kind: kind of change -> the same (Figure 3.2), for the kinds that occur.
        by_bias: the same by tenths of the samples, from the lowest difference of frequencies to the
            highest: pairs of "low to high" and the share.
        prediction: how well the biases of the adjective predict success, by rank-biserial
            correlation (Table 3.10); an "error" is a success. None if all attacks succeed or none.
    """

    judge: str
    n_samples: int
    n_seeds: int
    n_seeds_correct: int
    n_flipped: int | None
    total: Share
    by_kind: Mapping[str, Share]
    by_bias: tuple[tuple[str, Share], ...]
    prediction: ErrorPrediction | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain dicts and lists, ready for JSON."""
        total, *by_kind = _rows((("", self.total), *self.by_kind.items()))
        return asdict(self) | {"total": total, "by_kind": by_kind, "by_bias": _rows(self.by_bias)}


def _rows(shares: Iterable[tuple[str, Share]]) -> list[dict[str, Any]]:
    return [{"name": name, **share.to_row(k="n_success", value="rate")} for name, share in shares]


@dataclass(frozen=True)
class JudgeAgreement:
    """Agreement of both judges on the n samples whose seeds both find correct.

    Attributes:
        n_success: number of successful attacks by the lexicon and by contrastive conditioning.
        agreement: share of samples on which they agree, in [0, 1].
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
    judgements: Sequence[AttackJudgement], *, judge: str = "lexicon"
) -> AttackFigures:
    """Return the success of attacks in total, by kind of change and by bias, as rates in [0, 1]."""
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
    kinds = np.array([sample.kind for sample in samples])
    of_kinds = {kind: kinds == kind for kind in KINDS if (kinds == kind).any()}
    of_parts = [(diffs >= part.low) & (diffs <= part.high) for part in parts]
    total, *shares = part_shares(
        success,
        [np.ones(len(samples), dtype=np.bool_), *of_kinds.values(), *of_parts],
        groups=[sample.seed_id for sample in samples],
    )
    ranges = [_range(part.low, part.high) for part in parts]
    seeds = {(s.seed_id, s.seed_homograph_start) for s in (j.sample for j in judgements)}
    return AttackFigures(
        judge,
        len(judgements),
        len(seeds),
        len({(sample.seed_id, sample.seed_homograph_start) for sample in samples}),
        sum(j.outcome.startswith("flipped") for j, _ in counted) if judge == "lexicon" else None,
        total,
        dict(zip(of_kinds, shares, strict=False)),
        tuple(zip(ranges, shares[len(of_kinds) :], strict=True)),
        predict_errors(scores, success.tolist()) if 0 < success.sum() < len(success) else None,
    )


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def judge_agreement(
    judgements: Sequence[AttackJudgement], *, bootstrap: Bootstrap | None = None
) -> JudgeAgreement | None:
    """Return how well both judges agree; None if no sample has a seed that both find correct."""
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
