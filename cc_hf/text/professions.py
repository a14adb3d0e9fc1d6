"""Where an English sentence names a person by a profession.

`professions.txt` lists nouns for people, mostly professions, in the singular; it was made from the
English sentences of MT-GenEval alone.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from cc_hf.schema import Focus

__all__ = ["profession"]

_WORD, _TO = re.compile(r"\w+"), re.compile(r"\bto $")


def profession(sentence: str) -> Focus | None:
    """Return the first noun for a person in a sentence, or None if there is none.

    Singular nouns come before plural ones, and nouns in lower case before names such as "Butcher".
    A word after "to" is a verb ("to judge").

    Examples:
        >>> profession("Besant was a prolific writer and a powerful orator.")
        Focus(text='writer', start=22)
        >>> profession("He failed to judge the artists.")
        Focus(text='artists', start=23)
    """
    is_plural = _nouns()
    nouns = [
        match
        for match in _WORD.finditer(sentence)
        if match.group().lower() in is_plural
        and not _TO.search(sentence, max(0, match.start() - 4), match.start())
    ]
    written_small = [match for match in nouns if match.group()[0].islower()]
    singular = [match for match in written_small if not is_plural[match.group().lower()]]
    first = next(iter(singular or written_small or nouns), None)
    return None if first is None else Focus(first.group(), first.start())


@cache
def _nouns() -> dict[str, bool]:
    """Return noun -> whether it is plural."""
    words = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").lower().split()
    return {**dict.fromkeys(words, False), **dict.fromkeys(map(_plural, words), True)}


def _plural(noun: str) -> str:
    if noun.endswith("man"):
        return noun.removesuffix("man") + "men"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun.removesuffix("y") + "ies"
    return noun + ("es" if noun.endswith(("s", "ch", "sh", "x")) else "s")
