"""The figures that every metric without probabilities has: accuracy by category, with intervals.

Weighted accuracies are not among them, because they need an evaluator's confidence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cc_hf.results import CategoryAccuracy, Interval, NoInterval
from cc_hf.schema import Judgement
from cc_hf.statistics.accuracy import (
    accuracy_intervals,
    min_accuracy,
    total_accuracy,
    verdict_accuracies,
)
from cc_hf.statistics.score_intervals import wilson_interval

__all__ = ["Summary", "block_figures", "pair_figures", "summarize", "twin_figures"]


@dataclass(frozen=True)
class Summary:
    """Parts of an `EvaluationResult`.

    Attributes:
        scores: accuracy, min_accuracy and accuracy_<category>; or pair_accuracy.
        counts: n_correct and n_inconclusive; or the numbers of pairs.
    """

    scores: Mapping[str, float]
    intervals: Mapping[str, Interval | NoInterval]
    categories: tuple[CategoryAccuracy, ...]
    counts: Mapping[str, int]


def summarize(judgements: Sequence[Judgement], *, uncounted: Collection[str] = ()) -> Summary:
    """Compute accuracies from verdicts; an inconclusive verdict is not correct, and is counted.

    Args:
        uncounted: categories that the minimum ignores, besides "none".

    Returns:
        accuracy, min_accuracy and accuracy_<category>, in [0, 1], with their intervals, the counts
            of each category, n_correct and n_inconclusive.

    Raises:
        InputError: for no judgement.

    Examples:
        >>> verdicts = ("correct", "correct", "inconclusive")
        >>> summary = summarize(
        ...     [Judgement(str(i), "all", v == "correct", "x", v) for i, v in enumerate(verdicts)]
        ... )
        >>> round(summary.scores["accuracy"], 3), summary.counts
        (0.667, {'n_correct': 2, 'n_inconclusive': 1})
    """
    categories = [j.category for j in judgements]
    correct = np.array([j.is_correct for j in judgements], dtype=np.bool_)
    inconclusive = np.array([j.verdict == "inconclusive" for j in judgements], dtype=np.bool_)
    accuracy = total_accuracy(correct)
    by_category = verdict_accuracies(correct, categories, is_inconclusive=inconclusive)
    return Summary(
        scores={
            "accuracy": accuracy,
            "min_accuracy": min_accuracy(by_category, weighted=False, uncounted=uncounted),
            **{f"accuracy_{c.category}": c.accuracy for c in by_category},
        },
        intervals=accuracy_intervals(correct, None, categories, uncounted=uncounted),
        categories=by_category,
        counts={"n_correct": int(correct.sum()), "n_inconclusive": int(inconclusive.sum())},
    )


def pair_figures(judgements: Sequence[Judgement], pairs: Sequence[str]) -> Summary:
    """Compute pair_accuracy: the share of pairs of twins of which both are correct.

    Args:
        pairs: for each judgement the name that both twins share, "" for none.

    Returns:
        pair_accuracy with its interval, and the counts n_pairs, n_pairs_correct and n_without_twin;
            categories are empty. Without any names of pairs the summary is empty; without whole
            pairs it has only counts.

    Examples:
        >>> twins = [
        ...     Judgement(str(i), "all", v == "correct", "x", v)
        ...     for i, v in enumerate(["correct", "correct", "correct", "incorrect"])
        ... ]
        >>> summary = pair_figures(twins, ["a", "a", "b", "b"])
        >>> summary.scores, summary.counts
        ({'pair_accuracy': 0.5}, {'n_pairs': 2, 'n_pairs_correct': 1, 'n_without_twin': 0})
    """
    by_pair: dict[str, list[bool]] = {}
    for judgement, pair in zip(judgements, pairs, strict=True):
        if pair:
            by_pair.setdefault(pair, []).append(judgement.is_correct)
    if not by_pair:
        return Summary({}, {}, (), {})
    whole = [all(twins) for twins in by_pair.values() if len(twins) == 2]
    counts = {
        "n_pairs": len(whole),
        "n_pairs_correct": sum(whole),
        "n_without_twin": len(by_pair) - len(whole),
    }
    if not whole:
        return Summary({}, {}, (), counts)
    interval = wilson_interval(counts["n_pairs_correct"], len(whole))
    accuracy = counts["n_pairs_correct"] / len(whole)
    return Summary({"pair_accuracy": accuracy}, {"pair_accuracy": interval}, (), counts)


def twin_figures(judgements: Sequence[Judgement], pairs: Sequence[str]) -> Summary:
    """Compute pair_accuracy as `pair_figures` does, of rows whose pairs are known to be whole.

    Args:
        pairs: `Rows.pairs`; empty if no row has a twin.

    Returns:
        pair_accuracy with its interval, n_pairs and n_pairs_correct; without pairs the summary is
            empty.

    Examples:
        >>> verdicts = ("correct", "incorrect")
        >>> twins = [Judgement(v, "all", v == "correct", "x", v) for v in verdicts]
        >>> twin_figures(twins, ["a", "a"]).counts, twin_figures(twins, []).counts
        ({'n_pairs': 1, 'n_pairs_correct': 0}, {})
    """
    summary = pair_figures(judgements, pairs or [""] * len(judgements))
    counts = {name: n for name, n in summary.counts.items() if name != "n_without_twin"}
    return replace(summary, counts=counts)


def block_figures(judgements: Sequence[Judgement], blocks: Sequence[str]) -> Summary:
    """Compute block_accuracy: the share of blocks of which every judgement is correct.

    Args:
        blocks: for each judgement the name of its block, "" for none.

    Returns:
        block_accuracy with its interval, and n_blocks; without any names the summary is empty.

    Examples:
        >>> verdicts = ("correct", "correct", "correct", "incorrect")
        >>> judged = [Judgement("", "all", v == "correct", "x", v) for v in verdicts]
        >>> block_figures(judged, ["a", "a", "b", "b"]).scores
        {'block_accuracy': 0.5}
    """
    by_block: dict[str, bool] = {}
    for judgement, block in zip(judgements, blocks, strict=True):
        if block:
            by_block[block] = by_block.get(block, True) and judgement.is_correct
    if not by_block:
        return Summary({}, {}, (), {})
    n, n_right = len(by_block), sum(by_block.values())
    return Summary(
        {"block_accuracy": n_right / n},
        {"block_accuracy": wilson_interval(n_right, n)},
        (),
        {"n_blocks": n},
    )
