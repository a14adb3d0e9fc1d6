"""Names of figures in words, with what they mean: the one source of labels and tooltips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["COMMON", "PAIR_ACCURACY", "FigureName", "FigureNames", "figure_name", "shares"]


class FigureName(NamedTuple):
    """How tables call a figure, and what it means.

    In a name that ends in `*`, `{}` in both texts stands for the category.

    Attributes:
        label: its name in words. For a figure that is best at 0, the label says so.
        meaning: one or more sentences; "" if the label says everything.
    """

    label: str
    meaning: str = ""


#: Name of a score, or its beginning followed by `*` for any category -> its name in words.
FigureNames = Mapping[str, FigureName]

#: The figures of most metrics.
COMMON: FigureNames = {
    "accuracy": FigureName("accuracy", "The share of translations that are correct."),
    "accuracy_*": FigureName(
        "accuracy on {}", "The share of correct translations in the category {}."
    ),
    "min_accuracy": FigureName(
        "minimum accuracy", "The accuracy of the category on which it is lowest."
    ),
    "n_inconclusive": FigureName(
        "inconclusive",
        "The share of translations without a verdict, because they show neither reading or both."
        " They are not correct.",
    ),
}

PAIR_ACCURACY = FigureName(
    "pair accuracy", "The share of pairs, such as a sentence and its twin, with both rows correct."
)


def shares(name: str, label: str, meaning: str) -> dict[str, FigureName]:
    """Return the names of a share over all samples and over each category.

    Args:
        name: name of the share over all samples.
        label: its name in words.
        meaning: what it is, without a full stop.

    Examples:
        >>> shares("precision", "precision", "The share of decided ones")["precision_*"].label
        'precision on {}'
    """
    return {
        name: FigureName(label, f"{meaning}."),
        f"{name}_*": FigureName(f"{label} on {{}}", f"{meaning}, in the category {{}}."),
    }


def figure_name(names: FigureNames, name: str) -> FigureName:
    """Return the name of a figure in words.

    Args:
        names: the figures that are named.
        name: name of a score.

    Returns:
        What is declared for the name, else for its longest beginning; else the name itself with
        spaces.

    Examples:
        >>> figure_name(COMMON, "accuracy_female").label, figure_name({}, "my_score").label
        ('accuracy on female', 'my score')
    """
    if name in names:
        return names[name]
    beginnings = [
        known for known in names if known.endswith("*") and name.startswith(known.removesuffix("*"))
    ]
    if not beginnings:
        return FigureName(name.replace("_", " "))
    longest = max(beginnings, key=len)
    category = name.removeprefix(longest.removesuffix("*")).replace("_", " ")
    label, meaning = names[longest]
    return FigureName(label.replace("{}", category), meaning.replace("{}", category))
