"""Commands on a system without what only POSIX has, whose console has few characters: their files are
those of a plain run, and what they print differs in characters only. No other system is run.

Standard output has the characters of cp1252, standard error those of cp437.
"""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

from cc_hf.leaderboard.file_tab import _SAMPLE

_SENTENCE = ("--source", "The doctor asked the nurse to help her.", "--focus", "doctor")
_RIGHT = "Die Ärztin bat die Krankenschwester, ihr zu helfen. → 日本"
_EVALUATE = ("evaluate", "simplegen", "en-de", "--translations")
_COMMANDS: list[list[str]] = [
    ["--help"],
    ["evaluate", "--help"],
    ["list", "evaluators"],
    [*_EVALUATE, "t.txt", "--metric", "simplegen_accuracy", "-o", "r.json"],
    ["report", "r.json", "--html", "r.html", "--markdown", "r.md"],
    ["leaderboard", ".", "--static", "board"],
    ["explain", "--gender", "female", *_SENTENCE, "--translation", _RIGHT, "--html", "e.html"],
    [*_EVALUATE, "日本.txt"],
]


_Outcome: TypeAlias = tuple[bytes, bytes, dict[str, bytes]]


def _run(folder: Path, *options: str, encodings: tuple[str, str], line_end: bytes) -> _Outcome:
    """Return what the commands printed, and the files that they wrote."""
    folder.mkdir()
    lines = gzip.decompress(_SAMPLE.read_bytes())
    (folder / "t.txt").write_bytes(lines.replace(b"\n", line_end))
    environment = {
        **os.environ,
        **{"PYTHONWARNDEFAULTENCODING": "1", "COLUMNS": "100"},
    }
    program = [sys.executable, "-m", "tests.helpers.other_systems", json.dumps(_COMMANDS)]
    words = [*program, *encodings, *options]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(encodings[1])
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".txt"]
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return done.stdout, done.stderr, files


def _words(printed: bytes, encoding: str, shown_as: str) -> list[str]:
    """Return the words and figures of what was printed, without the lines of tables."""
    text = printed.decode(encoding).encode(shown_as, "backslashreplace").decode(shown_as)
    return re.findall(r"[\w.%\\]+", re.sub(r"\\u25[0-7][0-9a-f]|[\u2500-\u257f]", " ", text))


def test_commands_need_nothing_that_windows_lacks(tmp_path: Path) -> None:
    plain = _run(tmp_path / "plain", "plain", encodings=("utf-8", "utf-8"), line_end=b"\n")
    encodings = ("cp1252", "cp437")
    faked = _run(tmp_path / "mein Ordner ä 日本", encodings=encodings, line_end=b"\r\n")
    for printed, expected, encoding in zip(faked[:2], plain[:2], encodings, strict=True):
        assert _words(printed, encoding, encoding) == _words(expected, "utf-8", encoding)
    assert {"r.json", "r.html", "r.md", "e.html", "board/index.html"} <= {*faked[2]}
    assert faked[2] == plain[2]
    assert plain[0].count(b"\n[0]\n") == len(_COMMANDS) - 1
    assert b"Traceback" not in plain[1]
