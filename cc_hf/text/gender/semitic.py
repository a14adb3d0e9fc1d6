"""Hebrew and Arabic: the letters that feminine nouns end in."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from cc_hf.text.gender.phrase import UNKNOWN, Phrase

__all__ = ["predictor"]

_OBJECT_MARKER = "את"


def _is_feminine_hebrew(text: str) -> bool:
    """A token ends in tav or he; punctuation is a token of its own, and the object marker tells
    nothing.
    """
    words: list[str] = re.findall(r"\w+|[^\w\s]", text)
    return any(word[-1] in "תה" for word in words if word != _OBJECT_MARKER)


def _is_feminine_arabic(text: str) -> bool:
    """It has a ta marbuta, as a letter or in its presentation form."""
    return "ة" in text or "ﺔ" in text


_TESTS: dict[str, Callable[[str], bool]] = {"ar": _is_feminine_arabic, "he": _is_feminine_hebrew}


def predictor(lang: str) -> SemiticGender:
    """The rule of a language."""
    return SemiticGender(_TESTS[lang])


@dataclass(frozen=True)
class SemiticGender:
    """Female if the phrase passes the test, else male; unknown if it is empty."""

    is_feminine: Callable[[str], bool]

    @property
    def signature_name(self) -> str:
        """`rules`."""
        return "rules"

    def predict(self, phrase: Phrase) -> str:
        """`unknown` for an empty phrase."""
        if not phrase.text.strip():
            return UNKNOWN
        return "female" if self.is_feminine(phrase.text) else "male"
