"""The words in which two sentences of GATE differ."""

from __future__ import annotations

from cc_hf.text.tokenization import whole_words

__all__ = ["only_words"]


def only_words(first: str, second: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words, lower-cased runs of letters and digits, that only the first of two texts
    has, and those that only the second has.

    Examples:
        >>> [sorted(words) for words in only_words("La jefa es alta.", "El jefe es alto.")]
        [['alta', 'jefa', 'la'], ['alto', 'el', 'jefe']]
    """
    left, right = (frozenset(whole_words(text.lower())) for text in (first, second))
    return left - right, right - left
