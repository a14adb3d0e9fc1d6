"""Russian and Ukrainian words read by pymorphy3."""

from __future__ import annotations

import functools
import importlib.metadata
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf.errors import MissingDependencyError, UnknownNameError
from cc_hf.plugins.gender_reading.word_reader import analysed
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, Analysis

__all__ = ["Pymorphy", "open_pymorphy"]

_LANGUAGES = ("ru", "uk")
_POS = {"NOUN": "noun", "ADJF": "adjective", "PRTF": "participle", "NPRO": "pronoun"}
_GENDERS = {
    "masc": frozenset((MASCULINE,)),
    "femn": frozenset((FEMININE,)),
}
_BOTH = frozenset((MASCULINE, FEMININE))  # "сирота", which the tag calls "ms-f"
_NUMBERS = {"sing": "singular", "plur": "plural"}


@functools.cache
def open_pymorphy(lang: str) -> Pymorphy:
    """Return the reader with the dictionary of a language, which is loaded once."""
    if lang not in _LANGUAGES:
        raise UnknownNameError("language of pymorphy3", lang, _LANGUAGES)
    import pymorphy3

    packages = ("pymorphy3", f"pymorphy3-dicts-{lang}")
    try:
        versions = [f"{package}-{importlib.metadata.version(package)}" for package in packages]
    except importlib.metadata.PackageNotFoundError:  # its licence is the GPL, so it is an extra
        raise MissingDependencyError(packages[1], "ukrainian") from None
    return Pymorphy(pymorphy3.MorphAnalyzer(lang=lang), "+".join(versions))


@dataclass(frozen=True)
class Pymorphy:
    """The reader of one language.

    Attributes:
        analyzer: a `pymorphy3.MorphAnalyzer`.
    """

    analyzer: Any
    signature_name: str

    def analyse(self, texts: Sequence[str]) -> list[tuple[AnalysedWord, ...]]:
        """Return the words of each text."""
        return analysed(texts, self._analyses)

    @functools.lru_cache(100_000)  # noqa: B019  the reader is kept as long
    def _analyses(self, word: str) -> tuple[Analysis, ...]:
        # pymorphy3 fails on letters without a Unicode name, such as those of Tangut.
        if not all(unicodedata.name(letter, "") for letter in word):
            return ()
        return tuple(
            Analysis(
                parse.normal_form,
                _POS.get(parse.tag.POS, ""),
                _BOTH if "ms-f" in str(parse.tag) else _GENDERS.get(parse.tag.gender, frozenset()),
                _NUMBERS.get(parse.tag.number, ""),
            )
            for parse in self.analyzer.parse(word)
        )
