"""Russian and Ukrainian gender rules: a word is feminine if any of its parses by pymorphy3 is."""

from __future__ import annotations

import functools
import importlib.metadata
import unicodedata
from dataclasses import dataclass, field
from typing import Any

from cc_hf.errors import MissingDependencyError
from cc_hf.test_sets.winomt.gender.phrase import GenderPredictor, Phrase, most_frequent

__all__ = ["predictor"]

_GENDERS = {"masc": "male", "femn": "female", "neut": "neutral"}


@functools.cache
def predictor(lang: str) -> EastSlavicGender:
    """Return the rules with the dictionary of a language; it is loaded once."""
    import pymorphy3

    dictionary = f"pymorphy3-dicts-{lang}"
    try:
        versions = [
            f"{package}-{importlib.metadata.version(package)}"
            for package in ("pymorphy3", dictionary)
        ]
    except importlib.metadata.PackageNotFoundError:  # its licence is the GPL, so it is an extra
        raise MissingDependencyError(dictionary, "ukrainian") from None
    return EastSlavicGender(pymorphy3.MorphAnalyzer(lang=lang), "+".join(versions))


@dataclass(frozen=True)
class EastSlavicGender(GenderPredictor):
    """Rules for Russian and Ukrainian.

    A word is female if any of its parses is, else it has the gender of most parses; without a
    gender it is neutral. A phrase has the gender of most of its words.

    Attributes:
        analyzer: pymorphy3's analyzer with the dictionary of the language.
        signature_name: pymorphy3 and its dictionary with their versions.
    """

    analyzer: Any
    signature_name: str
    _known: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def predict(self, phrase: Phrase) -> str:
        from pymorphy3.tokenizers import simple_word_tokenize

        return most_frequent([self._gender(word) for word in simple_word_tokenize(phrase.text)])

    def _gender(self, word: str) -> str:
        if word not in self._known:
            self._known[word] = self._parsed_gender(word)
        return self._known[word]

    def _parsed_gender(self, word: str) -> str:
        if not all(unicodedata.name(letter, "") for letter in word if letter.isalpha()):
            # pymorphy3 fails on letters without a Unicode name, such as those of Tangut. No Slavic
            # word contains one.
            return "neutral"
        genders = [
            _GENDERS[parse.tag.gender]
            for parse in self.analyzer.parse(word)
            if parse.tag.gender in _GENDERS
        ]
        if not genders:
            return "neutral"
        return "female" if "female" in genders else most_frequent(genders)
