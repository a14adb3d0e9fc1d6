"""Which characters of a text the tokens of a model stand for, and which tokens people read as one
word.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Sequence

__all__ = ["token_spans", "word_groups"]

#: scripts whose words are not set apart by spaces: each token is shown by itself
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "IDEOGRAPHIC")


def token_spans(pieces: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Per token its characters of the text; (end, end) of a token without any.

    Spaces are left out of account. Where the pieces are not the text letter by letter (normalised,
    escaped, unknown), the longest common parts are taken, and what lies between them is shared out
    in order.

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
    matcher = difflib.SequenceMatcher(
        None, joined, "".join(letter for _, letter in letters), autojunk=False
    )
    for kind, left, left_end, right, right_end in matcher.get_opcodes():
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
