"""The threshold of a difference that tells right from wrong translations best.

As with cues (`cc-hf cues calibrate`), one half of the sentences chooses and the other is reported,
so that the figure is not biased by the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.separation import auc, auc_interval, reported_half

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

    `values` are differences, (n,); one above the threshold says that there is an error, and `gold`,
    (n,), whether there is one. The threshold is from 0; None with fewer than 10 right or wrong
    translations in a half.

    Examples:
        >>> values = np.arange(100) / 100
        >>> chosen = best_threshold(values, values > 0.5, [str(v) for v in values], Bootstrap())
        >>> chosen.accuracy > 0.9
        True
    """
    is_reported = reported_half(sources, bootstrap.seed)
    halves = [(values[half], gold[half]) for half in (~is_reported, is_reported)]
    if min(min(flags.sum(), (~flags).sum()) for _, flags in halves) < _FEWEST:
        return None
    (chosen_values, chosen_gold), (tested_values, tested_gold) = halves
    candidates = np.unique(np.clip(chosen_values, 0, None))
    rates = [auc((chosen_values > value).astype(float), chosen_gold) for value in candidates]
    threshold = float(candidates[int(np.argmax(rates))])
    predicted = (tested_values > threshold).astype(float)
    tested = [source for source, flag in zip(sources, is_reported, strict=True) if flag]
    return Threshold(
        threshold,
        auc(predicted, tested_gold),
        auc_interval(predicted, tested_gold, tested, **bootstrap.options),
    )
