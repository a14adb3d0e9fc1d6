"""Transliteration to Latin letters, as in programs that compare words in ASCII."""

from __future__ import annotations

import unicodedata

__all__ = ["in_latin_letters"]

# The letters are written as in Unidecode 1.3: lower-case Russian, Ukrainian and German.
_LETTERS = str.maketrans(
    dict(zip("абвгдезийклмнопрстуфыэіґў", "abvgdeziiklmnoprstufyeigu", strict=True))
    | {
        "ж": "zh",
        "х": "kh",
        "ц": "ts",
        "ч": "ch",
        "ш": "sh",
        "щ": "shch",
        "ъ": '"',
        "ь": "'",
        "ю": "iu",
        "я": "ia",
        "ё": "io",
        "ї": "yi",
        "є": "ie",
    }
    | {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l"}
)


def in_latin_letters(text: str) -> str:
    """Transliterate Cyrillic letters, and remove diacritics; other scripts are kept.

    Args:
        text: text in lower case.

    Examples:
        >>> in_latin_letters("фонт"), in_latin_letters("schlösser"), in_latin_letters("cвинья")
        ('font', 'schlosser', "cvin'ia")
    """
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(c for c in plain if not unicodedata.combining(c))
