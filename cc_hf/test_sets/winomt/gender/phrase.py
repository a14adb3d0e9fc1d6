"""Phrases that gender rules read, and the genders that they return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["GENDERS", "UNKNOWN", "GenderPredictor", "Phrase", "most_frequent"]

#: Genders of a person.
GENDERS = ("male", "female", "neutral")

#: What a predictor returns if it cannot decide.
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words of a translation that stand for a person.

    Attributes:
        tokens: space-split tokens, in the order of the source words with which they are aligned;
            may be empty.
        position: index of the first of them in the space-split translation; -1 if there are none.
        word: what the source calls the person.
        linked: indices of the tokens that are aligned with all words of the occupation.
        article_linked: indices of the tokens that are aligned with its article.
    """

    tokens: tuple[str, ...]
    position: int
    translation: str
    word: str
    linked: tuple[int, ...] = ()
    article_linked: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(self.tokens)


class GenderPredictor(ABC):
    """Gender rules of one language. The result depends only on the phrase.

    Attributes:
        signature_name: name and versions, as the signature of a result holds them.
    """

    signature_name: str

    @abstractmethod
    def predict(self, phrase: Phrase) -> str:
        """Return the gender of a phrase, one of `GENDERS`, or `UNKNOWN`."""

    def predict_all(self, phrases: Sequence[Phrase]) -> list[str]:
        return [self.predict(phrase) for phrase in phrases]


def most_frequent(genders: Sequence[str]) -> str:
    """Return the most frequent gender, the first of equally frequent ones.

    Examples:
        >>> most_frequent(["male", "female", "female"]), most_frequent(
        ...     ["male", "female"]
        ... ), most_frequent([])
        ('female', 'male', 'unknown')
    """
    return Counter(genders).most_common(1)[0][0] if genders else UNKNOWN
