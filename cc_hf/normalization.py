"""One form of every text that is judged or scored: Unicode composed (NFC); and which texts are
blank.

Metrics compose rows in `Metric.check_input` and `cc_hf.evaluation.judging.judge`, and
`ScoringRequest` composes what evaluators read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

__all__ = ["NORMALIZATION", "composed", "composed_start", "composed_value", "is_blank"]

#: The form, as signatures name it.
NORMALIZATION = "nfc"

#: Controls, format characters such as zero-width spaces, and separators.
_INVISIBLE_CATEGORIES = frozenset(("Cc", "Cf", "Zl", "Zp", "Zs"))
#: Letters, marks and a symbol that show nothing: joiners, fillers, the empty Braille pattern and
#: variation selectors.
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
) | {chr(code) for codes in (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)) for code in codes}


def composed(text: str) -> str:
    """Return a text in NFC, where a letter with an accent is one character.

    Examples:
        >>> composed("A\\u0308rztin") == "\\xc4rztin"
        True
    """
    return unicodedata.normalize("NFC", text)


def composed_start(text: str, start: int) -> int:
    """Return the position of a character after its text was composed.

    Args:
        start: 0-based position in it; one outside of the text is returned as it is.

    Examples:
        >>> composed_start("Die A\\u0308rztin kam.", 12)
        11
    """
    return len(composed(text[:start])) if 0 <= start <= len(text) else start


def composed_value(value: Any) -> Any:
    """Return a value of a reference with all its texts composed.

    Args:
        value: a text, a list or mapping of values, or anything else, which is returned as it is.
            Keys of mappings are composed, too.

    Examples:
        >>> composed_value({"a\\u0308": ["o\\u0308"]}) == {"\\xe4": ["\\xf6"]}
        True
    """
    if isinstance(value, str):
        return composed(value)
    if isinstance(value, Mapping):
        return {composed_value(key): composed_value(member) for key, member in value.items()}
    return [composed_value(member) for member in value] if isinstance(value, list) else value


def is_blank(text: str) -> bool:
    """Return whether a text shows nothing: it is empty, or has white space, controls, zero-width
    and other invisible characters only.

    Examples:
        >>> is_blank(" \\u200b\\u3164"), is_blank("."), is_blank("")
        (True, False, True)
    """
    return all(c in _INVISIBLE or unicodedata.category(c) in _INVISIBLE_CATEGORIES for c in text)
