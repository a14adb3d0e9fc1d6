"""Hebrew and Arabic gender rules: the final letters of feminine nouns."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from cc_hf.test_sets.winomt.gender.phrase import UNKNOWN, GenderPredictor, Phrase

__all__ = ["predictor"]

_OBJECT_MARKER = "את"


def _is_feminine_hebrew(text: str) -> bool:
    """Return whether a word ends in tav or he; the object marker is ignored."""
    # The quotation mark within an acronym does not end a word.
    words: list[str] = re.findall(r'\w+(?:["״]\w+)*|[^\w\s]', text)
    return any(word[-1] in "תה" for word in words if word != _OBJECT_MARKER)


def _is_feminine_arabic(text: str) -> bool:
    """Return whether the text has a ta marbuta, as a letter or in its presentation form."""
    return "ة" in text or "ﺔ" in text


_TESTS: dict[str, Callable[[str], bool]] = {"ar": _is_feminine_arabic, "he": _is_feminine_hebrew}


def predictor(lang: str) -> SemiticGender:
    return SemiticGender(_TESTS[lang])


@dataclass(frozen=True)
class SemiticGender(GenderPredictor):
    """Rule for Hebrew or Arabic: female if the phrase passes the test, male if not."""

    signature_name = "rules"

    is_feminine: Callable[[str], bool]

    def predict(self, phrase: Phrase) -> str:
        if not phrase.text.strip():
            return UNKNOWN
        return "female" if self.is_feminine(phrase.text) else "male"
