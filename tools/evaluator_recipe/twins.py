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

from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, MorphologyReader
from tools.evaluator_recipe.grammar import Gender
from tools.evaluator_recipe.romance_words import RomanceLanguage, read_language
from tools.evaluator_recipe.sentences import CUE_WORD, Pair, capital

_GENDERS: dict[str, Gender] = {MASCULINE: "m", FEMININE: "f"}
_ENGLISH_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
#: A word is linked to an English one by Dice's coefficient over the corpus, at least this one.
_LINKED, _SEEN = 0.15, 3
_PERFECT = frozenset({"haber", "avoir", "avere", "ter", "haver"})
_COPULAS = frozenset({"ser", "estar", "être", "essere", "diventare", "restare", "sembrare"})
_OBJECTS = frozenset(
    {"l'", "les", "m'", "nous", "s'", "t'", "vous"}
    | {"la", "le", "li", "lo", "mi", "ti", "ci", "vi"}
)
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
            if word.text.lower() not in twins.nouns:
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
            persons = {_lemma(w) for w in words if w.text.lower() in nouns}
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
    if before and describes and _is_noun(words, i - 1) and not before.genders("determiner"):
        return None  # it describes another noun, as in "hermano gemelo"
    shown = words[i].shown_gender("noun")
    if not is_noun_alone:
        # It may be an adjective after an adverb: "troppo vecchio". One letter is an article.
        if before is None or (_has_pos(before, "") and len(before.text) > 1):
            return None
        agreeing = before.genders("determiner")
        if not _has_pos(before, "verb"):  # French "est" is an adjective, too
            agreeing |= before.genders("adjective")
        if shown not in agreeing or (i + 1 < len(words) and _is_noun(words, i + 1)):
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
    determiners = language.twin_determiners
    if gender == "f":
        determiners = {feminine: masculine for masculine, feminine in determiners.items()}
    same = MASCULINE if gender == "m" else FEMININE
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
        elif not words[j].analyses or _agrees(words[j], same):
            return None
    if _agrees_elsewhere(words, i, {*changed, *around}, same, twins, language):
        return None
    return _written(target, words, changed, i, language)


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
    if len(after) == 2 and after[0].genders("determiner") == {same} and _has_pos(after[1], ""):
        return True  # "la coureuse la plus rapide"
    plural = any(a.number == "plural" for a in words[i].analyses)
    subjects = {language.pronouns[gender]["s"] for gender in _GENDERS.values()}
    for j, word in enumerate(words):
        if j in beside:
            continue
        of_perfect = language.perfect and is_of_perfect(words, j, without_object=True)
        if may_agree(words, j, language) == same and not of_perfect:
            return True
        is_subject = j + 1 < len(words) and _is_form(words[j + 1], _COPULAS)
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
    while j and _has_pos(words[j - 1], "adjective"):
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
    if first and _has_pos(words[first - 1], "preposition"):
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
            of_verb = _has_pos(words[j], "participle") and _follows(words, j, _COPULAS | _PERFECT)
            # What comes next is another noun's, or agrees with the subject.
            if (step > 0 and _begins_phrase(words, j)) or (step < 0 and of_verb):
                break
            places.append(j)
            j += step
            if _has_pos(words[j - step], "determiner") and step < 0:
                # "Tous les", "todos los", "tutti gli altri"
                while j >= 0 and _is_before_determiner(words[j], determiners):
                    # It may be the object of a verb: "um dos", "a outra" ("to another").
                    if _has_preposition(words[j + 1]) or _has_pos(words[j], "preposition"):
                        return None
                    places.append(j)
                    j += step
                break
    return places


def _may_be_beside(word: AnalysedWord, determiners: Mapping[str, str]) -> bool:
    is_unknown = not word.analyses and word.text.islower()
    return is_unknown or _has_pos(word, *_AGREEING) or word.text.lower() in determiners


def _is_before_determiner(word: AnalysedWord, determiners: Mapping[str, str]) -> bool:
    return bool(word.genders("determiner")) or word.text.lower() in determiners


def _is_adverb(words: Sequence[AnalysedWord], j: int) -> bool:
    """Whether a word is an adverb before an adjective, as in "muito bom"."""
    after = words[j + 1 : j + 2]
    return _has_pos(words[j], "") and bool(after) and _has_pos(after[0], "adjective", "participle")


def _has_pos(word: AnalysedWord, *kinds: str) -> bool:
    return any(a.pos in kinds for a in word.analyses)


def _has_preposition(word: AnalysedWord) -> bool:
    return any(a.has_preposition for a in word.analyses)


def _agrees(word: AnalysedWord, gender: str) -> bool:
    """Whether a word has the gender, and no other, as one of the parts of speech that agree."""
    return any(word.genders(pos) == {gender} for pos in _AGREEING)


def may_agree(words: Sequence[AnalysedWord], j: int, language: RomanceLanguage) -> str:
    """Return the gender of an adjective or a participle that no noun beside it explains, and that
    may agree with a person; "" for all other words. A word that the dictionary lacks may be one by
    its ending.
    """
    word, before = words[j], words[j - 1] if j else None
    shown = word.shown_gender("adjective", "participle")
    if not word.analyses and word.text.islower():
        endings = language.unknown_endings
        shown = next((g for g, pattern in endings.items() if re.search(pattern, word.text)), "")
    if not shown or has_noun_beside(words, j, shown):
        return ""
    kinds = {a.pos for a in word.analyses}
    if _follows(words, j, _COPULAS):
        return shown
    # Italian "rimasti" might be a verb with a pronoun, and is a participle.
    if "verb" in kinds and kinds != {"participle", "verb"}:
        return ""
    # A noun follows an article, an adjective, or a preposition.
    is_noun = not kinds or "noun" in kinds
    if is_noun and before and (_agrees(before, shown) or _has_pos(before, "preposition")):
        return ""
    return shown


def _begins_phrase(words: Sequence[AnalysedWord], j: int) -> bool:
    """Whether a word after a noun begins the phrase of another one: not "mio" in "amico mio"."""
    kinds = [{a.pos for a in word.analyses} for word in words[j : j + 2]]
    is_last = len(kinds) == 1 or kinds[1].isdisjoint({"noun", "adjective"})
    return "determiner" in kinds[0] and not ("adjective" in kinds[0] and is_last)


def _is_noun(words: Sequence[AnalysedWord], k: int) -> bool:
    """Whether a word is a noun, and neither an adverb ("pas") nor a verb ("est", "era")."""
    kinds = {a.pos for a in words[k].analyses}
    if "noun" not in kinds or "" in kinds:
        return False
    after_determiner = k > 0 and bool(words[k - 1].genders("determiner"))
    return after_determiner or not kinds & {"participle", "verb"}


def has_noun_beside(words: Sequence[AnalysedWord], j: int, gender: str) -> bool:
    """Whether an adjective stands beside a noun of its gender, which it describes."""
    beside = [k for k in (j - 1, j + 1) if 0 <= k < len(words) and _is_noun(words, k)]
    return any(gender in words[k].genders("noun") for k in beside)


def is_in_predicate(words: Sequence[AnalysedWord], i: int) -> bool:
    """Whether a noun follows a form of "to be", with its determiner and adjectives."""
    while i and _has_pos(words[i - 1], *_AGREEING):
        if _is_form(words[i - 1], _COPULAS):
            return True
        i -= 1
    return _follows(words, i, _COPULAS)


def is_of_perfect(words: Sequence[AnalysedWord], i: int, *, without_object: bool = False) -> bool:
    """Whether a participle follows a form of "haber", which agrees with no subject.

    `without_object`: nor with an object before it, which French has as in "je l'ai vue".
    """
    j = _before_adverbs(words, i)
    if not _follows(words, i, _PERFECT):
        return False
    before = words[j - 1] if j else None
    is_object = before is not None and bool(before.genders("pronoun"))
    is_relative = any(w.text.lower() in {"que", "qu'"} for w in words[:j])
    return not without_object or not (
        is_relative or (is_object and before is not None and before.text.lower() in _OBJECTS)
    )


def _before_adverbs(words: Sequence[AnalysedWord], i: int) -> int:
    """Return the place of the last word before another one that is no adverb."""
    j = i - 1
    while j >= 0 and _has_pos(words[j], ""):
        j -= 1
    return j


def _follows(words: Sequence[AnalysedWord], i: int, lemmas: frozenset[str]) -> bool:
    """Whether a word follows a form of one of the verbs, with nothing but adverbs between."""
    j = _before_adverbs(words, i)
    return j >= 0 and _is_form(words[j], lemmas)


def _is_form(word: AnalysedWord, lemmas: frozenset[str]) -> bool:
    return any(a.lemma.lower() in lemmas for a in word.analyses)
