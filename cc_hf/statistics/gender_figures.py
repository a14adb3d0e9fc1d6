"""The figures of WinoMT from counts: precision, recall and F1 per gender, delta_g and delta_s
(Stanovsky et al. 2019); and ratios M:F.

Figures are exact, or rounded as the paper's program prints them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, check_choice
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.statistics.checks import as_counts, as_labels, check_type
from cc_hf.statistics.score_intervals import (
    Estimate,
    difference,
    estimate_share,
    ratio,
    wilson_interval,
)
from cc_hf.statistics.shares import quotients

__all__ = [
    "MALE_FEMALE",
    "RATIO",
    "READING_RATIO",
    "GenderRatio",
    "accuracy_ratio",
    "count_cells",
    "gender_figures",
    "gender_intervals",
    "printed_figures",
    "ratio_of_estimates",
    "reading_ratio",
]

#: Names of the ratio of accuracies and of that of readings, and the scores of the former.
RATIO, READING_RATIO = "ratio_male_female", "reading_ratio_male_female"
MALE_FEMALE = ("accuracy_male", "accuracy_female")

_GENDERS = ("male", "female", "neutral")
_STEREOTYPES = ("pro", "anti", "none")
_MOST_SAMPLES = 10**7  # with a number for each in memory
_PREDICTIONS = (*_GENDERS, "unknown")

_DELTAS = (
    ("delta_g", "f1_male", "f1_female"),
    ("delta_s", "accuracy_pro", "accuracy_anti"),
)

_Floats = npt.NDArray[np.float64]


def count_cells(
    gold: Sequence[str], stereotypes: Sequence[str], predicted: Sequence[str]
) -> npt.NDArray[np.int64]:
    """Count rows by gold gender, stereotype and predicted gender.

    Args:
        gold: n gold genders: male, female or neutral.
        stereotypes: n stereotypes: pro, anti or none.
        predicted: n predicted genders: male, female, neutral or unknown.

    Returns:
        Counts of shape (3, 3, 4), indexed by gold gender, stereotype and predicted gender in the
            order above.

    Raises:
        InputError: for other names, or different lengths.

    Examples:
        >>> cells = count_cells(["female", "male"], ["pro", "pro"], ["male", "male"])
        >>> cells.sum(axis=1).tolist()
        [[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    """
    cells = np.zeros((len(_GENDERS), len(_STEREOTYPES), len(_PREDICTIONS)), dtype=np.int64)
    n = len(as_labels("gold", gold))
    for name, values, known in (
        ("gold", gold, _GENDERS),
        ("stereotypes", stereotypes, _STEREOTYPES),
        ("predicted", predicted, _PREDICTIONS),
    ):
        for row, value in enumerate(as_labels(name, values, n=n)):
            check_choice(f"row {row}: {name}", value, known)
    for g, s, p in zip(gold, stereotypes, predicted, strict=True):
        cells[_GENDERS.index(g), _STEREOTYPES.index(s), _PREDICTIONS.index(p)] += 1
    return cells


def gender_figures(cells: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the figures, in [0, 1], and their differences, in [-1, 1].

    The figures are precision_*, recall_* and f1_* of each gold gender that occurs. Precision is 0
    if the gender is never predicted; F1 is 0 if both are 0. delta_g is f1_male - f1_female. delta_s
    is accuracy_pro - accuracy_anti. Figures without a sample are dropped.

    Args:
        cells: counts, as `count_cells` returns them.

    Raises:
        InputError: for anything else.

    Examples:
        >>> cells = count_cells(
        ...     ["male", "female", "female"], ["pro", "anti", "pro"], ["male", "male", "female"]
        ... )
        >>> {
        ...     name: round(value, 3)
        ...     for name, value in gender_figures(cells).items()
        ...     if name.startswith(("f1", "delta"))
        ... }
        {'f1_male': 0.667, 'f1_female': 0.667, 'delta_g': 0.0, 'delta_s': 1.0}
    """
    figures = _figures(_checked(cells)[None].astype(np.float64))
    return {name: float(values[0]) for name, values in figures.items() if not np.isnan(values[0])}


def printed_figures(cells: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the figures of `gender_figures`, and accuracy, as mt_gender prints them.

    Everything is rounded to 0.1 points; precision and recall are rounded before F1 is computed.

    Args:
        cells: counts, as `count_cells` returns them.

    Raises:
        InputError: for anything else, or counts that are all 0.

    Examples:
        >>> cells = count_cells(["male"] * 3, ["pro"] * 3, ["male", "male", "unknown"])
        >>> printed_figures(cells)["recall_male"], round(gender_figures(cells)["recall_male"], 6)
        (0.667, 0.666667)
    """
    cells = _checked(cells)
    if not cells.any():
        raise InputError("figures of nothing: expected at least one row, got none")
    exact = gender_figures(cells)
    exact["accuracy"] = int(np.einsum("gsg->", cells[..., : len(_GENDERS)])) / int(cells.sum())
    figures = {
        name: _rounded(value) for name, value in exact.items() if not name.startswith("delta")
    }
    for gender in _GENDERS:
        if f"f1_{gender}" in figures:
            precision, recall = (
                100 * figures[f"precision_{gender}"],
                100 * figures[f"recall_{gender}"],
            )
            figures[f"f1_{gender}"] = (
                _rounded(2 * precision * recall / (precision + recall) / 100)
                if precision + recall
                else 0.0
            )
    for delta, left, right in _DELTAS:
        if left in figures and right in figures:
            figures[delta] = round(figures[left] - figures[right], 3)
    return figures


def gender_intervals(
    cells: npt.NDArray[np.int64], *, level: float = 0.95
) -> dict[str, Interval | NoInterval]:
    """Return the intervals of `gender_figures`.

    The numbers of rows of each gold gender count as fixed.

    Args:
        cells: counts, as `count_cells` returns them.
        level: confidence level, in (0, 1).

    Returns:
        Figure -> its interval.

    Raises:
        InputError: for other counts, or a level out of range.

    Examples:
        >>> cells = count_cells(["male"] * 20, ["pro"] * 20, ["male"] * 15 + ["female"] * 5)
        >>> interval = gender_intervals(cells)["recall_male"]
        >>> round(interval.low, 3), round(interval.high, 3)
        (0.531, 0.888)
    """
    cells = _checked(cells)
    if not cells.any():
        raise InputError("figures of nothing: expected at least one row, got none")
    gold, stereotype, predicted = np.repeat(
        np.indices(cells.shape).reshape(cells.ndim, -1), cells.ravel(), axis=1
    )
    strata = [_GENDERS[gender] for gender in gold]

    def share(parts: _Floats, wholes: _Floats) -> Estimate:
        return estimate_share(parts, wholes, strata=strata, level=level)

    estimates: dict[str, Estimate] = {}
    for g, gender in enumerate(_GENDERS):
        is_gold, is_predicted = (gold == g) * 1.0, (predicted == g) * 1.0
        correct = is_gold * is_predicted
        if is_gold.any():
            estimates[f"recall_{gender}"] = share(correct, is_gold)
            estimates[f"f1_{gender}"] = share(2 * correct, is_gold + is_predicted)
            if is_predicted.any():
                estimates[f"precision_{gender}"] = share(correct, is_predicted)
    for s, name in enumerate(_STEREOTYPES[:2]):
        members = (stereotype == s) * 1.0
        if members.any():
            estimates[f"accuracy_{name}"] = share(members * (gold == predicted), members)
    for name, left, right in _DELTAS:
        if {left, right} <= estimates.keys():
            estimates[name] = difference(estimates[left], estimates[right])
    never = NoInterval("the gender is never predicted")
    return {
        name: estimates[name].interval if name in estimates else never
        for name in gender_figures(cells)
    }


def _checked(cells: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return as_counts("cells", cells, shape=(len(_GENDERS), len(_STEREOTYPES), len(_PREDICTIONS)))


def _figures(cells: _Floats) -> dict[str, _Floats]:
    """Return the (r,) values of each figure from (r, 3, 3, 4) counts, NaN without a sample."""
    confusion = cells.sum(axis=2)
    figures: dict[str, _Floats] = {}
    for g, gender in enumerate(_GENDERS):
        correct, n_gold, n_predicted = (
            confusion[:, g, g],
            confusion[:, g].sum(axis=1),
            confusion[:, :, g].sum(axis=1),
        )
        recall = quotients(correct, n_gold)
        precision = np.where(n_gold > 0, quotients(correct, np.maximum(n_predicted, 1)), np.nan)
        f1 = np.where(
            n_gold > 0, quotients(2 * correct, np.maximum(n_gold + n_predicted, 1)), np.nan
        )
        figures |= {
            f"precision_{gender}": precision,
            f"recall_{gender}": recall,
            f"f1_{gender}": f1,
        }
    figures["delta_g"] = figures["f1_male"] - figures["f1_female"]
    for s, stereotype in enumerate(_STEREOTYPES[:2]):
        part = cells[:, :, s]
        correct = np.einsum("rgg->r", part[..., : len(_GENDERS)])
        figures[f"accuracy_{stereotype}"] = quotients(correct, part.sum(axis=(1, 2)))
    figures["delta_s"] = figures["accuracy_pro"] - figures["accuracy_anti"]
    return figures


def _rounded(share: float) -> float:
    """Return a share, rounded to 0.1 points as the program rounds percentages."""
    return round(round(100 * share, 1) / 100, 3)


@dataclass(frozen=True, slots=True)
class GenderRatio:
    """A ratio of a figure on male and on female samples, 0 or more; 1 is balanced."""

    value: float
    interval: Interval | NoInterval


def accuracy_ratio(result: EvaluationResult) -> GenderRatio | None:
    """Return the ratio M:F of the accuracies on male and on female samples.

    Vamvas & Sennrich 2021, section 4.2, name such a ratio beside differences and the minimum. It is
    not a score of results, because it has no upper limit.

    Args:
        result: a result with the categories male and female.

    Returns:
        The ratio; None for a result without these categories, or with an accuracy of 0 on female
            samples.

    Examples:
        >>> from cc_hf.results import CategoryAccuracy
        >>> categories = (
        ...     CategoryAccuracy("female", 10, 5, 0.5),
        ...     CategoryAccuracy("male", 10, 8, 0.8),
        ... )
        >>> found = accuracy_ratio(
        ...     EvaluationResult("", "", "de", "own", "own|n:20", 20, {}, {}, categories, ())
        ... )
        >>> found.value, isinstance(found.interval, Interval)
        (1.6, True)
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
    """Return the ratio M:F of estimated accuracies, such as corrected ones.

    Args:
        estimates: figure -> its estimate.

    Returns:
        The ratio; None without accuracy_male and accuracy_female, or if the latter is 0.

    Raises:
        InputError: for anything but estimates.

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
    """Return the ratio of translations that are read as male to those that are read as female, in
    data with as many male as female samples; in others, 1 is not balanced.

    Args:
        result: a result of a metric that reads genders in translations.

    Returns:
        The ratio; None for a result without readings, or without one of female.

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
