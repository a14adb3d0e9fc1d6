"""Forged copies of a file of JSON objects that this project wrote and a user keeps."""

import copy
import json
from collections.abc import Iterator
from typing import Any

_DEEP = "[" * 5000 + "]" * 5000
#: values of JSON that stand where others are expected
VALUES: tuple[Any, ...] = (
    *(None, True, 0, 3, -1, 0.5, 1e308, float("nan"), float("inf"), 10**30, 10**400),
    *("", " ", "x", "1", "nan", "\0", "²", "\ud800"),
    *([], {}, [None], [[]], {"x": None}, {"x": {"y": []}}, [{"x": "x"}], ["x", 3]),
)


def forged_files(data: bytes, *, lines: tuple[int, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of files in which one thing is wrong, or only strange.

    Args:
        data: a file of one JSON object per line.
        lines: the lines in which each value, at any depth, is replaced and removed.
    """
    rows = [json.loads(line) for line in data.decode("utf-8").splitlines()]

    def written(number: int, row: Any) -> bytes:
        texts = [json.dumps(row if i == number else r) for i, r in enumerate(rows)]
        return ("\n".join(texts) + "\n").encode("ascii")

    for number in lines:
        for path in _paths(rows[number]):
            for value in (*VALUES, "deep", "digits", "absent"):
                row = copy.deepcopy(rows[number])
                parent = row
                for key in path[:-1]:
                    parent = parent[key]
                if value == "absent":
                    del parent[path[-1]]
                else:
                    parent[path[-1]] = value
                text = written(number, row)
                text = text.replace(b'"deep"', _DEEP.encode())
                text = text.replace(b'"digits"', b"9" * 5000)
                yield f"line {number}, {'/'.join(map(str, path))} = {value!r}"[:200], text
        for value in (None, 3, [], "x", {}, [{}]):
            yield f"line {number} = {value!r}", written(number, value)
        text = data.splitlines(keepends=True)[number].rstrip(b"\n")
        for name, changed in (
            ("cut", text[: len(text) // 2]),
            ("twice a key", text[:-1] + b", " + text[1:]),
            ("Latin-1", text + "ü".encode("latin-1")),
            ("UTF-16", text.decode("utf-8").encode("utf-16")),
            ("null characters", text + b"\0\0"),
            ("twice", text + b"\n" + text),
        ):
            yield f"line {number}: {name}", data.replace(text, changed)
    for name, content in (
        ("empty", b""),
        ("blank", b"\n\n"),
        ("of bytes", bytes(range(256)) + b"\n"),
        ("without its first line", data.partition(b"\n")[2]),
        ("of its first line", data.partition(b"\n")[0] + b"\n"),
        ("a list", b"[" + data.replace(b"\n", b",\n").rstrip(b",\n") + b"]\n"),
        ("gzip", b"\x1f\x8b\x08" + data),
    ):
        yield name, content


def _paths(value: Any) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (key,)
        if isinstance(inner, (dict, list)):
            for path in _paths(inner):
                yield key, *path
