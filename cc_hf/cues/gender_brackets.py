"""Gender brackets: "[male]" and "[female]" before the words that name a person, worded in the
language of the source (Vamvas & Sennrich 2021, section 3.3).
"""

from __future__ import annotations

from collections.abc import Sequence

from cc_hf.cues.placement import insert_before
from cc_hf.errors import InputError
from cc_hf.schema import Focus

__all__ = ["GENDER_BRACKETS", "differ_by_gender_brackets", "gender_bracket_sources"]

#: A mapping from source language to cues by gender. The English cues are the paper's. The others
#: are translations, which were never validated with people.
GENDER_BRACKETS: dict[str, dict[str, str]] = {
    "ar": {"male": "[ذكر]", "female": "[أنثى]"},
    "cs": {"male": "[mužský]", "female": "[ženský]"},
    "de": {"male": "[männlich]", "female": "[weiblich]"},
    "en": {"male": "[male]", "female": "[female]"},
    "es": {"male": "[masculino]", "female": "[femenino]"},
    "et": {"male": "[mees]", "female": "[naine]"},
    "fi": {"male": "[mies]", "female": "[nainen]"},
    "fr": {"male": "[masculin]", "female": "[féminin]"},
    "he": {"male": "[זכר]", "female": "[נקבה]"},
    "hi": {"male": "[पुरुष]", "female": "[महिला]"},
    "it": {"male": "[maschile]", "female": "[femminile]"},
    "lt": {"male": "[vyras]", "female": "[moteris]"},
    "lv": {"male": "[vīrietis]", "female": "[sieviete]"},
    "nl": {"male": "[mannelijk]", "female": "[vrouwelijk]"},
    "pl": {"male": "[męski]", "female": "[żeński]"},
    "pt": {"male": "[masculino]", "female": "[feminino]"},
    "ro": {"male": "[masculin]", "female": "[feminin]"},
    "ru": {"male": "[мужской]", "female": "[женский]"},
    "tr": {"male": "[erkek]", "female": "[kadın]"},
    "uk": {"male": "[чоловічий]", "female": "[жіночий]"},
}


def gender_bracket_sources(
    source: str, focus: Focus, gold: str, *, src_lang: str = "en"
) -> tuple[tuple[str], tuple[str]]:
    """Return the correct and the incorrect contrastive sources, one each.

    Args:
        source: a sentence.
        focus: the words that name the person.
        gold: gender of the person, "male" or "female".
        src_lang: ISO 639-1 code of the source, a key of `GENDER_BRACKETS`.

    Raises:
        InputError: for another gold gender, a language without a wording, or a focus outside the
            source.

    Examples:
        >>> gender_bracket_sources("The doctor left.", Focus("doctor", 4), "female")
        (('The [female] doctor left.',), ('The [male] doctor left.',))
        >>> gender_bracket_sources("Lääkäri lähti.", Focus("Lääkäri", 0), "male", src_lang="fi")[0]
        ('[mies] Lääkäri lähti.',)
    """
    if src_lang not in GENDER_BRACKETS:
        raise InputError(
            "src_lang: expected a language with a wording of the gender brackets"
            f" ({', '.join(GENDER_BRACKETS)}), got {src_lang!r}"
        )
    cues = GENDER_BRACKETS[src_lang]
    if gold not in cues:
        raise InputError(f"gold gender: expected male or female, got {gold!r}")
    other = "female" if gold == "male" else "male"
    return (insert_before(source, focus.start, cues[gold]),), (
        insert_before(source, focus.start, cues[other]),
    )


def differ_by_gender_brackets(
    correct_sources: Sequence[str], incorrect_sources: Sequence[str], *, src_lang: str = "en"
) -> bool:
    """Return whether both sides differ only in the brackets for male and female.

    Args:
        correct_sources: contrastive sources with correct cues.
        incorrect_sources: contrastive sources with incorrect cues.
        src_lang: ISO 639-1 code of the sources. The result is False for a language without a
            wording.

    Examples:
        >>> differ_by_gender_brackets(["The [female] doctor left."], ["The [male] doctor left."])
        True
        >>> differ_by_gender_brackets(["A flying bat."], ["A baseball bat."])
        False
    """
    cues = GENDER_BRACKETS.get(src_lang)
    if cues is None:
        return False
    male, female = cues["male"], cues["female"]

    def swapped(source: str) -> str:
        return female.join(part.replace(female, male) for part in source.split(male))

    has_cue = all(male in source or female in source for source in correct_sources)
    return has_cue and {swapped(source) for source in correct_sources} == set(incorrect_sources)
