"""Which words of a sentence may agree with a person, by a reader of morphology."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cc_hf.text.morphology import AnalysedWord
from tools.evaluator_recipe.romance_words import RomanceLanguage

PERFECT = frozenset({"haber", "avoir", "avere", "ter", "haver"})
COPULAS = frozenset({"ser", "estar", "être", "essere", "diventare", "restare", "sembrare"})
_OBJECTS = frozenset(
    {"l'", "les", "m'", "nous", "s'", "t'", "vous"}
    | {"la", "le", "li", "lo", "mi", "ti", "ci", "vi"}
)
AGREEING = ("adjective", "participle", "determiner", "numeral")


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
    if follows(words, j, COPULAS):
        return shown
    # Italian "rimasti" might be a verb with a pronoun, and is a participle.
    if "verb" in kinds and kinds != {"participle", "verb"}:
        return ""
    # A noun follows an article, an adjective, or a preposition.
    is_noun = not kinds or "noun" in kinds
    if is_noun and before and (agrees(before, shown) or has_pos(before, "preposition")):
        return ""
    return shown


def predicate(
    words: Sequence[AnalysedWord], start: int, language: RomanceLanguage
) -> tuple[list[int], int] | None:
    """Return the place of the adjective or participle that a form of "to be" says of the subject
    before `start`, and those of the words before that form; None if there is none.
    """
    j = start
    while j < len(words) and _is_between(words[j]):
        j += 1
    between = [*range(start, j)]
    is_copula = False
    while j < len(words) and is_form(words[j], COPULAS | PERFECT):
        is_copula = is_form(words[j], COPULAS)
        j += 1
    while j < len(words) - 1 and has_pos(words[j], "") and words[j].text.isalpha():
        j += 1
    if not is_copula or j == len(words) or not may_agree(words, j, language):
        return None
    return between, j


def _is_between(word: AnalysedWord) -> bool:
    """Whether a word may stand between a subject and its verb: a pronoun, an adverb."""
    return not has_pos(word, "verb") and (
        has_pos(word, "pronoun") or (has_pos(word, "") and word.text.isalpha())
    )


def is_in_predicate(words: Sequence[AnalysedWord], i: int) -> bool:
    """Whether a noun follows a form of "to be", with its determiner and adjectives."""
    while i and has_pos(words[i - 1], *AGREEING):
        if is_form(words[i - 1], COPULAS):
            return True
        i -= 1
    return follows(words, i, COPULAS)


def is_of_perfect(words: Sequence[AnalysedWord], i: int, *, without_object: bool = False) -> bool:
    """Whether a participle follows a form of "haber", which agrees with no subject.

    `without_object`: nor with an object before it, which French has as in "je l'ai vue".
    """
    j = _before_adverbs(words, i)
    if not follows(words, i, PERFECT):
        return False
    before = words[j - 1] if j else None
    is_object = before is not None and bool(before.genders("pronoun"))
    is_relative = any(w.text.lower() in {"que", "qu'"} for w in words[:j])
    return not without_object or not (
        is_relative or (is_object and before is not None and before.text.lower() in _OBJECTS)
    )


def has_noun_beside(words: Sequence[AnalysedWord], j: int, gender: str) -> bool:
    """Whether an adjective stands beside a noun of its gender, which it describes."""
    beside = [k for k in (j - 1, j + 1) if 0 <= k < len(words) and is_noun(words, k)]
    return any(gender in words[k].genders("noun") for k in beside)


def is_noun(words: Sequence[AnalysedWord], k: int) -> bool:
    """Whether a word is a noun, and neither an adverb ("pas") nor a verb ("est", "era")."""
    kinds = {a.pos for a in words[k].analyses}
    if "noun" not in kinds or "" in kinds:
        return False
    after_determiner = k > 0 and bool(words[k - 1].genders("determiner"))
    return after_determiner or not kinds & {"participle", "verb"}


def follows(words: Sequence[AnalysedWord], i: int, lemmas: frozenset[str]) -> bool:
    """Whether a word follows a form of one of the verbs, with nothing but adverbs between."""
    j = _before_adverbs(words, i)
    return j >= 0 and is_form(words[j], lemmas)


def is_form(word: AnalysedWord, lemmas: frozenset[str]) -> bool:
    """Whether a word may be a form of one of the lemmas."""
    return any(a.lemma.lower() in lemmas for a in word.analyses)


def _before_adverbs(words: Sequence[AnalysedWord], i: int) -> int:
    """Return the place of the last word before another one that is no adverb."""
    j = i - 1
    while j >= 0 and has_pos(words[j], ""):
        j -= 1
    return j


def has_pos(word: AnalysedWord, *kinds: str) -> bool:
    """Whether a word may be one of the parts of speech; "" stands for an adverb and the like."""
    return any(a.pos in kinds for a in word.analyses)


def agrees(word: AnalysedWord, gender: str) -> bool:
    """Whether a word has the gender, and no other, as one of the parts of speech that agree."""
    return any(word.genders(pos) == {gender} for pos in AGREEING)
