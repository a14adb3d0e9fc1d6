"""Standard output may fail or show texts of others: the file is written first, and no text controls
the terminal.
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cc_hf
from cc_hf.progress import Progress
from cc_hf.reports.formats.terminal import show
from cc_hf.reports.report_parts import Cell, Line, ReportTable
from cc_hf.writing import printable
from tests.helpers.usual import cases, write_lines

_ROWS = ["The bat was old.,bat,baseball,flying,ja", "The bat flew.,bat,flying,baseball,ja"]
_PROGRAM = """
import sys
import cc_hf.evaluation.evaluate
from cc_hf.cli.main import run
judge = cc_hf.evaluation.evaluate.evaluate

def score(sources, translations):
    return [len(source) for source in sources]

def evaluate(*arguments, **options):
    return judge(*arguments, **{**options, "evaluator": score})

cc_hf.evaluation.evaluate.evaluate = evaluate
run()
"""


def command(tmp_path: Path, *arguments: str) -> list[str]:
    columns = "source,focus,correct_cues,incorrect_cues,tgt_lang"
    write_lines(tmp_path / "bats.csv", [columns, *_ROWS])
    write_lines(tmp_path / "t.txt", ["Der Schläger ж.", "Die Fledermaus."])
    return [sys.executable, "-c", _PROGRAM, *arguments]


EVALUATE = ("evaluate", "bats.csv", "--translations", "t.txt", "--output", "r.json")
COMPARE = ("compare", "a.json", "b.json", "--resamples", "20", "--output", "r.json")


def prepared(tmp_path: Path, arguments: tuple[str, ...]) -> list[str]:
    program = command(tmp_path, *arguments)
    if arguments is COMPARE:
        evaluate = [*command(tmp_path), *EVALUATE[:-1], "a.json"]
        subprocess.run(evaluate, cwd=tmp_path, check=True, capture_output=True)
        shutil.copy(tmp_path / "a.json", tmp_path / "b.json")
    return program


def with_closed_pipe(program: list[str], folder: Path) -> tuple[int, str]:
    reading, writing = os.pipe()
    os.close(reading)  # as `| head`, once it has read enough
    completed = subprocess.run(
        program, cwd=folder, stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    return completed.returncode, completed.stderr


@cases((EVALUATE,), (COMPARE,), (("score", "t.txt", "--references", "t.txt", "-o", "r.json"),))
def test_a_closed_pipe_loses_nothing(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert with_closed_pipe(prepared(tmp_path, arguments), tmp_path) == (1, "")
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@cases((EVALUATE,), (("--version",),))
def test_a_full_output_loses_nothing(arguments: tuple[str, ...], tmp_path: Path) -> None:
    program = prepared(tmp_path, arguments)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        completed = subprocess.run(program, cwd=tmp_path, stdout=full, stderr=-1, text=True)
    message = "error: the output could not be written: No space left on device\n"
    assert (completed.returncode, completed.stderr) == (1, message)
    assert (tmp_path / "r.json").exists() == (arguments is EVALUATE)


def test_characters_missing_in_the_encoding_are_printed_as_escapes(tmp_path: Path) -> None:
    program, latin = prepared(tmp_path, EVALUATE), {**os.environ, "PYTHONIOENCODING": "latin-1"}
    completed = subprocess.run(program, cwd=tmp_path, capture_output=True, env=latin)
    assert completed.returncode == 0, completed.stderr
    assert b"\\u2013" in completed.stdout  # the dash of an interval
    assert (tmp_path / "r.json").exists()


def test_an_output_file_that_is_a_closed_pipe_ends_without_error(tmp_path: Path) -> None:
    assert with_closed_pipe(command(tmp_path, *EVALUATE[:-1], "/dev/stdout"), tmp_path) == (1, "")


def test_only_control_characters_are_escaped() -> None:
    assert printable("a\tb\nc é 中 \u200f") == "a\tb\nc é 中 \u200f"
    escaped = printable("\x1b[2J \x9b1m \x00 \x7f \u202e \u2066")
    assert escaped == r"\u001b[2J \u009b1m \u0000 \u007f \u202e \u2066"
    assert json.loads(printable(json.dumps("\x9b\u202e", ensure_ascii=False))) == "\x9b\u202e"


def test_texts_cannot_send_control_sequences_to_the_terminal() -> None:
    file = io.StringIO()
    table = ReportTable.of(
        "title \x1b]0;x\x07",
        ("", "a\x1b[31m"),
        [("row \x1b[7m", Cell("cell \u202e", "\x1b[8m", is_best=True))],
        "caption \x1b[9m",
    )
    frame = Line("framed \x1b[3m", "green", frame="frame \x1b[4m")
    lines = Line.named("error: ", "x\x1b[2Jy", "bold red"), frame, "text \x1b[5m"
    show([table, *lines], file=file, force_terminal=True, width=80)
    shown = file.getvalue()
    assert "\x1b[1;31merror: \x1b[0m" in shown  # styles of the program are kept
    bare = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert not {"\x1b", "\u202e", "\x07"} & set(bare)
    codes = (r"]0;", "[31m", "[7m", "[8m", "[9m", "[2Jy", "[3m", "[4m", "[5m")
    assert all(rf"\u001b{code}" in bare for code in codes)


def test_rich_is_imported_by_the_renderer_of_the_terminal_only() -> None:
    imports = re.compile(r"^\s*(from|import) rich\b", re.MULTILINE)
    paths = Path(cc_hf.__path__[0]).rglob("*.py")
    assert [p.name for p in paths if imports.search(p.read_text("utf-8"))] == ["terminal.py"]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_a_bar_in_a_terminal_and_lines_elsewhere(is_terminal: bool) -> None:
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal  # type: ignore[method-assign]
    with Progress(total=2_000, desc="scoring", file=stream, mininterval=0, leave=False) as bar:
        for _ in range(2_000):
            bar.update()
    lines = [f"scoring: {n:,} of 2,000" for n in range(200, 2_001, 200)]
    assert ("\r" in stream.getvalue()) is is_terminal
    assert is_terminal or stream.getvalue().splitlines() == lines
