"""Cued copies of natural pairs, by a reader of morphology: of each noun for a person whose gender
the words show, and of its twin of the other gender where the whole sentence can be changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, MorphologyReader
from tools.evaluator_recipe.grammar import Gender
from tools.evaluator_recipe.romance_words import read_language
from tools.evaluator_recipe.sentences import CUE_WORD, Pair, capital

_GENDERS: dict[str, Gender] = {MASCULINE: "m", FEMININE: "f"}
_ENGLISH_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
#: A word is linked to an English one by Dice's coefficient over the corpus, at least this one.
_LINKED, _SEEN = 0.15, 3
_AGREEING = ("adjective", "participle", "determiner", "numeral")


@dataclass(frozen=True)
class _Twins:
    """Words of both genders of one lemma, by the word as it stands in the text, in lower case."""

    nouns: dict[str, str]
    adjectives: dict[str, str]


def cued_copies(pairs: Sequence[Pair], reader: MorphologyReader, lang: str) -> Iterator[Pair]:
    """Yield the copies; the contrast of each has the other cue."""
    analysed = reader.analyse([pair.target for pair in pairs])
    twins = _twins(analysed, reader, lang)
    links = _Links(pairs, analysed, twins.nouns)
    for pair, words in zip(pairs, analysed, strict=True):
        for i, word in enumerate(words):
            # A word of two lemmas may be no person, as Portuguese "música".
            if word.text.lower() not in twins.nouns or len(_lemmas(word)) > 1:
                continue
            gender = _shown_gender(words, i)
            english = links.link(pair.english, word)
            if gender is None or english is None:
                continue
            start = english.start()
            sources = {
                g: f"{pair.english[:start]}[{CUE_WORD[g]}] {pair.english[start:]}" for g in CUE_WORD
            }
            other: Gender = "f" if gender == "m" else "m"
            yield Pair(sources[gender], pair.target, sources[other])
            if twin := _twin(pair.target, words, i, twins, lang, gender):
                yield Pair(sources[other], twin, sources[gender])


def _twins(
    analysed: Sequence[Sequence[AnalysedWord]], reader: MorphologyReader, lang: str
) -> _Twins:
    """Return the twins of all nouns and adjectives of the texts that the dictionary has."""
    known = {w.text.lower(): w for words in analysed for w in words if w.analyses}
    proposals = {
        (word, word.removesuffix(a) + b)
        for word in known
        for pair in read_language(lang).twin_endings
        for a, b in (pair, pair[::-1])
        if word.endswith(a) and len(word) > len(a) + 2
    }
    new = sorted({twin for _, twin in proposals} - {*known})
    for text, words in zip(new, reader.analyse(new), strict=True):
        if len(words) == 1:
            known[text] = words[0]
    forms: dict[str, dict[str, str]] = {"noun": {}, "adjective": {}}
    for word, twin in sorted(proposals):
        for pos, table in forms.items():
            if twin in known and _are_twins(known[word], known[twin], pos):
                table[word] = twin
    return _Twins(forms["noun"], forms["adjective"])


def _are_twins(word: AnalysedWord, twin: AnalysedWord, pos: str) -> bool:
    kinds = {"noun"} if pos == "noun" else {"adjective", "participle"}
    forms = [
        {
            (a.lemma, a.number, *a.genders)
            for a in w.analyses
            if a.pos in kinds and len(a.genders) == 1
        }
        for w in (word, twin)
    ]
    other = {MASCULINE: FEMININE, FEMININE: MASCULINE}
    return any((lemma, number, other[gender]) in forms[1] for lemma, number, gender in forms[0])


class _Links:
    """Which English word a noun translates, by how often the two stand in the same pairs."""

    def __init__(
        self,
        pairs: Sequence[Pair],
        analysed: Sequence[Sequence[AnalysedWord]],
        nouns: Mapping[str, str],
    ) -> None:
        self._english: Counter[str] = Counter()
        self._nouns: Counter[str] = Counter()
        self._both: Counter[tuple[str, str]] = Counter()
        for pair, words in zip(pairs, analysed, strict=True):
            english = {_singular(w) for w in _ENGLISH_WORD.findall(pair.english.lower())}
            persons = {_lemma(w) for w in words if w.text.lower() in nouns}
            self._english.update(english)
            self._nouns.update(persons)
            self._both.update((e, p) for p in persons for e in english)

    def link(self, english: str, noun: AnalysedWord) -> re.Match[str] | None:
        """Return the word; None if it is not certain, or shows a gender itself."""
        lemma, best, linked = _lemma(noun), _LINKED, None
        for match in _ENGLISH_WORD.finditer(english):
            word = _singular(match.group().lower())
            n = self._both[word, lemma]
            dice = 2 * n / (self._english[word] + self._nouns[lemma])
            if n >= _SEEN and dice > best:
                best, linked = dice, match
        if linked is None or _singular(linked.group().lower()) in _gendered_words():
            return None
        # Names, and languages, which Spanish writes as it writes their speakers.
        if linked.start() > 0 and linked.group()[0].isupper():
            return None
        after = _ENGLISH_WORD.match(english, linked.end() + 1)
        if after and _singular(after.group().lower()) in _gendered_words():
            return None  # "old man"
        if len(re.findall(rf"\b{linked.group()}\b", english)) > 1:
            return None
        return linked


@cache
def _gendered_words() -> frozenset[str]:
    text = (files(__package__) / "gendered_words.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))


def _lemma(word: AnalysedWord) -> str:
    return _lemmas(word)[0]


def _lemmas(word: AnalysedWord) -> list[str]:
    return list(dict.fromkeys(a.lemma.lower() for a in word.analyses if a.pos == "noun"))


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def _shown_gender(words: Sequence[AnalysedWord], i: int) -> Gender | None:
    """Return the gender that a noun's form shows; None for both, or a word that may be no noun."""
    before = words[i - 1] if i else None
    if before and before.genders("noun") and not before.genders("determiner"):
        return None  # it describes another noun, as in "hermano gemelo"
    shown = words[i].shown_gender("noun")
    is_noun_alone = all(a.pos in {"noun", ""} for a in words[i].analyses)
    if not is_noun_alone:
        if before is None:
            return None
        agreeing = before.genders("determiner")
        if not _has_pos(before, "verb"):
            agreeing |= before.genders("adjective")
        if shown not in agreeing:
            return None
    if not is_noun_alone and i + 1 < len(words) and words[i + 1].genders("noun"):
        return None
    return _GENDERS.get(shown)


def _twin(
    target: str,
    words: Sequence[AnalysedWord],
    i: int,
    twins: _Twins,
    lang: str,
    gender: Gender,
) -> str | None:
    """Return the sentence with the noun, its determiner and its adjectives in the other gender;
    None if another word might agree with it.
    """
    determiners = read_language(lang).twin_determiners
    if gender == "f":
        determiners = {feminine: masculine for masculine, feminine in determiners.items()}
    same = MASCULINE if gender == "m" else FEMININE
    changed = {i: twins.nouns[words[i].text.lower()]}
    places = _around(words, i, determiners)
    if places is None:
        return None
    for j in places:
        form = words[j].text.lower()
        is_before_adjective = j + 1 < len(words) and _has_pos(
            words[j + 1], "adjective", "participle"
        )
        if form not in determiners and _has_pos(words[j], "") and is_before_adjective:
            continue  # an adverb, as in "muito bom"
        if form in determiners:
            changed[j] = determiners[form]
        elif form in twins.adjectives and words[j].shown_gender("adjective", "participle") == same:
            changed[j] = twins.adjectives[form]
        elif any(words[j].genders(pos) == {same} for pos in _AGREEING):
            return None
    if any(may_agree(words, j, lang) == same for j in range(len(words)) if j not in changed):
        return None
    texts: list[str] = []
    start = 0
    for j, word in enumerate(words):
        begin = target.find(word.text, start)
        if begin < 0:
            return None
        texts.append(target[start:begin])
        new = changed.get(j, word.text)
        texts.append(capital(new) if word.text[:1].isupper() and j in changed else new)
        start = begin + len(word.text)
    return "".join([*texts, target[start:]])


def _around(
    words: Sequence[AnalysedWord], i: int, determiners: Mapping[str, str]
) -> list[int] | None:
    """Return the places of the words beside a noun that agree with it; None if that is uncertain."""
    places = []
    j = i - 1
    while j >= 0 and (_has_pos(words[j], *_AGREEING) or words[j].text.lower() in determiners):
        places.append(j)
        before = words[j - 1] if j else None
        if _is_determiner(words[j]) and before is not None:
            # "Todos los", "as outras": the first determiner agrees, too.
            if not _is_determiner(before) and before.text.lower() not in determiners:
                break
            # It may be the object of a verb: "um dos", "a outra" ("to another").
            if any(a.has_preposition for a in words[j].analyses) or _has_pos(before, "preposition"):
                return None
        j -= 1
    j = i + 1
    while j < len(words) and _has_pos(words[j], *_AGREEING) and not _is_of_another(words, j):
        places.append(j)
        j += 1
    return places


def _is_of_another(words: Sequence[AnalysedWord], j: int) -> bool:
    """Whether a determiner after a noun begins another noun phrase: "el autor del libro"."""
    if not _is_determiner(words[j]):
        return False
    return any(a.has_preposition for a in words[j].analyses) or (
        j + 1 < len(words) and _has_pos(words[j + 1], "noun", *_AGREEING)
    )


def _has_pos(word: AnalysedWord, *kinds: str) -> bool:
    return any(a.pos in kinds for a in word.analyses)


def _is_determiner(word: AnalysedWord) -> bool:
    return _has_pos(word, "determiner")


def may_agree(words: Sequence[AnalysedWord], j: int, lang: str) -> str:
    """Return the gender of an adjective or a participle that no noun beside it explains, and that
    may agree with a person; "" for all other words. A word that the dictionary lacks may be one by
    its ending.
    """
    word, before = words[j], words[j - 1] if j else None
    shown = word.shown_gender("adjective", "participle")
    if not word.analyses and word.text.islower():
        endings = read_language(lang).unknown_endings
        shown = next((g for g, pattern in endings.items() if re.search(pattern, word.text)), "")
    if not shown or _has_pos(word, "verb") or has_noun_beside(words, j, shown):
        return ""
    is_noun = not word.analyses or _has_pos(word, "noun")
    # A noun follows an article, an adjective, or a preposition.
    if is_noun and before is not None:
        agrees = any(before.genders(pos) == {shown} for pos in _AGREEING)
        if agrees or _has_pos(before, "preposition"):
            return ""
    return shown


def has_noun_beside(words: Sequence[AnalysedWord], j: int, gender: str) -> bool:
    """Whether an adjective stands beside a noun of its gender, which it describes."""
    beside = [words[k] for k in (j - 1, j + 1) if 0 <= k < len(words)]
    return any(gender in word.genders("noun") for word in beside)
