"""How a hypothesis of an n-best list is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cc_hf.rules import AtLeast, OneOf, check_fields

__all__ = ["READINGS", "RerankOptions"]

#: What the chosen translation should say.
READINGS = ("gold", "pronouns", "female", "male")
SELECTIONS = ("first_correct", "p_correct", "score", "interpolate")
FALLBACKS = ("first", "largest")


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """How a hypothesis is chosen.

    The margin of a hypothesis is the difference between its log scores under the wanted and under
    the other reading. Of equal hypotheses the earlier one is chosen.

    Attributes:
        reading: what the translation should say: "gold", the reading that the dataset marks as
            correct, so that the figures are an upper bound of what is possible without it;
            "pronouns", the gender of the pronouns in an English source, which needs no labels: the
            source is compared with itself in the other gender's pronouns; "female" or "male" for
            all sources.
        select: "first_correct" for the first hypothesis with the wanted reading; "p_correct" for
            the largest margin; "score" for the largest score under the wanted reading;
            "interpolate" for the largest sum of the system's score per word and `alpha` times the
            margin.
        fallback: what "first_correct" chooses where no hypothesis has the wanted reading: the
            "first" hypothesis, or the one with the "largest" margin.
        alpha: weight of the margin in "interpolate".

    Raises:
        InputError: for another value.
    """

    reading: Annotated[str, OneOf(*READINGS)] = "gold"
    select: Annotated[str, OneOf(*SELECTIONS)] = "first_correct"
    fallback: Annotated[str, OneOf(*FALLBACKS)] = "first"
    alpha: Annotated[float, AtLeast(0.0)] = 1.0

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def needs_scores(self) -> bool:
        """Whether the choice depends on more than verdicts."""
        return self.select != "first_correct" or self.fallback == "largest"

    @property
    def name(self) -> str:
        """The options as a signature holds them."""
        settings = {"first_correct": f".{self.fallback}", "interpolate": f".{self.alpha:g}"}
        return f"{self.select}{settings.get(self.select, '')}"
