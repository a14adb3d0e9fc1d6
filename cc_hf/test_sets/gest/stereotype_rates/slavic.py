"""The gender of the first person in Slavic translations, by the forms of verbs and adjectives.

A form rule without a parser: it reads what the words show and leaves the rest undecided. It stands
for the dependency parses of Pikuliak et al. (2024, section 4.1), whose figures it reproduces. Its
words and endings are data, in `slavic.tsv`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from cc_hf.errors import InputError, shown
from cc_hf.normalization import composed
from cc_hf.tables.rows import read_rows

__all__ = ["languages", "read_gender"]

_GENDERS = ("male", "female")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
#: What stands between two words of one clause.
_WITHIN_CLAUSE = re.compile(r"[\s\d]*")
_REFLEXIVE = re.compile(r"с[ья]$")
_NEAR_COPULA = 4
_BEFORE_COPULA = 2
#: One spelling for several: the apostrophes, and ё, which texts may write as е.
_ONE_SPELLING = str.maketrans({"’": "'", "ʼ": "'", "‘": "'", "ё": "е"})
_SERBIAN = str.maketrans(
    {
        **dict(zip("абвгдђежзијклмнопрстћуфхцчш", "abvgdđežzijklmnoprstćufhcčš", strict=True)),
        "љ": "lj",
        "њ": "nj",
        "џ": "dž",
    }
)
_Clause = Sequence[str]
_Table = Mapping[str, frozenset[str]]


@cache
def _tables() -> Mapping[str, _Table]:
    """Return language -> kind -> words or endings."""
    form = {"languages": str, "kind": str, "words": str}
    tables: dict[str, dict[str, frozenset[str]]] = {}
    for _, row in read_rows(Path(__file__).with_name("slavic.tsv"), form=form):
        words = frozenset(row["words"].translate(_ONE_SPELLING).split())
        for lang in row["languages"].split():
            kinds = tables.setdefault(lang, {})
            kinds[row["kind"]] = kinds.get(row["kind"], frozenset()) | words
    return tables


def languages() -> tuple[str, ...]:
    """Return the ISO 639-1 codes of the languages that have a rule, sorted."""
    return tuple(sorted(_tables()))


def read_gender(translation: str, lang: str) -> str:
    """Return the grammatical gender of the first person in a translation, "male", "female", or ""
    if the rule reads neither.

    The first form that decides is taken. In Russian, Ukrainian and Belarusian it is a past tense or
    a short adjective beside "я" in its clause, then an adjective after it. In the other languages
    it is the l-participle nearest to an auxiliary of the first person in its clause; in Czech,
    Slovak and Polish also an adjective near it; then a word such as "rád". Polish verbs show the
    person themselves.

    Examples:
        >>> read_gender("Я никогда не обманывала.", "ru"), read_gender("Нисам могао.", "sr")
        ('female', 'male')
    """
    if lang not in _tables():
        raise InputError(
            f"tgt_lang: expected a language with a form rule, {', '.join(languages())}, got"
            f" {shown(lang)}"
        )
    text = composed(translation).lower().translate(_ONE_SPELLING)
    if lang == "sr":
        text = text.translate(_SERBIAN)
    clauses = _clauses(text)
    table = _tables()[lang]
    for rule in _rules(table):
        for clause in clauses:
            gender = next(filter(None, rule(clause, table)), "")
            if gender:
                return gender
    return ""


def _clauses(text: str) -> Sequence[_Clause]:
    """Return the words between punctuation."""
    clauses: list[list[str]] = [[]]
    end = 0
    for match in _WORD.finditer(text):
        if not _WITHIN_CLAUSE.fullmatch(text, end, match.start()):
            clauses.append([])
        clauses[-1].append(match.group())
        end = match.end()
    return clauses


#: A rule yields the readings of a clause, the first to be preferred; "" for none.
_Rule = Callable[[_Clause, _Table], Iterator[str]]


def _rules(table: _Table) -> tuple[_Rule, ...]:
    if "subject" in table:
        return _beside_subject, _adjective_after_subject
    if "copulas" in table:
        return _with_person, _beside_auxiliary, _adjective_near_copula, _fixed_words
    return _beside_auxiliary, _adjective_near_auxiliary, _fixed_words


def _by_ending(word: str, table: _Table, kind: str) -> str:
    """Return the gender whose ending a word has, "" for none or an ignored word."""
    if word in table["ignored"]:
        return ""
    for gender in _GENDERS:
        if word.endswith(tuple(table.get(f"{gender}_{kind}", ()))):
            return gender
    return ""


def _by_word(word: str, table: _Table, kind: str) -> str:
    return next((g for g in _GENDERS if word in table.get(f"{g}{kind}", ())), "")


def _beside_subject(clause: _Clause, table: _Table) -> Iterator[str]:
    """Yield past tenses and short adjectives: right of "я", nearest first, then left of it."""
    for position, word in enumerate(clause):
        if word in table["subject"]:
            for near in (*clause[position + 1 :], *reversed(clause[:position])):
                plain = _REFLEXIVE.sub("", near)
                yield _by_word(plain, table, "") or _by_ending(plain, table, "endings")


def _adjective_after_subject(clause: _Clause, table: _Table) -> Iterator[str]:
    for position, word in enumerate(clause):
        if word in table["subject"]:
            after = (w for w in clause[position + 1 :] if w not in table["adverbs"])
            yield _by_ending(next(after, ""), table, "adjective_endings")


def _beside_auxiliary(clause: _Clause, table: _Table) -> Iterator[str]:
    """Yield l-participles, by their distance from the auxiliary."""
    kind = "participle_endings" if "copulas" in table else "endings"
    for position, word in enumerate(clause):
        if word in table["auxiliaries"]:
            others = [i for i in range(len(clause)) if i != position]
            for i in sorted(others, key=lambda i: abs(i - position)):
                yield _by_ending(clause[i], table, kind)


def _adjective_near_auxiliary(clause: _Clause, table: _Table) -> Iterator[str]:
    for position, word in enumerate(clause):
        if word in table["auxiliaries"]:
            before = clause[max(0, position - _BEFORE_COPULA) : position]
            for near in (*clause[position + 1 : position + 1 + _NEAR_COPULA], *reversed(before)):
                yield _by_ending(near, table, "adjective_endings")


def _with_person(clause: _Clause, table: _Table) -> Iterator[str]:
    return (_by_ending(word, table, "endings") for word in clause)


def _adjective_near_copula(clause: _Clause, table: _Table) -> Iterator[str]:
    for position, word in enumerate(clause):
        if word in table["copulas"]:
            for near in clause[position + 1 : position + 1 + _NEAR_COPULA]:
                yield _by_ending(near, table, "adjective_endings")


def _fixed_words(clause: _Clause, table: _Table) -> Iterator[str]:
    return (next((g for g in _GENDERS if w in table.get(f"fixed_{g}", ())), "") for w in clause)
