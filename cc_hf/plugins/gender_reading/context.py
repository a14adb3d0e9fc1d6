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

from cc_hf.plugins.gender_reading.persons import BOTH, NONE, UNREAD, Person
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, MorphologyReader

__all__ = ["CONTEXT_LANGUAGES", "ContextRule"]

_VERSION = 2  # raised whenever the rule can read another gender
_LEAST_SHARE, _LEAST_ROWS = 0.1, 3  # of the rows of an occupation that a usual translation heads
_MOST_BETWEEN = 3  # adjectives, numerals and unknown words between determiner and noun
#: Words for somebody, which have no gender though dictionaries give some of them one.
_SOMEBODY = ("alguien", "alguém", "algú", "quelqu'un", "quelqu", "qualcuno")


@dataclass(frozen=True)
class _Language:
    """What the rule must know of a language.

    Attributes:
        of: prepositions of complements.
        light: nouns that a complement makes the name of an occupation: "addetto alla reception".
        feminine, masculine: endings of words that the dictionary lacks, the feminine ones first.
        both: endings of nouns for women and men, which come before those.
        by_sound: determiners that say nothing beside a feminine noun with a beginning of
            `before_sound`, such as "el" of "el ama".
    """

    of: tuple[str, ...]
    light: tuple[str, ...]
    feminine: str
    masculine: str
    both: str = ""
    by_sound: tuple[str, ...] = ()
    before_sound: str = ""


_LANGUAGES = {
    "ca": _Language(
        ("de", "d"),
        ("empleat", "encarregat", "operari", "treballador"),
        "triu|ora|era|essa|a",
        "or|er",
        "ista|[ae]nt",
    ),
    "es": _Language(
        ("de",),
        ("empleado", "encargado", "operario", "trabajador"),
        "triz|ora|esa",
        "or",
        by_sound=("el", "un", "al", "del"),
        before_sound="h?[aá]",
    ),
    "fr": _Language(
        ("de", "d"),
        ("chargé", "employé", "préposé"),
        "euse|trice|ière",
        "eur|ier",
        by_sound=("mon", "ton", "son"),
    ),
    "it": _Language(("di", "d"), ("addetto", "impiegato"), "trice|essa|a", "o|tore"),
    "pt": _Language(
        ("de",),
        ("empregado", "encarregado", "funcionário", "operário", "trabalhador"),
        "as?|triz|trizes",
        "os?|or|ores|ão|ãos|ães",
        "istas?|[aei]ntes?|guardas?|terapeutas?|pediatras?",
    ),
}

CONTEXT_LANGUAGES = tuple(_LANGUAGES)


@dataclass(frozen=True)
class ContextRule:
    """The rule of one language. What is usual for an occupation is learned from all rows."""

    reader: MorphologyReader
    lang: str

    @property
    def _language(self) -> _Language:
        return _LANGUAGES[self.lang]

    @property
    def signature_name(self) -> str:
        """The rule with its version, program and dictionary."""
        return f"context.{_VERSION}+{self.reader.signature_name}"

    def read_all(self, persons: Sequence[Person]) -> list[str]:
        """Return one of `READINGS`, or `UNREAD`, for each person."""
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
            return UNREAD
        head = self._of_complement(words, head, usual)
        is_noun = _is_noun(words[head]) or not _is(words[head], "adjective", "participle")
        if not is_noun and head and _is_noun(words[head - 1]):  # "amministratore delegato"
            head -= 1
        determiner = _determiner(words, head)
        written = words[head].text.lower()
        if _is_somebody(words[head]):
            return NONE
        if gender := self._with_determiner(words[head], determiner):
            return gender
        if head + 1 < len(words) and (
            after := words[head + 1].shown_gender("adjective", "participle")
        ):
            return after
        if words[head].genders("noun"):
            return BOTH
        is_known = words[head].analyses or determiner is not None
        return NONE if is_known else self._by_ending(written)

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
        is_of = words[before].text.lower() in self._language.of
        is_joined = any(a.has_preposition for a in words[before].analyses)
        if is_of and not has_article:
            return before - 1
        if not (is_joined or _is(words[before], "preposition")):
            return head
        lemmas = _lemmas(words[before - 1])
        return before - 1 if lemmas & (usual | {*self._language.light}) else head

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
        of_noun = next(iter(genders)) if len(genders) == 1 else ""
        if determiner is None:
            return of_noun
        is_by_sound = (
            determiner.text.lower() in self._language.by_sound
            and re.match(self._language.before_sound, noun.text.lower()) is not None
            and (of_noun == FEMININE or not self._language.before_sound)
        )
        if of_noun and is_by_sound:
            return of_noun
        return determiner.shown_gender("determiner") or of_noun

    def _by_ending(self, word: str) -> str:
        language = self._language
        kinds = {BOTH: language.both, FEMININE: language.feminine, MASCULINE: language.masculine}
        for gender, endings in kinds.items():
            if endings and re.search(f"(?:{endings})$", word):
                return gender
        return UNREAD


def _is(word: AnalysedWord, *kinds: str) -> bool:
    return any(analysis.pos in kinds for analysis in word.analyses)


def _is_noun(word: AnalysedWord) -> bool:
    # "la" is a musical note, too.
    return _is(word, "noun") and not _is(word, "determiner")


def _is_somebody(word: AnalysedWord) -> bool:
    return word.text.lower() in _SOMEBODY


def _is_unknown(word: AnalysedWord) -> bool:
    return not word.analyses and word.text[:1].isalpha()


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
    """Return the first noun; else an unknown word, one after a determiner, an adjective, a
    participle.
    """
    for fits in (
        lambda i: _is_noun(words[i]),
        lambda i: _is_unknown(words[i]),
        # "o CEO": the dictionary knows it as a form of the verb "cear" only.
        lambda i: _is(words[i], "verb") and i > 0 and _is(words[i - 1], "determiner"),
        lambda i: _is(words[i], "adjective") and not _is(words[i], "determiner"),
        lambda i: _is(words[i], "participle"),
    ):
        if (index := next(filter(fits, indices), None)) is not None:
            return index
    return None


def _head(words: Sequence[AnalysedWord], person: Person) -> int | None:
    """Return the index of the noun that is aligned with a person; None if nothing is."""
    of_word, of_article = _under(words, person.linked), _under(words, person.article_linked)
    if (index := _best(words, of_word)) is not None:
        return index
    if (index := next((i for i in of_word if _is_somebody(words[i])), None)) is not None:
        return index
    if (index := _best(words, of_article)) is not None:
        return index
    for index in (*of_word, *of_article):
        if _is(words[index], "determiner"):
            for after in range(index + 1, len(words)):
                if _is_noun(words[after]) or _is_unknown(words[after]):
                    return after
                if not _is(words[after], "adjective", "numeral"):
                    break
    return None


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
    if head is not None and (_is_somebody(words[head]) or _lemmas(words[head]) & usual):
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
