"""Input from outside: users' JSON and tables, paths that they name, and names that become parts of
files.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError, shown

__all__ = [
    "exists",
    "file_sha256",
    "file_slug",
    "is_file",
    "is_folder",
    "parse_json",
    "parse_object",
    "parse_table",
    "parse_yaml",
    "resolved",
    "sole_writer",
]

_MAX_DEPTH = 32  # levels of YAML, of which the card of a model has eight
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_SLUG_LENGTH = 50  # characters of at most 4 bytes each; file systems accept names of 255 bytes
_DIGEST_LENGTH = 8


def parse_json(text: str) -> Any:
    r"""Parse JSON that people or other programs wrote, and refuse what would be misread.

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
        cc_hf.errors.InputError: the key 'n' occurs twice in an object; keep one of the two
    """
    try:
        value = json.loads(text, object_pairs_hook=_without_duplicates)
        if _HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise InputError("lists or objects are nested too deeply to be read") from None
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        remedy = "correct the encoding in the program that wrote it"
        raise InputError(f"{half} is a lone surrogate, half of a character; {remedy}") from None
    except (InputError, json.JSONDecodeError) as error:
        raise InputError(str(error)) from None
    except ValueError:  # Python limits the digits of an integer
        raise InputError("a number has more digits than can be read") from None
    return value


def parse_object(line: str, where: object, *, form: str = "a JSON object") -> dict[str, Any]:
    """Parse one JSON object that people or other programs wrote.

    Args:
        where: its position for messages, such as "replies.jsonl: line 3".
        form: what was expected, for messages.

    Raises:
        InputError: for text that `parse_json` refuses, or another JSON value.

    Examples:
        >>> parse_object("[1]", "rows.jsonl: line 3")
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: rows.jsonl: line 3: expected a JSON object, got [1]
    """
    try:
        value = parse_json(line)
    except InputError as error:
        raise InputError(f"{where}: expected {form}, got {shown(line)} ({error})") from None
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected {form}, got {shown(value)}")
    return value


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


def parse_table(
    lines: Iterable[str], where: object, *, delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Parse a table of delimited cells, row by row.

    The row of column names comes first. Blank lines are skipped.

    Args:
        lines: the lines of the table, the first with the names of the columns.

    Yields:
        Pairs of the 1-based number of the line on which a row ends, and its cells.

    Raises:
        InputError: for a cell that cannot be read, a name that occurs twice, or a row with more or
            fewer cells than there are names.

    Examples:
        >>> list(parse_table(["a,b", "1,2"], "t.csv", delimiter=","))
        [(1, ['a', 'b']), (2, ['1', '2'])]
    """
    reader = csv.reader(lines, delimiter=delimiter)
    names: list[str] = []
    try:
        for cells in reader:
            if not any(cells):
                continue
            if names and len(cells) != len(names):
                raise InputError(
                    f"{where}: line {reader.line_num}: expected {len(names)} cells, one for each"
                    f" name, got {len(cells)}"
                )
            if not names and len(set(cells)) < len(cells):
                raise InputError(f"{where}: line 1: expected different names, got {shown(cells)}")
            names = names or cells
            yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(
            f"{where}: line {reader.line_num}: expected cells that can be read ({error})"
        ) from error


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise InputError(f"the key {key!r} occurs twice in an object; keep one of the two")
        mapping[key] = value
    return mapping


def is_file(path: str | Path) -> bool:
    """Return whether there is a file. False also for a path that the system cannot look up.

    `Path.is_file` raises for a name that is too long; this function does not.

    Examples:
        >>> is_file("x" * 5000)
        False
    """
    return os.path.isfile(path)


def is_folder(path: str | Path) -> bool:
    """Return whether there is a folder. False also for a path that the system cannot look up.

    Examples:
        >>> is_folder("x" * 5000)
        False
    """
    return os.path.isdir(path)


def exists(path: str | Path) -> bool:
    """Return whether a path exists. False also for a path that the system cannot look up.

    Examples:
        >>> exists("x" * 5000)
        False
    """
    return os.path.exists(path)


def resolved(path: str | Path, what: str = "output") -> Path:
    """Return the absolute path of something that will be written, with symbolic links followed.

    Args:
        path: need not exist.

    Raises:
        InputError: for a name that is too long, symbolic links in a loop, a null character, or a
            folder without access.

    Examples:
        >>> resolved("x" * 300)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: output: expected the path of a file or folder, got 'xxxx...
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        pass  # the caller checks for missing folders, and names them
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        text = str(path) if len(str(path)) <= 80 else f"{str(path)[:80]}..."
        raise InputError(
            f"{what}: expected the path of a file or folder, got {text!r}, which the system does"
            f" not accept ({reason}); choose another"
        ) from error
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def sole_writer(output: str | Path, name: str = "output") -> Iterator[None]:
    """Keep every other run from writing an output, for as long as the block runs.

    For all outputs that are continued, or are written in parts. The system holds the lock, on a
    hidden file beside the output that is deleted at the end, so that it ends with the process in
    any case.

    Args:
        output: the file or folder; its parent must exist. A device or pipe is not locked.

    Raises:
        InputError: if another run writes the output, or the folder cannot be written to.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with sole_writer(f"{folder.name}/x"), sole_writer(f"{folder.name}/x"):  # doctest: +ELLIPSIS
        ...     pass
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: output: expected a file that no other run is writing, got .../x; ...
        >>> folder.cleanup()
    """  # noqa: E501
    from filelock import FileLock, Timeout  # imported here, since `import cc_hf` must stay fast

    path = resolved(output, name)
    if exists(path) and not is_file(path) and not is_folder(path):
        yield
        return
    if not is_folder(path.parent):
        raise InputError(f"{name}: the folder {path.parent} does not exist; create it first")
    lock = FileLock(path.with_name(f".{file_slug(path.name)}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{name}: expected a file that no other run is writing, got {path}; wait until that run"
            " ends, or choose another"
        ) from None
    except OSError as error:
        raise InputError(
            f"{name}: the folder {path.parent} cannot be written to ({error.strerror or error})"
        ) from error
    try:
        yield
    finally:
        # Unlinked while it is held: whoever opened it meanwhile finds no other holder, or tries
        # again. Windows cannot delete it, and an empty file remains there.
        with contextlib.suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file of any size."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def file_slug(text: str) -> str:
    r"""Return a name from outside in a form that is safe in a path, a glob pattern and YAML.

    Letters, digits, "_", "-" and "." are kept, up to 50 characters; leading "." are dropped. A name
    that changes gets a hash of the text, so that different texts have different names.

    Examples:
        >>> file_slug("en-de.paper"), file_slug("../../evil")
        ('en-de.paper', '_.._evil-0fbfd372')
    """
    slug = re.sub(r"[^\w.-]+", "_", text).lstrip(".")[:_SLUG_LENGTH]
    if slug == text and slug:
        return slug
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
    return f"{slug}-{digest}" if slug else digest
