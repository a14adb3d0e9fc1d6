"""German nouns looked up in the list of german-nouns, and a few determiners."""

from __future__ import annotations

import csv
import functools
import importlib.metadata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cc_hf.errors import MissingDependencyError, UnknownNameError
from cc_hf.plugins.gender_reading.word_reader import analysed
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, Analysis

__all__ = ["GermanNouns", "open_german_nouns"]

_PACKAGE = "german-nouns"
_GENDERS = {"m": frozenset((MASCULINE,)), "f": frozenset((FEMININE,)), "n": frozenset[str]()}
#: Determiners of one gender. "der" is none of them: it is feminine in other cases.
_DETERMINERS = {
    **dict.fromkeys(["die", "eine", "keine", "diese", "jede", "jene"], FEMININE),
    **dict.fromkeys(["ein", "kein", "dem", "einem", "den", "einen", "des", "eines"], MASCULINE),
}
_LEAST_PART = 3  # letters of a part of a compound
_LINKS = ("", "s", "n", "en", "es", "-")  # between the parts


@functools.cache
def open_german_nouns(lang: str) -> GermanNouns:
    """Return the reader with its list, which takes a second to read and is kept."""
    if lang != "de":
        raise UnknownNameError("language of german-nouns", lang, ["de"])
    try:
        package = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:  # its list is under CC BY-SA, so it is an extra
        raise MissingDependencyError(_PACKAGE, "german") from None
    # The list alone is read: the package's own class writes an index beside it, and prints.
    nouns = _read(Path(str(package.locate_file("german_nouns/nouns.csv"))))
    return GermanNouns(nouns, f"{_PACKAGE}-{package.version}")


def _read(path: Path) -> dict[str, frozenset[str]]:
    """Return the genders of people of every form of a noun, in small letters; none for a neuter."""
    nouns: dict[str, frozenset[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
        genus = [i for i, name in enumerate(header) if name.startswith("genus")]
        forms = [i for i, name in enumerate(header) if i not in genus and name != "pos"]
        for row in rows:
            # Surnames have no genus, and say nothing.
            if known := [_GENDERS[row[i]] for i in genus if row[i] in _GENDERS]:
                genders = frozenset[str]().union(*known)
                for form in {row[i].lower() for i in forms if row[i]}:
                    nouns[form] = nouns.get(form, frozenset()) | genders
    return nouns


@dataclass(frozen=True)
class GermanNouns:
    """The reader.

    Attributes:
        nouns: form of a noun in small letters -> the genders of people that it may have.
    """

    nouns: Mapping[str, frozenset[str]]
    signature_name: str

    def analyse(self, texts: Sequence[str]) -> list[tuple[AnalysedWord, ...]]:
        """Return the words of each text; words in small letters are looked up as determiners."""
        return analysed(texts, self._analyses)

    def _analyses(self, word: str) -> tuple[Analysis, ...]:
        lowered = word.lower()
        if gender := _DETERMINERS.get(lowered):
            return (Analysis(lowered, "determiner", frozenset((gender,))),)
        noun = self._last_part(lowered) if word[0].isupper() else ""
        return (Analysis(noun, "noun", self.nouns[noun]),) if noun else ()

    def _last_part(self, word: str) -> str:
        """Return the part of a noun that has its gender: "dame" of "empfangsdame"; "" for none."""
        if word in self.nouns:
            return word
        for start in range(_LEAST_PART, len(word) - _LEAST_PART + 1):
            if word[start:] in self.nouns and self._is_first_part(word[:start]):
                return word[start:]
        return ""

    def _is_first_part(self, part: str) -> bool:
        return any(part.endswith(link) and part.removesuffix(link) in self.nouns for link in _LINKS)
