"""Input from outside is read by one reader, and its names are made safe in one function."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_hf import reading
from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.data.files.custom import read_custom
from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.data.files.result_files import read_result_file
from cc_hf.data.files.translations import read_translations
from cc_hf.errors import CCError, DataError, FileError, InputError
from cc_hf.files import file_slug, name_key, resolved, sole_writer
from cc_hf.folders import new_folder
from cc_hf.hub.metric_page import MAX_FORM_CHARACTERS, judge_lines
from cc_hf.metrics.alignments import corpus_aligner
from cc_hf.reading import text_of
from cc_hf.records import NonEmpty, parse_json, read_json, read_value
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.tables.rows import read_rows
from cc_hf.text.alignment import parse_pharaoh
from tests.helpers.contract_cases import study_cases
from tests.helpers.other_systems import refused_by_windows
from tests.helpers.usual import cases, fails, refuses, write_lines, write_text

_BATS: Any = {"words": {"bat"}, "languages": ("en", "en")}
EXAMPLE = ContrastiveTranslationExample("0", "en", "de", "One.", "Eins.", ("Zwei.",), "a")
BAD = {
    "duplicate": ('{"id": "a", "id": "b"}', "occurs twice"),
    "surrogate": ('{"id": "\\ud800"}', "lone surrogate"),
    "digits": ('{"id": ' + "9" * 5000 + "}", "more digits than can be read"),
    "nesting": ('{"id": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
}
_OF_STUDIES = [file for c in study_cases().values() for file in c.kept_files if not file.others]


def _segments(path: Path) -> object:
    from cc_hf.plugins.scores.segment_scores import read_segment_scores

    return read_segment_scores(path)


def _systems(path: Path) -> object:
    from cc_hf.plugins.seeds.system_table import read_system_table

    return read_system_table(path)


def _candidates(path: Path) -> object:
    from cc_hf.plugins.calibration.mlm_insertions import parse_candidates

    return parse_candidates(path.read_text(encoding="utf-8"))


READERS: dict[str, Callable[[Path], object]] = {
    "t.jsonl": lambda path: read_translations(path, [EXAMPLE]),
    "c.jsonl": lambda path: list(read_custom(path)),
    "a.jsonl": read_annotations,
    "r.json": read_result_file,
    "q.json": lambda path: read_quality_scores([path]),
    "w.json": _candidates,
    **{file.name: file.read for file in _OF_STUDIES if file.text.startswith("{")},
}


@cases(
    *(("duplicate", name) for name in READERS),  # all of them read by `parse_json`
    *((kind, "t.jsonl") for kind in BAD if kind != "duplicate"),
)
def test_every_reader_refuses_ambiguous_json(kind: str, name: str, tmp_path: Path) -> None:
    text, message = BAD[kind]
    path = write_text(tmp_path / name, text + "\n")
    fails(CCError, message, READERS[name], path)


@pytest.mark.parametrize("kind", BAD)
def test_references_typed_on_a_page_are_refused_alike(kind: str) -> None:
    text, message = BAD[kind]
    expected = "expected at most" if len(text) > MAX_FORM_CHARACTERS else message
    refuses(expected, judge_lines, "gender_accuracy", "Sie ist da.", text)


@cases(
    ("a: &x [1]\nb: [*x, *x]", "line 1: .* the anchor 'x'"),
    ("a: 1\nb: !!int ''", "line 2: .* the tag"),
    ("[" * 40 + "]" * 40, "line 1: .* more than 32 levels"),
    ("a: [", "expected YAML, got 'a: \\['"),
    (f"a: {'1' * 5000}", "expected YAML"),
)
def test_yaml_beyond_plain_values_is_refused(text: str, message: str) -> None:
    refuses(message, reading.parse_yaml, text)


_PLAIN = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(_PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_everything_that_json_writes_can_be_parsed(value: Any) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=False)) == value
    assert parse_json(json.dumps(value)) == value


@given(st.text(alphabet=st.characters(codec=None), max_size=400))
def test_slugs_are_safe_in_paths_patterns_and_yaml(text: str) -> None:
    slug = file_slug(text)
    assert re.fullmatch(r"[\w-]([\w.-]*[\w-])?", slug)
    assert len(slug.encode()) <= 240
    assert not refused_by_windows(slug)


@cases("con", "NUL", "Aux.de", "com1", "LPT\u00b9", "nul.", "a.", "a:b", 'a"b', "x" * 49 + ".y")
def test_slugs_are_names_that_windows_accepts(name: str) -> None:
    assert not refused_by_windows(file_slug(name))
    assert file_slug(name) not in (name, file_slug(f"{name} "))


def test_different_names_have_different_slugs() -> None:
    names = ["a", "a ", "a\n", "a/", "../a", "a" * 100, "a" * 101, "", ".", "..", ".a"]
    names += ["a.", "con", "con.a", "con_a", "Con", "nul"]
    assert len({file_slug(name) for name in names}) == len(names)


@cases(("Straße", "STRASSE", True), ("\u00e4", "A\u0308", True), ("a", "b", False))
def test_names_of_the_same_file_have_the_same_key(left: str, right: str, same: bool) -> None:
    assert (name_key(left) == name_key(right)) == same


@cases("x" * 300, "loop", "loop/a.json", f"{'x' * 300}/a.json", "a\0b")
def test_paths_that_the_system_cannot_open_are_refused(name: str, tmp_path: Path) -> None:
    for link, target in (("loop", "pool"), ("pool", "loop"), ("link", "new.json")):
        (tmp_path / link).symlink_to(tmp_path / target)
    refuses(r"output: expected the path of a.*got .* choose another", resolved, tmp_path / name)
    assert resolved(tmp_path / "link") == tmp_path.resolve() / "new.json"


@cases(
    ("system\tbleu", lambda path: read_quality_scores([path])),
    ("x\ty", _systems),
    *((f.text.partition("\n")[0], f.read) for f in _OF_STUDIES if f.name.endswith(".tsv")),
)
def test_bad_cells_are_refused(names: str, read: Callable[[Path], object], tmp_path: Path) -> None:
    n = names.count("\t")
    for cells, message in (
        ("\t" * n + "9" * 200_000, "cells that can be read"),
        ("\tb" * (n + 1), f"line 2: expected {n + 1} cells, one for each name, got {n + 2}"),
    ):
        path = write_lines(tmp_path / "table.tsv", [names, f"a{cells}"])
        refuses(message, read, path)


def test_an_output_has_one_writer_by_whatever_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "out")
    message = f"^kept: .* got {tmp_path}/out; wait .* choose"
    with sole_writer(tmp_path / "out"):
        for other in ("out", "link", f"../{tmp_path.name}/out"):
            with pytest.raises(InputError, match=message), sole_writer(tmp_path / other, "kept"):
                pass
        with sole_writer(tmp_path / "other"):
            pass
    with sole_writer(tmp_path / "out"), sole_writer("/dev/null"), sole_writer("/dev/null"):
        pass  # devices are not locked
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_a_lock_ends_with_its_process(root: Path, tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom cc_hf.files import sole_writer\n"
        "with sole_writer(sys.argv[1]):\n    print(flush=True)\n    sys.stdin.read()"
    )
    path, environment = tmp_path / "out", {**os.environ, "PYTHONPATH": str(root)}
    command: Any = {"args": [sys.executable, "-c", program, str(path)], "env": environment}
    with subprocess.Popen(**command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(InputError, match="no other run"), sole_writer(path):
            pass
        process.kill()
        process.wait()
        with sole_writer(path):  # although the killed process could not delete its file
            pass
    assert not list(tmp_path.iterdir())


def test_folders_of_killed_runs_are_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".out.abcdefgh" / "build" / "parts").mkdir(parents=True)
    others = [".out.b.abcdefgh", ".out.abc", ".output.abcdefgh", ".out.12345678/mine"]
    for name in others:
        (tmp_path / name).mkdir(parents=True)
    with new_folder(tmp_path / "out") as folder:
        (folder / "a.txt").write_text("a", encoding="utf-8")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"out", *(name.partition("/")[0] for name in others)}


def test_a_new_folder_has_one_writer(tmp_path: Path) -> None:
    with new_folder(tmp_path / "out") as folder:
        (folder / "a").write_text("a", encoding="utf-8")
        with pytest.raises(InputError, match="no other run"), new_folder(tmp_path / "out"):
            pass
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "a"]


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('\ufeff{"a": "b\u2028c"}\r\n\n{"a": "d"}\n\n'.encode())
    actual = [(str(origin), row["a"]) for origin, row in read_rows(path)]
    assert actual == [(f"{path}: line 1", "b\u2028c"), (f"{path}: line 3", "d")]


@cases(
    ("id\tchrF\n0\t61.5\n1\t40\n", _segments),
    ("0-0 1-2\n\n0-1\n", lambda path: parse_pharaoh(reading.read_lines(path), name="links")),
    ("the bats\nthe air\n", lambda path: corpus_aligner("fast_align", [path] * 2, **_BATS)),
    ("Der Arzt\n\nDie Ärztin\n", reading.text_lines),
    ('{"a":\n1}\n', lambda path: read_json(path, "an object")),
)
def test_line_ends_of_windows_change_nothing(text: str, read: Any, tmp_path: Path) -> None:
    values = []
    for line_end in ("\n", "\r\n"):
        (tmp_path / "a").write_text(text, encoding="utf-8", newline=line_end)
        values.append(read(tmp_path / "a"))
    assert values[0] == values[1]


def test_rows_are_read_by_the_suffix(tmp_path: Path) -> None:
    for name, text in (
        ("a.jsonl", '{"a": "b", "c": "d\\n\\"e\\""}\n'),
        ("a.csv", 'a,c\nb,"d\n""e"""\n,\n'),
        ("a.TSV", ' a\tc \r\nb\t"d\r\n""e"""\r\n\r\n'),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        rows = [row for _, row in read_rows(tmp_path / name, form={"a": str, "x?": None})]
        assert rows == [{"a": "b", "c": 'd\n"e"'}]


_OBJECT = "expected a JSON object"


@cases(
    ("a", b'{"a": "1"}\n\n{"a": ', rf"a: line 3: {_OBJECT}, got .* \(Expecting valu"),
    ("a", b"[1]", rf"a: line 1: {_OBJECT}, got \[1\]; write a"),
    ("a", b"null", f"a: line 1: {_OBJECT}, got None; write a"),
    ("a", b"{}", r"a: line 1: expected the key 'a', got {}; write a"),
    ("a", b'{"a": 1}', r"a: line 1: a: expected a text, got 1; write a"),
    ("a", b"{}\n\xff", r"a: line 1: expected the key"),
    (
        "a",
        b'{"a": "1"}\n\xff',
        "a: line 2: expected UTF-8, got the byte 0xff, .ÿ. in Win.*; save the",
    ),
    ("a.tsv", b"", "a.tsv: expected a line of names and at least one row, got an empty file"),
    ("a.tsv", b"b\tc\n", r"a.tsv: line 1: expected columns named a, got \['b', 'c'\]"),
    ("a.tsv", b"b,c\n1,2\n", r"a.tsv: line 1: expected columns named a, got \['b', 'c'\]"),
    ("a.csv", b"a,a\n1,2\n", r"a.csv: line 1: expected different names, got \['a', 'a'\]"),
    ("a.csv", b"a,b\n\n1\n", "a.csv: line 3: expected 2 cells, one for each name, got 1"),
    ("a.csv", b'a,b\n"1" x,2\n', "a.csv: line 2: expected cells that can .* quote cells"),
    ("a.csv", b'a,b\n"1,2\n', "a.csv: line 2: expected cells that can be read"),
)
def test_bad_rows_are_refused(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    fails(
        FileError,
        f"^{tmp_path}/{message}",
        list,
        read_rows(tmp_path / name, form={"a": str}, remedy="write a"),
    )


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    for name, message in (("b", "file not found"), (".", "cannot be read: Is a directory")):
        fails(
            FileError,
            f"^{tmp_path / name}: {message}$",
            list,
            read_rows(tmp_path / name, reading.JSONL),
        )
    fails(FileError, "b: cannot be read: embedded null byte", read_json, tmp_path / "a\0b", "JSON")


@cases(
    ("[", "a: expected names, got '[' (Expecting value: line 1 column 2 (char 1)); ask"),
    ("[]", "a: expected names; expected an object, got []; ask"),
    ("{}", "a: expected names; expected at least one item, got {}; ask"),
    ('{"b": ["c", 1]}', "a: expected names; b: item 2: expected a text, got 1; ask"),
)
def test_other_json_is_refused_naming_the_place(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(content, encoding="utf-8")
    with pytest.raises(FileError) as refused:
        read_json(tmp_path / "a", "names", NonEmpty({str: [str]}), remedy="ask")
    assert str(refused.value) == f"{tmp_path}/{message}"
    assert isinstance(refused.value, InputError)


def test_a_value_behind_missing_ones_is_named_by_its_own_place() -> None:
    form, value = {"counts": [int | None]}, {"counts": [None, 1, None, "x"]}
    refuses("counts: item 4: expected a whole number or null, got 'x'", read_value, form, value)


def test_text_fields_are_checked_and_may_have_a_default() -> None:
    row = {"a": " x ", "n": None, "i": 7, "b": True, "e": " ", "long": ["y" * 200]}
    assert text_of(row, "a", "p") == " x "
    texts = [text_of(row, key, "p", default="-") for key in ("a", "n", "i", "e", "missing")]
    assert texts == [" x ", "-", "7", " ", "-"]
    for key, default, message in (
        ("n", None, "p: .*n: expected text, got None"),
        ("i", None, "p: .*got 7"),
        ("e", None, "p: .*got ' '"),
        ("missing", None, r"p: .*expected the key 'missing', got \['a', 'n'"),
        ("b", "", "b: expected text, got True"),
        ("long", None, r"got \['y{198}\.\.\.$"),
    ):
        fails(DataError, message, text_of, row, key, "p", default=default)
    fails(DataError, r"expected the key 'a', got \[\]", text_of, {}, "a", "p")
