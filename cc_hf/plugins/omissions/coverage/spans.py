"""Which parts of a text may be left out of it: spans that are given, or chunks that need no parser.

The chunks stand in for the subtrees of Vamvas & Sennrich (2022), whose program parses.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from cc_hf.errors import InputError
from cc_hf.tables.rows import read_rows

__all__ = [
    "Span",
    "chunks",
    "content_words",
    "function_words",
    "parsed_spans",
    "table_of",
    "without",
]

_TOKEN = re.compile(r"\w+(?:[-'’.,]\w+)*|[^\w\s]")
_BEFORE_MARK = re.compile(r"(?<!\s)\s+([.,;:!?])")
_BLANKS = re.compile(r"\s{2,}")
_MAX_WORDS = 3


class Span(NamedTuple):
    """Characters [start, end) of a text."""

    start: int
    end: int


class _Token(NamedTuple):
    start: int
    end: int
    kind: str  # "content", "function" or "mark"
    is_capital: bool


@cache
def function_words() -> Mapping[str, frozenset[str]]:
    """Return the function words of each language that has a table, ISO 639-1, in lower case."""
    path = Path(str(files(__package__).joinpath("function_words.tsv")))
    return {row["lang"]: frozenset(row["words"].split()) for _, row in read_rows(path)}


def table_of(lang: str) -> str:
    """Return the name of the table of function words of a language for signatures.

    Examples:
        >>> table_of("en"), table_of("fi")
        ('en', 'none')
    """
    return lang if lang in function_words() else "none"


def parsed_spans(spans: str, where: str) -> list[Span]:
    """Return spans from their JSON; none for ""."""
    if not spans:
        return []
    try:
        parsed = [Span(*map(operator.index, pair)) for pair in json.loads(spans)]
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{where}: expected spans such as [[0, 6], [12, 21]], got {spans!r}"
        ) from error
    if bad := [span for span in parsed if not 0 <= span.start < span.end]:
        raise InputError(f"{where}: expected 0 <= start < end, got {list(bad[0])}")
    return parsed


def content_words(text: str, lang: str) -> list[str]:
    """Return the content words of a text in their order.

    Examples:
        >>> content_words("Exit the Plane, the plane!", "en")
        ['Exit', 'Plane', 'plane']
    """
    return [
        text[token.start : token.end] for token in _tokens(text, lang) if token.kind == "content"
    ]


def without(text: str, span: Span, *, tidy: bool = False) -> str:
    """Return a text without a span, and without blanks at its ends.

    With `tidy`, blanks are also joined, and removed before a mark; the paper's program does not.

    Examples:
        >>> without("Please exit the plane.", Span(12, 21), tidy=True)
        'Please exit.'
    """
    rest = (text[: span.start] + text[span.end :]).strip()
    return _BLANKS.sub(" ", _BEFORE_MARK.sub(r"\1", rest)) if tidy else rest


def chunks(text: str, lang: str, *, keeps_names: bool = False) -> list[Span]:
    """Return the parts of a text of up to three words that may be missing from its translation.

    A part holds no mark and ends with a content word. It begins behind a content word, a mark or
    nothing; or, if it has content words only, between a function word and a content word ("small"
    in "the small plane"). A content word is left outside it.

    Examples:
        >>> text = "Please exit the plane after landing."
        >>> [text[span.start : span.end] for span in chunks(text, "en")]
        ['exit the plane', 'Please exit', 'the plane', 'after landing', 'Please', 'exit']
    """
    tokens = _tokens(text, lang)
    n_content = sum(token.kind == "content" for token in tokens)
    spans = [
        (start, end)
        for length in range(_MAX_WORDS, 0, -1)
        for start in range(len(tokens) - length + 1)
        if _is_chunk(tokens, start, end := start + length, n_content)
        and not (keeps_names and any(_splits_name(tokens, position) for position in (start, end)))
    ]
    return [Span(tokens[start].start, tokens[end - 1].end) for start, end in spans]


def _is_chunk(tokens: Sequence[_Token], start: int, end: int, n_content: int) -> bool:
    kinds = [token.kind for token in tokens[start:end]]
    if "mark" in kinds or kinds[-1] != "content" or kinds.count("content") == n_content:
        return False
    if start == 0 or tokens[start - 1].kind != "function":
        return True
    return "function" not in kinds and end < len(tokens) and tokens[end].kind == "content"


def _splits_name(tokens: Sequence[_Token], position: int) -> bool:
    """Return whether a boundary lies between two capitalised words, the first word aside."""
    return (
        1 < position < len(tokens)
        and tokens[position - 1].is_capital
        and tokens[position].is_capital
    )


def _tokens(text: str, lang: str) -> list[_Token]:
    functions = function_words().get(lang, frozenset())
    tokens = []
    for match in _TOKEN.finditer(text):
        word = match.group()
        is_word = any(map(str.isalnum, word))
        kind = "mark" if not is_word else "function" if word.lower() in functions else "content"
        is_name = kind == "content" and word[0].isupper() and lang != "de"
        tokens.append(_Token(match.start(), match.end(), kind, is_name))
    return tokens
