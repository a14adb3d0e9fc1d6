"""The words of a translation that stand for a person, found by word alignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cc_hf.text.alignment import Alignment, space_tokens
from cc_hf.text.morphology import FEMININE, MASCULINE

__all__ = ["BOTH", "NONE", "READINGS", "UNREAD", "GenderRule", "Person", "Translated", "person"]

#: What a translation shows besides one gender: a form that both share, or no form that has one.
BOTH, NONE = "both", "none"
#: The reading of a translation whose words for the person are not found, or not known.
UNREAD = ""
READINGS = (MASCULINE, FEMININE, BOTH, NONE)

_ARTICLES = ("the", "a", "an")
_MOST_ADJECTIVES = 3  # between an article and its noun


class Person(Protocol):
    """The words of a translation that stand for a person."""

    @property
    def translation(self) -> str:
        """The whole translation."""

    @property
    def word(self) -> str:
        """What the source calls the person."""

    @property
    def linked(self) -> Sequence[int]:
        """Indices of the tokens that are aligned with `word`."""

    @property
    def article_linked(self) -> Sequence[int]:
        """Indices of the tokens that are aligned with its article."""


class GenderRule(Protocol):
    """A rule that reads the gender of persons in one language."""

    @property
    def signature_name(self) -> str:
        """The rule with what it looks words up in."""

    def read_all(self, persons: Sequence[Person]) -> list[str]:
        """Return one of `READINGS`, or `UNREAD`, for each person."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A person in a source, and the words that translate it."""

    translation: str
    word: str
    linked: tuple[int, ...]
    article_linked: tuple[int, ...]


def person(
    source: str, focus: str, start: int, translation: str, alignment: Alignment
) -> Translated:
    """Return the words of a translation that are aligned with a focus and its English article.

    Args:
        start: character of the source at which the focus begins.
        alignment: pairs of indices of `space_tokens`.
    """
    tokens = space_tokens(source)
    first = len(space_tokens(source[:start]))
    # A focus within a token, such as one behind a bracket, begins in the token before.
    first -= start > 0 and source[start - 1] not in " \t"
    of_focus = range(first, first + max(1, len(space_tokens(focus))))
    # "The brave doctor": adjectives may stand between.
    before = range(first - 1, max(-1, first - 2 - _MOST_ADJECTIVES), -1)
    article = next((i for i in before if tokens[i].lower() in _ARTICLES), None)
    return Translated(
        translation,
        focus.lower(),
        _linked(alignment, of_focus),
        () if article is None else _linked(alignment, range(article, article + 1)),
    )


def _linked(alignment: Alignment, tokens: range) -> tuple[int, ...]:
    return tuple(sorted({j for i, j in alignment if i in tokens}))
