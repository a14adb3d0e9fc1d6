"""Input from outside, read and checked: text and YAML, in files and without.

Text is UTF-8 and is split at line feeds only, since a sentence may contain other Unicode line
separators.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cc_hf.errors import CCError, FileError, InputError, shown
from cc_hf.normalization import is_blank

__all__ = [
    "AS_WRITTEN",
    "JSONL",
    "Place",
    "decoded",
    "finite_number",
    "opened",
    "pairs_of",
    "parse_yaml",
    "read_lines",
    "read_text",
    "stream_lines",
    "text_lines",
    "text_of",
    "whole_number",
]

#: Suffixes of files with a JSON object on each line.
JSONL = (".jsonl",)

#: What to do about a file that cc_hf wrote and somebody changed.
AS_WRITTEN = "use the file as it was written"

_STANDARD = Path("-")
_SAVE = "save it as CSV UTF-8"
#: How files begin that are no UTF-8 -> what they are, and what to do.
_BINARY = {
    b"PK\x03\x04": "an Excel file or another ZIP archive; name it .xlsx if it is from Excel, or"
    f" {_SAVE}",
    b"\xd0\xcf\x11\xe0": f"an old Excel file (.xls) or another document of Office; {_SAVE}",
    b"PAR1\x15": "a Parquet file; name it .parquet",
    b"\xff\xfe": f"UTF-16, such as the 'Unicode text' of Excel; {_SAVE}, or convert it with iconv"
    " -f UTF-16 -t UTF-8",
    b"\xfe\xff": f"UTF-16; {_SAVE}, or convert it with iconv -f UTF-16 -t UTF-8",
    b"\x1f\x8b": "a file that is compressed by gzip; unpack it with gunzip",
    b"%PDF-": "a PDF; copy its text to a file in UTF-8",
}
_MAX_DEPTH = 32  # levels of YAML, of which the card of a model has eight
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)  # Python limits the digits that `int` reads


class Place(NamedTuple):
    """A line of a file, or a row or item of one without lines, as messages name it.

    Examples:
        >>> str(Place("rows.tsv", 3)), str(Place("rows.xlsx", 3, "row"))
        ('rows.tsv: line 3', 'rows.xlsx: row 3')
    """

    path: str | Path
    line: int
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.path}: {self.unit} {self.line}"


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for bytes, "-" for standard input; raise a FileError if it cannot be read."""
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
        FileError: for bytes that are not UTF-8. The message names the line, or the format.

    Examples:
        >>> decoded(b"PK\\x03\\x04", "t.csv")
        Traceback (most recent call last):
            ...
        cc_hf.errors.FileError: t.csv: expected text, got an Excel file or another ZIP archive; name it .xlsx if it is from Excel, or save it as CSV UTF-8
    """  # noqa: E501
    if first == 1:
        for signature, what in _BINARY.items():
            if raw.startswith(signature):
                raise FileError(path, f"expected text, got {what}")
    try:
        return raw.decode("utf-8-sig" if first == 1 else "utf-8")
    except UnicodeDecodeError as error:
        byte = raw[error.start : error.start + 1]
        letter = byte.decode("cp1252", "ignore")
        other, source = "", ""
        if letter.isprintable() and letter:
            other, source = f", {letter!r} in Windows-1252", " -f WINDOWS-1252"
        raise FileError(
            Place(path, first + raw.count(b"\n", 0, error.start)),
            f"expected UTF-8, got the byte 0x{byte.hex()}{other}; save the file as UTF-8 (in Excel:"
            f" CSV UTF-8), for example with iconv{source} -t UTF-8",
        ) from None


def stream_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file without carriage returns, blank ones included; raise a FileError
    for what is not UTF-8.
    """
    with opened(path) as file:
        for number, raw in enumerate(file, 1):
            yield decoded(raw, path, number).removesuffix("\n").removesuffix("\r")


def read_lines(path: Path, *, keeps_end: bool = False) -> list[str]:
    """Return the lines of a user's file ("-" for standard input), without blank lines at the end
    unless `keeps_end`.
    """
    lines = list(stream_lines(path))
    while lines and not keeps_end and not lines[-1].strip():
        lines.pop()
    return lines


def read_text(path: Path) -> str:
    """Return the whole text of a file ("-": standard input), with line feeds for all line ends."""
    with opened(path) as file:
        raw = file.read()
    return decoded(raw, path).replace("\r\n", "\n").replace("\r", "\n")


def text_lines(path: Path) -> list[str]:
    """Return all lines of an upstream file; a carriage return alone ends a line, too."""
    return read_text(path).removesuffix("\n").split("\n")


def parse_yaml(text: str) -> Any:
    """Parse plain YAML that people or other programs wrote.

    Raises:
        InputError: for text that is not YAML, tags, more than 32 levels, and anchors with aliases.

    Examples:
        >>> parse_yaml("sizes: [1, 2]")
        {'sizes': [1, 2]}
    """
    import yaml  # imported here, since `import cc_hf` reads this file and must stay fast

    try:
        # A few kilobytes of aliases can stand for billions of values.
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


def finite_number(value: Any) -> float | None:
    """Return the number that a cell of a table holds; None for another value.

    Forms that only Python reads, such as "1_0", "nan" and digits of other scripts, are no numbers.

    Examples:
        >>> finite_number(" 38.2 "), finite_number(7), finite_number("1_0"), finite_number("١٠")
        (38.2, 7.0, None, None)
    """
    if isinstance(value, str):
        value = value.strip()
        if _DECIMAL.fullmatch(value) is None:
            return None
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def whole_number(value: Any) -> int | None:
    """Return the whole number from 0 that a cell of a table holds, such as 7, 7.0 or a text of at
    most 18 digits; None for another value.

    Examples:
        >>> whole_number("7"), whole_number(7.0), whole_number("-7"), whole_number("9" * 5000)
        (7, 7, None, None)
    """
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value.strip()) else None
    number = finite_number(value)
    return int(value) if number is not None and number >= 0 and number.is_integer() else None


def pairs_of(values: Sequence[str] | None, parameter: str) -> dict[str, str]:
    """Parse texts of the form KEY=VALUE; raise an InputError for another form or a repeated key.

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
