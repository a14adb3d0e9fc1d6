"""English third-person pronouns in the other gender."""

from __future__ import annotations

import re

from cc_hf.errors import check_choice

__all__ = ["PRONOUNS", "with_pronouns"]

_FEMALE = {"he": "she", "himself": "herself", "him": "her"}
_MALE = {"she": "he", "herself": "himself", "hers": "his"}
#: Gender -> third-person pronouns.
PRONOUNS = {
    "female": frozenset({"she", "her", "hers", "herself"}),
    "male": frozenset({"he", "him", "his", "himself"}),
}
_PRONOUN = re.compile(
    rf"\b(?:{'|'.join(p for of in PRONOUNS.values() for p in of)})\b", re.IGNORECASE
)
# What looks behind keeps the time of a search linear: a match begins where a run begins.
_NEXT_WORD = re.compile(r"(?<![ \t])[ \t]+([\w'’-]+)")
_LAST_WORD = re.compile(r"(?<![\w'’-])([\w'’-]+)[ \t]+$")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words that follow "her" where it is an object: "told her the truth".
_AFTER_OBJECTS = _words(
    "a about after again against all alone an and any anything anyway anyways anywhere around "
    "as at away back bad because before but by did do does done during every everything for "
    "from had happy has have how if in instead into is it less like lots many more much never "
    "not nothing of off often on one or out over right safe satisfied several so some someone "
    "something than that the these this those three through to today tomorrow too two under "
    "until up upon was well were what when where whether which while who why will with "
    "without would yesterday"
)
#: Words that follow "his" where no noun does: "the key is his and not yours".
_AFTER_HERS = _words(
    "and as at because but by for from had has if in is of on or than that to too was were "
    "when while who with"
)
#: Verbs after which "her" is more often a person than a possessive: "gave her bread".
_BEFORE_OBJECTS = _words(
    "asked ask asking bring brings brought bringing gave give gives given giving help helped "
    "helping helps hand handed let made make makes offer offered offering offers owe owed "
    "owes send sends sent show showed showing shows teach taught tell tells told telling wish "
    "wished"
)


#: Nouns and adjectives that end as adverbs do: "her family", "her early work".
_NO_ADVERBS = _words(
    "ally anomaly assembly belly bully butterfly costly daily deadly early elderly family friendly "
    "holy homily hourly jelly lively lonely lovely melancholy monopoly monthly quarterly reply "
    "supply tally ugly weekly yearly"
)


def with_pronouns(text: str, gender: str) -> str:
    """Return an English text with all third-person pronouns in one gender, "female" or "male".

    Pronouns of this gender stay as they are, and so does everything else. "her" becomes "him" or
    "his", and "his" becomes "her" or "hers", by the words beside it.

    Raises:
        InputError: for another gender.

    Examples:
        >>> with_pronouns("The guard thanked the baker because she lent him her car.", "male")
        'The guard thanked the baker because he lent him his car.'
    """
    check_choice("gender", gender, ("female", "male"))

    def changed(match: re.Match[str]) -> str:
        word = match.group()
        new = _in_gender(word.lower(), gender, text[: match.start()], text[match.end() :])
        if new == word.lower():
            return word
        return new.upper() if word.isupper() else new.capitalize() if word[0].isupper() else new

    return _PRONOUN.sub(changed, text)


def _in_gender(word: str, gender: str, before: str, after: str) -> str:
    match = _NEXT_WORD.match(after)
    following = match.group(1).lower() if match else ""
    if gender == "female":
        if word == "his":
            return "her" if following and following not in _AFTER_HERS else "hers"
        return _FEMALE.get(word, word)
    if word == "her":
        return "him" if _is_object(before, following) else "his"
    return _MALE.get(word, word)


def _is_object(before: str, following: str) -> bool:
    """Return whether "her" between these words is an object and no possessive."""
    if not following or following in _AFTER_OBJECTS or following.isdecimal():
        return True
    if len(following) > 4 and following.endswith("ly"):
        return following not in _NO_ADVERBS
    preceding = _LAST_WORD.search(before)
    return preceding is not None and preceding.group(1).lower() in _BEFORE_OBJECTS
