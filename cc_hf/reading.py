"""Input from outside, read and checked: text, JSON, YAML and tables, in files and without.

Text is UTF-8 and is split at line feeds only, since a sentence may contain other Unicode line
separators. JSON values are compared with a form before anything is made of them. A form is a
`Kind`, a list with the form of each item, a dict with the form under each key (one that ends in "?"
may be absent, further ones are ignored), `Each` for the values under any keys, `NonEmpty`, or None
for any value.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cc_hf.errors import CCError, FileError, InputError, in_file, shown
from cc_hf.normalization import is_blank

__all__ = [
    "AMOUNT",
    "AS_WRITTEN",
    "COUNT",
    "FLAG",
    "JSONL",
    "NUMBER",
    "POSITIVE",
    "SUFFIXES",
    "TABLES",
    "TEXT",
    "WORD",
    "Each",
    "Kind",
    "NonEmpty",
    "Place",
    "check_form",
    "decoded",
    "one_of",
    "opened",
    "optional",
    "pairs_of",
    "parquet_batches",
    "parse_json",
    "parse_object",
    "parse_objects",
    "parse_table",
    "parse_yaml",
    "read_json",
    "read_lines",
    "read_rows",
    "read_text",
    "stream_lines",
    "text_lines",
    "text_of",
    "unquoted_rows",
]

#: Suffixes of files of rows.
TABLES = (".csv", ".tsv")
JSONL = (".jsonl",)
SUFFIXES = (*TABLES, *JSONL)

#: What to do about a file that cc_hf wrote and somebody changed.
AS_WRITTEN = "use the file as it was written"

_STANDARD = Path("-")
_LARGEST = 2**53  # up to here, floats hold integers exactly
_LONGEST = 131_072  # characters of a row without quotation, as csv has it for a cell
_MAX_DEPTH = 32  # levels of YAML, of which the card of a model has eight
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class Place(NamedTuple):
    """A line of a file, as messages name it.

    Examples:
        >>> str(Place("rows.tsv", 3))
        'rows.tsv: line 3'
    """

    path: str | Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}: line {self.line}"


@dataclass(frozen=True)
class Kind:
    """A kind of plain values, with what messages call it."""

    name: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class Each:
    """An object whose keys may be any texts, each with a value of the form."""

    form: Any


@dataclass(frozen=True)
class NonEmpty:
    """A list or object of the form, with at least one item."""

    form: Any


def _is_number(value: Any) -> bool:
    # The comparison is false for NaN as well.
    is_kind = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_kind and abs(value) <= _LARGEST


TEXT = Kind("a text", lambda value: isinstance(value, str))
WORD = Kind(
    "a text that is not blank", lambda value: isinstance(value, str) and not is_blank(value)
)
NUMBER = Kind("a number", _is_number)
AMOUNT = Kind("a number from 0", lambda value: _is_number(value) and value >= 0)
PROBABILITY = Kind("a probability above 0", lambda value: _is_number(value) and 0 < value <= 1)
COUNT = Kind("a whole number from 0", lambda value: type(value) is int and 0 <= value <= _LARGEST)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
POSITIVE = Kind("a whole number from 1", lambda value: COUNT.fits(value) and value > 0)


def one_of(values: Collection[str]) -> Kind:
    """Return the kind of texts that are one of some; of any text if there are none."""
    return Kind(
        " or ".join(values) or TEXT.name,
        lambda value: isinstance(value, str) and (not values or value in values),
    )


def optional(kind: Kind) -> Kind:
    """Return the kind that also accepts null."""
    return Kind(f"{kind.name} or null", lambda value: value is None or kind.fits(value))


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for bytes.

    Args:
        path: "-" for standard input.

    Raises:
        FileError: when the file does not exist or cannot be read.
    """
    try:
        with nullcontext(sys.stdin.buffer) if path == _STANDARD else path.open("rb") as file:
            yield file
    except CCError:
        raise
    except FileNotFoundError:
        raise FileError(path, "file not found") from None
    except (OSError, ValueError) as error:  # a null character in the path is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise FileError(path, f"cannot be read: {reason}") from error


def decoded(raw: bytes, path: str | Path, first: int = 1) -> str:
    """Return the text of a file without a byte order mark.

    Args:
        path: the file, for the message.
        first: the number of the first line.

    Raises:
        FileError: for bytes that are not UTF-8. The message names the line.

    Examples:
        >>> decoded(b"a\\n\\xff", "t.txt")
        Traceback (most recent call last):
            ...
        cc_hf.errors.FileError: t.txt: line 2: expected UTF-8, got the byte 0xff; convert the file, for example with iconv -t UTF-8
    """  # noqa: E501
    try:
        return raw.decode("utf-8-sig" if first == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise FileError(
            Place(path, first + raw.count(b"\n", 0, error.start)),
            f"expected UTF-8, got the byte 0x{raw[error.start]:02x}; convert the file, for example"
            " with iconv -t UTF-8",
        ) from None


def stream_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, blank ones included, without loading it whole and without carriage
    returns.

    Raises:
        FileError: when the file does not exist or is not UTF-8. The message names the line.
    """
    with opened(path) as file:
        for number, raw in enumerate(file, 1):
            yield decoded(raw, path, number).removesuffix("\n").removesuffix("\r")


def read_lines(path: Path, *, keeps_end: bool = False) -> list[str]:
    """Return the lines of a user's file, without carriage returns and without blank lines at the
    end.

    Args:
        path: "-" for standard input.
        keeps_end: whether blank lines at the end are returned, too.

    Raises:
        FileError: when the file does not exist or is not UTF-8. The message names the line.
    """
    lines = list(stream_lines(path))
    while lines and not keeps_end and not lines[-1].strip():
        lines.pop()
    return lines


def read_text(path: Path) -> str:
    """Return the whole text of a file, with line feeds for all line ends.

    Args:
        path: "-" for standard input.

    Raises:
        FileError: when the file does not exist or is not UTF-8. The message names the line.
    """
    with opened(path) as file:
        raw = file.read()
    return decoded(raw, path).replace("\r\n", "\n").replace("\r", "\n")


def text_lines(path: Path) -> list[str]:
    """Return all lines of an upstream file; a carriage return alone ends a line, too.

    Raises:
        FileError: when the file does not exist or is not UTF-8. The message names the line.
    """
    return read_text(path).removesuffix("\n").split("\n")


def read_json(path: str | Path, what: str, form: Any = None, *, remedy: str = "") -> Any:
    """Return the value of a file that is one JSON value.

    Args:
        path: "-" for standard input.
        what: what is expected, for messages, such as "the JSON of `cc-hf compare --by time -o`".
        form: the form of the value; see the module.
        remedy: what to do about a file of another form; "" if its form says it.

    Raises:
        FileError: for a file that cannot be read, is not JSON or has another form. The message
            names the place in it.
    """
    with in_file(path, remedy):
        value = parse_json(read_text(Path(path)), what)
        try:
            check_form(value, form)
        except InputError as error:
            raise InputError(f"expected {what}; {error}") from None
    return value


def read_rows(
    path: Path,
    kinds: Sequence[str] = SUFFIXES,
    form: Mapping[str, Any] | None = None,
    *,
    remedy: str = "",
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the rows of a file, without loading it whole.

    Rows are JSON objects in a .jsonl file, and have texts under the names in the first line of a
    .csv or .tsv file. Blank lines are skipped.

    Args:
        kinds: suffixes that the file may have. A file with another one is read as the last of them.
        form: the form of a row; see the module. A table must have a column for each key.
        remedy: what to do about a row of another form; "" if its form says it.

    Yields:
        Pairs of the line on which a row ends, and the row.

    Raises:
        FileError: for a file that does not exist, is not UTF-8 or is an empty table, or a row that
            cannot be read or has another form. The message names the line.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "systems.tsv")
        ...     _ = path.write_text("model\\tbleu\\nteacher\\t38.2\\n", encoding="utf-8")
        ...     [row for _, row in read_rows(path)]
        [{'model': 'teacher', 'bleu': '38.2'}]
    """
    form, suffix = form or {}, path.suffix.lower()
    suffix = suffix if suffix in kinds else kinds[-1]
    lines = stream_lines(path)
    if suffix in JSONL:
        rows = parse_objects(lines, path, remedy=remedy)
    else:
        rows = _table_rows(lines, path, "," if suffix == ".csv" else "\t", form)
    for where, row in rows:
        with in_file(where, remedy):
            check_form(row, form)
        yield where, row


def unquoted_rows(path: Path, columns: Collection[str]) -> Iterator[tuple[Place, dict[str, str]]]:
    """Yield the rows of a table with tabs between cells, whose quotation marks belong to the text.

    Args:
        columns: names that the first line must have, in any order.

    Raises:
        FileError: for a file that cannot be read, a column that is missing, a row with another
            number of cells, or one that is too long. The message names the line.
    """
    header, *lines = text_lines(path) or [""]
    names = header.split("\t")
    if not set(columns) <= set(names):
        raise FileError(
            Place(path, 1), f"expected columns named {', '.join(columns)}, got {shown(names)}"
        )
    for number, line in enumerate(lines, 2):
        where, cells = Place(path, number), line.split("\t")
        if len(line) > _LONGEST:
            raise FileError(where, f"expected cells that can be read, got {len(line):,} characters")
        if len(cells) != len(names):
            raise FileError(
                where, f"expected {len(names)} cells, one for each name, got {len(cells)}"
            )
        yield where, dict(zip(names, cells, strict=True))


def _table_rows(
    lines: Iterable[str], path: Path, delimiter: str, columns: Collection[str]
) -> Iterator[tuple[Place, dict[str, Any]]]:
    rows = parse_table(lines, path, delimiter=delimiter)
    first, names = next(rows, (Place(path, 1), []))
    if not names:
        raise FileError(path, "expected a line of names and at least one row, got an empty file")
    if len(names) == 1 and (marks := [mark for mark in ";\t," if mark in names[0]]):
        raise FileError(
            first,
            f"the columns seem to be separated by {marks[0]!r}: expected commas in a .csv file,"
            f" tabs in a .tsv file, got {shown(names[0])}",
        )
    required = [name for name in columns if not name.endswith("?")]
    if not set(required) <= set(names):
        raise FileError(first, f"expected columns named {', '.join(required)}, got {shown(names)}")
    for where, cells in rows:
        yield where, dict(zip(names, cells, strict=True))


def parse_json(text: str, what: str = "JSON") -> Any:
    r"""Parse JSON that people or other programs wrote, and refuse what would be misread.

    Args:
        what: what is expected, for messages.

    Raises:
        InputError: for text that is not JSON, a key that occurs twice in an object (one of its
            values would be lost), lists or objects that are nested too deeply, a number of
            thousands of digits, and an escape such as "\ud800", half of a surrogate pair.

    Examples:
        >>> parse_json('{"n": 1}')
        {'n': 1}
        >>> parse_json('{"n": 1, "n": 2}')
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: expected JSON, got '{"n": 1, "n": 2}' (the key 'n' occurs twice in an object; keep one of the two)
    """  # noqa: E501
    try:
        value = json.loads(text, object_pairs_hook=_without_duplicates)
        if _HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
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
    raise InputError(f"expected {what}, got {shown(text)} ({reason})")


def parse_object(line: str, where: object, *, remedy: str = "") -> dict[str, Any]:
    """Parse one JSON object that people or other programs wrote.

    Args:
        where: its place in a file.
        remedy: what to do about another text; "" if that is clear.

    Raises:
        FileError: for text that `parse_json` refuses, or another JSON value.

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


def parse_yaml(text: str) -> Any:
    """Parse plain YAML that people or other programs wrote.

    Raises:
        InputError: for text that is not YAML, tags, more than 32 levels, and anchors with aliases,
            of which a few kilobytes can stand for billions of values.

    Examples:
        >>> parse_yaml("sizes: [1, 2]")
        {'sizes': [1, 2]}
        >>> parse_yaml("a: &x [1]\\nb: [*x, *x]")
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: line 1: expected plain values, got the anchor 'x'; write the values themselves
    """  # noqa: E501
    import yaml  # imported here, since `import cc_hf` reads this file and must stay fast

    try:
        for feature, line in _beyond_plain(text):
            raise InputError(
                f"line {line}: expected plain values, got {feature}; write the values themselves"
            )
        return yaml.safe_load(text)
    except InputError:
        raise
    except (yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"expected YAML, got {shown(text)} ({reason})") from None


def _beyond_plain(text: str) -> Iterator[tuple[str, int]]:
    """Yield what plain YAML lacks, and its line, without making values."""
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1
        for kind in ("anchor", "tag"):
            if (name := getattr(event, kind, None)) is not None:
                yield f"the {kind} {name!r}", line
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            yield f"more than {_MAX_DEPTH} levels", line


def parquet_batches(file: Any, n_rows: int, columns: Sequence[str]) -> Iterator[Any]:
    """Yield the rows of a `pyarrow.parquet.ParquetFile` as record batches.

    The groups of rows are read one by one: an iterator over all of them holds what it has read.

    Args:
        n_rows: the most rows of a batch.
    """
    for group in range(file.num_row_groups):
        yield from file.iter_batches(n_rows, row_groups=[group], columns=list(columns))


def parse_table(
    lines: Iterable[str], path: str | Path, *, delimiter: str
) -> Iterator[tuple[Place, list[str]]]:
    """Parse a table of delimited cells, row by row.

    The row of column names comes first; they have no outer blanks. Blank rows are skipped, such as
    those that spreadsheets leave at the end.

    Yields:
        Pairs of the line on which a row ends, and its cells.

    Raises:
        FileError: for a cell that cannot be read, a name that occurs twice, or a row with more or
            fewer cells than there are names.

    Examples:
        >>> [cells for _, cells in parse_table(["a,b", "1,2"], "t.csv", delimiter=",")]
        [['a', 'b'], ['1', '2']]
    """
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    names: list[str] = []
    try:
        for cells in reader:
            where = Place(path, reader.line_num)
            if not any(cells):
                continue
            if not names:
                names = cells = [cell.strip() for cell in cells]
                if len(set(names)) < len(names):
                    raise FileError(where, f"expected different names, got {shown(names)}")
            if len(cells) != len(names):
                raise FileError(
                    where,
                    f"expected {len(names)} cells, one for each name, got {len(cells)}",
                )
            yield where, cells
    except csv.Error as error:
        raise FileError(
            Place(path, reader.line_num),
            f"expected cells that can be read ({error}); quote cells that hold quotes, separators"
            " or line breaks",
        ) from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise InputError(f"the key {key!r} occurs twice in an object; keep one of the two")
        mapping[key] = value
    return mapping


def text_of(row: Mapping[str, Any], key: str, where: object, *, default: str | None = None) -> str:
    """Return the text under a key, unchanged.

    Args:
        where: the beginning of the message, such as file and line.
        default: the value for a missing key or null. With a default, an integer is accepted as
            text.

    Raises:
        FileError: for a missing key, null or blank text where there is no default, and for anything
            that is not text.

    Examples:
        >>> row = {"sentence": "It broke.", "number": 7}
        >>> text_of(row, "sentence", "line 1"), text_of(row, "number", "line 1", default="")
        ('It broke.', '7')
    """
    value = row.get(key)
    if default is not None:
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    if key not in row:
        raise FileError(where, f"expected the key {key!r}, got {shown(list(row))}")
    if not isinstance(value, str) or (default is None and is_blank(value)):
        raise FileError(where, f"{key}: expected text, got {shown(value)}")
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
    if form is None:
        return
    if isinstance(form, NonEmpty):
        check_form(value, form.form, where)
        if not value:
            raise InputError(f"{beginning}expected at least one item, got {shown(value)}")
    elif isinstance(form, Kind):
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
        for written, inner in forms.items():
            key = written if written in value else written.removesuffix("?")
            if key in value:
                check_form(value[key], inner, f"{beginning}{key}")
            elif key == written:
                raise InputError(f"{beginning}expected the key {key!r}, got {shown(value)}")


def pairs_of(values: Sequence[str] | None, parameter: str) -> dict[str, str]:
    """Parse the pairs of a parameter.

    Args:
        values: texts of the form KEY=VALUE.
        parameter: its name, for messages.

    Raises:
        InputError: for a text without a name or "=", or a name that occurs twice.

    Examples:
        >>> pairs_of(["size=big", "note=a=b"], "where")
        {'size': 'big', 'note': 'a=b'}
    """
    pairs: dict[str, str] = {}
    for text in values or []:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InputError(f"{parameter}: expected key=value, got {text!r}")
        if name in pairs:
            raise InputError(
                f"{parameter}: expected {name} once, got {pairs[name]!r} and {value!r}"
            )
        pairs[name] = value
    return pairs
