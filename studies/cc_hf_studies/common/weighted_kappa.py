"""Agreement of two annotators on a scale: Cohen's weighted kappa."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from cc_hf.errors import check_choice
from cc_hf.statistics.agreement import confusion_matrix

__all__ = ["weighted_kappa"]

#: Disagreement of two labels of a scale by their distance, by name of the weights.
_DISAGREEMENTS = {"linear": np.abs, "quadratic": np.square}


def weighted_kappa(
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    *,
    labels: Sequence[Hashable],
    weights: str = "quadratic",
) -> float:
    """Return Cohen's weighted kappa of labels on a scale, in [-1, 1] (Cohen 1968).

    Kappa is 1 - sum(w o) / sum(w e) of observed and expected counts of label pairs. Their weight w
    is the distance of the labels on the scale, or its square. Two sides that use the same single
    label agree: kappa is 1.0.
    """
    check_choice("weights", weights, _DISAGREEMENTS)
    table = confusion_matrix(left, right, labels=labels).astype(np.float64)
    positions = np.arange(len(table))
    disagreement = _DISAGREEMENTS[weights](positions[:, None] - positions)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chance = float((disagreement * expected).sum())
    return 1.0 - float((disagreement * table).sum()) / chance if chance else 1.0
