"""The grammatical gender of a phrase, by the rules of Stanovsky et al. 2019 (mt_gender at 5862928),
and for Portuguese by rules of our own; one file per language family.
"""

from __future__ import annotations

import importlib

from cc_hf import registry
from cc_hf.errors import InputError, UnknownNameError, check_choice
from cc_hf.test_sets.winomt.gender.phrase import GENDERS, UNKNOWN, GenderPredictor, Phrase

__all__ = [
    "GENDERS",
    "GENDER_LANGUAGES",
    "RULES",
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

#: Rules by which a gender is read: that of the paper, and two of our own with their languages.
RULES = {"published": tuple(_FAMILIES), "context": ("es", "fr", "it", "pt"), "noun": ("de",)}

#: Languages with rules.
GENDER_LANGUAGES = tuple(sorted(_FAMILIES))


def gender_predictor(
    lang: str, *, spacy_model: str | None = None, rule: str = "published"
) -> GenderPredictor:
    """Return the gender rules of a language; only then are the packages that they need imported.

    Args:
        rule: "published"; "context", which finds the head noun and its determiner by a dictionary
            of Apertium, among all words that are aligned; or "noun", the genus of the German noun.

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
    check_choice("rule", rule, RULES)
    if lang not in RULES[rule] or (rule != "published" and spacy_model is not None):
        asked = f"{lang} with spaCy" if spacy_model is not None else lang
        read = "; ".join(
            f"{name} reads {', '.join(langs)}"
            for name, langs in RULES.items()
            if name != "published"
        )
        raise InputError(f"rule: expected published for {asked}, got {rule}; {read}")
    if rule == "published":
        return _published(lang, spacy_model)
    from cc_hf.test_sets.winomt.gender.words import WordRule

    opened = registry.resolve("public name", "open_gender_rule")(lang, rule)
    # The rule by nouns leaves to the published one what it cannot read.
    return WordRule(opened, opened.signature_name, _published(lang) if rule == "noun" else None)


def _published(lang: str, spacy_model: str | None = None) -> GenderPredictor:
    module = importlib.import_module(f"cc_hf.test_sets.winomt.gender.{_FAMILIES[lang]}")
    predictor: GenderPredictor = (
        module.predictor(lang) if spacy_model is None else module.predictor(lang, spacy_model)
    )
    return predictor
