"""Tell texts in another language by the most frequent words of 29 languages. This is a test of
whole files: a short text may have too few of these words.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from cc_hf.tables.rows import read_rows
from cc_hf.text.tokenization import whole_words

__all__ = ["frequent_words", "other_language"]

_FEWEST = 2
#: How many words of the other language must stand against each word of the expected one: quotes and
#: titles in a right translation have fewer.
_RATIO = 2


@cache
def frequent_words(column: str = "words") -> Mapping[str, frozenset[str]]:
    """Return words of each language that has a list (ISO 639-1), for Serbian in both scripts."""
    path = Path(str(files(__package__).joinpath("frequent_words.tsv")))
    return {row["lang"]: frozenset(row[column].split()) for _, row in read_rows(path)}


def other_language(text: str, lang: str) -> str:
    """Return the language that a text is in, if it is another one than expected.

    The text has two different frequent words or more that the other language has and the expected
    one has not, and more than twice as many as the other way round.

    Returns:
        ISO 639-1 code; "" for a text in the expected language, one that has too few such words, or
        a language without a list.

    Examples:
        >>> other_language("El médico le dijo que ella estaba muy cansada.", "pt")
        'es'
        >>> other_language("O médico disse-lhe que ela estava muito cansada.", "pt")
        ''
    """
    words = frozenset(whole_words(text.lower()))
    language, most = "", _FEWEST - 1
    for other, only_theirs, only_expected in _contrasts(lang):
        n = len(words & only_theirs)
        if n > most and n > _RATIO * len(words & only_expected):
            language, most = other, n
    return language


@cache
def _contrasts(lang: str) -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
    """Return other languages, their words that `lang` lacks, and those of `lang` that they lack."""
    lists = frequent_words()
    expected = lists.get(lang)
    if expected is None:
        return ()
    return tuple(
        (other, words - expected, expected - words)
        for other, words in lists.items()
        if other != lang
    )
