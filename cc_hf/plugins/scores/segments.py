"""Whether other metrics see what a judge sees: their segment scores beside its verdicts, and how
often they prefer a correct translation to a wrong one (Amrhein et al. 2022, ACES).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cc_hf.errors import InputError
from cc_hf.plugins.scores.segment_scores import SegmentScores
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import Judgement
from cc_hf.statistics.checks import is_constant
from cc_hf.statistics.rank_correlation import rank_correlation
from cc_hf.statistics.separation import auc, auc_interval
from cc_hf.statistics.shares import Share, wilson_share

__all__ = ["PairFigures", "SegmentFigures", "pair_figures", "segment_figures"]

_FEWEST = 3  # segments of a correlation


@dataclass(frozen=True)
class SegmentFigures:
    """How a metric's scores of translations go with a judge's verdicts on them."""

    metric: str
    category: str  # "" for all segments
    n: int
    n_correct: int
    n_incorrect: int
    # Rank correlation, in [-1, 1], with the judge's probability of the correct reading, or with its
    # verdict if it gives none; None where one is constant or segments are fewer than three.
    spearman: float | None
    spearman_interval: Interval | NoInterval | None
    # The share of pairs of a correct and an incorrect translation in which the metric gives the
    # correct one the higher score, half of it for a tie: 0.5 is chance. None without either.
    separation: float | None
    separation_interval: Interval | NoInterval | None


@dataclass(frozen=True)
class PairFigures:
    """How often a metric prefers a correct translation to a wrong one of the same source."""

    metric: str
    category: str  # "" for all pairs
    ranked: Share  # the correct one has the higher score; a tie is wrong
    judge: Share | None = None  # samples that a judge has right
    agreement: Share | None = None  # pairs that both have right or both have wrong

    @property
    def tau(self) -> float:
        """Right minus wrong pairs, divided by all: ACES' figure, like Kendall's tau, in [-1, 1]."""
        return 2 * self.ranked.value - 1

    def to_row(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        shares = {
            "judge": self.judge and self.judge.to_row(value="accuracy", k="n_correct"),
            "agreement": self.agreement and self.agreement.to_row(value="agreement", k="n_same"),
        }
        return {
            "metric": self.metric,
            "category": self.category,
            **self.ranked.to_row(value="ranked", k="n_ranked"),
            "tau": self.tau,
            **{name: row for name, row in shares.items() if row},
        }


def segment_figures(
    segments: SegmentScores, result: EvaluationResult, *, n_resamples: int = 1000, seed: int = 0
) -> list[SegmentFigures]:
    """Compare the scores of translations with a judge's verdicts on the same translations.

    Inconclusive verdicts are left out.

    Segments without ids must be as many as the judgements, in their order. The bootstrap draws
    whole units of samples.

    Examples:
        >>> judgements = tuple(
        ...     Judgement(str(i), "all", i > 1, "", "correct" if i > 1 else "incorrect")
        ...     for i in range(4)
        ... )
        >>> result = EvaluationResult("", "", "de", "m", "m|n:4", 4, {}, {}, (), judgements)
        >>> segments = SegmentScores(4, (), (), {"chrF": (1.0, 3.0, 2.0, 4.0)}, {})
        >>> segment_figures(segments, result)[0].separation
        0.75
    """
    judgements = _judgements(segments, result)
    rows = [row for row, j in enumerate(judgements) if j.is_decided]
    return [
        _segment_figures(metric, category, scores, judgements, chosen, n_resamples, seed)
        for metric, scores in segments.scores.items()
        for category, chosen in _parts([j.category for j in judgements], rows)
    ]


def _segment_figures(
    metric: str,
    category: str,
    scores: Sequence[float],
    judgements: Sequence[Judgement],
    rows: Sequence[int],
    n_resamples: int,
    seed: int,
) -> SegmentFigures:
    values = np.array([scores[row] for row in rows])
    right = np.array([judgements[row].is_correct for row in rows])
    certain = [judgements[row].probability_correct for row in rows]
    sure = [float(ok) if p is None else p for ok, p in zip(right, certain, strict=True)]
    correlation = None
    if len(rows) >= _FEWEST and not is_constant(values) and not is_constant(sure):
        correlation = rank_correlation(list(values), sure, n_resamples=n_resamples, seed=seed)
    is_divided = bool(right.any() and not right.all())
    units = [" ".join(judgements[row].unit) for row in rows]
    return SegmentFigures(
        metric,
        category,
        len(rows),
        int(right.sum()),
        int((~right).sum()),
        correlation.spearman if correlation else None,
        correlation.spearman_interval if correlation else None,
        auc(values, right) if is_divided else None,
        (
            auc_interval(values, right, units, n_resamples=n_resamples, seed=seed)
            if is_divided
            else None
        ),
    )


def pair_figures(
    segments: SegmentScores, result: EvaluationResult | None = None
) -> list[PairFigures]:
    """Return how often metrics prefer a correct translation to a wrong one.

    `result` has verdicts to stand beside. Segments without ids must be as many, in their order.

    Examples:
        >>> pairs = {"COMET": ((0.9, 0.8, 0.7), (0.5, 0.8, 0.9))}
        >>> (figures,) = pair_figures(SegmentScores(3, (), (), {}, pairs))
        >>> figures.ranked.k, round(figures.tau, 4)
        (1, -0.3333)
    """
    if result is not None and segments.pairs:
        _check_pairs(result)
    judgements = _judgements(segments, result) if result and segments.pairs else []
    categories = segments.categories or [j.category for j in judgements] or [""] * segments.n
    return [
        _pair_figures(metric, category, good, bad, judgements, rows)
        for metric, (good, bad) in segments.pairs.items()
        for category, rows in _parts(categories, range(segments.n))
    ]


def _pair_figures(
    metric: str,
    category: str,
    good: Sequence[float],
    bad: Sequence[float],
    judgements: Sequence[Judgement],
    rows: Sequence[int],
) -> PairFigures:
    ranked = [good[row] > bad[row] for row in rows]
    share = wilson_share(sum(ranked), len(rows))
    if not judgements:
        return PairFigures(metric, category, share)
    right = [judgements[row].is_correct for row in rows]
    same = sum(a == b for a, b in zip(ranked, right, strict=True))
    return PairFigures(
        metric,
        category,
        share,
        wilson_share(sum(right), len(rows)),
        wilson_share(same, len(rows)),
    )


def _parts(categories: Sequence[str], rows: Sequence[int]) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield all rows under "", and those of each category if there are several."""
    if rows:
        yield "", rows
    names = sorted({categories[row] for row in rows})
    for name in names if len(names) > 1 else ():
        yield name, [row for row in rows if categories[row] == name]


def _check_pairs(result: EvaluationResult) -> None:
    """Refuse verdicts on translations of a system, which say nothing of given pairs."""
    declared = result.declared
    if declared is not None and not declared.config(result.config).has_choices:
        raise InputError(
            f"expected verdicts on pairs of given translations, got those of {result.metric} on"
            f" {result.dataset} {result.config}, which are on the translations of a system; leave"
            " --beside out"
        )


def _judgements(segments: SegmentScores, result: EvaluationResult) -> list[Judgement]:
    """Return the judgement of each segment."""
    if not result.judgements:
        raise InputError(
            f"expected a result with judgements of single translations, got one of {result.metric},"
            " which has none"
        )
    if not segments.ids:
        if segments.n != len(result.judgements):
            raise InputError(
                f"segments: expected {len(result.judgements)} rows, one for each judgement of the"
                f" result, got {segments.n}; name the segments in a column `id`"
            )
        return list(result.judgements)
    known: Mapping[str, Judgement] = result.by_id()
    if lost := [name for name in segments.ids if name not in known]:
        raise InputError(
            f"segments: expected ids of the result, such as {next(iter(known))!r}, got"
            f" {lost[0]!r}; {len(lost)} of {segments.n} are not in it"
        )
    return [known[name] for name in segments.ids]
