"""Moses tokens, with or without their positions in the text, and tokens by a plain pattern."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacremoses import MosesTokenizer

__all__ = [
    "Token",
    "letters",
    "moses_tokens",
    "moses_words",
    "whole_words",
    "word_texts",
    "word_tokens",
]

_HYPHEN = re.compile("(-)")
_LETTERS = re.compile(r"\w+")
#: Marks that Moses writes within tokens: for a hyphen or a slash, and escapes such as "&apos;".
_MOSES_MARK = r"@[-/]@|&(?:amp|apos|gt|lt|quot|#[0-9]{2,3});"
_WORD = re.compile(rf"{_MOSES_MARK}|\w+(?:'\w+)?|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Token:
    """A token with its position.

    Attributes:
        start: 0-based position of its first character in the text.
    """

    text: str
    start: int


@cache
def _tokenizer(lang: str) -> MosesTokenizer:
    from sacremoses import MosesTokenizer  # here because it builds its classes of characters first

    return MosesTokenizer(lang=lang)


def moses_tokens(text: str, lang: str) -> list[Token]:
    """Return the Moses tokens of a text in order, without escaping.

    A token that Moses writes differently from the text is dropped.

    Args:
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


def word_tokens(text: str) -> list[Token]:
    """Return words and single punctuation marks in order, by the same rule for all languages.

    A word may contain one apostrophe. A mark that Moses writes, such as "@-@" or "&apos;", is one
    token. This is much faster than Moses.

    Examples:
        >>> [token.text for token in word_tokens("It &apos;s a vice @-@ chair.")]
        ['It', '&apos;', 's', 'a', 'vice', '@-@', 'chair', '.']
    """
    return [Token(match[0], match.start()) for match in _WORD.finditer(text)]


def word_texts(text: str) -> list[str]:
    """Return the texts of `word_tokens`.

    Examples:
        >>> word_texts("A bat!")
        ['A', 'bat', '!']
    """
    return _WORD.findall(text)


def letters(text: str) -> str:
    """Return the letters, marks and digits of a text, composed (NFC), without all else.

    Two texts with the same letters are taken for the same where texts went through spreadsheets,
    which drop apostrophes and change quotation marks.

    Examples:
        >>> letters("'Ja', so ist's.") == letters("„Ja“ so ists")
        True
    """
    composed = unicodedata.normalize("NFC", text)
    return "".join(c for c in composed if unicodedata.category(c)[0] in "LMN")


def whole_words(text: str) -> list[str]:
    """Return the runs of letters and digits in order, without punctuation.

    Examples:
        >>> whole_words("The doctor's vice-chair.")
        ['The', 'doctor', 's', 'vice', 'chair']
    """
    return _LETTERS.findall(text)
