"""The figures that every metric without probabilities has: accuracy by category, with intervals. Weighted ones need an evaluator's confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cc_hf.results import CategoryAccuracy, Interval
from cc_hf.schema import Judgement
from cc_hf.statistics.accuracy import min_accuracy, total_accuracy, verdict_accuracies
from cc_hf.statistics.bootstrap import accuracy_intervals

__all__ = ["Summary", "summarize"]


@dataclass(frozen=True)
class Summary:
    """Parts of an `EvaluationResult`: accuracy, min_accuracy, accuracy_<category>, their intervals, categories, n_correct and n_inconclusive."""

    scores: Mapping[str, float]
    intervals: Mapping[str, Interval]
    categories: tuple[CategoryAccuracy, ...]
    counts: Mapping[str, int]


def summarize(judgements: Sequence[Judgement], *, seed: int = 0, n_resamples: int = 1000) -> Summary:
    """Sum up verdicts; an inconclusive one counts as not correct, and is counted.

    Raises:
        InputError: for no judgement, or options of the bootstrap that are out of range.

    >>> verdicts = ("correct", "correct", "inconclusive")
    >>> found = summarize([Judgement(str(i), "all", v == "correct", "x", v) for i, v in enumerate(verdicts)])
    >>> round(found.scores["accuracy"], 3), found.counts
    (0.667, {'n_correct': 2, 'n_inconclusive': 1})
    """
    categories = [j.category for j in judgements]
    correct = np.array([j.is_correct for j in judgements], dtype=np.bool_)
    inconclusive = np.array([j.verdict == "inconclusive" for j in judgements], dtype=np.bool_)
    accuracy = total_accuracy(correct)
    found = verdict_accuracies(correct, categories, is_inconclusive=inconclusive)
    return Summary(
        scores={"accuracy": accuracy, "min_accuracy": min_accuracy(found, weighted=False), **{f"accuracy_{c.category}": c.accuracy for c in found}},
        intervals=accuracy_intervals(correct, None, categories, seed=seed, n_resamples=n_resamples),
        categories=found,
        counts={"n_correct": int(correct.sum()), "n_inconclusive": int(inconclusive.sum())},
    )
