"""The gender of the noun that translates a person, whatever its determiner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cc_hf.plugins.gender_reading.persons import BOTH, NONE, UNREAD, Person
from cc_hf.text.morphology import MASCULINE, AnalysedWord, MorphologyReader

__all__ = ["NounRule"]

_MOST_BETWEEN = 3  # adjectives between determiner and noun


@dataclass(frozen=True)
class NounRule:
    """The rule of languages whose nouns show the gender, such as German "Arzt", "Ärztin"."""

    reader: MorphologyReader
    lang: str

    @property
    def signature_name(self) -> str:
        """The rule with what it looks nouns up in."""
        return f"noun+{self.reader.signature_name}"

    def read_all(self, persons: Sequence[Person]) -> list[str]:
        """Return one of `READINGS`, or `UNREAD` where no noun is found, for each person."""
        sentences = self.reader.analyse([person.translation for person in persons])
        return [*map(_gender, sentences, persons)]


def _gender(words: Sequence[AnalysedWord], person: Person) -> str:
    for token in (*person.linked, *person.article_linked):
        for index, word in enumerate(words):
            if word.token == token and any(a.pos == "noun" for a in word.analyses):
                return _shown(words, index)
    return UNREAD


def _shown(words: Sequence[AnalysedWord], index: int) -> str:
    genders = words[index].genders("noun")
    if len(genders) < 2:
        return next(iter(genders), NONE)
    for before in reversed(words[max(0, index - 1 - _MOST_BETWEEN) : index]):
        # "der Angestellten" may be a woman, "der Angestellte" is none.
        if before.text.lower() == "der":
            return BOTH if words[index].text.endswith("n") else MASCULINE
        if gender := before.shown_gender("determiner", "adjective"):
            return gender
    return BOTH
