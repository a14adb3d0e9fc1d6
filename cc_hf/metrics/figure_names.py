"""What metrics declare of their figures, names in words, best values and meanings: the one source
of labels, tooltips, ranks, orders, bold type and colours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from cc_hf.figure_keys import CORRECTED, TRANSFERRED, category_name, figure_key
from cc_hf.schema import Judgement

__all__ = [
    "ACCURACY_GAP",
    "BLEU",
    "COMMON",
    "DERIVED",
    "Best",
    "FigureDeclaration",
    "FigureDeclarations",
    "distance_to_best",
    "figure_name",
    "shares",
]

#: Where a figure is best: as high or as low as possible, at 0 (a difference) or at 1 (a ratio).
#: "none" for a figure that is neither good nor bad, by which nothing is ranked.
Best = Literal["high", "low", "zero", "one", "none"]


class FigureDeclaration(NamedTuple):
    """What a metric declares of a figure: how tables call it, where it is best, what it means, and
    what it is of.

    In a name that ends in `*`, `{}` in both texts stands for the category.

    Attributes:
        label: its name in words. For a figure that is best at 0, the label says so.
        best: where the figure is best. Ranks, orders, bold type and colours follow it.
        meaning: one or more sentences; "" if the label says everything.
        difference_of: the two scores that it is the difference of, from which it is computed anew
            where these are averaged; None for other figures.
        counts: whether a judgement counts in it, for a share of the translations whose differences
            comparisons test; None for other figures.
        is_of_read: whether it is an accuracy that counts only what was read or answered.
    """

    label: str
    best: Best
    meaning: str = ""
    difference_of: tuple[str, str] | None = None
    counts: Callable[[Judgement], bool] | None = None
    is_of_read: bool = False

    def distance(self, value: float) -> float | None:
        """Return `distance_to_best` of a value of the figure."""
        return distance_to_best(self.best, value)


#: Name of a score, or its beginning followed by `*` for any category -> its declaration.
FigureDeclarations = Mapping[str, FigureDeclaration]

#: Accuracy on men minus accuracy on women, which tables derive.
ACCURACY_GAP = "accuracy_gap"

#: Figures that tables derive from those of a metric with verdicts.
DERIVED: FigureDeclarations = {
    "n_inconclusive": FigureDeclaration(
        "inconclusive",
        "low",
        "The share of translations without a verdict, because they show neither reading or both."
        " They are not correct.",
    ),
    ACCURACY_GAP: FigureDeclaration(
        "accuracy gap, 0 is best",
        "zero",
        "Accuracy on male minus accuracy on female, in points. Above 0, men are translated better.",
    ),
    "wrong": FigureDeclaration("wrong", "low", "The share of translations that are wrong."),
    "wrong_*": FigureDeclaration("wrong on {}", "low", "The share of wrong translations of {}."),
    "unread": FigureDeclaration(
        "unread", "low", "The share of translations in which neither reading is found."
    ),
    "unread_*": FigureDeclaration(
        "unread on {}", "low", "The share of translations of {} in which neither reading is found."
    ),
}

#: The figures of most metrics.
COMMON: FigureDeclarations = {
    "accuracy": FigureDeclaration(
        "accuracy", "high", "The share of translations that are correct."
    ),
    "accuracy_*": FigureDeclaration(
        "accuracy on {}", "high", "The share of correct translations in the category {}."
    ),
    "min_accuracy": FigureDeclaration(
        "minimum accuracy", "high", "The accuracy of the category on which it is lowest."
    ),
    "pair_accuracy": FigureDeclaration(
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
BLEU = FigureDeclaration("BLEU", "high")


def shares(
    name: str, label: str, best: Best, meaning: str, **more: Any
) -> dict[str, FigureDeclaration]:
    """Return the declarations of a share over all samples and over each category.

    Args:
        meaning: what it is, without a full stop.
        more: further fields of the declaration of the share over all samples.

    Examples:
        >>> names = shares("precision", "precision", "high", "The share of decided ones")
        >>> names["precision_*"].label
        'precision on {}'
    """
    return {
        name: FigureDeclaration(label, best, f"{meaning}.", **more),
        f"{name}_*": FigureDeclaration(
            f"{label} on {{}}", best, f"{meaning}, in the category {{}}."
        ),
    }


def distance_to_best(best: Best, value: float) -> float | None:
    """Return a number that is the smaller, the better a figure is; None for one that is neither
    good nor bad.

    Args:
        value: the figure; a ratio is 0 or more.

    Examples:
        >>> sorted((0.3, -0.1, 0.2), key=lambda gap: distance_to_best("zero", gap))
        [-0.1, 0.2, 0.3]
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


def figure_name(names: FigureDeclarations, name: str) -> FigureDeclaration:
    """Return the declaration of a figure.

    Returns:
        What is declared for the name, else for its longest beginning; else the name itself with
        spaces, which is neither good nor bad. A figure that includes the judge's mistakes has the
        label of the one that does not, after "corrected" or "transferred".

    Examples:
        >>> figure_name(COMMON, "accuracy_female").label, figure_name({}, "my_score").label
        ('accuracy on female', 'my score')
    """
    if name in names:
        return names[name]
    if reference := figure_key(name).reference:
        plain = figure_name(names, str(figure_key(name)._replace(reference="")))
        about = (
            f"{plain.meaning} The judge's mistakes are included, by trusted verdicts on"
            f" {_MISTAKES[reference]}."
        )
        label = f"{reference.rstrip('_')} {plain.label}"
        return FigureDeclaration(label, plain.best, about.strip())
    beginnings = [
        known for known in names if known.endswith("*") and name.startswith(known.removesuffix("*"))
    ]
    if not beginnings:
        return FigureDeclaration(name.replace("_", " "), "none")
    longest = max(beginnings, key=len)
    category = category_name(name.removeprefix(longest.removesuffix("*"))).replace("_", " ")
    label, best, meaning, *_ = names[longest]
    return FigureDeclaration(label.replace("{}", category), best, meaning.replace("{}", category))
