"""What a Romance language needs beside its tables of phrases and occupations; each language has its
own in the module `words` of its folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

from tools.evaluator_recipe.grammar import Gender

#: Masculine and feminine singular, masculine and feminine plural.
Forms = tuple[str, str, str, str]


@dataclass(frozen=True)
class RomanceLanguage:
    """The words of one language. `determiners` and `adjectives` are by the English word."""

    determiners: Mapping[str, Forms]
    #: What a noun phrase or a sentence is written as, by regular expression: "a el " as "al ".
    rewrites: tuple[tuple[str, str], ...]
    #: Fields of a template that hold the noun phrase after a preposition.
    prepositions: Mapping[str, str]
    #: The plural of a word, by the word and its gender; what follows a word of `complements` in a
    #: noun stays as it is.
    plural: Callable[[str, Gender], str]
    complements: frozenset[str]
    adjectives: Mapping[str, tuple[str, str]]
    before_noun: frozenset[str]
    leads: tuple[tuple[str, str], ...]
    relatives: Mapping[Gender, tuple[tuple[str, str], ...]]
    kinds: Mapping[Gender, tuple[tuple[str, str], ...]]
    groups: Mapping[Gender, tuple[tuple[str, str], ...]]
    #: By gender: subject pronoun, object pronoun, the pronoun after a preposition, an adjective's
    #: ending.
    pronouns: Mapping[Gender, Mapping[str, str]]
    drops_subject: bool
    #: "few" and "many" before a plural noun.
    few_many: Mapping[Gender, tuple[str, str]]
    someone: str
    #: Words for people that are no noun, by the English one, masculine and feminine.
    people: Mapping[str, tuple[str, str]]
    names: Mapping[str, str]
    #: Conjunctions that may stand first in a sentence, with their clause.
    fronted: frozenset[str]
    comma_before: frozenset[str]
    #: In templates of a predicate: verbs after which the noun has an article.
    with_article: tuple[str, ...]
    #: Endings of nouns and adjectives, masculine and feminine, by which a twin is proposed; whether
    #: it exists is for the dictionary to say.
    twin_endings: tuple[tuple[str, str], ...]
    twin_determiners: Mapping[str, str]
    #: Masculine pronoun -> feminine one, of subjects that are no noun.
    twin_pronouns: Mapping[str, str]
    #: Articles that may stand before a name, with the preposition in each: "do" holds "de".
    before_names: Mapping[str, str] = field(default_factory=dict)
    #: By gender, the endings of adjectives that the dictionary lacks: a regular expression.
    unknown_endings: Mapping[str, str] = field(default_factory=dict)
    #: Whether most sentences about the past have a participle, which no twin need change.
    perfect: bool = False

    def write(self, text: str) -> str:
        """Return a text with its words contracted as the language writes them."""
        for pattern, written in self.rewrites:
            text = re.sub(pattern, written, text)
        return text


def languages() -> list[str]:
    """Return the codes of the languages that have a folder."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/words.py"))


@cache
def read_language(code: str) -> RomanceLanguage:
    """Return the words of a language."""
    language: RomanceLanguage = import_module(f"tools.evaluator_recipe.{code}.words").LANGUAGE
    return language
