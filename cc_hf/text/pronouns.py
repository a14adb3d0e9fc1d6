"""The grammatical gender of a third-person pronoun's form."""

from __future__ import annotations

__all__ = ["pronoun_gender"]

#: Genders by pronoun, as in the programs of Emelin & Sennrich 2021. The German "sie" may also be a
#: plural.
_GENDERS = {
    "de": {"er": "male", "sie": "female", "es": "neutral"},
    "fr": {"il": "male", "ils": "male", "elle": "female", "elles": "female"},
    "ru": {"он": "male", "она": "female", "оно": "neutral"},
}
_LATIN_LOOKALIKES = str.maketrans("aeopcxyhkmtb", "аеорсхункмтв")


def pronoun_gender(pronoun: str, lang: str) -> str:
    """Return the gender of a German, French or Russian third-person pronoun, in any case.

    A Russian pronoun may contain Latin letters that look like Cyrillic ones, as in Wino-X.

    Returns:
        "male", "female" or "neutral"; "unknown" for any other word, a plural without gender
        ("они"), or another language.

    Examples:
        >>> pronoun_gender("Elle", "fr"), pronoun_gender("man", "de")
        ('female', 'unknown')
    """
    form = pronoun.strip().lower()
    if lang == "ru":
        form = form.translate(_LATIN_LOOKALIKES)
    return _GENDERS.get(lang, {}).get(form, "unknown")
