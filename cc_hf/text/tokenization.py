"""Moses tokens, with or without their positions in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from sacremoses import MosesTokenizer

__all__ = ["Token", "moses_tokens", "moses_words"]

_HYPHEN = re.compile("(-)")


@dataclass(frozen=True, slots=True)
class Token:
    """A token with its position.

    Attributes:
        text: the token.
        start: 0-based position of its first character in the text.
    """

    text: str
    start: int


@cache
def _tokenizer(lang: str) -> MosesTokenizer:
    return MosesTokenizer(lang=lang)


def moses_tokens(text: str, lang: str) -> list[Token]:
    """Return the Moses tokens of a text in order, without escaping.

    A token that Moses writes differently from the text is dropped.

    Args:
        text: a sentence.
        lang: ISO 639-1 code; rules for English apply to languages that Moses does not know.

    Examples:
        >>> moses_tokens("A bat, isn't it?", "en")[1:3]
        [Token(text='bat', start=2), Token(text=',', start=5)]
    """
    tokens, end = [], 0
    for word in _tokenizer(lang).tokenize(text, escape=False):
        start = text.find(word, end)
        if start >= 0:
            tokens.append(Token(word, start))
            end = start + len(word)
    return tokens


def moses_words(text: str, lang: str, *, split_hyphens: bool = False) -> list[str]:
    """Return the Moses tokens of a text as Moses writes them, without escaping.

    Args:
        text: a sentence.
        lang: ISO 639-1 code; rules for English apply to languages that Moses does not know.
        split_hyphens: also split tokens at hyphens, which become tokens.

    Examples:
        >>> moses_words("Der Golf-Club ist zu.", "de", split_hyphens=True)
        ['Der', 'Golf', '-', 'Club', 'ist', 'zu', '.']
    """
    words: list[str] = _tokenizer(lang).tokenize(text, escape=False)
    return (
        [part for word in words for part in _HYPHEN.split(word) if part] if split_hyphens else words
    )
