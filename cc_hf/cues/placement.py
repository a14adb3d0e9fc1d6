"""Insertion of cues at a character position, so that nothing else in the source changes."""

from __future__ import annotations

from cc_hf.errors import InputError

__all__ = ["insert_before", "replace_at"]


def insert_before(source: str, start: int, cue: str) -> str:
    """Insert a cue and a space before the character at a 0-based position of the source.

    Raises:
        InputError: for a position outside the source, or a blank cue.

    Examples:
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
    """Replace characters of the source from a 0-based position by a text; nothing else changes.

    Raises:
        InputError: for characters that are not all in the source, a length below 1, or a blank
            text.

    Examples:
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
