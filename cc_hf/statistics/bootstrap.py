"""Bootstrap confidence intervals over judgements: samples are resampled within their category, so that the balance is kept.

The weights are part of a sample's judgement and travel with it; they are not ranked anew in every resample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval
from cc_hf.schema import UNCOUNTED_CATEGORY

__all__ = ["accuracy_intervals", "check_bootstrap", "figures_of_sums"]

_CHUNK = 250  # resamples drawn at a time: bounds the memory


def accuracy_intervals(
    is_correct: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.int64] | None,
    categories: Sequence[str],
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Interval]:
    """Percentile intervals of accuracy, weighted_accuracy, both minima, and both per category.

    Args:
        is_correct: shape (n,).
        weights: shape (n,), positive; None where there are none, and the weighted figures are left out.
        categories: n names.
        n_resamples: at least 1.
        level: in (0, 1).
        seed: of numpy's default generator.

    Raises:
        InputError: for empty input, or a level or number of resamples out of range.

    >>> interval = accuracy_intervals(np.array([True] * 5), np.arange(5, 0, -1), ["a"] * 5)["accuracy"]
    >>> interval.low, interval.high
    (1.0, 1.0)
    """
    if len(is_correct) == 0:
        raise InputError("confidence intervals of nothing: expected at least one judgement, got none")
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    generator = np.random.default_rng(seed)
    names = np.asarray(categories)
    parts: dict[str, tuple[npt.NDArray[np.float64], ...]] = {}
    for name in sorted(set(categories)):
        members = names == name
        own = np.ones(int(members.sum())) if weights is None else weights[members].astype(np.float64)
        parts[name] = _resample(is_correct[members], own, n_resamples, generator)
    samples = {name: values for name, values in figures_of_sums(parts).items() if weights is not None or not name.startswith("weighted_")}
    tails = [(1 - level) / 2, (1 + level) / 2]
    found = {}
    for name, values in samples.items():
        low, high = np.quantile(values, tails)
        found[name] = Interval(float(low), float(high), level)
    return found


def check_bootstrap(*, seed: int, n_resamples: int, level: float = 0.95) -> None:
    """Refuse options that are out of range, before anything long is computed.

    Raises:
        InputError: for a seed that is not an integer of 0 or more, fewer than one resample, or a level outside (0, 1).
    """
    if not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed: expected an integer of 0 or more, got {seed!r}")
    if n_resamples < 1 or not 0 < level < 1:
        raise InputError(f"expected n_resamples >= 1 and level in (0, 1), got {n_resamples} and {level}")


def _resample(correct: npt.NDArray[np.bool_], weights: npt.NDArray[np.float64], n_resamples: int, generator: np.random.Generator) -> tuple[npt.NDArray[np.float64], ...]:
    """Per resample: number of samples, number correct, sum of weights, sum of the weights of the correct ones."""
    n = len(correct)
    columns = np.stack([np.ones(n), correct.astype(np.float64), weights, weights * correct])
    sums = []
    for start in range(0, n_resamples, _CHUNK):
        drawn = generator.integers(0, n, size=(min(_CHUNK, n_resamples - start), n))
        sums.append(columns[:, drawn].sum(axis=2))
    return tuple(np.concatenate(sums, axis=1))


def figures_of_sums(parts: Mapping[str, Sequence[npt.NDArray[np.float64]] | npt.NDArray[np.float64]]) -> dict[str, npt.NDArray[np.float64]]:
    """Accuracy, min_accuracy, accuracy_<category>, and the weighted ones, from sums by category; the minimum is over all but «none».

    Args:
        parts: category -> number of samples, number correct, sum of weights, sum of the weights of the correct ones; arrays of one shape, which
            the figures have too.
    """
    plain = {name: p[1] / p[0] for name, p in parts.items()}
    weighted = {name: p[3] / p[2] for name, p in parts.items()}
    counted = [name for name in parts if name != UNCOUNTED_CATEGORY] or list(parts)
    total = np.sum(list(parts.values()), axis=0)
    return {
        "accuracy": total[1] / total[0],
        "weighted_accuracy": total[3] / total[2],
        "min_accuracy": np.min([plain[name] for name in counted], axis=0),
        "weighted_min_accuracy": np.min([weighted[name] for name in counted], axis=0),
        **{f"accuracy_{name}": values for name, values in plain.items()},
        **{f"weighted_accuracy_{name}": values for name, values in weighted.items()},
    }
