"""Readers of morphology: which genders and numbers the words of a text may have.

A dictionary has all readings of a word, whatever its sentence; a tagger chooses one by the
sentence. Slices bring the readers (`registry.MORPHOLOGY_READERS`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cc_hf import registry

__all__ = ["FEMININE", "MASCULINE", "AnalysedWord", "Analysis", "MorphologyReader", "open_reader"]

MASCULINE, FEMININE = "masculine", "feminine"


@dataclass(frozen=True, slots=True)
class Analysis:
    """One way to read a word.

    Attributes:
        lemma: its dictionary form; of a contraction, such as Spanish "al", that of its last part.
        pos: "noun", "adjective", "determiner", "numeral", "participle", "preposition", "pronoun" or
            "verb"; "" for another.
        genders: `MASCULINE`, `FEMININE` or both, for a form that both share; empty for none.
        number: "singular" or "plural"; "" for none, or a form that both share.
        has_preposition: whether the word also holds a preposition, as "al" does.
    """

    lemma: str
    pos: str
    genders: frozenset[str] = frozenset()
    number: str = ""
    has_preposition: bool = False


@dataclass(frozen=True, slots=True)
class AnalysedWord:
    """A word of a text with all its analyses; none for an unknown word.

    Attributes:
        text: the word as it is written.
        token: index of the token that it is in, in the text split at spaces and tabs.
    """

    text: str
    token: int
    analyses: tuple[Analysis, ...] = ()

    def shown_gender(self, *kinds: str) -> str:
        """Return the only gender of the first part of speech that has one; "" for none, or both."""
        genders = next(filter(None, map(self.genders, kinds)), frozenset[str]())
        return next(iter(genders)) if len(genders) == 1 else ""

    def genders(self, pos: str) -> frozenset[str]:
        """Return the genders that the word may have as a part of speech."""
        return frozenset().union(*(a.genders for a in self.analyses if a.pos == pos))


class MorphologyReader(Protocol):
    """A reader of one language."""

    @property
    def signature_name(self) -> str:
        """Program and dictionary with their versions, as the signature of a result holds them."""

    def analyse(self, texts: Sequence[str]) -> list[tuple[AnalysedWord, ...]]:
        """Return the words of each text, with punctuation, in their order."""


def open_reader(name: str, lang: str) -> MorphologyReader:
    """Open a reader of a language.

    Args:
        name: a name of `registry.names("morphology reader")`, such as "apertium".
        lang: ISO 639-1 code.

    Raises:
        UnknownNameError: for an unknown reader, or a language that it cannot read.
        MissingDependencyError: if the reader needs a program or a dictionary that is not installed.
    """
    reader: MorphologyReader = registry.resolve("morphology reader", name)(lang)
    return reader
