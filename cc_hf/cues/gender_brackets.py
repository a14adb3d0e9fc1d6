"""Gender brackets: "[male]" and "[female]" before the words that name a person, worded in the
language of the source (Vamvas & Sennrich 2021, section 3.3).
"""

from __future__ import annotations

from collections.abc import Sequence

from cc_hf.cues.wordings import GENDER_WORDINGS, GENDERS
from cc_hf.errors import InputError
from cc_hf.languages import base_code
from cc_hf.schema import Focus

__all__ = ["differ_by_gender_brackets", "gender_bracket_sources"]

_BRACKETS = GENDER_WORDINGS["gender_brackets"]


def gender_bracket_sources(
    source: str, focus: Focus, gold: str, *, src_lang: str = "en"
) -> tuple[tuple[str], tuple[str]]:
    """Return the correct and the incorrect contrastive sources, one each.

    Args:
        focus: the words that name the person.
        gold: gender of the person, "male" or "female".

    Raises:
        InputError: for another gold gender, a language without a wording, or a focus outside the
            source.

    Examples:
        >>> gender_bracket_sources("The doctor left.", Focus("doctor", 4), "female")
        (('The [female] doctor left.',), ('The [male] doctor left.',))
    """
    src_lang = base_code(src_lang)
    if src_lang not in _BRACKETS:
        raise InputError(
            "src_lang: expected a language with a wording of the gender brackets"
            f" ({', '.join(_BRACKETS)}), got {src_lang!r}"
        )
    if gold not in GENDERS:
        raise InputError(f"gold gender: expected male or female, got {gold!r}")
    other = "female" if gold == "male" else "male"
    correct, incorrect = (
        _BRACKETS[src_lang].source(source, focus, gender) for gender in (gold, other)
    )
    return (correct,), (incorrect,)


def differ_by_gender_brackets(
    correct_sources: Sequence[str], incorrect_sources: Sequence[str], *, src_lang: str = "en"
) -> bool:
    """Return whether both sides differ only in the brackets for male and female.

    Examples:
        >>> differ_by_gender_brackets(["The [female] doctor left."], ["The [male] doctor left."])
        True
    """
    src_lang = base_code(src_lang)
    if src_lang not in _BRACKETS:
        return False
    female, male = (_BRACKETS[src_lang].cues[gender] for gender in GENDERS)

    def swapped(source: str) -> str:
        return female.join(part.replace(female, male) for part in source.split(male))

    has_cue = all(male in source or female in source for source in correct_sources)
    return has_cue and {swapped(source) for source in correct_sources} == set(incorrect_sources)
