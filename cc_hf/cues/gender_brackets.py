"""«[male]» and «[female]» before the words that name a person (Vamvas & Sennrich 2021, section 3.3)."""

from __future__ import annotations

from cc_hf.cues.placement import insert_before
from cc_hf.errors import InputError
from cc_hf.schema import Focus

__all__ = ["gender_bracket_sources"]

_CUES = {"male": "[male]", "female": "[female]"}


def gender_bracket_sources(source: str, focus: Focus, gold: str) -> tuple[tuple[str], tuple[str]]:
    """The correct and the incorrect contrastive source, one each.

    Args:
        source: an English sentence.
        focus: the words that name the person.
        gold: «male» or «female».

    Raises:
        InputError: for another gold gender.

    >>> gender_bracket_sources("The doctor left.", Focus("doctor", 4), "female")
    (('The [female] doctor left.',), ('The [male] doctor left.',))
    """
    if gold not in _CUES:
        raise InputError(f"gold gender: expected male or female, got {gold!r}")
    other = "female" if gold == "male" else "male"
    return (insert_before(source, focus.start, _CUES[gold]),), (insert_before(source, focus.start, _CUES[other]),)
