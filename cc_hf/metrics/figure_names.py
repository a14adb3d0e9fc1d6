"""Names of figures in words, with their best value and what they mean: the one source of labels,
tooltips, ranks, orders, bold type and colours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

from cc_hf.figure_keys import CORRECTED, TRANSFERRED

__all__ = [
    "ACCURACY_GAP",
    "BLEU",
    "COMMON",
    "DERIVED",
    "Best",
    "FigureName",
    "FigureNames",
    "distance_to_best",
    "figure_name",
    "shares",
]

#: Where a figure is best: as high or as low as possible, at 0 (a difference) or at 1 (a ratio).
#: "none" for a figure that is neither good nor bad, by which nothing is ranked.
Best = Literal["high", "low", "zero", "one", "none"]


class FigureName(NamedTuple):
    """How tables call a figure, where it is best, and what it means.

    In a name that ends in `*`, `{}` in both texts stands for the category.

    Attributes:
        label: its name in words. For a figure that is best at 0, the label says so.
        best: where the figure is best. Ranks, orders, bold type and colours follow it.
        meaning: one or more sentences; "" if the label says everything.
    """

    label: str
    best: Best
    meaning: str = ""

    def distance(self, value: float) -> float | None:
        """Return `distance_to_best` of a value of the figure."""
        return distance_to_best(self.best, value)


#: Name of a score, or its beginning followed by `*` for any category -> its name in words.
FigureNames = Mapping[str, FigureName]

#: Accuracy on men minus accuracy on women, which tables derive.
ACCURACY_GAP = "accuracy_gap"

#: Figures that tables derive from those of a metric with verdicts.
DERIVED: FigureNames = {
    "n_inconclusive": FigureName(
        "inconclusive",
        "low",
        "The share of translations without a verdict, because they show neither reading or both."
        " They are not correct.",
    ),
    ACCURACY_GAP: FigureName(
        "accuracy gap, 0 is best",
        "zero",
        "Accuracy on male minus accuracy on female, in points. Above 0, men are translated better.",
    ),
    "wrong": FigureName("wrong", "low", "The share of translations that are wrong."),
    "wrong_*": FigureName("wrong on {}", "low", "The share of wrong translations of {}."),
    "unread": FigureName(
        "unread", "low", "The share of translations in which neither reading is found."
    ),
    "unread_*": FigureName(
        "unread on {}", "low", "The share of translations of {} in which neither reading is found."
    ),
}

#: The figures of most metrics.
COMMON: FigureNames = {
    "accuracy": FigureName("accuracy", "high", "The share of translations that are correct."),
    "accuracy_*": FigureName(
        "accuracy on {}", "high", "The share of correct translations in the category {}."
    ),
    "min_accuracy": FigureName(
        "minimum accuracy", "high", "The accuracy of the category on which it is lowest."
    ),
    "pair_accuracy": FigureName(
        "pair accuracy",
        "high",
        "The share of pairs, such as a sentence and its twin, with both rows correct.",
    ),
    **DERIVED,
}

#: Beginning of the name of a figure that includes the judge's mistakes -> by what it does.
_MISTAKES = {
    CORRECTED: "a part of the translations",
    TRANSFERRED: "other translations, on which the judge is assumed to err alike",
}

#: Quality as systems come with it, which is no figure of a metric.
BLEU = FigureName("BLEU", "high")


def shares(name: str, label: str, best: Best, meaning: str) -> dict[str, FigureName]:
    """Return the names of a share over all samples and over each category.

    Args:
        meaning: what it is, without a full stop.

    Examples:
        >>> names = shares("precision", "precision", "high", "The share of decided ones")
        >>> names["precision_*"].label
        'precision on {}'
    """
    return {
        name: FigureName(label, best, f"{meaning}."),
        f"{name}_*": FigureName(f"{label} on {{}}", best, f"{meaning}, in the category {{}}."),
    }


def distance_to_best(best: Best, value: float) -> float | None:
    """Return a number that is the smaller, the better a figure is.

    Args:
        value: the figure; a ratio is 0 or more.

    Returns:
        The number, by which figures of one name can be ordered; None for a figure that is neither
        good nor bad.

    Examples:
        >>> sorted((0.3, -0.1, 0.2), key=lambda gap: distance_to_best("zero", gap))
        [-0.1, 0.2, 0.3]
        >>> distance_to_best("high", 0.9) < distance_to_best("high", 0.8)
        True
    """
    match best:
        case "high":
            return -value
        case "low":
            return value
        case "zero":
            return abs(value)
        case "one":
            return abs(math.log(value)) if value else math.inf
        case "none":
            return None


def figure_name(names: FigureNames, name: str) -> FigureName:
    """Return the name of a figure in words.

    Returns:
        What is declared for the name, else for its longest beginning; else the name itself with
        spaces, which is neither good nor bad. A figure that includes the judge's mistakes has the
        name of the one that does not, and "corrected" or "transferred" before it.

    Examples:
        >>> figure_name(COMMON, "accuracy_female").label, figure_name({}, "my_score").label
        ('accuracy on female', 'my score')
    """
    if name in names:
        return names[name]
    for prefix, by in _MISTAKES.items():
        if name.startswith(prefix):
            label, best, meaning = figure_name(names, name.removeprefix(prefix))
            about = f"{meaning} The judge's mistakes are included, by trusted verdicts on {by}."
            return FigureName(f"{prefix.rstrip('_')} {label}", best, about.strip())
    beginnings = [
        known for known in names if known.endswith("*") and name.startswith(known.removesuffix("*"))
    ]
    if not beginnings:
        return FigureName(name.replace("_", " "), "none")
    longest = max(beginnings, key=len)
    category = name.removeprefix(longest.removesuffix("*")).replace("_", " ")
    label, best, meaning = names[longest]
    return FigureName(label.replace("{}", category), best, meaning.replace("{}", category))
