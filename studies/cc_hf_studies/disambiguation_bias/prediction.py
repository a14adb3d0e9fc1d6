"""How well disambiguation bias predicts which sentences a system gets wrong (Emelin et al. 2020;
Emelin 2023, section 3.2.2), whatever metric judged them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cc_hf.errors import InputError
from cc_hf.statistics.checks import with_ties
from cc_hf.statistics.shares import Share, wilson_share
from cc_hf_studies.common.rank_tests import (
    EffectThresholds,
    RankTest,
    effect_thresholds,
    mann_whitney,
)

__all__ = [
    "CITATION_KEY",
    "FEATURES",
    "BiasGroup",
    "ErrorPrediction",
    "FeatureTest",
    "error_rate_by_bias",
    "predict_errors",
]

#: The key of the paper in `cc_hf.citations`.
CITATION_KEY = "emelin-2020"
#: Values of a sentence that are tested, in the order of tables: its bias towards the right sense,
#: towards the strongest wrong sense, and the difference; its number of tokens is a control.
FEATURES = (
    "freq_right",
    "ppmi_right",
    "freq_wrong",
    "ppmi_wrong",
    "freq_diff",
    "ppmi_diff",
    "length",
)


@dataclass(frozen=True, slots=True)
class FeatureTest:
    """How a value differs between sentences with an error and without.

    Attributes:
        feature: name of the value, such as one of `FEATURES`.
        test: the sentences with an error against the others. The rank-biserial correlation (RBC)
            is positive if errors have the larger values.
        u: the smaller U of both groups, as it is usually printed.
    """

    feature: str
    test: RankTest
    u: float
    size: str


@dataclass(frozen=True)
class ErrorPrediction:
    """Correlations of values of sentences with errors.

    Attributes:
        error_rate: n_errors / n, in (0, 1).
        thresholds: the |RBC| from which an effect is small, medium or large at this error rate
            (thesis, equation 3.8).
    """

    n: int
    n_errors: int
    error_rate: float
    thresholds: EffectThresholds
    tests: tuple[FeatureTest, ...]


@dataclass(frozen=True, slots=True)
class BiasGroup:
    """Sentences with similar bias.

    Attributes:
        errors: the sentences with an error, with Wilson's 95 % interval.
    """

    low: float
    high: float
    errors: Share

    def to_dict(self) -> dict[str, Any]:
        """Return the group as a plain dict, ready for JSON."""
        errors = self.errors.to_row(k="n_errors", value="error_rate")
        return {"low": self.low, "high": self.high, **errors}


def predict_errors(
    features: Mapping[str, Sequence[float]], is_error: Sequence[bool]
) -> ErrorPrediction:
    """Correlate values of sentences with errors in their translations."""
    errors = np.asarray(is_error, dtype=np.bool_)
    _check(features, errors)
    error_rate = float(errors.mean())
    thresholds = effect_thresholds(error_rate)
    tests = []
    for name, values in features.items():
        column = np.asarray(values, dtype=np.float64)
        test = mann_whitney(column[errors], column[~errors])
        u = min(test.u, test.n_first * test.n_second - test.u)
        tests.append(FeatureTest(name, test, u, thresholds.size(test.rank_biserial)))
    return ErrorPrediction(len(errors), int(errors.sum()), error_rate, thresholds, tuple(tests))


def _check(features: Mapping[str, Sequence[float]], errors: np.ndarray) -> None:
    if not features:
        raise InputError("features: expected at least one value per sentence, got none")
    for name, values in features.items():
        if len(values) != len(errors):
            raise InputError(
                f"features: {name}: expected one value per sentence, {len(errors)} in all, got"
                f" {len(values)}"
            )
    if errors.all() or not errors.any():
        raise InputError(
            "is_error: expected sentences with an error and sentences without, got"
            f" {int(errors.sum())} errors in {len(errors)} sentences; there is nothing to predict"
        )


def error_rate_by_bias(
    values: Sequence[float], is_error: Sequence[bool], *, n_groups: int = 10
) -> tuple[BiasGroup, ...]:
    """Return the error rate of groups of equal size, from the smallest values to the largest.

    Equal values, and those that differ by rounding alone, stay in one group, so groups can differ
    in size and there can be fewer of them.
    """
    column, errors = np.asarray(values, dtype=np.float64), np.asarray(is_error, dtype=np.bool_)
    if not len(column) or column.shape != errors.shape or not np.isfinite(column).all():
        raise InputError(
            "values: expected one finite number per sentence, and at least one sentence, got"
            f" {len(column)} values for {len(errors)} sentences"
        )
    if n_groups < 1:
        raise InputError(f"n_groups: expected 1 or more, got {n_groups}")
    # A value belongs to the group of its mean rank, so that equal values share a group.
    tied = with_ties(column)
    ordered = np.sort(tied)
    first, after = np.searchsorted(ordered, tied), np.searchsorted(ordered, tied, "right")
    numbers = ((first + after - 1) * n_groups) // (2 * len(column))
    groups = []
    for number in np.unique(numbers):
        members = numbers == number
        low, high = float(column[members].min()), float(column[members].max())
        share = wilson_share(int(errors[members].sum()), int(members.sum()))
        groups.append(BiasGroup(low, high, share))
    return tuple(groups)
