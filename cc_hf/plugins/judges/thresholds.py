"""Thresholds of the verdict "neither", by labelled translations."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from cc_hf.evaluation.neither import MOST_OF_PEOPLE
from cc_hf.schema import NEITHER

__all__ = ["cross_fitted"]

_FOLDS = 10


def cross_fitted(
    distances: Sequence[float],
    verdicts: Sequence[str],
    labels: Sequence[str],
    *,
    seed: int = 0,
) -> tuple[float, list[str]] | None:
    """Return the threshold below which a judge finds neither reading, by the labels of all
    translations, and the verdicts by thresholds that the labels of others gave.

    A threshold is half-way between two distances: the one with most verdicts as in the labels (of
    several, the middle one) that says "neither" at most `MOST_OF_PEOPLE` times as often as people.
    None if no translation shows neither, or thresholds bring no more right verdicts.

    Examples:
        >>> labels = ["right"] * 20 + ["neither"] * 20
        >>> distances = [1.0] * 20 + [0.1] * 20
        >>> cross_fitted(distances, ["right"] * 40, labels)[0]
        0.55
    """
    order = list(range(len(labels)))
    random.Random(seed).shuffle(order)
    folds = [order[start::_FOLDS] for start in range(_FOLDS)]
    fitted = list(verdicts)
    for fold in folds:
        others = sorted({*order} - {*fold})
        threshold = _fitted(others, distances, verdicts, labels)
        for row in fold:
            if distances[row] < threshold:
                fitted[row] = NEITHER
    threshold = _fitted(order, distances, verdicts, labels)
    agreed, before = (sum(map(str.__eq__, said, labels)) for said in (fitted, verdicts))
    return (threshold, fitted) if threshold and agreed > before else None


def _fitted(
    rows: Sequence[int],
    distances: Sequence[float],
    verdicts: Sequence[str],
    labels: Sequence[str],
) -> float:
    """Return the threshold by some translations; 0 if none is better than two verdicts."""
    rows = sorted(rows, key=lambda row: distances[row])
    most = MOST_OF_PEOPLE * sum(labels[row] == NEITHER for row in rows)
    # How many more verdicts are those of the labels if the first k are neither.
    gains, gain = [0], 0
    for k, row in enumerate(rows, 1):
        if k > most:
            break
        gain += (labels[row] == NEITHER) - (labels[row] == verdicts[row])
        gains.append(gain)
    best = [
        k
        for k, value in enumerate(gains)
        if value == max(gains) and 0 < k < len(rows) and distances[rows[k]] > distances[rows[k - 1]]
    ]
    if not best or not max(gains):
        return 0.0
    k = best[len(best) // 2]
    middle = (distances[rows[k - 1]] + distances[rows[k]]) / 2
    # So many digits that it stays between both.
    gap = distances[rows[k]] - distances[rows[k - 1]]
    return round(middle, max(3, 1 - math.floor(math.log10(gap))))
