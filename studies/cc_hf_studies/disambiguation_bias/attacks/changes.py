"""Insert an adjective into a sentence, or exchange one. Nothing else changes but, in English, the
article before it, and the capital at the beginning of the sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cc_hf.cues.placement import insert_before, replace_at
from cc_hf.test_sets.mucow.inflection import english_article

__all__ = [
    "AFTER_THE",
    "KINDS",
    "ChangedSentence",
    "insert_adjective",
    "insert_after",
    "replace_adjective",
]

#: Kinds of change, with the marks of the thesis (Table 3.9).
KINDS: dict[str, str] = {
    "insert_at_homograph": "IH",
    "replace_at_homograph": "RH",
    "insert_at_other": "InH",
    "replace_at_other": "RnH",
}

_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth last next same
    only"""
#: Adjectives before which "a" and "an" become "the".
AFTER_THE = frozenset(_ORDINALS.split())
_ARTICLE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChangedSentence:
    """A sentence with another adjective.

    Attributes:
        start: 0-based position of the adjective in characters of `text`.
        edit_start: position in the original sentence from which characters moved by `shift`.
    """

    text: str
    start: int
    edit_start: int
    shift: int

    def position(self, start: int) -> int:
        """Return where a character outside the changed words stands in the changed sentence."""
        return start + self.shift if start >= self.edit_start else start


def insert_adjective(
    source: str, start: int, adjective: str, *, lang: str = "en"
) -> ChangedSentence:
    """Insert an adjective before a noun, which begins at the character `start`.

    An indefinite article directly before it is adapted to the adjective. At the beginning of the
    sentence, the capital moves from the noun to the adjective; German nouns keep theirs.

    Examples:
        >>> insert_adjective("He found a spring.", 11, "old").text
        'He found an old spring.'
    """
    changed = insert_before(source, start, adjective)
    if start == 0:
        noun_start = len(adjective) + 1
        rest = changed[noun_start:] if lang == "de" else _uncapitalised(changed[noun_start:])
        changed = adjective[:1].upper() + changed[1:noun_start] + rest
    shift = len(adjective) + 1
    if lang != "en":
        return ChangedSentence(changed, start, start, shift)
    return _with_article(changed, start, adjective, edit_start=start, shift=shift)


def insert_after(source: str, end: int, adjective: str) -> ChangedSentence:
    """Insert an adjective after a noun that ends before the character `end`, as in Portuguese."""
    text = f"{source[:end]} {adjective}{source[end:]}"
    return ChangedSentence(text, end + 1, end, len(adjective) + 1)


def replace_adjective(
    source: str, start: int, length: int, adjective: str, *, lang: str = "en"
) -> ChangedSentence:
    """Exchange an adjective of `length` characters from `start` on."""
    word = adjective[:1].upper() + adjective[1:] if start == 0 else adjective
    changed = replace_at(source, start, length, word)
    shift = len(adjective) - length
    if lang != "en":
        return ChangedSentence(changed, start, start + length, shift)
    return _with_article(changed, start, adjective, edit_start=start + length, shift=shift)


def _uncapitalised(text: str) -> str:
    """Return a text whose first word has no capital, unless it has several, as "NATO" does."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _with_article(
    text: str, start: int, adjective: str, *, edit_start: int, shift: int
) -> ChangedSentence:
    """Return the sentence with the article directly before the adjective at `start` adapted."""
    match = _ARTICLE.search(text, 0, start)
    if match is None:
        return ChangedSentence(text, start, edit_start, shift)
    article = "the" if adjective.lower() in AFTER_THE else english_article(adjective)
    if match[1][0].isupper():
        article = article.capitalize()
    longer = len(article) - len(match[1])
    return ChangedSentence(
        f"{text[: match.start()]}{article}{match[2]}{text[start:]}",
        start + longer,
        edit_start,
        shift + longer,
    )
