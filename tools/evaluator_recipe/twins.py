"""Cued copies of natural pairs, by a reader of morphology: of each noun for a person whose gender
the words show, and of its twin of the other gender where the whole sentence can be changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from cc_hf.cues.appositions import person_sources
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, MorphologyReader
from tools.evaluator_recipe.agreement import (
    AGREEING,
    COPULAS,
    PERFECT,
    agrees,
    follows,
    has_pos,
    is_form,
    is_noun,
    is_of_perfect,
    may_agree,
    predicate,
)
from tools.evaluator_recipe.grammar import Gender
from tools.evaluator_recipe.pronouns import english_subject, said_of_subject
from tools.evaluator_recipe.romance_words import RomanceLanguage, read_language
from tools.evaluator_recipe.sentences import CUE_WORD, Pair, capital

_GENDERS: dict[str, Gender] = {MASCULINE: "m", FEMININE: "f"}
_ENGLISH_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
#: A word is linked to an English one by Dice's coefficient over the corpus, at least this one.
_LINKED, _SEEN = 0.15, 3


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
        yield from _pronoun_copies(pair, words, twins, read_language(lang))
        for i, word in enumerate(words):
            if not _is_known(word, twins.nouns):
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


def _pronoun_copies(
    pair: Pair, words: Sequence[AnalysedWord], twins: _Twins, language: RomanceLanguage
) -> Iterator[Pair]:
    """Yield the copy whose subject is a pronoun of either gender, and its twin."""
    subject = english_subject(pair.english)
    said = said_of_subject(words, subject, language) if subject else None
    if not subject or not said:
        return
    english = {_singular(w) for w in _ENGLISH_WORD.findall(pair.english.lower())}
    if not english.isdisjoint(_words("gendered_words.txt")):
        return
    places, same = said
    (feminine,), (masculine,) = person_sources(pair.english, subject)
    right, other = (feminine, masculine) if same == FEMININE else (masculine, feminine)
    yield Pair(right, pair.target, other)
    forms = {**twins.adjectives, **_from_gender(same, language.twin_pronouns)}
    changed = {j: forms.get(words[j].text.lower(), "") for j in places}
    if all(changed.values()) and not _agrees_elsewhere(
        words, places[-1], {*changed}, same, twins, language
    ):
        twin = _written(pair.target, words, changed, places[-1], language)
        if twin:
            yield Pair(other, twin, right)


def _from_gender(gender: str, twins: Mapping[str, str]) -> Mapping[str, str]:
    """Return a table of masculine forms and their feminine twins by the forms of a gender."""
    return twins if gender == MASCULINE else {twin: form for form, twin in twins.items()}


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
    # A word of two lemmas may be no person: "música" is music, "morte" death, and dead women.
    for word, twin in [*forms["noun"].items()]:
        if any(len(_lemmas(known[w])) > 1 for w in (word, twin)):
            del forms["noun"][word]
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
        self._names = _names(pair.english for pair in pairs)
        for pair, words in zip(pairs, analysed, strict=True):
            english = {_singular(w) for w in _ENGLISH_WORD.findall(pair.english.lower())}
            persons = {_lemma(w) for w in words if _is_known(w, nouns)}
            self._english.update(english)
            self._nouns.update(persons)
            self._both.update((e, p) for p in persons for e in english)

    def link(self, english: str, noun: AnalysedWord) -> re.Match[str] | None:
        """Return the word; None if it is not certain, or shows a gender itself."""
        lemma, best, linked = _lemma(noun), _LINKED, None
        for match in _ENGLISH_WORD.finditer(english):
            word = _singular(match.group().lower())
            # Names, and languages, which are written as their speakers are.
            is_name = match.group()[0].isupper() and (match.start() > 0 or word in self._names)
            n = self._both[word, lemma]
            dice = 2 * n / (self._english[word] + self._nouns[lemma])
            if n >= _SEEN and dice > best:
                best = dice
                is_refused = word in _words("no_people.txt") or _shows_gender(english, match)
                linked = None if is_name or is_refused else match
        if linked is None or len(re.findall(rf"\b{linked.group()}\b", english)) > 1:
            return None
        return linked


def _shows_gender(english: str, word: re.Match[str]) -> bool:
    """Whether an English word or one beside it shows a gender: "a female doctor", "the old man"."""
    beside = (
        re.search(r"[A-Za-z]+(?= $)", english[: word.start()]),
        word,
        re.compile(r" ([A-Za-z]+)").match(english, word.end()),
    )
    words = {_singular(match.group().strip().lower()) for match in beside if match}
    return not words.isdisjoint(_words("gendered_words.txt"))


def _names(texts: Iterable[str]) -> frozenset[str]:
    """Return the words, in lower case, that mostly have a capital where they do not begin a text."""
    counts: Counter[tuple[str, bool]] = Counter()
    for text in texts:
        for match in _ENGLISH_WORD.finditer(text):
            if match.start() > 0:
                counts[_singular(match.group().lower()), match.group()[0].isupper()] += 1
    return frozenset(
        word
        for word, is_capital in counts
        if is_capital and counts[word, True] > counts[word, False]
    )


@cache
def _words(name: str) -> frozenset[str]:
    text = (files(__package__) / name).read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))


def _is_known(word: AnalysedWord, nouns: Mapping[str, str]) -> bool:
    """Whether a word is one of the nouns; with a capital the reader may find none in it."""
    return word.text.lower() in nouns and bool(_lemmas(word))


def _lemma(word: AnalysedWord) -> str:
    return _lemmas(word)[0]


def _lemmas(word: AnalysedWord) -> list[str]:
    return list(dict.fromkeys(a.lemma.lower() for a in word.analyses if a.pos == "noun"))


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def _shown_gender(words: Sequence[AnalysedWord], i: int) -> Gender | None:
    """Return the gender that a noun's form shows; None for both, or a word that may be no noun."""
    before = words[i - 1] if i else None
    is_noun_alone = all(a.pos in {"noun", ""} for a in words[i].analyses)
    describes = not (is_noun_alone and before and before.genders("adjective"))
    if before and describes and is_noun(words, i - 1) and not before.genders("determiner"):
        return None  # it describes another noun, as in "hermano gemelo"
    shown = words[i].shown_gender("noun")
    if not is_noun_alone:
        # It may be an adjective after an adverb: "troppo vecchio". One letter is an article.
        if before is None or (has_pos(before, "") and len(before.text) > 1):
            return None
        agreeing = before.genders("determiner")
        if not has_pos(before, "verb"):  # French "est" is an adjective, too
            agreeing |= before.genders("adjective")
        if shown not in agreeing or (i + 1 < len(words) and is_noun(words, i + 1)):
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
    language = read_language(lang)
    same = MASCULINE if gender == "m" else FEMININE
    determiners = _from_gender(same, language.twin_determiners)
    changed = {i: twins.nouns[words[i].text.lower()]}
    around = _around(words, i, determiners)
    if around is None:
        return None
    for j in around:
        form = words[j].text.lower()
        # An adjective may have a shorter form before its noun: "buon amico".
        if form in determiners and (j < i or form not in twins.adjectives):
            changed[j] = determiners[form]
        elif _is_adverb(words, j):
            continue
        elif words[j].shown_gender("adjective", "participle") == same:
            if form not in twins.adjectives:
                return None
            changed[j] = twins.adjectives[form]
        elif not words[j].analyses or agrees(words[j], same):
            return None
    said = _said_of(words, {i, *around}, same, language)
    if said is not None:
        changed[said] = twins.adjectives.get(words[said].text.lower(), "")
    if not all(changed.values()) or _agrees_elsewhere(
        words, i, {*changed, *around}, same, twins, language
    ):
        return None
    return _written(target, words, changed, i, language)


def _said_of(
    words: Sequence[AnalysedWord], phrase: set[int], same: str, language: RomanceLanguage
) -> int | None:
    """Return the place of the word of the same gender that is said of a noun phrase as the subject:
    "le médecin était fatigué".
    """
    first = min(phrase)
    if _has_preposition(words[first]) or (first and has_pos(words[first - 1], "preposition")):
        return None  # "le fils du médecin était fatigué"
    said = predicate(words, max(phrase) + 1, language)
    if said is None or any(len(words[k].genders("pronoun")) == 1 for k in said[0]):
        return None
    return said[1] if may_agree(words, said[1], language) == same else None


def _agrees_elsewhere(
    words: Sequence[AnalysedWord],
    i: int,
    beside: set[int],
    same: str,
    twins: _Twins,
    language: RomanceLanguage,
) -> bool:
    """Whether a word that is not beside a noun may agree with it, or stand for the same person."""
    first = min(beside)
    if _is_one_of(words, first if words[first].analyses[0].has_preposition else first - 1, same):
        return True
    after = words[i + 1 : i + 3]
    if len(after) == 2 and after[0].genders("determiner") == {same} and has_pos(after[1], ""):
        return True  # "la coureuse la plus rapide"
    plural = any(a.number == "plural" for a in words[i].analyses)
    subjects = {language.pronouns[gender]["s"] for gender in _GENDERS.values()}
    for j, word in enumerate(words):
        if j in beside:
            continue
        of_perfect = language.perfect and is_of_perfect(words, j, without_object=True)
        if may_agree(words, j, language) == same and not of_perfect:
            return True
        is_subject = j + 1 < len(words) and is_form(words[j + 1], COPULAS)
        if word.genders("determiner") == {same} and _is_only_adjective(words[j + 1 : j + 3]):
            return True  # "è la peggiore"
        if is_subject and word.genders("pronoun") == {same} and word.text.lower() not in subjects:
            return True  # "questo è il gatto"
        if _refers(word, same, plural=plural) or _is_predicate(words, j, same, twins, language):
            return True
    return False


def _is_only_adjective(words: Sequence[AnalysedWord]) -> bool:
    """Whether the first word is an adjective, and neither it nor the next one may be a noun."""
    kinds = [{a.pos for a in word.analyses} for word in words]
    return bool(kinds) and kinds[0] == {"adjective"} and "noun" not in kinds[-1]


def _is_one_of(words: Sequence[AnalysedWord], j: int, gender: str) -> bool:
    """Whether a preposition at j follows a pronoun of the gender, as in "one of my friends"."""
    return j > 0 and _has_preposition(words[j]) and words[j - 1].genders("pronoun") == {gender}


def _refers(word: AnalysedWord, gender: str, *, plural: bool) -> bool:
    """Whether a pronoun may stand for the noun where English shows no gender: "they", or the one
    after a verb with a hyphen.
    """
    if word.genders("pronoun") != {gender} or word.genders("determiner"):
        return False
    numbers = {a.number for a in word.analyses if a.pos == "pronoun"}
    return word.text.startswith("-") or (plural and numbers == {"plural"})


def _is_predicate(
    words: Sequence[AnalysedWord],
    j: int,
    gender: str,
    twins: _Twins,
    language: RomanceLanguage,
) -> bool:
    """Whether another noun for a person may be said of the same person: it has the gender, and no
    article, or the indefinite one.
    """
    if words[j].text.lower() not in twins.nouns or words[j].shown_gender("noun") != gender:
        return False
    while j and has_pos(words[j - 1], "adjective"):
        j -= 1
    before = words[j - 1] if j else None
    return (
        before is None
        or not before.genders("determiner")
        or before.text.lower() in language.determiners["a"]
    )


def _written(
    target: str,
    words: Sequence[AnalysedWord],
    changed: Mapping[int, str],
    noun: int,
    language: RomanceLanguage,
) -> str | None:
    """Return the sentence with the changed words. From the preposition before them on to the noun,
    words are contracted anew.
    """
    first = min(changed)
    if first and has_pos(words[first - 1], "preposition"):
        first -= 1
    parts = ["", "", ""]
    start = 0
    searched = target.replace("’", "'")  # as the reader writes it
    for j, word in enumerate(words):
        begin = searched.find(word.text, start)
        if begin < 0:
            return None
        new = changed.get(j, target[begin : begin + len(word.text)])
        new = capital(new) if word.text[:1].isupper() and j in changed else new
        part = 0 if j < first else 1 if j <= noun else 2
        parts[0 if j <= first else part] += target[start:begin]
        parts[part] += new
        start = begin + len(word.text)
    return parts[0] + language.write(parts[1]) + parts[2] + target[start:]


def _around(
    words: Sequence[AnalysedWord], i: int, determiners: Mapping[str, str]
) -> list[int] | None:
    """Return the places of the words beside a noun that may agree with it, and of unknown ones; None
    if that is uncertain.
    """
    places = []
    for step in (-1, 1):
        j = i + step
        while 0 <= j < len(words) and _may_be_beside(words[j], determiners):
            of_verb = has_pos(words[j], "participle") and follows(words, j, COPULAS | PERFECT)
            # What comes next is another noun's, or agrees with the subject.
            if (step > 0 and _begins_phrase(words, j)) or (step < 0 and of_verb):
                break
            places.append(j)
            j += step
            if has_pos(words[j - step], "determiner") and step < 0:
                # "Tous les", "todos los", "tutti gli altri"
                while j >= 0 and _is_before_determiner(words[j], determiners):
                    # It may be the object of a verb: "um dos", "a outra" ("to another").
                    if _has_preposition(words[j + 1]) or has_pos(words[j], "preposition"):
                        return None
                    places.append(j)
                    j += step
                break
    return places


def _may_be_beside(word: AnalysedWord, determiners: Mapping[str, str]) -> bool:
    is_unknown = not word.analyses and word.text.islower()
    return is_unknown or has_pos(word, *AGREEING) or word.text.lower() in determiners


def _is_before_determiner(word: AnalysedWord, determiners: Mapping[str, str]) -> bool:
    return bool(word.genders("determiner")) or word.text.lower() in determiners


def _is_adverb(words: Sequence[AnalysedWord], j: int) -> bool:
    """Whether a word is an adverb before an adjective, as in "muito bom"."""
    after = words[j + 1 : j + 2]
    return has_pos(words[j], "") and bool(after) and has_pos(after[0], "adjective", "participle")


def _has_preposition(word: AnalysedWord) -> bool:
    return any(a.has_preposition for a in word.analyses)


def _begins_phrase(words: Sequence[AnalysedWord], j: int) -> bool:
    """Whether a word after a noun begins the phrase of another one: not "mio" in "amico mio"."""
    kinds = [{a.pos for a in word.analyses} for word in words[j : j + 2]]
    is_last = len(kinds) == 1 or kinds[1].isdisjoint({"noun", "adjective"})
    return "determiner" in kinds[0] and not ("adjective" in kinds[0] and is_last)
