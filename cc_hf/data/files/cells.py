"""Cells of the rows of users' files, checked. A cell that is not as expected raises an InputError
that begins with its column.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from cc_hf.errors import InputError, shown
from cc_hf.languages import language_tag
from cc_hf.normalization import is_blank
from cc_hf.reading import whole_number
from cc_hf.schema import UNCOUNTED_CATEGORY, Focus

__all__ = [
    "CELL_SEPARATOR",
    "SOURCE_KEYS",
    "TRANSLATION_KEYS",
    "as_string",
    "category_cell",
    "focus_cell",
    "focus_positions",
    "gender_of",
    "language_cell",
    "split_cell",
    "text_cell",
    "texts_cell",
]

#: Columns of rows that are in a contrastive format already.
SOURCE_KEYS = ("correct_sources", "incorrect_sources")
TRANSLATION_KEYS = ("correct_translation", "contrastive_translations")
#: Separates the cues, sources or translations of one cell.
CELL_SEPARATOR = "|"
_UNESCAPED = re.compile(r"(?<!\\)\|")
_ESCAPED = r"\|"
_GENDER_OF = {
    **dict.fromkeys(("male", "m", "masc", "masculine", "man", "männlich", "masculin"), "male"),
    **dict.fromkeys(("masculino", "maskulin", "maschile"), "male"),
    **dict.fromkeys(("female", "f", "fem", "feminine", "woman", "w", "weiblich"), "female"),
    **dict.fromkeys(("féminin", "femenino", "feminin", "femminile"), "female"),
}


def focus_positions(text: str, source: str) -> list[int]:
    """Return the 0-based positions, ascending, at which words occur in the source as whole words.

    Args:
        text: the words, matched with case. Empty text occurs nowhere.

    Examples:
        >>> focus_positions("the nurse", "Ask the nurse if the nurses know the nurse.")
        [4, 33]
    """
    return (
        [
            match.start()
            for match in re.finditer(re.escape(text), source)
            if _is_whole(source, match.start(), match.end())
        ]
        if text
        else []
    )


def text_cell(row: Mapping[str, Any], key: str, *, required: bool = False) -> str:
    """Return a text, "" for a cell that is absent; a required one must not be blank."""
    text = row.get(key, "")
    if not isinstance(text, str) or (required and is_blank(text)):
        raise InputError(f"{key}: expected a text, got {text!r}")
    return text


def category_cell(row: Mapping[str, Any]) -> str:
    """Return the category, "" if absent; the one that minimum accuracies leave out is refused."""
    category = text_cell(row, "category")
    if category == UNCOUNTED_CATEGORY:
        raise InputError(
            f"category: expected any name but {UNCOUNTED_CATEGORY!r}, which minimum accuracies"
            " leave out; rename the category, such as 'other'"
        )
    return category


def as_string(value: Any) -> str:
    """Return a value as `extra` holds it: a text, or the JSON of another value."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def gender_of(text: object) -> str:
    """Return "male" or "female" for a word that says so, "" for others.

    Examples:
        >>> gender_of("Female"), gender_of("m"), gender_of("neutral")
        ('female', 'male', '')
    """
    return _GENDER_OF.get(text.strip().casefold(), "") if isinstance(text, str) else ""


def split_cell(text: str) -> list[str]:
    r"""Return the texts of a cell, which "|" separates; "\|" is a bar within one of them.

    Examples:
        >>> split_cell(r"Press A \| B. | Press C.")
        ['Press A | B.', 'Press C.']
    """
    return [part.strip().replace(_ESCAPED, CELL_SEPARATOR) for part in _UNESCAPED.split(text)]


def language_cell(row: Mapping[str, Any], key: str) -> str:
    """Return a language as `cc_hf.languages.language_tag` does, "" if absent."""
    text = text_cell(row, key)
    return language_tag(text, key) if text else ""


def texts_cell(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return a list of texts, none of them blank; in a table, `CELL_SEPARATOR` separates them."""
    texts = row.get(key)
    # A cell with as many bars as the row's source is one text. Other cells are refused beside a
    # source with a bar, unless they have "\|" for bars within texts.
    if isinstance(texts, str):
        texts = _separated(row, key, texts)
    if not isinstance(texts, list) or not texts or not all(_is_filled(text) for text in texts):
        raise InputError(
            f'{key}: expected at least one text, in a list or separated by "{CELL_SEPARATOR}", got'
            f" {shown(texts)}"
        )
    return tuple(texts)


def _separated(row: Mapping[str, Any], key: str, cell: str) -> list[str]:
    beside = "source", *(["correct_translation"] if key in TRANSLATION_KEYS else [])
    n_bars = {
        name: text.count(CELL_SEPARATOR)
        for name in beside
        if isinstance(text := row.get(name), str) and text
    }
    n = len(_UNESCAPED.findall(cell))
    if not n or _ESCAPED in cell or not any(n_bars.values()):
        return split_cell(cell)
    if set(n_bars.values()) == {n}:
        return [cell.strip()]
    named = next(name for name in n_bars if n_bars[name])
    raise InputError(
        f'{key}: "{CELL_SEPARATOR}" separates texts, but also stands in the {named} of the row:'
        f' write "{_ESCAPED}" for each that belongs to a text, or JSONL with a list, got'
        f" {shown(cell)}"
    )


def _is_filled(text: object) -> bool:
    return isinstance(text, str) and not is_blank(text)


def focus_cell(row: Mapping[str, Any], source: str) -> Focus:
    """Return the words at `focus` and `position`, one of which may be absent."""
    text = text_cell(row, "focus")
    if "position" not in row:
        if not text:
            raise InputError(
                'expected "focus", "position" or both, got neither; or give'
                f" {' and '.join(SOURCE_KEYS)}, or {' and '.join(TRANSLATION_KEYS)}"
            )
        positions = focus_positions(text, source)
        if not positions:
            raise InputError(
                f"focus: {text!r} does not occur as a whole word in {source!r}; write it exactly as"
                " in the source, with its capitals"
            )
        if len(positions) > 1:
            raise InputError(
                f"focus: {text!r} occurs {len(positions)} times as a whole word in {source!r}; give"
                ' its "position", the 0-based number of its first character'
            )
        return Focus(text, positions[0])
    position = whole_number(row["position"])  # 7.0 is how pandas writes a column with empty cells
    if position is None or position >= len(source):
        raise InputError(
            "position: expected the 0-based number of a character of the source, 0 to"
            f" {len(source) - 1}, got {repr(row['position'])[:80]}"
        )
    if not text:
        text = (
            source[position:].split()[0].rstrip(".,;:!?…»”\"'")
            if not source[position].isspace()
            else ""
        )
        if not text:
            raise InputError(f"position: no word begins at character {position} of {source!r}")
    if source[position : position + len(text)] != text:
        raise InputError(
            f"focus: {text!r} is not at character {position} of {source!r}, which has"
            f" {source[position : position + len(text)]!r} there"
        )
    if not _is_whole(source, position, position + len(text)):
        raise InputError(
            f"position: {text!r} at character {position} of {source!r} begins or ends within a word"
        )
    return Focus(text, position)


def _is_whole(source: str, start: int, end: int) -> bool:
    """Return whether no letter, mark or digit continues the text on either side."""
    return not (_is_within_word(source, start) or _is_within_word(source, end))


def _is_within_word(source: str, boundary: int) -> bool:
    return (
        0 < boundary < len(source)
        and unicodedata.category(source[boundary - 1])[0] in "LMN"
        and unicodedata.category(source[boundary])[0] in "LMN"
    )
