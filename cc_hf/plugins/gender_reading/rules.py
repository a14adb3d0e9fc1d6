"""The rules by which genders are read, by language."""

from __future__ import annotations

from typing import NamedTuple

from cc_hf.errors import InputError, UnknownNameError
from cc_hf.plugins.gender_reading.context import CONTEXT_LANGUAGES, ContextRule
from cc_hf.plugins.gender_reading.nouns import NounRule
from cc_hf.plugins.gender_reading.persons import GenderRule
from cc_hf.text.morphology import open_reader

__all__ = ["RULES", "open_gender_rule"]


class _Rule(NamedTuple):
    """The name of a language's rule, and the reader that it has by default."""

    name: str
    reader: str


#: Language -> its rule.
RULES = {
    "de": _Rule("noun", "german-nouns"),
    **dict.fromkeys(("ru", "uk"), _Rule("noun", "pymorphy3")),
    **dict.fromkeys(CONTEXT_LANGUAGES, _Rule("context", "apertium")),
}


def open_gender_rule(lang: str, rule: str = "", reader: str = "") -> GenderRule:
    """Return the rule for a language.

    Args:
        rule: "context", which reads a noun with its determiner, or "noun"; "" for that of the
            language.
        reader: a name of `registry.names("morphology reader")`; "" for that of the language.

    Raises:
        InputError: for a rule that does not read the language.
        UnknownNameError: for a language or a reader that is not known.
        MissingDependencyError: if what the reader needs is not installed.
    """
    if lang not in RULES:
        raise UnknownNameError("language whose genders are read", lang, RULES)
    name, of_language = RULES[lang]
    if rule not in ("", name):
        raise InputError(f"rule: expected {name} for {lang}, got {rule}")
    opened = open_reader(reader or of_language, lang)
    return ContextRule(opened, lang) if name == "context" else NounRule(opened, lang)
