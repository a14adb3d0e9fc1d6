"""JSON, read and written by the types and rules of dataclasses.

A form says what is expected. It is a type: a plain one, `X | None`, `tuple[X, ...]`, `tuple[X, Y]`,
`Mapping[str, X]`, a dataclass, or one of these with rules in `Annotated`. What other programs wrote
has no class. Its form is a rule, a list with the form of each item, or a dict with the form under
each key; a key that ends in "?" may be absent, and further ones are ignored. `{str: form}` is of an
object with any keys, and None of any value.

All types are checked before any object is made, whose constructor checks how its fields agree.
Values of one form, such as those of a field of many records, are checked together, and one by one
only to find the first that does not fit.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from itertools import accumulate, chain
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from cc_hf.errors import FileError, InputError, in_file, shown
from cc_hf.normalization import is_blank
from cc_hf.reading import Place, read_text
from cc_hf.rules import Form, Kind, Rule, form_of_type, types_of

__all__ = [
    "AMOUNT",
    "COUNT",
    "OMITTED",
    "POSITIVE",
    "PROBABILITY",
    "WORD",
    "NonEmpty",
    "form_of",
    "parse_json",
    "parse_object",
    "parse_objects",
    "read_json",
    "read_record",
    "read_value",
    "read_values",
    "write_record",
]

_Value = TypeVar("_Value")
#: How the message names the value at an index, with ": " at its end.
_Where = Callable[[int], str]

#: The metadata of a field that is not written where it has its default.
OMITTED = {"is_omitted": True}

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_LARGEST = 1 << 63  # integers of JSON can be larger than any float
_NUMBERS = (int, float)
_LISTS = (list, tuple)
_SINGLE = (str, *_NUMBERS)
#: Type of a single value -> the types that it accepts, and what messages call them.
_PLAIN: dict[Any, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a text"),
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: (_NUMBERS, "a number"),
}
_A_LIST = _LISTS, "a list"
_AN_OBJECT = (Mapping,), "an object"


@dataclass(frozen=True)
class NonEmpty(Rule):
    """A list or an object with at least one item, of a form."""

    form: Any = None

    def fits(self, value: Any) -> bool:
        """Return whether there is an item."""
        return bool(value)

    def __str__(self) -> str:
        return "at least one item"


WORD: TypeAlias = Annotated[str, Kind("a text that is not blank", lambda text: not is_blank(text))]
AMOUNT: TypeAlias = Annotated[float, Kind("a number from 0", lambda value: value >= 0)]
PROBABILITY: TypeAlias = Annotated[
    float, Kind("a probability above 0", lambda value: 0 < value <= 1)
]
COUNT: TypeAlias = Annotated[int, Kind("a whole number from 0", lambda value: value >= 0)]
POSITIVE: TypeAlias = Annotated[int, Kind("a whole number from 1", lambda value: value > 0)]


def read_json(path: str | Path, what: str, form: Any = Any, *, remedy: str = "") -> Any:
    """Return the value of a file that is one JSON value, "-" for standard input.

    Args:
        what: what is expected, for messages, such as "the JSON of `cc-hf compare --by time -o`".
        form: the form of the value, see `cc_hf.records`.
        remedy: what to do about a file of another form; "" if its form says it.

    Raises:
        FileError: for a file that cannot be read, is not JSON or has another form.
    """
    with in_file(path, remedy):
        return parse_json(read_text(Path(path)), what, form)


def parse_json(text: str, what: str = "JSON", form: Any = Any) -> Any:
    r"""Parse JSON that people or other programs wrote, and refuse what would be misread.

    Args:
        what: what is expected, for messages.
        form: the form of the value, see `cc_hf.records`.

    Raises:
        InputError: for a value of another form, text that is not JSON, a key that occurs twice in
            an object (one of its values would be lost), lists or objects that are nested too
            deeply, a number of thousands of digits, and an escape such as "\ud800", half of a
            surrogate pair.

    Examples:
        >>> parse_json('{"n": 1}')
        {'n': 1}
    """
    try:
        value = json.loads(text, object_pairs_hook=_without_duplicates)
        if _HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        reason = "lists or objects are nested too deeply to be read"
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        remedy = "correct the encoding in the program that wrote it"
        reason = f"{half} is a lone surrogate, half of a character; {remedy}"
    except (InputError, json.JSONDecodeError) as error:
        reason = str(error)
    except ValueError:  # Python limits the digits of an integer
        reason = "a number has more digits than can be read"
    else:
        return read_record(form, value, what)
    raise InputError(f"expected {what}, got {shown(text)} ({reason})")


def parse_object(line: str, where: object, *, remedy: str = "") -> dict[str, Any]:
    """Parse one JSON object that people or other programs wrote; `where` is its place in a file.

    Examples:
        >>> parse_object("[1]", Place("rows.jsonl", 3))
        Traceback (most recent call last):
            ...
        cc_hf.errors.FileError: rows.jsonl: line 3: expected a JSON object, got [1]
    """
    with in_file(where, remedy):
        value = parse_json(line, "a JSON object")
        if not isinstance(value, dict):
            raise InputError(f"expected a JSON object, got {shown(value)}")
    return value


def parse_objects(
    lines: Iterable[str], path: str | Path, *, remedy: str = ""
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Parse a JSON object on each line, as `parse_object` does. Blank lines are skipped."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            where = Place(path, number)
            yield where, parse_object(line, where, remedy=remedy)


def read_record(form: Callable[..., _Value], value: Any, what: str) -> _Value:
    """Return what a plain value stands for; of a dataclass, the inverse of `write_record`.

    A class may have the attribute `COMPUTED`, names of properties that are written for readers of
    the file, and ignored here as are fields that the constructor computes.

    Examples:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Row:
        ...     counts: tuple[int, ...]
        >>> read_record(Row, {"counts": [1, 2]}, "a row").counts
        (1, 2)
    """
    try:
        record: _Value = read_value(form, value)
    except FileError:  # of another file that the constructor reads
        raise
    except InputError as error:
        raise InputError(f"expected {what}; {error}") from None
    return record


def read_value(form: Any, value: Any, where: str = "") -> Any:
    """Return what a plain value stands for, as `read_record` does.

    Args:
        where: its place, for messages, such as "counts: bat"; "" for the whole.

    Examples:
        >>> read_value({"counts": {str: [int]}}, {"counts": {"bat": [1, 2]}})
        {'counts': {'bat': [1, 2]}}
    """
    return read_values(form, [value], lambda _: f"{where}: " if where else "")[0]


def write_record(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as plain dicts, lists and values, ready for JSON."""
    row = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if not field.metadata or value != _default(field):
            row[field.name] = _written(value)
    computed = {name: _written(getattr(record, name)) for name in getattr(record, "COMPUTED", ())}
    return {**row, **{name: value for name, value in computed.items() if value}}


def _written(value: Any) -> Any:
    if value is None or isinstance(value, _SINGLE):  # most values, and the quickest to tell
        return value
    if is_dataclass(value):
        return write_record(value)
    if isinstance(value, Mapping):
        return {key: _written(item) for key, item in value.items()}
    return [_written(item) for item in value] if isinstance(value, _LISTS) else value


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def form_of(form: Any) -> Form:
    """Return a form as it is read, which saves time where values are read one by one."""
    if isinstance(form, Form):
        return form
    if isinstance(form, list):
        return Form(list, tuple(map(form_of, form)))
    if isinstance(form, dict):
        if str in form:
            return Form(Mapping, (str, form_of(form[str])))
        absent = {True: None, False: MISSING}
        keys = (
            (k.removesuffix("?"), form_of(of), absent[k.endswith("?")]) for k, of in form.items()
        )
        return Form(dict, tuple(keys))
    if isinstance(form, Rule):
        ruled = form_of(form.form) if isinstance(form, NonEmpty) else Form(Any)
        return ruled._replace(rules=(*ruled.rules, form))
    return form_of_type(form)


def _refuse(values: Sequence[Any], where: _Where, fits: Callable[[Any], bool], what: str) -> None:
    """Raise an InputError for the first value that does not fit, if there is one."""
    for index, value in enumerate(values):
        if not fits(value):
            raise InputError(f"{where(index)}expected {what}, got {shown(value)}")


def read_values(form: Any, values: Sequence[Any], where: _Where, default: Any = MISSING) -> Any:
    """Return what plain values of one form stand for, as `read_record` does.

    Args:
        where: returns the beginning of the message on the value at an index, such as "row 3: ".
    """
    kind = form_of(form)
    if MISSING not in values and not (kind.has_null and None in values):
        return _present(kind, values, where)
    given = [
        index
        for index, value in enumerate(values)
        if value is not MISSING and not (value is None and kind.has_null)
    ]
    read = _present(kind, [values[index] for index in given], lambda index: where(given[index]))
    filled = [default if value is MISSING else value for value in values]
    for index, value in zip(given, read, strict=True):
        filled[index] = value
    return filled


def _present(form: Form, values: Sequence[Any], where: _Where) -> Sequence[Any]:
    """Return what plain values other than null stand for."""
    base, null = form.base, " or null" if form.has_null else ""
    if not values:
        return values
    if base is not Any:
        accepted, what = _PLAIN.get(base) or (_A_LIST if base in _LISTS else _AN_OBJECT)
        if not _all_fit(accepted, values):
            what = str(form.rules[-1]) if form.rules and base in _PLAIN else what
            _refuse(values, where, lambda value: _all_fit(accepted, [value]), f"{what}{null}")
    for rule in form.rules:
        if not all(map(rule.fits, _extremes(base, values))):
            _refuse(values, where, rule.fits, f"{rule}{null}")
    if is_dataclass(base):
        return _objects(base, values, where)
    if base is dict:
        _columns(form.arguments, values, where)
    if base in _LISTS:
        return _lists(form, values, where)
    if base is Mapping:
        items = [list(value.values()) for value in values]
        read = _items(form.arguments[1], items, where, lambda i, k: str(list(values[i])[k]))
        return [dict(zip(value, of, strict=True)) for value, of in zip(values, read, strict=True)]
    return values


def _all_fit(accepted: tuple[type, ...], values: Sequence[Any]) -> bool:
    """Return whether values have accepted types, and are finite if these are of numbers."""
    types = {*map(type, values)}
    if not types.issubset(accepted) and not all(
        issubclass(kind, accepted) and (kind is not bool or bool in accepted) for kind in types
    ):
        return False
    return int not in accepted or (
        min(values) > -_LARGEST and max(values) < _LARGEST and not any(map(math.isnan, values))
    )


def _extremes(base: Any, values: Sequence[Any]) -> Iterable[Any]:
    """Return the values that break a rule if any of them do."""
    if base in _NUMBERS:
        return min(values), max(values)
    return {*values} if base is str else values


def _lists(form: Form, values: Sequence[Any], where: _Where) -> Sequence[Any]:
    if form.base is tuple and form.arguments[-1] is not Ellipsis:
        length = len(form.arguments)
        _refuse(values, where, lambda value: len(value) == length, f"a list of {length} items")
    read = _items(form.arguments[0], values, where, lambda i, k: _item_name(values[i][k], k))
    return [*map(form.base, read)]


def _items(
    form: Any, values: Sequence[Sequence[Any]], where: _Where, name: Callable[[int, int], str]
) -> list[Sequence[Any]]:
    """Return what the items of lists stand for, all of one form, in lists of the same lengths."""
    ends = [*accumulate(map(len, values))]

    def place_of(position: int) -> str:
        index = bisect_right(ends, position)
        return f"{where(index)}{name(index, position - ends[index] + len(values[index]))}: "

    read = read_values(form, [*chain.from_iterable(values)], place_of)
    return [read[end - len(of) : end] for end, of in zip(ends, values, strict=True)]


def _item_name(item: Any, index: int) -> str:
    """Return the id that an item begins with, or else its number."""
    key = str(next(iter(item), "")) if isinstance(item, Mapping) else ""
    if key.endswith("_id"):
        return f"{key.removesuffix('_id')} {shown(item[key])}"
    return f"item {index + 1}"


def _objects(cls: Any, rows: Sequence[Mapping[str, Any]], where: _Where) -> list[Any]:
    types, every = types_of(cls), fields(cls)
    keys = [(field.name, types[field.name], _default(field)) for field in every if field.init]
    known = {*(field.name for field in every), *getattr(cls, "COMPUTED", ())}
    if not known.issuperset(chain.from_iterable(rows)):  # in one pass, since there may be many
        index, key = next((i, key) for i, row in enumerate(rows) for key in row if key not in known)
        names = ", ".join(name for name, *_ in keys)
        raise InputError(f"{where(index)}expected the keys {names}, got the unknown key {key!r}")
    columns = _columns(keys, rows, where)
    objects: list[Any] = []
    try:
        for values in zip(*columns, strict=True):
            objects.append(cls(*values))
    except FileError:
        raise
    except InputError as error:
        raise InputError(f"{where(len(objects))}{error}") from None
    return objects


def _columns(
    keys: Iterable[tuple[str, Any, Any]], rows: Sequence[Mapping[str, Any]], where: _Where
) -> list[Sequence[Any]]:
    """Return what the values under each key of rows stand for."""
    columns = []
    for key, form, default in keys:
        try:
            column = [*map(itemgetter(key), rows)]
        except KeyError:
            column = [row.get(key, MISSING) for row in rows]
        if default is MISSING and MISSING in column:
            index = column.index(MISSING)
            raise InputError(f"{where(index)}expected the key {key!r}, got {shown(rows[index])}")
        columns.append(read_values(form, column, _below(where, key), default))
    return columns


def _below(where: _Where, name: str) -> _Where:
    return lambda index: f"{where(index)}{name}: "


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for number, key in enumerate(keys) if key in keys[:number])
        raise InputError(f"the key {twice!r} occurs twice in an object; keep one of the two")
    return mapping
