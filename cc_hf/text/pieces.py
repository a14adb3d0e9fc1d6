"""Where the pieces of a tokenizer stand in the text: SentencePiece, BPE with @@ or </w>, WordPiece.

By characters; what a tokenizer changed is bridged.
"""

from __future__ import annotations

import difflib
import html
import unicodedata
from collections.abc import Sequence

__all__ = ["piece_characters"]

_BEFORE, _AFTER = ("▁", "##", "Ġ"), ("</w>", "@@")


def piece_characters(pieces: Sequence[str], text: str) -> list[tuple[int, ...]]:
    """Per piece the characters of the text that it stands for, ascending; () for those that stand
    for none.

    Pieces that stand for no character they share with the text, such as an unknown one, get those
    that no other piece has between their neighbours'.

    Args:
        pieces: as the tokenizer names them, "" for tokens that are no text, such as EOS.
        text: what they were made of.

    >>> piece_characters(["▁The", "▁be", "d", ".", ""], "The bed.")
    [(0, 1, 2), (4, 5), (6,), (7,), ()]
    >>> piece_characters(["didn", "&apo@@", "s;t", "go"], "didn't go")
    [(0, 1, 2, 3), (4,), (5,), (7, 8)]
    """
    letters, owners = [], []
    for number, piece in enumerate(pieces):
        for letter in _plain(piece):
            letters.append(letter)
            owners.append(number)
    places = [place for place, character in enumerate(text) for _ in _folded(character)]
    characters = "".join(_folded(character) for character in text)
    found: list[set[int]] = [set() for _ in pieces]
    for start, at, size in _blocks("".join(letters), characters):
        for step in range(size):
            found[owners[start + step]].add(places[at + step])
    _bridge(
        found,
        [not piece for piece in pieces],
        {place for place in places if not text[place].isspace()},
    )
    return [tuple(sorted(own)) for own in found]


def _plain(piece: str) -> str:
    for mark in _BEFORE:
        piece = piece.removeprefix(mark)
    for mark in _AFTER:
        piece = piece.removesuffix(mark)
    return _folded(html.unescape(piece))


def _folded(text: str) -> str:
    """In compatibility forms and without blanks, which tokenizers change."""
    return "".join(
        character
        for character in unicodedata.normalize("NFKC", text)
        if not character.isspace() and character != "▁"
    )


def _blocks(letters: str, characters: str) -> list[tuple[int, int, int]]:
    if letters == characters:
        return [(0, 0, len(letters))]
    return [
        (block.a, block.b, block.size)
        for block in difflib.SequenceMatcher(
            None, letters, characters, autojunk=False
        ).get_matching_blocks()
    ]


def _bridge(found: list[set[int]], is_mark: Sequence[bool], free: set[int]) -> None:
    """Give characters that nobody has to the pieces without any that stand at their place; the
    first of several takes them.
    """
    free = free - set().union(*found)
    for number, own in enumerate(found):
        if own or is_mark[number] or not free:
            continue
        before = max((max(other) for other in found[:number] if other), default=-1)
        after = min((min(other) for other in found[number + 1 :] if other), default=max(free) + 1)
        own |= {place for place in free if before < place < after}
        free -= own
