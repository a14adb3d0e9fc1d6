"""The gender that the translation of a person shows, read in its noun and determiner, in context.

The rule of pattern matching reads the words that are aligned with the article and the first word of
an occupation. Adjectives before a noun, complements ("del hospital") and misaligned words mislead
it. Here the head noun is sought among all aligned words, and its determiner beside it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cc_hf.errors import UnknownNameError
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, MorphologyReader, open_reader

__all__ = ["ContextRule", "Person", "open_context_rule"]

_GENDERS = {MASCULINE: "male", FEMININE: "female"}
_LEAST_SHARE, _LEAST_ROWS = 0.1, 3  # of the rows of an occupation that a usual translation heads
_MOST_BETWEEN = 3  # adjectives, numerals and unknown words between determiner and noun
_OF = {"es": ("de",), "fr": ("de", "d"), "it": ("di", "d")}
#: Nouns that a complement makes the name of an occupation: "addetto alla reception".
_LIGHT = {
    "es": ("empleado", "encargado", "operario", "trabajador"),
    "fr": ("chargé", "employé", "préposé"),
    "it": ("addetto", "impiegato"),
}
#: Words for somebody, which have no gender though dictionaries give some of them one.
_SOMEBODY = ("alguien", "quelqu'un", "quelqu", "qualcuno")
#: Endings of words that the dictionary lacks, feminine before masculine.
_ENDINGS = {
    "es": (("triz|ora|esa", "female"), ("or", "male")),
    "fr": (("euse|trice|ière", "female"), ("eur|ier", "male")),
    "it": (("trice|essa|a", "female"), ("o|tore", "male")),
}


class Person(Protocol):
    """The words of a translation that stand for a person."""

    @property
    def translation(self) -> str:
        """The whole translation."""

    @property
    def word(self) -> str:
        """What the source calls the person."""

    @property
    def linked(self) -> Sequence[int]:
        """Indices of the tokens that are aligned with `word`."""

    @property
    def article_linked(self) -> Sequence[int]:
        """Indices of the tokens that are aligned with its article."""


def open_context_rule(lang: str) -> ContextRule:
    """Return the rule for a language, "es", "fr" or "it".

    Raises:
        UnknownNameError: for another language.
        MissingDependencyError: if the program or the dictionary is not installed.
    """
    if lang not in _OF:
        raise UnknownNameError("language of the rule in context", lang, _OF)
    return ContextRule(open_reader("apertium", lang), lang)


@dataclass(frozen=True)
class ContextRule:
    """The rule of one language. What is usual for an occupation is learned from all rows."""

    reader: MorphologyReader
    lang: str

    @property
    def signature_name(self) -> str:
        """The rule with program and dictionary."""
        return f"context+{self.reader.signature_name}"

    def predict_all(self, persons: Sequence[Person]) -> list[str]:
        """Return "male", "female", "neutral" or "unknown" for each person."""
        sentences = self.reader.analyse([person.translation for person in persons])
        heads = [_head(words, person) for words, person in zip(sentences, persons, strict=True)]
        usual = _usual(sentences, heads, persons)
        return [
            self._gender(words, head, usual.get(person.word, frozenset()))
            for words, head, person in zip(sentences, heads, persons, strict=True)
        ]

    def _gender(
        self, words: Sequence[AnalysedWord], head: int | None, usual: frozenset[str]
    ) -> str:
        head = _repaired(words, head, usual)
        if head is None:
            return "unknown"
        head = self._of_complement(words, head, usual)
        is_noun = _is_noun(words[head]) or not _is(words[head], "adjective", "participle")
        if not is_noun and head and _is_noun(words[head - 1]):  # "amministratore delegato"
            head -= 1
        determiner = _determiner(words, head)
        written = words[head].text.lower()
        if written in _SOMEBODY:
            return "neutral"
        if gender := self._with_determiner(words[head], determiner):
            return gender
        if head + 1 < len(words) and (after := _shown(words[head + 1], "adjective", "participle")):
            return after
        is_known = words[head].analyses or determiner is not None
        return "neutral" if is_known else self._by_ending(written)

    def _of_complement(
        self, words: Sequence[AnalysedWord], head: int, usual: frozenset[str]
    ) -> int:
        """Return the noun before "de" and the like, of which the head is the complement."""
        before, has_article = head - 1, False
        while before >= 0 and (_is(words[before], "adjective", "numeral")):
            before -= 1
        if before >= 0 and _is(words[before], "determiner"):
            has_article = True
            if not any(a.has_preposition for a in words[before].analyses):
                before -= 1
        elif before >= 0 and words[before].text == "'":
            before -= 1
        if before < 1 or not _is_noun(words[before - 1]):
            return head
        is_of = words[before].text.lower() in _OF[self.lang]
        is_joined = any(a.has_preposition for a in words[before].analyses)
        if is_of and not has_article:
            return before - 1
        if not (is_joined or _is(words[before], "preposition")):
            return head
        lemmas = _lemmas(words[before - 1])
        return before - 1 if lemmas & (usual | {*_LIGHT[self.lang]}) else head

    def _with_determiner(self, noun: AnalysedWord, determiner: AnalysedWord | None) -> str:
        """Return the gender of a noun and its determiner; "" if neither shows one."""
        number = "" if determiner is None else _number(determiner)
        genders = {
            gender
            for analysis in noun.analyses
            if analysis.pos == "noun" and (not number or analysis.number in ("", number))
            for gender in analysis.genders
        } or {*noun.genders("noun")}
        if not genders and not _is_noun(noun):
            genders = {*(noun.genders("adjective") or noun.genders("participle"))}
        of_noun = _GENDERS[next(iter(genders))] if len(genders) == 1 else ""
        if determiner is None:
            return of_noun
        written = determiner.text.lower()
        is_by_sound = (
            written in ("mon", "ton", "son")
            if self.lang == "fr"
            # "el ama": before a stressed a-, the article of feminine nouns is "el".
            else self.lang == "es"
            and written in ("el", "un", "al", "del")
            and re.match("h?[aá]", noun.text.lower()) is not None
            and of_noun == "female"
        )
        if of_noun and is_by_sound:
            return of_noun
        return _shown(determiner, "determiner") or of_noun

    def _by_ending(self, word: str) -> str:
        for endings, gender in _ENDINGS[self.lang]:
            if re.search(f"({endings})$", word):
                return gender
        return "unknown"


def _is(word: AnalysedWord, *kinds: str) -> bool:
    return any(analysis.pos in kinds for analysis in word.analyses)


def _is_noun(word: AnalysedWord) -> bool:
    # "la" is a musical note, too.
    return _is(word, "noun") and not _is(word, "determiner")


def _is_unknown(word: AnalysedWord) -> bool:
    return not word.analyses and word.text[:1].isalpha()


def _shown(word: AnalysedWord, *kinds: str) -> str:
    return _GENDERS.get(word.shown_gender(*kinds), "")


def _number(word: AnalysedWord) -> str:
    numbers = {a.number for a in word.analyses if a.pos == "determiner"}
    return next(iter(numbers)) if len(numbers) == 1 else ""


def _lemmas(word: AnalysedWord) -> frozenset[str]:
    """Return the lemmas of a noun; the word itself where it is unknown."""
    lemmas = {a.lemma.lower() for a in word.analyses if a.pos == "noun"}
    return frozenset(lemmas or {word.text.lower()})


def _under(words: Sequence[AnalysedWord], tokens: Sequence[int]) -> list[int]:
    return [i for i, word in enumerate(words) if word.token in tokens]


def _best(words: Sequence[AnalysedWord], indices: Sequence[int]) -> int | None:
    """Return the first noun; else an unknown word, an adjective, a participle."""
    for fits in (
        _is_noun,
        _is_unknown,
        lambda word: _is(word, "adjective") and not _is(word, "determiner"),
        lambda word: _is(word, "participle"),
    ):
        if (index := next((i for i in indices if fits(words[i])), None)) is not None:
            return index
    return None


def _head(words: Sequence[AnalysedWord], person: Person) -> int | None:
    """Return the index of the noun that is aligned with a person; None if nothing is."""
    of_word, of_article = _under(words, person.linked), _under(words, person.article_linked)
    for indices in (of_word, of_article):
        if (index := _best(words, indices)) is not None:
            return index
    for index in (*of_word, *of_article):
        if _is(words[index], "determiner"):
            for after in range(index + 1, len(words)):
                if _is_noun(words[after]) or _is_unknown(words[after]):
                    return after
                if not _is(words[after], "adjective", "numeral"):
                    break
    return next((i for i in of_word if words[i].text.lower() in _SOMEBODY), None)


def _usual(
    sentences: Sequence[Sequence[AnalysedWord]],
    heads: Sequence[int | None],
    persons: Sequence[Person],
) -> dict[str, frozenset[str]]:
    """Return the lemmas that head many translations of an occupation."""
    counts: Mapping[str, Counter[str]] = defaultdict(Counter)
    n_rows = Counter(person.word for person in persons)
    for words, head, person in zip(sentences, heads, persons, strict=True):
        if head is not None and (_is_noun(words[head]) or _is_unknown(words[head])):
            counts[person.word].update(_lemmas(words[head]))
    return {
        word: frozenset(
            lemma
            for lemma, n in of_word.items()
            if n >= max(_LEAST_ROWS, _LEAST_SHARE * n_rows[word])
        )
        for word, of_word in counts.items()
    }


def _repaired(words: Sequence[AnalysedWord], head: int | None, usual: frozenset[str]) -> int | None:
    """Return another noun of the sentence if that is usual for the occupation and the head not."""
    if head is not None and _lemmas(words[head]) & usual:
        return head
    others = [
        i
        for i, word in enumerate(words)
        if (_is_noun(word) or _is_unknown(word)) and _lemmas(word) & usual
    ]
    if not others:
        return head
    return min(others, key=lambda i: abs(i - (head or 0)))


def _determiner(words: Sequence[AnalysedWord], head: int) -> AnalysedWord | None:
    """Return the nearest determiner before a noun."""
    for n_between, word in enumerate(reversed(words[:head])):
        if _is(word, "determiner"):
            return word
        if n_between >= _MOST_BETWEEN or not (
            _is(word, "adjective", "participle", "numeral") or _is_unknown(word) or word.text == "'"
        ):
            return None
    return None
