"""Ratios M:F, of accuracies and of readings, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.statistics.checks import check_type
from cc_hf.statistics.score_intervals import (
    Estimate,
    estimate_share,
    ratio,
    wilson_interval,
)

__all__ = [
    "MALE_FEMALE",
    "RATIO",
    "READING_RATIO",
    "GenderRatio",
    "accuracy_ratio",
    "ratio_of_estimates",
    "reading_ratio",
]

#: Names of the ratio of accuracies and of that of readings, and the scores of the former.
RATIO, READING_RATIO = "ratio_male_female", "reading_ratio_male_female"
MALE_FEMALE = ("accuracy_male", "accuracy_female")

_GENDERS = ("male", "female", "neutral")
_MOST_SAMPLES = 10**7  # with a number for each in memory


@dataclass(frozen=True, slots=True)
class GenderRatio:
    """A ratio of a figure on male and on female samples, 0 or more; 1 is balanced."""

    value: float
    interval: Interval | NoInterval


def accuracy_ratio(result: EvaluationResult) -> GenderRatio | None:
    """Return the ratio M:F of the accuracies on male and on female samples.

    Vamvas & Sennrich 2021, section 4.2, name such a ratio beside differences and the minimum. It is
    None for a result without these categories, or with an accuracy of 0 on female samples.
    """
    check_type("result", result, EvaluationResult)
    by_name = {c.category: c for c in result.categories}
    if not {"male", "female"} <= by_name.keys() or not by_name["female"].n_correct:
        return None
    male, female = by_name["male"], by_name["female"]
    if male.n + female.n > _MOST_SAMPLES:
        counted = {f"accuracy_{c.category}": _counted(c.n_correct, c.n) for c in (male, female)}
        return ratio_of_estimates(counted)
    counts = [n for c in (male, female) for n in (c.n_correct, c.n - c.n_correct)]
    is_correct, is_male = (np.repeat(flags, counts) for flags in ([1, 0, 1, 0], [1, 1, 0, 0]))
    shares = (estimate_share(is_correct * members, members) for members in (is_male, 1 - is_male))
    return ratio_of_estimates(dict(zip(("accuracy_male", "accuracy_female"), shares, strict=True)))


def _counted(n_correct: int, n: int) -> Estimate:
    """Return the share of many samples without a number for each, which a file only claims."""
    return Estimate(n_correct / n, wilson_interval(n_correct, n), n, np.empty(0), n)


def ratio_of_estimates(estimates: Mapping[str, Estimate]) -> GenderRatio | None:
    """Return the ratio M:F of estimated accuracies; None if one is missing, or that of female is 0.

    Examples:
        >>> flags, is_male = np.arange(40) % 4 > 0, np.arange(40) < 20
        >>> male, female = (estimate_share(flags * m, m) for m in (is_male * 1, ~is_male * 1))
        >>> ratio_of_estimates({"accuracy_male": male, "accuracy_female": female}).value
        1.0
    """
    check_type("estimates", estimates, Mapping)
    for estimate in estimates.values():
        check_type("estimates", estimate, Estimate)
    male, female = (estimates.get(f"accuracy_{gender}") for gender in ("male", "female"))
    if male is None or female is None or not female.value:
        return None
    return GenderRatio(male.value / female.value, ratio(male, female))


def reading_ratio(result: EvaluationResult) -> GenderRatio | None:
    """Return the ratio of translations that are read as male to those that are read as female.

    A ratio of 1 is balanced only in data with as many male as female samples. It is None for a
    result without readings, or without one of female.

    Examples:
        >>> from cc_hf.schema import Judgement
        >>> judgements = [
        ...     Judgement(str(i), "male", read == "male", "", verdict, predicted=read, gold="male")
        ...     for i, (read, verdict) in enumerate(
        ...         [("male", "correct")] * 6 + [("female", "incorrect")] * 3
        ...     )
        ... ]
        >>> reading_ratio(
        ...     EvaluationResult("", "", "de", "own", "own|n:9", 9, {}, {}, (), tuple(judgements))
        ... ).value
        2.0
    """
    check_type("result", result, EvaluationResult)
    read = [(j.gold, j.predicted) for j in result.judgements]
    counts = Counter(read)
    n_male, n_female = (
        sum(n for (_, predicted), n in counts.items() if predicted == gender)
        for gender in ("male", "female")
    )
    if not n_female or {gold for gold, _ in counts} - set(_GENDERS):
        return None
    golds = [gold for gold, _ in read]
    shares = (
        estimate_share(
            np.array([predicted == gender for _, predicted in read]),
            np.ones(len(read)),
            strata=golds,
        )
        for gender in ("male", "female")
    )
    return GenderRatio(n_male / n_female, ratio(*shares))
