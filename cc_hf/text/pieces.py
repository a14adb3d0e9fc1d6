"""The characters of a text that its tokens stand for.

`piece_characters` reads the names that a tokenizer gives to tokens (SentencePiece, BPE with @@ or
</w>, WordPiece), and returns only certain matches. `token_spans` reads what each token adds to the
text, and divides the whole text among tokens, for display.
"""

from __future__ import annotations

import difflib
import html
import unicodedata
from collections.abc import Sequence

__all__ = ["piece_characters", "token_spans", "word_groups"]

#: Scripts without spaces between words, in which each token is shown on its own.
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "IDEOGRAPHIC")

_BEFORE, _AFTER = ("▁", "##", "Ġ"), ("</w>", "@@")


def piece_characters(pieces: Sequence[str], text: str) -> list[tuple[int, ...]]:
    """Return, for each piece, the positions of the characters that it stands for.

    A piece may share no character with the text, such as an unknown token. It then gets the
    characters between those of its neighbours that no other piece has.

    Args:
        pieces: names of the tokens, "" for tokens that are not text, such as EOS.

    Returns:
        Ascending 0-based positions per piece; () for a piece that stands for no character.

    Examples:
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
    origins = [origin for origin, character in enumerate(text) for _ in _folded(character)]
    characters = "".join(_folded(character) for character in text)
    positions: list[set[int]] = [set() for _ in pieces]
    for kind, left, left_end, right, _ in _edits("".join(letters), characters):
        if kind == "equal":
            for step in range(left_end - left):
                positions[owners[left + step]].add(origins[right + step])
    _bridge(
        positions,
        [not piece for piece in pieces],
        {origin for origin in origins if not text[origin].isspace()},
    )
    return [tuple(sorted(indices)) for indices in positions]


def token_spans(pieces: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Divide a text among its tokens.

    Unlike in `piece_characters`, every letter belongs to a token, even if the tokens do not spell
    the text (because they are normalised, escaped or unknown). The letters between the longest
    common parts are shared out in order. Spaces are ignored.

    Args:
        pieces: what each token adds to the text, "" for a token that adds nothing.

    Returns:
        Start and end of each token; equal ones for a token without characters.

    Examples:
        >>> token_spans(["Die", "Ärzt", "in", ".", ""], "Die  Ärztin.")
        [(0, 3), (5, 9), (9, 11), (11, 12), (12, 12)]
    """
    letters = [(index, letter) for index, letter in enumerate(text) if not letter.isspace()]
    owners = [
        owner for owner, piece in enumerate(pieces) for letter in piece if not letter.isspace()
    ]
    joined = "".join(letter for piece in pieces for letter in piece if not letter.isspace())
    owner_of: list[int | None] = [None] * len(letters)
    for kind, left, left_end, right, right_end in _edits(
        joined, "".join(letter for _, letter in letters)
    ):
        if kind != "delete" and left_end > left:
            for i in range(right, right_end):
                owner_of[i] = owners[left + (i - right) * (left_end - left) // (right_end - right)]
    _fill_gaps(owner_of, pieces)
    spans: list[tuple[int, int]] = []
    end = 0
    for token in range(len(pieces)):
        covered = [letters[i][0] for i, owner in enumerate(owner_of) if owner == token]
        spans.append((covered[0], covered[-1] + 1) if covered else (end, end))
        end = spans[-1][1]
    return spans


def word_groups(text: str, spans: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the token indices of each word.

    A word begins after a space, at a change between letters and punctuation, and with each token of
    a script without spaces. A token without characters, such as a part of a character, belongs to
    the next token. The last token, if it has no characters (EOS), is a group of its own.

    Examples:
        >>> word_groups("Die Ärztin.", [(0, 3), (4, 8), (8, 10), (10, 11), (11, 11)])
        [[0], [1, 2], [3], [4]]
    """
    groups: list[list[int]] = []
    silent: list[int] = []
    before: tuple[int, int] | None = None
    for number, (start, end) in enumerate(spans):
        if start == end and number < len(spans) - 1:
            silent.append(number)
        elif before is None or _begins_word(text, before, (start, end)):
            groups.append([*silent, number])
            silent, before = [], (start, end)
        else:
            groups[-1] += [*silent, number]
            silent, before = [], (start, end)
    return groups


def _begins_word(text: str, before: tuple[int, int], span: tuple[int, int]) -> bool:
    """Return whether a token begins a new word, given the token with characters before it."""
    start, end = span
    # The token is EOS, or there is a space before it.
    if start == end or text[before[1] : start]:
        return True
    left, right = text[before[1] - 1], text[start]
    return _is_mark(left) != _is_mark(right) or _is_unspaced(left) or _is_unspaced(right)


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "PS" and letter not in "'’-"


def _is_unspaced(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(_UNSPACED)


def _plain(piece: str) -> str:
    """Return a piece without the marks of its tokenizer."""
    for mark in _BEFORE:
        piece = piece.removeprefix(mark)
    for mark in _AFTER:
        piece = piece.removesuffix(mark)
    return _folded(html.unescape(piece))


def _folded(text: str) -> str:
    """Return a text in compatibility form (NFKC) without spaces, because tokenizers change both."""
    return "".join(
        character
        for character in unicodedata.normalize("NFKC", text)
        if not character.isspace() and character != "▁"
    )


def _edits(letters: str, characters: str) -> Sequence[tuple[str, int, int, int, int]]:
    """Return the edits from the letters of tokens to the characters of their text."""
    # Most texts are spelled by their tokens; this skips the slow comparison.
    if letters == characters:
        return [("equal", 0, len(letters), 0, len(letters))]
    return difflib.SequenceMatcher(None, letters, characters, autojunk=False).get_opcodes()


def _bridge(positions: list[set[int]], is_mark: Sequence[bool], free: set[int]) -> None:
    """Assign free characters to the first of the empty pieces at their position."""
    free = free - set().union(*positions)
    for number, indices in enumerate(positions):
        if indices or is_mark[number] or not free:
            continue
        before = max((max(other) for other in positions[:number] if other), default=-1)
        after = min(
            (min(other) for other in positions[number + 1 :] if other), default=max(free) + 1
        )
        indices |= {position for position in free if before < position < after}
        free -= indices


def _fill_gaps(owner_of: list[int | None], pieces: Sequence[str]) -> None:
    """Assign letters that match nothing."""
    # They belong to a token without letters at that position, else to the token before them, else
    # to the first token.
    before: int | None = None
    filler: int | None = None
    for i, owner in enumerate(owner_of):
        if owner is not None:
            before, filler = owner, None
            continue
        if filler is None:
            # An empty last token is EOS, which gets no letters.
            after = next((o for o in owner_of[i:] if o is not None), len(pieces) - 1)
            silent = [
                token
                for token in range(0 if before is None else before + 1, after)
                if not pieces[token]
            ]
            filler = silent[0] if silent else before if before is not None else 0
        owner_of[i] = filler
