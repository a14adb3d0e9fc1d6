"""Moses tokens with their places in the text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sacremoses import MosesTokenizer

__all__ = ["Token", "moses_tokens"]


@dataclass(frozen=True, slots=True)
class Token:
    """A token and the character of the text at which it starts."""

    text: str
    start: int


@cache
def _tokenizer(lang: str) -> MosesTokenizer:
    return MosesTokenizer(lang=lang)


def moses_tokens(text: str, lang: str) -> list[Token]:
    """The Moses tokens of a text, without escaping, in order. A token that Moses writes differently from the text is left out.

    >>> moses_tokens("A bat, isn't it?", "en")[1:3]
    [Token(text='bat', start=2), Token(text=',', start=5)]
    """
    found, at = [], 0
    for word in _tokenizer(lang).tokenize(text, escape=False):
        start = text.find(word, at)
        if start >= 0:
            found.append(Token(word, start))
            at = start + len(word)
    return found
