"""How far the probabilities of a judge can be taken at their word, where the answer is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import MissingDependencyError

__all__ = ["Bin", "Reliability", "probability", "reliability", "temperature"]

_N_BINS = 10
_LARGEST = math.log(1e3)  # temperature
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bin:
    """Decisions of similar confidence or rank, from `low` to `high` in [0, 1], and their means."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """Calibration of probabilities of the correct answer.

    Attributes:
        accuracy: share with a probability above 0.5, in [0, 1].
        bins: up to ten bins of equal width over confidences from 0.5 to 1.
        ranks: tenths of the decisions by confidence, the least confident first.
        error: expected calibration error: the mean distance of confidence and accuracy, in [0, 1].
        brier: mean of (1 - p)², in [0, 1]; 0.25 for a judge that is always undecided.
        temperature: T for which the logistic function of d / T has the least log loss on one half
            of the decisions, d being the logit of the probability.
        loss, loss_scaled: log loss on the other half without and with T, in nats.
    """

    n: int
    accuracy: float
    bins: tuple[Bin, ...]
    ranks: tuple[Bin, ...]
    error: float
    brier: float
    temperature: float
    loss: float
    loss_scaled: float


def reliability(logits: _Floats, *, seed: int = 0) -> Reliability:
    """Return how well probabilities are calibrated, from n >= 2 log-odds of the correct answer.

    Examples:
        >>> sure = reliability(np.array([2.0, 3.0, 2.5, -2.0]))
        >>> sure.accuracy, len(sure.bins), sure.brier < 0.25
        (0.75, 3, True)
    """
    p = probability(logits)
    confidence, is_right = np.maximum(p, 1 - p), p > 0.5
    number = np.minimum(((confidence - 0.5) * 2 * _N_BINS).astype(int), _N_BINS - 1)
    width = 0.5 / _N_BINS
    bins = [
        _bin(0.5 + i * width, 0.5 + (i + 1) * width, confidence[number == i], is_right[number == i])
        for i in range(_N_BINS)
        if (number == i).any()
    ]
    # Means over tokens put most confidences near 0.5, where the bins cannot tell them apart.
    parts = np.array_split(np.argsort(confidence, kind="stable"), _N_BINS)
    ranks = [
        _bin(i / _N_BINS, (i + 1) / _N_BINS, confidence[part], is_right[part])
        for i, part in enumerate(parts)
        if len(part)
    ]
    order = np.random.default_rng(seed).permutation(len(logits))
    first, second = logits[order[::2]], logits[order[1::2]]
    scale = temperature(first)
    return Reliability(
        n=len(logits),
        accuracy=float(is_right.mean()),
        bins=tuple(bins),
        ranks=tuple(ranks),
        error=sum(b.n * abs(b.accuracy - b.confidence) for b in bins) / len(logits),
        brier=float(np.mean((1 - p) ** 2)),
        temperature=scale,
        loss=_log_loss(second, 1.0),
        loss_scaled=_log_loss(second, scale),
    )


def temperature(logits: _Floats) -> float:
    """Return the T in [0.001, 1000] with the least log loss of the logistic function of d / T."""
    try:
        from scipy.optimize import minimize_scalar
    except ImportError:
        raise MissingDependencyError("scipy", "analysis") from None
    lowest = minimize_scalar(
        lambda log_t: _log_loss(logits, math.exp(log_t)),
        bounds=(-_LARGEST, _LARGEST),
        method="bounded",
    )
    return math.exp(lowest.x)


def _bin(low: float, high: float, confidence: _Floats, is_right: npt.NDArray[np.bool_]) -> Bin:
    means = float(confidence.mean()), float(is_right.mean())
    return Bin(round(low, 2), round(high, 2), len(confidence), *means)


def _log_loss(logits: _Floats, scale: float) -> float:
    return float(np.mean(np.logaddexp(0.0, -logits / scale)))


def probability(logits: _Floats) -> _Floats:
    """Return the probabilities of log-odds."""
    return np.exp(-np.logaddexp(0.0, -logits))
