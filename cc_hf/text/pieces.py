"""Where tokens stand in the text that they were made of.

`piece_characters` takes the names of a tokenizer (SentencePiece, BPE with @@ or </w>, WordPiece)
and says for sure which characters a piece stands for. `token_spans` takes what each token adds to
the text, and cuts the whole text for people to look at.
"""

from __future__ import annotations

import difflib
import html
import unicodedata
from collections.abc import Sequence

__all__ = ["piece_characters", "token_spans", "word_groups"]

#: scripts whose words are not set apart by spaces: each token is shown by itself
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "IDEOGRAPHIC")

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
    for kind, left, left_end, right, _ in _edits("".join(letters), characters):
        if kind == "equal":
            for step in range(left_end - left):
                found[owners[left + step]].add(places[right + step])
    _bridge(
        found,
        [not piece for piece in pieces],
        {place for place in places if not text[place].isspace()},
    )
    return [tuple(sorted(own)) for own in found]


def token_spans(pieces: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Cut a text at its tokens: return start and end of each, (end, end) of a token without any.

    Unlike `piece_characters`, every letter belongs to a token, also where tokens are not the text
    letter by letter (normalised, escaped, unknown): what lies between the longest common parts is
    shared out in order. Spaces are ignored.

    Args:
        pieces: what each token adds, "" for nothing of its own.
        text: the whole.

    >>> token_spans(["Die", "Ärzt", "in", ".", ""], "Die  Ärztin.")
    [(0, 3), (5, 9), (9, 11), (11, 12), (12, 12)]
    >>> token_spans(["Herr", "", "geht"], "Herr Žü geht")
    [(0, 4), (5, 7), (8, 12)]
    """
    letters = [(at, letter) for at, letter in enumerate(text) if not letter.isspace()]
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
    place = 0
    for token in range(len(pieces)):
        own = [letters[i][0] for i, owner in enumerate(owner_of) if owner == token]
        spans.append((own[0], own[-1] + 1) if own else (place, place))
        place = spans[-1][1]
    return spans


def word_groups(text: str, spans: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the numbers of the tokens of each word.

    A word begins behind a space, at the change between letters and punctuation, and with each token
    of a script without spaces. A token without characters, such as a part of a character, goes with
    the next; the last one, the end of the sentence, stands alone.

    Args:
        text: the whole.
        spans: as `token_spans` returns them.

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
    start, end = span
    # the end, or a space between
    if start == end or text[before[1] : start]:
        return True
    left, right = text[before[1] - 1], text[start]
    return _is_mark(left) != _is_mark(right) or _is_unspaced(left) or _is_unspaced(right)


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "PS" and letter not in "'’-"


def _is_unspaced(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(_UNSPACED)


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


def _edits(letters: str, characters: str) -> Sequence[tuple[str, int, int, int, int]]:
    """Return how the letters of tokens become the characters of their text, as difflib does."""
    if letters == characters:
        return [("equal", 0, len(letters), 0, len(letters))]
    return difflib.SequenceMatcher(None, letters, characters, autojunk=False).get_opcodes()


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


def _fill_gaps(owner_of: list[int | None], pieces: Sequence[str]) -> None:
    """Letters that match nothing belong to a token without letters that stands there, else to the
    token before them, else to the first.
    """
    before: int | None = None
    filler: int | None = None
    for i, owner in enumerate(owner_of):
        if owner is not None:
            before, filler = owner, None
            continue
        if filler is None:
            # the last token is EOS, if it is empty
            after = next((o for o in owner_of[i:] if o is not None), len(pieces) - 1)
            silent = [
                token
                for token in range(0 if before is None else before + 1, after)
                if not pieces[token]
            ]
            filler = silent[0] if silent else before if before is not None else 0
        owner_of[i] = filler
