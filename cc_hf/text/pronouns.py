"""The grammatical gender that a third-person pronoun shows by its form."""

from __future__ import annotations

__all__ = ["pronoun_gender"]

#: as in the programs of Emelin & Sennrich 2021; German «sie» may be a plural too
_GENDERS = {
    "de": {"er": "male", "sie": "female", "es": "neutral"},
    "fr": {"il": "male", "ils": "male", "elle": "female", "elles": "female"},
    "ru": {"он": "male", "она": "female", "оно": "neutral"},
}
_LATIN_LOOKALIKES = str.maketrans("aeopcxyhkmtb", "аеорсхункмтв")


def pronoun_gender(pronoun: str, lang: str) -> str:
    """male, female or neutral; «unknown» for another word, a plural without gender («они»), or
    another language.

    Case and blanks around the word are ignored. A Russian pronoun may hold Latin letters that look
    like Cyrillic ones, as those of Wino-X do.

    >>> pronoun_gender("Elle", "fr"), pronoun_gender("man", "de")
    ('female', 'unknown')
    """
    form = pronoun.strip().lower()
    if lang == "ru":
        form = form.translate(_LATIN_LOOKALIKES)
    return _GENDERS.get(lang, {}).get(form, "unknown")
