"""Referents in place of an ambiguous "it", for Wino-X (Emelin & Sennrich 2021): which "it" is
ambiguous, and what replaces it.
"""

from __future__ import annotations

import re

from cc_hf.cues.placement import replace_at
from cc_hf.errors import InputError
from cc_hf.schema import Focus

__all__ = ["ambiguous_it", "referent_position", "referent_source"]

_WORD = re.compile(r"(?<![\w-])(?<!\w['’])it(?![\w-]|['’]\w)", re.IGNORECASE)
_CONTRACTED = re.compile(r"(?<![\w-])(?<!\w['’])it(?=['’]\w)", re.IGNORECASE)
_ARTICLES = ("the", "a", "an")


def ambiguous_it(source: str) -> Focus:
    """Return the last word "it" of the sentence, or else the last "it" in a contraction ("it's").

    Examples:
        >>> ambiguous_it("The pill made it feel better because it was soothing, and it's cheap.")
        Focus(text='it', start=37)
    """
    for pattern in (_WORD, _CONTRACTED):
        matches = list(pattern.finditer(source))
        if matches:
            # Wino-X puts "it" into the gap of its schemas, and drops schemas with another "it"
            # after the gap.
            return Focus(matches[-1].group(), matches[-1].start())
    raise InputError(f'expected the word "it" in the sentence, got {source!r}')


def referent_source(source: str, focus: Focus, referent: str) -> str:
    """Replace the focus by "the" and the referent, which keeps an article of its own."""
    words = referent.split()
    if not words:
        raise InputError("referent: expected a word, got a blank")
    phrase = " ".join(words if words[0].lower() in _ARTICLES else ["the", *words])
    if focus.text[:1].isupper():
        phrase = phrase[0].upper() + phrase[1:]
    return replace_at(source, focus.start, len(focus.text), phrase)


def referent_position(text: str, correct: str, incorrect: str) -> str:
    """Return whether the correct referent is the "first" or the "second" one, else "unknown".

    Examples:
        >>> referent_position("I chose the sofa over the bed because it was soft.", "sofa", "bed")
        'first'
    """
    # Last occurrences of each referent's last word, as in the program of Emelin & Sennrich 2021.
    positions = _last_position(text, correct), _last_position(text, incorrect)
    if min(positions) < 0 or positions[0] == positions[1]:
        return "unknown"
    return "first" if positions[0] < positions[1] else "second"


def _last_position(text: str, phrase: str) -> int:
    """Return the last position of the phrase's last word, ignoring case; -1 if absent."""
    words = re.findall(r"[\w-]+", phrase)
    matches = (
        list(re.finditer(rf"(?<![\w-]){re.escape(words[-1])}(?![\w-])", text, re.IGNORECASE))
        if words
        else []
    )
    return matches[-1].start() if matches else -1
