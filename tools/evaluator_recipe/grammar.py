"""German noun phrases for people: declension of articles, adjectives and nouns, read from
occupations.tsv.

It covers what the recipe needs: singular and plural, four cases, no comparison of adjectives.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

Gender = Literal["m", "f", "n"]
Case = Literal["nom", "acc", "dat", "gen"]
CASES: tuple[Case, ...] = ("nom", "acc", "dat", "gen")

_DEFINITE = {
    "m": ("der", "den", "dem", "des"),
    "f": ("die", "die", "der", "der"),
    "n": ("das", "das", "dem", "des"),
    "pl": ("die", "die", "den", "der"),
}
_STRONG = {
    "m": ("er", "en", "em", "es"),
    "f": ("e", "e", "er", "er"),
    "n": ("es", "es", "em", "es"),
    "pl": ("e", "e", "en", "er"),
}
_POSSESSIVE = {**_STRONG, "m": ("", "en", "em", "es"), "n": ("", "", "em", "es")}
_WEAK_ADJECTIVE = {
    "m": ("e", "en", "en", "en"),
    "f": ("e", "e", "en", "en"),
    "n": ("e", "e", "en", "en"),
    "pl": ("en", "en", "en", "en"),
}
_MIXED_ADJECTIVE = {
    **_WEAK_ADJECTIVE,
    "m": ("er", "en", "en", "en"),
    "n": ("es", "es", "en", "en"),
}


@dataclass(frozen=True)
class Noun:
    """A German noun for a person; `declension` is strong, weak, adjective, feminine or neuter."""

    base: str
    gender: Gender
    declension: str
    plural: str

    def form(self, case: Case, *, plural: bool, adjective_ending: str) -> str:
        """Return the noun in `case`; adjectival nouns (Angestellte) end in `adjective_ending`."""
        if self.declension == "adjective":
            return self.base + adjective_ending
        if plural:
            return self.plural + ("n" if case == "dat" and self.plural[-1] not in "ns" else "")
        if self.declension == "weak":
            return self.base if case == "nom" else self.plural
        if self.declension == "strong" and case == "gen":
            return self.base + (
                "es" if self.base[-1] in "sßxz" or self.base.endswith("rzt") else "s"
            )
        return self.base


@dataclass(frozen=True)
class Occupation:
    """An English noun for a person and German forms; `mostly_female`: feminine without a cue."""

    english: str
    masculine: tuple[Noun, ...]
    feminine: tuple[Noun, ...]
    epicene: tuple[Noun, ...]
    mostly_female: bool


def noun_phrase(
    noun: Noun,
    case: Case,
    *,
    determiner: str = "der",
    adjective: str = "",
    plural: bool = False,
) -> str:
    """Return "determiner adjective noun", declined.

    `determiner` is "der", a word like "ein", "mein", "kein" (no ending), a stem like "dies-" or
    empty.
    """
    key = "pl" if plural else noun.gender
    index = CASES.index(case)
    if determiner == "der":
        word, ending = _DEFINITE[key][index], _WEAK_ADJECTIVE[key][index]
    elif determiner.endswith("-"):
        word, ending = determiner[:-1] + _STRONG[key][index], _WEAK_ADJECTIVE[key][index]
    elif determiner:
        word, ending = determiner + _POSSESSIVE[key][index], _MIXED_ADJECTIVE[key][index]
    else:
        word, ending = "", _STRONG[key][index]
    words = [
        word,
        adjective and adjective + ending,
        noun.form(case, plural=plural, adjective_ending=ending),
    ]
    return " ".join(w for w in words if w)


def parse_noun(text: str, gender: Gender) -> Noun:
    """Return the noun of a cell of occupations.tsv. The head of the file explains its markers."""
    base, _, plural = text.partition(":")
    if base.endswith("!"):
        return Noun(base[:-1], "n", "neuter", base[:-1])
    if base.endswith("~"):
        return Noun(base[:-2], gender, "adjective", base[:-2])
    if base.endswith("*"):
        stem = base[:-1]
        return Noun(stem, "m", "weak", stem + ("n" if stem.endswith("e") else "en"))
    if "^" in base:
        stem = base.partition("^")[0]
        return Noun(stem, "m", "weak", stem + "n")
    if gender == "f":
        return Noun(
            base, "f", "feminine", plural or base + ("nen" if base.endswith("in") else "en")
        )
    return Noun(base, gender, "strong", plural or base)


@cache
def read_occupations() -> tuple[Occupation, ...]:
    """Return all rows of occupations.tsv."""
    rows = []
    text = (files(__package__) / "occupations.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        english, masculine, feminine, epicene, default = line.split("\t")
        rows.append(
            Occupation(
                english,
                tuple(parse_noun(cell, "m") for cell in masculine.split("|")),
                tuple(parse_noun(cell, "f") for cell in feminine.split("|")),
                tuple(_epicene(cell) for cell in epicene.split("|") if cell),
                default == "f",
            )
        )
    return tuple(rows)


def _epicene(cell: str) -> Noun:
    article, base = cell.split(" ", 1)
    genders: dict[str, Gender] = {"der": "m", "die": "f", "das": "n"}
    gender = genders[article]
    if " " in base:  # "die ärztliche Fachperson": the adjective declines, which form() does not do
        base = base.rsplit(" ", 1)[1]
    return Noun(base, gender, "feminine" if gender == "f" else "strong", base)
