"""Cues at words that mean a person: "I, a woman, am tired", "they told us, men, everything";
brackets before those that are no pronoun.
"""

from __future__ import annotations

import re

from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.cues.placement import replace_at
from cc_hf.schema import Focus

__all__ = ["apposition_sources", "person_sources"]

_PLURAL = frozenset({"we", "us", "they", "them"})
_SINGULAR = frozenset(
    {"i", "me", "you", "he", "him", "she", "her", "it", "who", "whoever", "one"}
    | {"someone", "somebody", "anyone", "anybody"}
)
_APPOSITIONS = {True: ("women", "men"), False: ("a woman", "a man")}
#: What stands for a contracted verb after an apposition; any other one is set off by a blank.
_VERBS = {"'m": " am", "'re": " are", "'ve": " have", "'ll": " will"}
_CONTRACTION = re.compile(r"['’](?:m|re|ve|ll|d|s)\b", re.IGNORECASE)


def person_sources(source: str, focus: Focus) -> tuple[tuple[str], tuple[str]]:
    """Return an English source with a cue for a woman, and for a man: an apposition after a
    pronoun, before which a bracket would be odd, else gender brackets.

    Examples:
        >>> person_sources("We left.", Focus("We", 0))
        (('We, women, left.',), ('We, men, left.',))
        >>> person_sources("The doctor left.", Focus("doctor", 4))[0]
        ('The [female] doctor left.',)
    """
    if focus.text.lower() not in _PLURAL | _SINGULAR:
        return gender_bracket_sources(source, focus, "female")
    feminine, masculine = apposition_sources(source, focus)
    return (feminine,), (masculine,)


def apposition_sources(source: str, focus: Focus) -> tuple[str, str]:
    """Return an English source with a pronoun as a woman's, and as a man's.

    A verb that is contracted with it is written out.

    Examples:
        >>> apposition_sources("I'm tired.", Focus("I", 0))
        ('I, a woman, am tired.', 'I, a man, am tired.')
    """
    end = focus.start + len(focus.text)
    verb = _CONTRACTION.match(source, end)
    after = _VERBS.get(verb[0].lower().replace("’", "'"), f" {verb[0]}") if verb else ""
    comma = "" if source[end : end + 1] in tuple(".,;:!?") else ","
    n_replaced = len(focus.text) + len(verb[0] if verb else "")
    feminine, masculine = (
        replace_at(source, focus.start, n_replaced, f"{focus.text}, {noun}{comma}{after}")
        for noun in _APPOSITIONS[focus.text.lower() in _PLURAL]
    )
    return feminine, masculine
