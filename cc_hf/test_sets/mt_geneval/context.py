"""What the context of a contextual sentence of MT-GenEval tells of the person. The data do not mark
the person, who is found by `cc_hf.text.professions`.
"""

from __future__ import annotations

import re

__all__ = ["LOCATED", "context_gender"]

#: Language -> number of contextual rows of dev and test in which the person and the person's gender
#: are known.
LOCATED = {
    "ar": (708, 1091),
    "de": (538, 1090),
    "es": (485, 1085),
    "fr": (432, 1091),
    "hi": (352, 1089),
    "it": (418, 1088),
    "nl": (444, 1068),
    "pt": (514, 1079),
    "ru": (527, 1086),
}

_PRONOUNS = {
    "male": re.compile(r"\b(he|him|his|himself)\b", re.IGNORECASE),
    "female": re.compile(r"\b(she|her|hers|herself)\b", re.IGNORECASE),
}


def context_gender(context: str) -> str:
    """Return "male" or "female" if all third-person pronouns of a text have it, else "".

    Examples:
        >>> context_gender("She spoke for the dockers."), context_gender("He met her.")
        ('female', '')
    """
    genders = [gender for gender, pattern in _PRONOUNS.items() if pattern.search(context)]
    return genders[0] if len(genders) == 1 else ""
