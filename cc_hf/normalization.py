"""One form of every text that is judged or scored: Unicode composed (NFC), without invisible
characters of format; and which texts are blank.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

__all__ = [
    "NORMALIZATION",
    "composed",
    "composed_start",
    "composed_value",
    "has_invisible_characters",
    "is_blank",
]

#: The form, as signatures name it: NFC without characters of the category Cf.
NORMALIZATION = "nfc-cf"

#: Characters of format that show nothing (Unicode: Cf with Default_Ignorable_Code_Point, and
#: interlinear annotation): soft hyphens, zero-width spaces, marks of direction, tags. Others of Cf,
#: such as the Arabic signs of numbers, can be seen.
_FORMAT = (
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
_HAS_FORMAT = re.compile(f"[{_FORMAT}]")
#: Letters that joiners are a part of: Arabic, Syriac, Indic, Tibetan, Burmese, Khmer and Mongolian.
_JOINING = (
    "\u0600-\u06ef\u06fa-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
)
#: Thai, Lao, Burmese and Khmer, where a zero-width space parts words.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_EMOJI = "\u2190-\u2bff\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff"
_SAME_JOINERS = re.compile("([\u200c\u200d])\\1+")
#: A character of format; the groups are those that belong to the spelling. The virama before a
#: joiner at the end of a word spells an older form of Malayalam letters.
_FORMAT_OR_SPELLING = re.compile(
    f"((?<=[{_UNSPACED}])\u200b(?=[{_UNSPACED}])|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])|(?<=[\u094d\u09cd\u0d4d\u0dca])\u200d"
    f"|(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}])|\U0001f3f4[\U000e0020-\U000e007f]+)|[{_FORMAT}]"
)

#: Controls, format characters such as zero-width spaces, and separators.
_INVISIBLE_CATEGORIES = frozenset(("Cc", "Cf", "Zl", "Zp", "Zs"))
#: Letters, marks and a symbol that show nothing: joiners, fillers, the empty Braille pattern and
#: variation selectors.
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
) | {chr(code) for codes in (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)) for code in codes}


def composed(text: str) -> str:
    """Return a text in NFC, without invisible characters of format.

    Joiners between letters that need them (Persian, Hindi) and within emoji are spelling, and stay.

    Examples:
        >>> composed("A\\u0308rz\\u00adtin") == "\\xc4rztin"
        True
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _without_format(text))


def has_invisible_characters(text: str) -> bool:
    """Return whether `composed` removes characters of format from a text."""
    return _without_format(text) != text


def _without_format(text: str) -> str:
    if _HAS_FORMAT.search(text) is None:
        return text
    text = _SAME_JOINERS.sub(r"\1", text)
    return _FORMAT_OR_SPELLING.sub(lambda match: match[1] or "", text)


def composed_start(text: str, start: int) -> int:
    """Return the 0-based position of a character after its text was composed.

    Examples:
        >>> composed_start("Die A\\u0308rztin kam.", 12)
        11
    """
    return len(composed(text[:start])) if 0 <= start <= len(text) else start


def composed_value(value: Any) -> Any:
    """Return a value of a reference with all its texts composed."""
    if isinstance(value, str):
        return composed(value)
    if isinstance(value, Mapping):
        return {composed_value(key): composed_value(member) for key, member in value.items()}
    return [composed_value(member) for member in value] if isinstance(value, list) else value


def is_blank(text: str) -> bool:
    """Return whether a text shows nothing: it has white space and invisible characters only.

    Examples:
        >>> is_blank(" \\u200b\\u3164"), is_blank("."), is_blank("")
        (True, False, True)
    """
    first = text[:1]
    if first.isascii() and first.isalnum():  # most texts, and it is asked a dozen times of each
        return False
    return all(c in _INVISIBLE or unicodedata.category(c) in _INVISIBLE_CATEGORIES for c in text)
