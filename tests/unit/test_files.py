"""Input from outside is read by one reader, and its names are made safe in one function."""

from __future__ import annotations

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

from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.comparing.system_table import read_system_table
from cc_hf.cues.mlm_insertions import parse_candidates
from cc_hf.data.files.custom import read_custom
from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.data.files.result_files import read_result_file
from cc_hf.data.files.translations import read_translations
from cc_hf.errors import CCError, InputError
from cc_hf.files import file_slug, resolved, sole_writer
from cc_hf.folders import new_folder
from cc_hf.hub.metric_page import MAX_FORM_CHARACTERS, judge_lines
from cc_hf.reading import parse_json, parse_yaml
from cc_hf.schema import ContrastiveTranslationExample
from tests.helpers.cases import cases
from tests.helpers.contract_cases import study_cases
from tests.helpers.lines import write_lines

EXAMPLE = ContrastiveTranslationExample("0", "en", "de", "One.", "Eins.", ("Zwei.",), "a")
BAD = {
    "duplicate": ('{"id": "a", "id": "b"}', "occurs twice"),
    "surrogate": ('{"id": "\\ud800"}', "lone surrogate"),
    "digits": ('{"id": ' + "9" * 5000 + "}", "more digits than can be read"),
    "nesting": ('{"id": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
}
_OF_STUDIES = [
    file for cases in study_cases().values() for file in cases.kept_files if not file.others
]
READERS: dict[str, Callable[[Path], object]] = {
    "t.jsonl": lambda path: read_translations(path, [EXAMPLE]),
    "c.jsonl": lambda path: list(read_custom(path)),
    "a.jsonl": read_annotations,
    "r.json": read_result_file,
    "q.json": lambda path: read_quality_scores([path]),
    "w.json": lambda path: parse_candidates(path.read_text(encoding="utf-8")),
    **{file.name: file.read for file in _OF_STUDIES if file.text.startswith("{")},
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", BAD)
def test_every_reader_refuses_ambiguous_json(tmp_path: Path, name: str, kind: str) -> None:
    text, message = BAD[kind]
    path = tmp_path / name
    path.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(CCError, match=message):
        READERS[name](path)


@pytest.mark.parametrize("kind", BAD)
def test_references_typed_on_a_page_are_refused_alike(kind: str) -> None:
    text, message = BAD[kind]
    expected = "expected at most" if len(text) > MAX_FORM_CHARACTERS else message
    with pytest.raises(InputError, match=expected):
        judge_lines("gender_accuracy", "Sie ist da.", text)


@cases(
    ("a: &x [1]\nb: [*x, *x]", "line 1: .* the anchor 'x'"),
    ("a: 1\nb: !!int ''", "line 2: .* the tag"),
    ("[" * 40 + "]" * 40, "line 1: .* more than 32 levels"),
    ("a: [", "expected YAML, got 'a: \\['"),
    (f"a: {'1' * 5000}", "expected YAML"),
)
def test_yaml_beyond_plain_values_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_yaml(text)


_PLAIN = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(_PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_everything_that_json_writes_can_be_parsed(value: Any) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=False)) == value
    assert parse_json(json.dumps(value)) == value


@given(st.text(alphabet=st.characters(codec=None), max_size=400))
def test_slugs_are_safe_in_paths_patterns_and_yaml(text: str) -> None:
    slug = file_slug(text)
    assert re.fullmatch(r"[\w-][\w.-]*", slug)
    assert len(slug.encode()) <= 240


def test_different_names_have_different_slugs() -> None:
    names = ["a", "a ", "a\n", "a/", "../a", "a" * 100, "a" * 101, "", ".", "..", ".a"]
    assert len({file_slug(name) for name in names}) == len(names)


NAMES = {
    **{"long name": "x" * 300, "loop": "loop", "file in loop": "loop/a.json"},
    **{"long folder": f"{'x' * 300}/a.json", "null character": "a\0b"},
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_paths_that_the_system_cannot_open_are_refused(tmp_path: Path, name: str) -> None:
    for link, target in (("loop", "pool"), ("pool", "loop"), ("link", "new.json")):
        (tmp_path / link).symlink_to(tmp_path / target)
    with pytest.raises(InputError, match=r"output: expected the path of a.*got .* choose another"):
        resolved(tmp_path / name)
    assert resolved(tmp_path / "link") == tmp_path.resolve() / "new.json"


@cases(
    ("system\tbleu", lambda path: read_quality_scores([path])),
    ("x\ty", read_system_table),
    *((f.text.partition("\n")[0], f.read) for f in _OF_STUDIES if f.name.endswith(".tsv")),
)
def test_unreadable_cells_are_refused(
    names: str, read: Callable[[Path], object], tmp_path: Path
) -> None:
    n = names.count("\t")
    for cells, message in (
        ("\t" * n + "9" * 200_000, "cells that can be read"),
        ("\tb" * (n + 1), f"line 2: expected {n + 1} cells, one for each name, got {n + 2}"),
    ):
        path = write_lines(tmp_path / "table.tsv", [names, f"a{cells}"])
        with pytest.raises(InputError, match=message):
            read(path)


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


def test_a_new_folder_has_one_writer(tmp_path: Path) -> None:
    with new_folder(tmp_path / "out") as folder:
        (folder / "a").write_text("a", encoding="utf-8")
        with pytest.raises(InputError, match="no other run"), new_folder(tmp_path / "out"):
            pass
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "a"]
