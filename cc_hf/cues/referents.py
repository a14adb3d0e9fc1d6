"""The referent in the place of an ambiguous «it» (for Wino-X, Emelin & Sennrich 2021): which «it»
it is, and what stands there instead.
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
    """The last word «it» of the sentence; only where there is none, the last one in a contraction
    («it's»). «its» is another word.

    Why the last: Wino-X puts «it» where its schemas had a gap between spaces, and leaves out
    schemas with a further «it» after the gap.

    Raises:
        InputError: when the source has no «it».

    >>> ambiguous_it("The pill made it feel better because it was soothing, and it's cheap.")
    Focus(text='it', start=37)
    """
    for pattern in (_WORD, _CONTRACTED):
        found = list(pattern.finditer(source))
        if found:
            return Focus(found[-1].group(), found[-1].start())
    raise InputError(f"expected the word «it» in the sentence, got {source!r}")


def referent_source(source: str, focus: Focus, referent: str) -> str:
    """The source with «the referent» in the place of the focus; «The» where the focus has a
    capital. A referent with an article keeps its own.

    Raises:
        InputError: when the referent is blank or the focus is not in the source.

    >>> referent_source(
    ...     "I chose the sofa over the bed because it was soft.", Focus("it", 38), "sofa"
    ... )
    'I chose the sofa over the bed because the sofa was soft.'
    """
    words = referent.split()
    if not words:
        raise InputError("referent: expected a word, got a blank")
    phrase = " ".join(words if words[0].lower() in _ARTICLES else ["the", *words])
    if focus.text[:1].isupper():
        phrase = phrase[0].upper() + phrase[1:]
    return replace_at(source, focus.start, len(focus.text), phrase)


def referent_position(text: str, correct: str, incorrect: str) -> str:
    """«first» or «second»: where the correct referent stands among the two, by the last place of
    its last word; «unknown» where that cannot be seen.

    The last place of the last word, as the program of Emelin & Sennrich 2021 has it.

    >>> referent_position("I chose the sofa over the bed because it was soft.", "sofa", "bed")
    'first'
    """
    places = _last_place(text, correct), _last_place(text, incorrect)
    if min(places) < 0 or places[0] == places[1]:
        return "unknown"
    return "first" if places[0] < places[1] else "second"


def _last_place(text: str, phrase: str) -> int:
    """Where the last word of the phrase last stands as a whole word, in either case; -1 for
    nowhere.
    """
    words = re.findall(r"[\w-]+", phrase)
    found = (
        list(re.finditer(rf"(?<![\w-]){re.escape(words[-1])}(?![\w-])", text, re.IGNORECASE))
        if words
        else []
    )
    return found[-1].start() if found else -1
