"""The grammatical gender of a phrase, by the rules of Stanovsky et al. 2019 (mt_gender at 5862928),
and for Portuguese by rules of our own.

There is one file per language family. `gender_predictor` returns the rules of a language; only then
are the packages that they need imported.
"""

from __future__ import annotations

import importlib

from cc_hf.errors import InputError, UnknownNameError
from cc_hf.test_sets.winomt.gender.phrase import GENDERS, UNKNOWN, GenderPredictor, Phrase

__all__ = [
    "GENDERS",
    "GENDER_LANGUAGES",
    "UNKNOWN",
    "GenderPredictor",
    "Phrase",
    "gender_predictor",
]

#: A mapping from ISO 639-1 code to the module of its language family.
_FAMILIES = {
    "ar": "semitic",
    "de": "german",
    "es": "romance",
    "fr": "romance",
    "he": "semitic",
    "it": "romance",
    "pt": "portuguese",
    "ru": "east_slavic",
    "uk": "east_slavic",
}

#: Languages with rules.
GENDER_LANGUAGES = tuple(sorted(_FAMILIES))


def gender_predictor(lang: str, *, spacy_model: str | None = None) -> GenderPredictor:
    """Return the gender rules of a language.

    Args:
        lang: ISO 639-1 code, one of `GENDER_LANGUAGES`.
        spacy_model: name or path of a spaCy pipeline that replaces the small one; only for Spanish,
            French and Italian.

    Raises:
        UnknownNameError: for another language.
        InputError: for a spaCy pipeline of another language, or for a language that uses none.
        MissingDependencyError: if spaCy or its pipeline is not installed.

    Examples:
        >>> sentence = "Er sah die Ärztin, die"
        >>> gender_predictor("de").predict(
        ...     Phrase(("die", "Ärztin,"), position=2, translation=sentence, word="doctor")
        ... )
        'female'
    """
    if lang not in _FAMILIES:
        raise UnknownNameError("target language", lang, _FAMILIES)
    if spacy_model is not None and _FAMILIES[lang] != "romance":
        used = ", ".join(sorted(code for code, family in _FAMILIES.items() if family == "romance"))
        raise InputError(
            f"spacy_model: expected none for {lang}, which is not read with spaCy (only {used}"
            f" are), got {spacy_model!r}; leave it out"
        )
    module = importlib.import_module(f"cc_hf.test_sets.winomt.gender.{_FAMILIES[lang]}")
    predictor: GenderPredictor = (
        module.predictor(lang) if spacy_model is None else module.predictor(lang, spacy_model)
    )
    return predictor
