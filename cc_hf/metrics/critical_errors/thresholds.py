"""The threshold of a difference that tells right from wrong translations best.

As with cues (`cc_hf.cue_building.calibration`), one half of the sentences chooses and the other is
reported, so that the figure is not biased by the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import Bootstrap, percentile_interval

__all__ = ["Threshold", "best_threshold"]

_FEWEST = 10  # translations of each kind in each half


class Threshold(NamedTuple):
    """A threshold, and the balanced accuracy of the half that did not choose it."""

    threshold: float
    accuracy: float
    interval: Interval | NoInterval


def best_threshold(
    values: npt.NDArray[np.float64],
    gold: npt.NDArray[np.bool_],
    sources: Sequence[str],
    bootstrap: Bootstrap,
) -> Threshold | None:
    """Return the threshold with the highest balanced accuracy on a random half of the sources.

    Args:
        values: differences, shape (n,); one above the threshold says that there is an error.
        gold: whether there is one, shape (n,).
        sources: n texts; those of one source are in the same half.

    Returns:
        The threshold, from 0; None with fewer than 10 right or wrong translations in a half.

    Examples:
        >>> values = np.arange(100) / 100
        >>> chosen = best_threshold(values, values > 0.5, [str(v) for v in values], Bootstrap())
        >>> chosen.accuracy > 0.9
        True
    """
    texts = sorted(set(sources))
    order = np.random.default_rng(bootstrap.seed).permutation(len(texts))
    reported = {texts[number] for number in order[: len(texts) // 2]}
    is_reported = np.array([source in reported for source in sources], dtype=bool)
    halves = [(values[half], gold[half]) for half in (~is_reported, is_reported)]
    if min(min(flags.sum(), (~flags).sum()) for _, flags in halves) < _FEWEST:
        return None
    (chosen_values, chosen_gold), (tested_values, tested_gold) = halves
    candidates = np.unique(np.clip(chosen_values, 0, None))
    rates = [_balanced(chosen_values > value, chosen_gold) for value in candidates]
    threshold = float(candidates[int(np.argmax(rates))])
    predicted = tested_values > threshold
    generator = np.random.default_rng(bootstrap.seed)
    drawn = generator.integers(0, len(predicted), (bootstrap.n_resamples, len(predicted)))
    resampled = np.array([_balanced(predicted[rows], tested_gold[rows]) for rows in drawn])
    return Threshold(threshold, _balanced(predicted, tested_gold), percentile_interval(resampled))


def _balanced(predicted: npt.NDArray[np.bool_], gold: npt.NDArray[np.bool_]) -> float:
    """Return the mean of recall and specificity; NaN where one is undefined."""
    n_wrong, n_right = int(gold.sum()), int((~gold).sum())
    if not n_wrong or not n_right:
        return float("nan")
    return float(predicted[gold].sum() / n_wrong + (~predicted)[~gold].sum() / n_right) / 2
