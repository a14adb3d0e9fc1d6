"""Latin letters for Cyrillic ones and for letters with marks, as programs compare words that wrote
everything in ASCII first.
"""

from __future__ import annotations

import unicodedata

__all__ = ["in_latin_letters"]

# as Unidecode 1.3 writes lower-case letters of Russian, Ukrainian and German
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
    """A lower-case text with Latin letters for Cyrillic ones, and without diacritics; other scripts
    stay as they are.

    >>> in_latin_letters("фонт"), in_latin_letters("schlösser"), in_latin_letters("cвинья")
    ('font', 'schlosser', "cvin'ia")
    """
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(c for c in plain if not unicodedata.combining(c))
