"""Rewritings of a source that make a critical error: a translation that is more probable under one
of them says what the source does not.

The rules of a language are data, in `rules/<language>.tsv`. A rule of kind "pattern" has a regular
expression and what replaces a match, one of "class" has words of which each replaces each other,
and one of "exchange" names what is exchanged within the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from cc_hf.errors import check_choice
from cc_hf.plugins.omissions.coverage.spans import function_words
from cc_hf.tables.rows import read_rows

__all__ = ["PHENOMENA", "Rewriting", "languages", "rewritings"]

PHENOMENA = (
    "negation",
    "added_negation",
    "number",
    "date",
    "unit",
    "name",
    "comparison",
    "order",
    "modality",
)
_KINDS = ("pattern", "class", "exchange")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_MARK = re.compile(r"[.,:]")


class Rewriting(NamedTuple):
    """One change of a text: its characters [start, end) become `replacement`."""

    phenomenon: str
    start: int
    end: int
    replacement: str

    def apply(self, text: str) -> str:
        """Return the changed text."""
        return text[: self.start] + self.replacement + text[self.end :]


class _Rule(NamedTuple):
    phenomenon: str
    kind: str
    words: str
    becomes: str


def _folder() -> Path:
    return Path(str(files(__package__).joinpath("rules")))


@cache
def languages() -> tuple[str, ...]:
    """Return the source languages that have rules, ISO 639-1."""
    return tuple(sorted(path.stem for path in _folder().glob("*.tsv")))


@cache
def _rules(lang: str) -> tuple[_Rule, ...]:
    check_choice("src_lang", lang, languages())
    rules = []
    for line, row in read_rows(_folder() / f"{lang}.tsv"):
        rule = _Rule(**row)
        check_choice(f"{lang}.tsv, {line}: kind", rule.kind, _KINDS)
        check_choice(f"{lang}.tsv, {line}: phenomenon", rule.phenomenon, PHENOMENA)
        rules.append(rule)
    return tuple(rules)


def rewritings(source: str, translation: str, lang: str) -> list[Rewriting]:
    """Return the rewritings of a source, in the order of the rules and without duplicates.

    Examples:
        >>> source = "Anna did not pay Ben before May."
        >>> changes = rewritings(source, "Anna hat Ben vor Juni bezahlt.", "en")
        >>> [change.apply(source) for change in changes[:1]]
        ['Anna did pay Ben before May.']
    """
    changes = [
        Rewriting(rule.phenomenon, start, end, _like(source, start, replacement))
        for rule in _rules(lang)
        for start, end, replacement in _changes(rule, source, translation, lang)
        if source[start:end] != replacement
    ]
    return list({change.apply(source): change for change in reversed(changes)}.values())[::-1]


def _like(source: str, start: int, replacement: str) -> str:
    """Return a replacement with a capital where it begins the text."""
    is_capital = not source[:start].strip() and source[start : start + 1].isupper()
    return replacement[:1].upper() + replacement[1:] if is_capital else replacement


def _changes(
    rule: _Rule, source: str, translation: str, lang: str
) -> Iterator[tuple[int, int, str]]:
    """Yield the characters that a rule changes, with what replaces them."""
    if rule.kind == "pattern":
        for match in _pattern(rule.words).finditer(source):
            for replacement in rule.becomes.split("|"):
                yield match.start(), match.end(), match.expand(replacement)
    elif rule.kind == "class":
        members = rule.words.split("|")
        for match in _members(rule.words).finditer(source):
            word = match.group()
            for member in members:
                if member not in (word, word.lower()):
                    yield match.start(), match.end(), member
    elif rule.words == "digits":
        yield from _numbers(source, translation)
    else:
        yield from _exchanges(source, _names(source, translation, lang))


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _members(words: str) -> re.Pattern[str]:
    """Return the pattern of the words of a class; one may have a capital where the text begins."""
    members = "|".join(map(re.escape, sorted(words.split("|"), key=len, reverse=True)))
    return re.compile(rf"^(?i:{members})(?!\w)|(?<!\w)(?:{members})(?!\w)")


def _digits(number: str) -> str:
    """Return a number without marks, which differ between languages."""
    return _MARK.sub("", number)


def _numbers(source: str, translation: str) -> Iterator[tuple[int, int, str]]:
    """Exchange numbers, put one of the translation in the place of another, or change a digit."""
    matches = list(_NUMBER.finditer(source))
    known = {_digits(match.group()) for match in matches}
    others = {_digits(n): n for n in _NUMBER.findall(translation)}
    yield from _exchanges(source, [match.span() for match in matches])
    for match in matches:
        number = match.group()
        if _digits(number) not in others:
            for digits, other in others.items():
                if digits not in known:
                    yield *match.span(), other
        yield *match.span(), f"{number[:-1]}{(int(number[-1]) + 1) % 10}"


def _names(source: str, translation: str, lang: str) -> list[tuple[int, int]]:
    """Return the places of names: words with a capital that the translation has as well."""
    known = set(_WORD.findall(translation)) - {"I"}
    functions = function_words().get(lang, frozenset())
    names: list[tuple[int, int]] = []
    for match in _WORD.finditer(source):
        word = match.group()
        if word[0].isupper() and word in known and word.lower() not in functions:
            is_next = names and source[names[-1][1] : match.start()] == " "
            start = names.pop()[0] if is_next else match.start()
            names.append((start, match.end()))
    return names


def _exchanges(source: str, places: list[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Exchange the texts at neighbouring places."""
    for (start, end), (next_start, next_end) in pairwise(places):
        first, second = source[start:end], source[next_start:next_end]
        if first != second:
            yield start, next_end, second + source[end:next_start] + first
