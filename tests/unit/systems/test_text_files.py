import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import cc_hf
from cc_hf.errors import ResultWarning, TooLongError
from cc_hf.evaluators.base import Evaluator, Sharing
from cc_hf.systems import text_files
from cc_hf.systems.text_files import FileTranslation, summary_path, translate_file
from cc_hf.systems.translate import Translations
from tests.helpers import families
from tests.helpers.processes import together
from tests.helpers.usual import cases, fails, read_jsonl, refuses, write_lines

LINES = [f"The doctor {'asked ' * (i % 4)}{i}." for i in range(11)]
LINES[3], LINES[7] = "", "   "
Patches = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Evaluator:
    folder = families.BUILDERS["marian"](tmp_path_factory.mktemp("marian"))
    return cc_hf.load_evaluator(folder, src_lang="en", tgt_lang="de")


@pytest.fixture(autouse=True)
def _fake_translations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Translate by turning words round; what a block holds decides, as it does for rounding."""

    def fake(model: Any, sources: list[str], *, team: Any, **_: Any) -> Translations:
        team.check_alike(sources)
        return Translations([f"{text[::-1].strip()} of {len(sources)}" for text in sources], [])

    monkeypatch.setattr(text_files, "translate_rows", fake)


@pytest.fixture
def run(model: Evaluator, tmp_path: Path) -> Callable[..., FileTranslation]:
    """Return a function that translates the lines into a file, by default out.de."""
    source = write_lines(tmp_path / "in.en", LINES)
    return lambda name="out.de": translate_file(model, source, tmp_path / name, block_lines=4)


def test_lines_are_translated_and_blank_ones_counted(run: Any, tmp_path: Path) -> None:
    summary = run()
    lines = (tmp_path / "out.de").read_text(encoding="utf-8").split("\n")
    assert (lines[0], lines[3], lines[7], lines[11:]) == (".0 rotcod ehT of 3", "", "", [""])
    assert (summary.n_lines, summary.n_blank, summary.n_translated) == (11, 2, 9)
    assert json.loads(summary_path(tmp_path / "out.de").read_text())["n_blank"] == 2
    assert "/beam5|langs:en-de|source:" in summary.signature
    assert {path.name for path in tmp_path.iterdir()} == {"in.en", "out.de", "out.de.summary.json"}


def test_killed_runs_end_as_others(run: Any, tmp_path: Path, monkeypatch: Patches) -> None:
    summary, translated, seen = run("whole.de"), text_files._Blocks.translated, list[int]()

    def stopping(self: Any, number: int) -> list[str]:
        seen.append(number)
        if seen == [0, 1]:
            raise KeyboardInterrupt
        return translated(self, number)

    monkeypatch.setattr(text_files._Blocks, "translated", stopping)
    fails(KeyboardInterrupt, "^$", run)
    part = tmp_path / "out.de.part"
    assert len(part.read_text(encoding="utf-8").splitlines()) == 4
    with part.open("a", encoding="utf-8") as file:
        file.write("a line of the next block\nhalf a li")  # the program was killed while it wrote
    assert (run(), seen) == (summary, [0, 1, 1, 2])
    assert (tmp_path / "out.de").read_bytes() == (tmp_path / "whole.de").read_bytes()


@pytest.mark.parametrize("line", ["x", "[]", "{}", '{"translation": 1}'])
def test_a_forged_part_is_refused_by_its_line(run: Any, tmp_path: Path, line: str) -> None:
    with patch.object(text_files._Part, "finish"):
        run("out.jsonl")
    part = tmp_path / "out.jsonl.part"
    first, *rest = part.read_text(encoding="utf-8").split("\n")
    part.write_text("\n".join([first, line, *rest[1:]]), encoding="utf-8")
    refuses(r"out\.jsonl\.part: line 2: .*expected .*delete the file", run, "out.jsonl")


@pytest.mark.parametrize("text", ['{"sys": "other"}', "[]", "x", "{}", "\ufffe"])
def test_forged_options_are_of_another_run(run: Any, tmp_path: Path, text: str) -> None:
    (tmp_path / "out.de.part").write_text("x\n", encoding="utf-8")
    (tmp_path / "out.de.part.json").write_text(text, encoding="utf-8")
    refuses("expected a part of the same run, got one with another", run)


def test_a_second_run_is_refused(run: Any, tmp_path: Path, monkeypatch: Patches) -> None:
    expected, translated, done = run("whole.de"), text_files._Blocks.translated, list[int]()

    def second(self: Any, number: int) -> list[str]:
        if not done:
            done.append(number)
            refuses(r"no other run is writing, got .*out\.de", run)
            assert run("other.de") == expected
        return translated(self, number)

    monkeypatch.setattr(text_files._Blocks, "translated", second)
    assert run() == expected
    assert not list(tmp_path.glob(".*"))


def test_two_processes_write_the_file_of_one(run: Any, model: Evaluator, tmp_path: Path) -> None:
    expected = run("one.de")

    def in_team(team: Any) -> FileTranslation:
        member = copy.copy(model)
        member.sharing = Sharing(team=team)
        return translate_file(member, tmp_path / "in.en", tmp_path / "two.de", block_lines=4)

    assert together(2, in_team) == [expected, expected]
    assert (tmp_path / "two.de").read_bytes() == (tmp_path / "one.de").read_bytes()


def test_lines_that_are_too_long_are_errors_or_counted(model: Evaluator, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "long.en", ["A nurse.", "doctor nurse " * 300])
    given = model, source, tmp_path / "out.de"
    fails(TooLongError, r"long\.en: line 2: .* takes at most", translate_file, *given)
    summary = translate_file(*given, on_too_long="blank")
    assert (summary.n_too_long, summary.too_long, summary.n_translated) == (1, (2,), 1)
    assert (tmp_path / "out.de").read_text(encoding="utf-8").split("\n")[1:] == ["", ""]


def test_a_file_in_json_lines_keeps_the_sources_beside(run: Any, tmp_path: Path) -> None:
    summary = run("out.jsonl")
    rows = read_jsonl(tmp_path / "out.jsonl")
    assert [(row["id"], row["source"]) for row in rows] == list(zip(map(str, range(11)), LINES))
    assert rows[0]["translation"] == ".0 rotcod ehT of 3"
    assert (summary.n_blank, summary.n_empty) == (2, 0)


@cases(
    (b"", {}, "expected sentences, one per line, got an empty file"),
    (b"A\n\xff\n", {}, "in.en: line 2: expected UTF-8, got the byte 0xff"),
    (b"A\n", {"block_lines": 0}, "block_lines: expected a whole number from 1, got 0"),
    (b"A\n", {"on_too_long": "cut"}, "on_too_long: expected one of error, blank"),
)
def test_bad_files_and_options_are_refused(
    content: bytes, options: Any, message: str, model: Evaluator, tmp_path: Path
) -> None:
    (tmp_path / "in.en").write_bytes(content)
    refuses(message, translate_file, model, tmp_path / "in.en", tmp_path / "out", **options)


def test_lines_whose_translation_was_cut_are_said(run: Any, monkeypatch: Patches) -> None:
    def cutting(model: Any, sources: list[str], **_: Any) -> Translations:
        return Translations(sources, [len(sources) - 1])

    monkeypatch.setattr(text_files, "translate_rows", cutting)
    # Blocks of four lines end in lines 4, 8 and 11; lines 4 and 8 are blank.
    with pytest.warns(ResultWarning, match=r"in\.en: 3 of 11 translations were cut .* line 3:"):
        run()
