"""The answers to a campaign of Pearmut (Zouhar & Kocmi 2026): what its dashboard downloads, or the
file that it keeps. What an answer has to say is checked with the key, as that of a sheet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cc_hf.errors import InputError, in_file, shown
from cc_hf.reading import JSONL, read_text
from cc_hf.records import parse_json, parse_objects, read_value

__all__ = ["CELL", "COLUMN", "ROW", "Filled", "is_log", "read_log"]

#: Keys of our own that Pearmut keeps in its answers: the id of a row, a column, what is in it.
ROW, COLUMN, CELL = "item_id", "column", "cell"

_RESET = "__RESET__"  # what Pearmut writes where the answers of a user are deleted
#: Beginnings of the positions of items that are asked besides the rows.
_OTHER = ("welcome_", "goodbye_", "random_")
_REMEDY = "use the answers as Pearmut wrote them"
_ENTRY = {"user_id": str, "item_i?": None, "item?": None, "annotation": None}


class Filled(NamedTuple):
    """A row as a rater sent it: where it is, its id, and column -> what is in it."""

    where: str
    id: str
    cells: Mapping[str, Any]


def is_log(path: Path) -> bool:
    """Return whether a file has answers of Pearmut, by its name, or its content if it is JSON."""
    if path.suffix.lower() in JSONL:
        return True
    if path.suffix.lower() != ".json":
        return False
    try:
        value = parse_json(read_text(path), "JSON")
    except InputError:
        return False  # who reads it as a key says what is wrong
    return isinstance(value, dict) and all(isinstance(log, list) for log in value.values())


def read_log(path: Path) -> dict[str, list[Filled]]:
    """Read the answers of all users.

    Returns:
        User -> its rows, in the order of the users' names. The last answer to a row counts, and
        none that was reset.

    Raises:
        InputError: for a file that is none of Pearmut, with answers to several campaigns, or to
            one that was not written here.
    """
    rows: dict[str, dict[str, Filled]] = {}
    for where, entry in _entries(path):
        with in_file(where, _REMEDY):
            read_value(_ENTRY, entry)
            user, answers = entry["user_id"], entry["annotation"]
            if answers == _RESET:
                rows.pop(user, None)
            elif not str(entry.get("item_i")).startswith(_OTHER):
                filled = _filled(f"{where} ({user})", entry.get("item"), answers)
                rows.setdefault(user, {})[filled.id] = filled
    return {user: list(rows[user].values()) for user in sorted(rows)}


def _entries(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each answer with its place."""
    if path.suffix.lower() in JSONL:
        for line, entry in parse_objects(read_text(path).splitlines(), path, remedy=_REMEDY):
            yield str(line), entry
        return
    with in_file(path, _REMEDY):
        form = {str: [{str: None}]}
        campaigns: dict[str, Any] = parse_json(read_text(path), "answers of Pearmut", form)
        if len(campaigns) != 1:
            names = ", ".join(campaigns) or "none"
            raise InputError(f"expected the answers to one campaign, got {names}")
    ((_, log),) = campaigns.items()
    for number, entry in enumerate(log, 1):
        yield f"{path}: answer {number}", entry


def _filled(where: str, items: Any, answers: Any) -> Filled:
    """Return the row of a form, whose items say which column each is."""
    read_value({"item": [{f"{COLUMN}?": str}], "annotation": [None]}, _both(items, answers))
    if len(items) != len(answers):
        raise InputError(f"expected {len(items)} answers, got {len(answers)}")
    name = items[0].get(ROW) if items else None
    if not isinstance(name, str):
        raise InputError(
            f"{ROW}: expected the id of a row, as a campaign of `cc-hf build sheets` has it, got"
            f" {shown(name)}"
        )
    columns = {
        item[COLUMN]: item.get(CELL) if item.get("form") is None else answer
        for item, answer in zip(items, answers, strict=True)
        if COLUMN in item
    }
    return Filled(f"{where}: row {name!r}", name, columns)


def _both(items: Any, answers: Any) -> dict[str, Any]:
    return {"item": items, "annotation": answers}
