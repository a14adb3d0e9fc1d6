"""The strict reader of JSON files that cc_hf wrote and users pass to a later command, perhaps
changed: each value is compared with a form before anything is made of it.

A form is a `Kind`, a list with the form of each item, a dict with the form under each key (further
keys are ignored), or `Each` for the values under any keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.data.files.text_files import read_lines
from cc_hf.errors import InputError, shown
from cc_hf.files import parse_json

__all__ = [
    "AMOUNT",
    "COUNT",
    "DAMAGED",
    "NUMBER",
    "POSITIVE",
    "TEXT",
    "Each",
    "Kind",
    "check_form",
    "optional",
    "read_kept",
]

_LARGEST = 2**53  # up to here, floats hold integers exactly


@dataclass(frozen=True)
class Kind:
    """A kind of plain values, with what messages call it."""

    name: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class Each:
    """An object whose keys may be any texts, each with a value of the form."""

    form: Any


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and abs(value) <= _LARGEST
    )


TEXT = Kind("a text", lambda value: isinstance(value, str))
NUMBER = Kind("a number", _is_number)
AMOUNT = Kind("a number from 0", lambda value: _is_number(value) and value >= 0)
COUNT = Kind("a whole number from 0", lambda value: type(value) is int and 0 <= value <= _LARGEST)
POSITIVE = Kind("a whole number from 1", lambda value: COUNT.fits(value) and value > 0)

#: A damaged pair of a corpus: its line, and what is wrong with it.
DAMAGED = Kind(
    "a line and a reason",
    lambda value: isinstance(value, list) and list(map(type, value)) == [int, str] and value[0] > 0,
)


def optional(kind: Kind) -> Kind:
    """Return the kind that also accepts null."""
    return Kind(f"{kind.name} or null", lambda value: value is None or kind.fits(value))


def read_kept(path: str | Path, form: Any, what: str) -> Any:
    """Return the value of a JSON file that cc_hf wrote.

    Args:
        what: what is expected, for messages, such as "the JSON of `cc-hf compare --by time`".

    Raises:
        InputError: for a file that cannot be read, is not JSON or has another form. The message
            names the file and the place in it.
    """
    expected = f"expected {what}"
    lines = read_lines(Path(path))
    try:
        value = parse_json("\n".join(lines))
    except InputError as error:
        raise InputError(f"{path}: {expected} ({error})") from None
    try:
        check_form(value, form)
    except InputError as error:
        raise InputError(f"{path}: {expected}; {error}; use the file as it was written") from None
    return value


def check_form(value: Any, form: Any, where: str = "") -> None:
    """Check a value that was parsed from JSON.

    Args:
        where: its place, for messages, such as "counts: bat"; "" for the whole.

    Raises:
        InputError: for another value.

    Examples:
        >>> check_form({"counts": {"bat": [1, 2]}}, {"counts": Each([COUNT])})
        >>> check_form({"counts": {"bat": [1, -2]}}, {"counts": Each([COUNT])})
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: counts: bat: item 2: expected a whole number from 0, got -2
    """
    beginning = f"{where}: " if where else ""
    if isinstance(form, Kind):
        if not form.fits(value):
            raise InputError(f"{beginning}expected {form.name}, got {shown(value)}")
    elif isinstance(form, list):
        if not isinstance(value, list):
            raise InputError(f"{beginning}expected a list, got {shown(value)}")
        for number, item in enumerate(value, 1):
            check_form(item, form[0], f"{beginning}item {number}")
    else:
        if not isinstance(value, Mapping):
            raise InputError(f"{beginning}expected an object, got {shown(value)}")
        forms = dict.fromkeys(value, form.form) if isinstance(form, Each) else form
        if missing := [key for key in forms if key not in value]:
            raise InputError(f"{beginning}expected the key {missing[0]!r}, got {shown(value)}")
        for key, inner in forms.items():
            check_form(value[key], inner, f"{beginning}{key}")
