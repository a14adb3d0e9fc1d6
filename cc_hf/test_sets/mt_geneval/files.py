"""The files of MT-GenEval.

`files.tsv` holds the path, sha256 and size in bytes of each, as listed by `sha256sum`
and `stat`.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["COMMIT", "FILES", "REPOSITORY"]

REPOSITORY, COMMIT = (
    "amazon-science/machine-translation-gender-eval",
    "c77132ccd248d0b09ac185aebebc94f1051dbc9e",
)


def _files() -> tuple[tuple[str, str, int], ...]:
    table = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines())
    return tuple((path, sha256, int(size)) for path, sha256, size in rows)


#: Path in the repository, sha256 and size in bytes.
FILES = _files()
