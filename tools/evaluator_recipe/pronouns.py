"""Cued copies of natural pairs whose subject has no name: "I was tired", where the word said of it
shows a gender, "J'étais fatiguée". The pronoun gets the cue that it has in test sets: "I, a woman,
was tired".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cc_hf.schema import Focus
from cc_hf.text.morphology import AnalysedWord
from tools.evaluator_recipe.agreement import may_agree, predicate
from tools.evaluator_recipe.romance_words import RomanceLanguage

_PLURAL = ("we", "they", "all", "some", "many", "few", "both", "most", "others")
_SINGULAR = (
    *("i", "you", "none", "each", "someone", "somebody", "everyone", "everybody"),
    *("anyone", "anybody", "nobody"),
)
#: At the start of a sentence, or after the verb of a question.
_SUBJECT = re.compile(
    rf"(?:(?:am|are|is|was|were|has|have)(?:n['’]t)? )?({'|'.join((*_PLURAL, *_SINGULAR))})\b",
    re.IGNORECASE,
)
#: Subjects of sentences that are about no person: "C'est exact", "That's right".
_IMPERSONAL = frozenset({"c'", "ce", "cela", "il", "on", "ça", "esto", "eso", "ello"})


def english_subject(english: str) -> Focus | None:
    """Return the pronoun that is the subject, if it may be a man or a woman."""
    match = _SUBJECT.match(english)
    return None if match is None else Focus(match[1], match.start(1))


def said_of_subject(
    words: Sequence[AnalysedWord], subject: Focus, language: RomanceLanguage
) -> tuple[list[int], str] | None:
    """Return the places of the words that show the subject's gender, the last one said of it, and
    the gender; None if none does.
    """
    said = predicate(words, 0, language)
    if said is None or any(words[j].text.lower() in _IMPERSONAL for j in said[0]):
        return None
    between, j = said
    shown = may_agree(words, j, language)
    number = "plural" if subject.text.lower() in _PLURAL else "singular"
    numbers = {a.number for a in words[j].analyses if a.pos in {"adjective", "participle"}}
    if numbers and number not in numbers and "" not in numbers:
        return None
    others = [k for k in between if len(words[k].genders("pronoun")) == 1]
    if any(words[k].genders("pronoun") != {shown} for k in others):
        return None
    return [*others, j], shown
