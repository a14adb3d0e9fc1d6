"""Where a cue goes: at a character position of the source, so that nothing else changes."""

from __future__ import annotations

from cc_hf.errors import InputError

__all__ = ["insert_before", "replace_at", "token_start"]


def insert_before(source: str, start: int, cue: str) -> str:
    """The source with the cue and a space before character `start`.

    Raises:
        InputError: when `start` is outside the source or the cue is blank.

    >>> insert_before("The doctor left.", 4, "[female]")
    'The [female] doctor left.'
    """
    if not 0 <= start < len(source):
        raise InputError(
            f"cue position: expected 0 to {len(source) - 1}, got {start} in {source!r}"
        )
    if not cue.strip():
        raise InputError("cue: expected words to insert, got a blank")
    return f"{source[:start]}{cue} {source[start:]}"


def replace_at(source: str, start: int, length: int, text: str) -> str:
    """The source with the `length` characters from `start` on replaced by the text; nothing else
    changes.

    Raises:
        InputError: when these characters are not all in the source, there are none of them, or the
            text is blank.

    >>> replace_at("Is it there? It is.", 13, 2, "The key")
    'Is it there? The key is.'
    """
    if length < 1 or not 0 <= start <= len(source) - length:
        raise InputError(
            f"replacement: expected at least one character within the {len(source)} of the source,"
            f" got {length} at {start} in {source!r}"
        )
    if not text.strip():
        raise InputError("replacement: expected words, got a blank")
    return f"{source[:start]}{text}{source[start + length :]}"


def token_start(source: str, index: int) -> int:
    """The position of the 0-based token `index` of the source split at single spaces (two spaces
    make an empty token).

    Raises:
        InputError: when there is no such token.

    >>> token_start("The doctor left.", 1)
    4
    """
    tokens = source.split(" ")
    if not 0 <= index < len(tokens):
        raise InputError(f"token index: expected 0 to {len(tokens) - 1}, got {index} in {source!r}")
    return sum(len(token) + 1 for token in tokens[:index])
