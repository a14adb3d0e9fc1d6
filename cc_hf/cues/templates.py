"""Free-form cues: words before, after or in place of the focus, or a template around it."""

from __future__ import annotations

import re

from cc_hf.cues.noun_phrases import phrase_start
from cc_hf.cues.placement import insert_before
from cc_hf.errors import InputError, check_choice
from cc_hf.schema import Focus

__all__ = ["PLACEMENTS", "SLOT", "apply_cue"]

PLACEMENTS = ("before", "after", "replace", "phrase")
#: Placeholder of the focus in a cue.
SLOT = "{focus}"
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def apply_cue(source: str, focus: Focus, cue: str, placement: str = "before") -> str:
    """Put a cue at the focus of a source; nothing else changes.

    Examples:
        >>> apply_cue("The bat was old.", Focus("bat", 4), "{focus} (the animal)")
        'The bat (the animal) was old.'
        >>> apply_cue("The young nurse left.", Focus("nurse", 10), "[male]", "phrase")
        'The [male] young nurse left.'
    """
    check_choice("placement", placement, PLACEMENTS)
    if not cue.strip():
        raise InputError("cue: expected words, got a blank")
    if (wrong := [name for name in _PLACEHOLDER.findall(cue) if name != SLOT]) or cue.replace(
        SLOT, ""
    ).count("{"):
        raise InputError(
            f"cue: expected no other placeholder than {SLOT}, got {wrong[0] if wrong else cue!r}"
        )
    end = focus.start + len(focus.text)
    if not focus.text or focus.start < 0 or source[focus.start : end] != focus.text:
        raise InputError(
            f"the focus {focus.text!r} is not at character {focus.start} of {source!r}, which has"
            f" {source[focus.start : end]!r} there"
        )
    if SLOT in cue:
        with_cue = source[: focus.start] + cue.replace(SLOT, focus.text) + source[end:]
    elif placement == "before":
        with_cue = insert_before(source, focus.start, cue)
    elif placement == "phrase":
        with_cue = insert_before(source, phrase_start(source, focus), cue)
    elif placement == "after":
        with_cue = f"{source[:end]} {cue}{source[end:]}"
    else:
        with_cue = source[: focus.start] + cue + source[end:]
    if with_cue == source:
        raise InputError(
            f"cue: {cue!r} changes nothing in {source!r}; expected a cue that tells the readings"
            " apart"
        )
    return with_cue
