"""Russian and Ukrainian: the genders of all parses of a word by pymorphy3; any feminine one makes
it feminine.
"""

from __future__ import annotations

import functools
import importlib.metadata
import unicodedata
from dataclasses import dataclass
from typing import Any

from cc_hf.text.gender.phrase import Phrase, most_frequent

__all__ = ["predictor"]

_GENDERS = {"masc": "male", "femn": "female", "neut": "neutral"}


@functools.cache
def predictor(lang: str) -> EastSlavicGender:
    """The rules with the dictionary of a language; loaded once."""
    import pymorphy3

    versions = [
        f"{package}-{importlib.metadata.version(package)}"
        for package in ("pymorphy3", f"pymorphy3-dicts-{lang}")
    ]
    return EastSlavicGender(pymorphy3.MorphAnalyzer(lang=lang), "+".join(versions))


@dataclass(frozen=True)
class EastSlavicGender:
    """A word is female if any parse is, else what most parses are, neutral for none; the phrase is
    what most of its words are.
    """

    analyzer: Any
    signature_name: str

    def predict(self, phrase: Phrase) -> str:
        """`unknown` for an empty phrase."""
        from pymorphy3.tokenizers import simple_word_tokenize

        return most_frequent([self._gender(word) for word in simple_word_tokenize(phrase.text)])

    def _gender(self, word: str) -> str:
        if not all(unicodedata.name(letter, "") for letter in word if letter.isalpha()):
            # a letter without a name, such as Tangut's: pymorphy3 would fail, and no Slavic word
            # has one
            return "neutral"
        found = [
            _GENDERS[parse.tag.gender]
            for parse in self.analyzer.parse(word)
            if parse.tag.gender in _GENDERS
        ]
        if not found:
            return "neutral"
        return "female" if "female" in found else most_frequent(found)
