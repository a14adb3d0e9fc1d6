"""Genders that a plug-in reads in the noun of a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf.test_sets.winomt.gender.phrase import UNKNOWN, GenderPredictor, Phrase
from cc_hf.text.morphology import FEMININE, MASCULINE

__all__ = ["WordRule"]

_GENDERS = {MASCULINE: "male", FEMININE: "female"}


@dataclass(frozen=True)
class WordRule(GenderPredictor):
    """Rules of `cc_hf.plugins.gender_reading`.

    Attributes:
        rule: the rule of the plug-in.
        fallback: rules for phrases whose noun shows no gender; None to count them as neutral.
    """

    rule: Any
    signature_name: str
    fallback: GenderPredictor | None = None

    def predict(self, phrase: Phrase) -> str:
        """Return the gender of a phrase on its own."""
        return self.predict_all([phrase])[0]

    def predict_all(self, phrases: Sequence[Phrase]) -> list[str]:
        """Return the gender of each phrase."""
        return [
            _GENDERS.get(reading) or self._otherwise(phrase, reading)
            for phrase, reading in zip(phrases, self.rule.read_all(phrases), strict=True)
        ]

    def _otherwise(self, phrase: Phrase, reading: str) -> str:
        if self.fallback is not None:
            return self.fallback.predict(phrase)
        return "neutral" if reading else UNKNOWN
