"""Files of lines and of JSON objects."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def read_jsonl(path: Path) -> list[Any]:
    """Return the objects of a file that has one on each line; it may be compressed."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_jsonl(path: Path, rows: Iterable[Any]) -> Path:
    """Write one JSON object on each line, and return the path."""
    return write_lines(path, (json.dumps(row, ensure_ascii=False) for row in rows))


def write_lines(path: Path, lines: Iterable[object]) -> Path:
    """Write lines into a file, whose folder is made, and return its path."""
    return write_text(path, "".join(f"{line}\n" for line in lines))


def write_text(path: Path, text: str) -> Path:
    """Write a text into a file, whose folder is made, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def write_parquet(path: Path, *rows: dict[str, object]) -> None:
    """Write rows into a Parquet file, whose folder is made."""
    import datasets

    path.parent.mkdir(parents=True, exist_ok=True)
    datasets.Dataset.from_list(list(rows)).to_parquet(path)
