"""What rules of gender read, and what they answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["GENDERS", "UNKNOWN", "GenderPredictor", "Phrase", "most_frequent"]

#: what a person can be said to be
GENDERS = ("male", "female", "neutral")

#: what a predictor answers where it cannot tell
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words of a translation that stand for a person.

    Attributes:
        tokens: the space-split tokens, in the order of the source words they are linked to; may be
            empty.
        position: index of the first of them in the space-split translation, -1 for none.
        translation: the whole of it.
        word: what the source calls the person.
    """

    tokens: tuple[str, ...]
    position: int
    translation: str
    word: str

    @property
    def text(self) -> str:
        """The tokens, joined by spaces."""
        return " ".join(self.tokens)


class GenderPredictor(Protocol):
    """Rules of one language. Pure: the answer depends on the phrase alone."""

    @property
    def signature_name(self) -> str:
        """Name and versions, as the signature of a result says them."""

    def predict(self, phrase: Phrase) -> str:
        """One of GENDERS, or UNKNOWN."""


def most_frequent(genders: Sequence[str]) -> str:
    """The most frequent one, the first of equals; UNKNOWN for none.

    >>> most_frequent(["male", "female", "female"]), most_frequent(
    ...     ["male", "female"]
    ... ), most_frequent([])
    ('female', 'male', 'unknown')
    """
    return Counter(genders).most_common(1)[0][0] if genders else UNKNOWN
