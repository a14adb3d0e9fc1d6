"""Figures of a metric: those that every metric without probabilities has, accuracy by category with
intervals, and parts that are joined to them, such as figures of pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from cc_hf.figure_keys import figure_key
from cc_hf.results import CategoryAccuracy, Interval, NoInterval
from cc_hf.schema import Judgement, Reading
from cc_hf.statistics.score_intervals import wilson_interval
from cc_hf.statistics.verdict_columns import VerdictColumns

__all__ = [
    "Figures",
    "block_figures",
    "pair_figures",
    "summarize",
    "twin_figures",
]


@dataclass(frozen=True)
class Figures:
    """The parts of an `EvaluationResult` that a metric computes from its rows.

    Attributes:
        intervals: 95 % intervals by figure, or the reason why there is none.
        judgements: one per row, or empty for a metric without verdicts.
        readings: one per row where sources leave the reading open, else empty.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    signature: Mapping[str, str | int] = field(default_factory=dict)
    intervals: Mapping[str, Interval | NoInterval] = field(default_factory=dict)
    categories: tuple[CategoryAccuracy, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()

    def with_inconclusive(self, counted: Mapping[str, int]) -> Figures:
        """Return these with the number of translations without a verdict in each category."""
        if not any(counted.values()):
            return self
        return replace(
            self,
            counts={**self.counts, "n_inconclusive": sum(counted.values())},
            categories=tuple(
                replace(category, n_inconclusive=counted.get(category.category, 0))
                for category in self.categories
            ),
        )

    def named(self, share: str) -> Figures:
        """Return the accuracies, of all and by category, as a share of another name.

        Examples:
            >>> scores = {"accuracy": 0.5, "min_accuracy": 0.5, "accuracy_a": 0.5}
            >>> Figures(scores).named("flip_rate").scores
            {'flip_rate': 0.5, 'flip_rate_a': 0.5}
        """
        keys = {name: figure_key(name) for name in self.scores}
        of_share = {n: str(k._replace(name=share)) for n, k in keys.items() if k.name == "accuracy"}
        return Figures(
            {name: self.scores[accuracy] for accuracy, name in of_share.items()},
            intervals={
                name: self.intervals[accuracy]
                for accuracy, name in of_share.items()
                if accuracy in self.intervals
            },
        )

    def joined(self, *parts: Figures) -> Figures:
        """Return these with all that further parts have; what two of them have is of the later.

        Examples:
            >>> Figures({"a": 0.5}).joined(Figures({"b": 1.0}), Figures(counts={"n": 2})).scores
            {'a': 0.5, 'b': 1.0}
        """
        whole: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        for part in parts:
            for name, value in whole.items():
                more = getattr(part, name)
                whole[name] = {**value, **more} if isinstance(value, Mapping) else more or value
        return Figures(**whole)


def summarize(judgements: Sequence[Judgement], *, uncounted: Collection[str] = ()) -> Figures:
    """Compute accuracies from verdicts; an inconclusive verdict is not correct, and is counted.

    Weighted accuracies are not among them, because they need an evaluator's confidence.

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
    columns = VerdictColumns.of(
        [j.category for j in judgements],
        np.array([j.is_correct for j in judgements], dtype=np.bool_),
        is_inconclusive=np.array([not j.is_decided for j in judgements], dtype=np.bool_),
        uncounted=uncounted,
    )
    return Figures(
        scores=columns.scores(),
        intervals=columns.intervals(),
        categories=columns.categories,
        counts=columns.counts,
    )


def pair_figures(judgements: Sequence[Judgement], pairs: Sequence[str]) -> Figures:
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
        return Figures()
    whole = [all(twins) for twins in by_pair.values() if len(twins) == 2]
    counts = {
        "n_pairs": len(whole),
        "n_pairs_correct": sum(whole),
        "n_without_twin": len(by_pair) - len(whole),
    }
    if not whole:
        return Figures(counts=counts)
    interval = wilson_interval(counts["n_pairs_correct"], len(whole))
    accuracy = counts["n_pairs_correct"] / len(whole)
    return Figures(
        {"pair_accuracy": accuracy}, intervals={"pair_accuracy": interval}, counts=counts
    )


def twin_figures(judgements: Sequence[Judgement], pairs: Sequence[str]) -> Figures:
    """Compute pair_accuracy as `pair_figures` does, of rows whose pairs are known to be whole.

    Args:
        pairs: `Rows.pairs`; empty if no row has a twin, which gives empty figures.

    Examples:
        >>> verdicts = ("correct", "incorrect")
        >>> twins = [Judgement(v, "all", v == "correct", "x", v) for v in verdicts]
        >>> twin_figures(twins, ["a", "a"]).counts, twin_figures(twins, []).counts
        ({'n_pairs': 1, 'n_pairs_correct': 0}, {})
    """
    summary = pair_figures(judgements, pairs or [""] * len(judgements))
    counts = {name: n for name, n in summary.counts.items() if name != "n_without_twin"}
    return replace(summary, counts=counts)


def block_figures(judgements: Sequence[Judgement], blocks: Sequence[str]) -> Figures:
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
        return Figures()
    n, n_right = len(by_block), sum(by_block.values())
    return Figures(
        {"block_accuracy": n_right / n},
        intervals={"block_accuracy": wilson_interval(n_right, n)},
        counts={"n_blocks": n},
    )
