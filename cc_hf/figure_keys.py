"""What a figure is of: its name, the category, and the system of reference. Names such as
`corrected_accuracy_male` are keys of results and of `evaluate`; only this module takes them apart.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from cc_hf import registry

__all__ = ["CORRECTED", "TRANSFERRED", "FigureKey", "category_name", "figure_key", "is_corrected"]

#: Beginning of the names of figures that include the judge's mistakes, by trusted verdicts on a
#: part of the samples, and by trusted verdicts on other samples.
CORRECTED, TRANSFERRED = "corrected_", "transferred_"

_OF_CATEGORY = re.compile(
    "(accuracy|weighted_accuracy|inconclusive_rate|neutral_as|neither_share)_(.*)", re.DOTALL
)


class FigureKey(NamedTuple):
    """What a figure is of.

    Attributes:
        category: the category of an accuracy or a rate; "" for all samples.
        reference: `CORRECTED` or `TRANSFERRED` if the judge's mistakes are included; "" if not.
    """

    name: str
    category: str = ""
    reference: str = ""

    def __str__(self) -> str:
        return f"{self.reference}{self.name}" + f"_{self.category}" * bool(self.category)


@cache
def figure_key(text: str) -> FigureKey:
    """Return what the figure of a name is of.

    Examples:
        >>> figure_key("corrected_accuracy_male")
        FigureKey(name='accuracy', category='male', reference='corrected_')
    """
    reference = next((start for start in (CORRECTED, TRANSFERRED) if text.startswith(start)), "")
    name = text.removeprefix(reference)
    of_category = _OF_CATEGORY.fullmatch(name)
    if of_category is None:
        return FigureKey(name, reference=reference)
    return FigureKey(of_category[1], of_category[2], reference)


def category_name(category: str) -> str:
    """Return the name of a category in words, as the test set declares it.

    Examples:
        >>> category_name("MoFc"), category_name("female")
        ("men's occupations in female contexts", 'female')
    """
    target = registry.CATEGORIES.get(category)
    return category if target is None else str(registry.imported(target)[category])


def is_corrected(text: str) -> bool:
    """Return whether a figure is corrected by trusted verdicts on its own samples, by its name."""
    return figure_key(text).reference == CORRECTED
