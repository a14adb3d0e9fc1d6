"""Commands on a system without what only POSIX has, whose console has few characters: their files are
those of a plain run, and what they print differs in characters only. No other system is run.
"""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

import pytest

from cc_hf.leaderboard.file_tab import _SAMPLE
from tests.helpers.cases import cases

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


def _run(folder: Path, *options: str, encoding: str, line_end: bytes) -> _Outcome:
    """Return what the commands printed, and the files that they wrote."""
    folder.mkdir()
    lines = gzip.decompress(_SAMPLE.read_bytes())
    (folder / "t.txt").write_bytes(lines.replace(b"\n", line_end))
    environment = {
        **os.environ,
        **{"PYTHONIOENCODING": encoding, "PYTHONWARNDEFAULTENCODING": "1", "COLUMNS": "100"},
    }
    program = [sys.executable, "-m", "tests.helpers.other_systems", json.dumps(_COMMANDS)]
    done = subprocess.run([*program, *options], cwd=folder, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(encoding)
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".txt"]
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return done.stdout, done.stderr, files


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> _Outcome:
    folder = tmp_path_factory.mktemp("plain") / "files"
    return _run(folder, "plain", encoding="utf-8", line_end=b"\n")


def _words(printed: bytes, encoding: str, shown_as: str) -> list[str]:
    """Return the words and figures of what was printed, without the lines of tables."""
    text = printed.decode(encoding).encode(shown_as, "backslashreplace").decode(shown_as)
    return re.findall(r"[\w.%\\]+", re.sub(r"\\u25[0-7][0-9a-f]|[\u2500-\u257f]", " ", text))


@cases("cp1252", "cp437")
def test_commands_need_nothing_that_windows_lacks(
    encoding: str, plain: _Outcome, tmp_path: Path
) -> None:
    faked = _run(tmp_path / "mein Ordner ä 日本", encoding=encoding, line_end=b"\r\n")
    for printed, expected in zip(faked[:2], plain[:2], strict=True):
        assert _words(printed, encoding, encoding) == _words(expected, "utf-8", encoding)
    assert {"r.json", "r.html", "r.md", "e.html", "board/index.html"} <= {*faked[2]}
    assert faked[2] == plain[2]
    assert plain[0].count(b"\n[0]\n") == len(_COMMANDS) - 1
    assert b"Traceback" not in plain[1]
