"""A form rule for Spanish: the gender of adjectives about the first and the second person.

`spanish.tsv` holds the words of the rule by their kind.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

from cc_hf.normalization import composed
from cc_hf.tables.rows import read_rows

__all__ = ["read_persons"]

_TOKEN = re.compile(r"\w+(?:[-’']\w+)*|[^\w\s]")
_WORD = re.compile(r"\w")
_CONTENT_WORDS = 2  # of a predicate, that are read
_SINGULAR = ("tú", "tu", "vos")
_NEAR = 3  # words between a polite pronoun and its verb
_MALE_ENDING = re.compile(r".*(?:os?|[dst]or(?:es)?|[óáí]n|[oai]nes|és|eses|etes?|otes?)")
_FEMALE_ENDING = re.compile(r".*as?")
_EPICENE_ENDING = re.compile(r".*[ií]stas?")
_NO_EPICENE = frozenset({"lista", "listas", "vista", "vistas"})


@cache
def _kinds() -> dict[str, frozenset[str]]:
    rows = read_rows(Path(__file__).with_suffix(".tsv"), form={"kind": str, "words": str})
    return {row["kind"]: frozenset(row["words"].split()) for _, row in rows}


def read_persons(translation: str) -> list[tuple[str, str]]:
    """Return the predicates about the first and the second person, in their order: pairs of "first"
    or "second", and the gender that the words show, "male", "female", or "" for none.

    Examples:
        >>> read_persons("—Creo que estoy cansada y tú eres fantástico —dije.")
        [('first', 'female'), ('second', 'male')]
    """
    tokens = _TOKEN.findall(composed(html.unescape(html.unescape(translation))).lower())
    starts = list(_starts(tokens))
    others = {position for _, position in starts}
    return [
        (person, _shown(tokens[position : _end(tokens, position + 1, others)]))
        for person, position in starts
    ]


def _starts(tokens: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the person of each predicate, and the token that begins it."""
    last = ""
    for position in range(len(tokens)):
        if person := _person(tokens, position, last):
            last = person
            yield person, position


def _person(tokens: Sequence[str], position: int, last: str) -> str:
    """Return the person of the predicate that begins with a token, "" if none begins."""
    kinds, token = _kinds(), tokens[position]
    before = tokens[position - 1] if position else ""
    if token in kinds["reflexive"]:
        return {"me": "first", "te": "second"}.get(before, "")
    for person in ("first", "second"):
        if token in kinds[person]:
            return person
    if token in kinds["third"]:
        return "second" if _is_polite(tokens, position) else ""
    is_repeated = token in ("sí", "si") and before in ("pero", "aunque", "sino")
    if not (is_repeated or token in _SINGULAR) or not _is_predicate(tokens, position):
        return ""
    return last if is_repeated else "second"


def _is_polite(tokens: Sequence[str], position: int) -> bool:
    formal = _kinds()["formal"]
    words = [token for token in tokens[max(0, position - _NEAR) : position] if _WORD.match(token)]
    return not formal.isdisjoint(words) or (
        position + 1 < len(tokens) and tokens[position + 1] in formal
    )


def _is_predicate(tokens: Sequence[str], position: int) -> bool:
    """Return whether a predicate without a verb begins behind a token, as in "y tú fuerte"."""
    kinds = _kinds()
    verbs = kinds["first"] | kinds["second"] | kinds["reflexive"]
    following = tokens[position + 1 : position + 1 + _NEAR]
    if not following or (position and tokens[position - 1] in verbs):
        return False
    first = following[0]
    is_word = _WORD.match(first) and first not in kinds["end"] | {"no", "te", "me", "sí", "que"}
    # Behind "tú", -as is the ending of a verb ("tú pesas"): one person is no feminine plural.
    is_verb = first.endswith("as") and tokens[position] in _SINGULAR
    return bool(is_word) and not is_verb and verbs.isdisjoint(following)


def _end(tokens: Sequence[str], position: int, starts: Collection[int]) -> int:
    """Return where a predicate ends: at punctuation, a conjunction, or the next predicate."""
    ends = _kinds()["end"]
    while position < len(tokens) and _WORD.match(tokens[position]):
        if tokens[position] in ends or position in starts:
            break
        position += 1
    return position


def _shown(tokens: Sequence[str]) -> str:
    """Return the gender that the content words of a predicate show, "" for none."""
    kinds, verb = _kinds(), tokens[0]
    if verb in kinds["showless"] or (verb in kinds["perfect"] and "sido" not in tokens):
        return ""
    article, n_words = "", 0
    for token in tokens[1:]:
        if token in kinds["masculine"] | kinds["feminine"]:
            article = token
            continue
        if token in kinds["skipped"] | kinds["formal"]:
            article = ""
            continue
        if token in kinds["preposition"] | kinds["noun"]:
            break
        if gender := _gender(token, article):
            return gender
        article, n_words = "", n_words + 1
        if n_words == _CONTENT_WORDS:
            break
    return ""


def _gender(word: str, article: str) -> str:
    kinds = _kinds()
    for gender in ("male", "female"):
        if word in kinds[gender]:
            return gender
    by_article = {
        **dict.fromkeys(kinds["masculine"], "male"),
        **dict.fromkeys(kinds["feminine"], "female"),
    }.get(article, "")
    is_epicene = word in kinds["epicene"] or (
        _EPICENE_ENDING.fullmatch(word) and word not in _NO_EPICENE
    )
    if is_epicene:
        return by_article
    if _FEMALE_ENDING.fullmatch(word):
        return "female"
    return "male" if _MALE_ENDING.fullmatch(word) else by_article
