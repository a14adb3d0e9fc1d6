"""BLEU of systems has one grammar for the command line, for tables and for JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.errors import InputError
from tests.helpers.cases import cases_by_message


def test_scores_from_several_sources_are_merged(tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text(json.dumps({"a=b": 42.5, "c": 30}), encoding="utf-8")
    (tmp_path / "q.tsv").write_text("System\tBLEU\nd\t12.25\n\ne f\t7\n", encoding="utf-8")
    (tmp_path / "plain.tsv").write_text("j\t8\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("q.json", "q.tsv", "plain.tsv")]
    found = read_quality_scores([*files, "g=h=31", "i=0"])
    expected = {"a=b": 0.425, "c": 0.3, "d": 0.1225, "e f": 0.07, "j": 0.08, "g=h": 0.31, "i": 0}
    scores = {system: found.of(system, "winomt", "de") for system in found.systems}
    assert scores == pytest.approx(expected)


@pytest.mark.parametrize("text", ["a=0.42", "a=nan", "a=x", "a=101", "a=-3", "a="])
def test_bleu_must_be_given_in_points(text: str) -> None:
    with pytest.raises(InputError, match=r"bleu: BLEU of 'a': expected points, 1 to 100"):
        read_quality_scores([text])


def test_the_most_specific_score_of_a_system_is_used(tmp_path: Path) -> None:
    table = tmp_path / "q.tsv"
    rows = "system\tBLEU\tdataset\n aws \t31.5\t\ngoogle\t40\twinomt\n\n"
    table.write_text(rows, encoding="utf-8")
    quality = read_quality_scores([table])
    assert quality.of("aws", "mucow", "de") == 0.315
    assert quality.of("google", "winomt", "de") == 0.4
    assert quality.of("google", "mucow", "de") is None
    entries = [{"system": "aws", "bleu": 20, "tgt_lang": "de"}, {"system": "aws", "bleu": 10}]
    path = tmp_path / "l.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    assert [read_quality_scores([path]).of("aws", "x", lang) for lang in ("de", "fr")] == [0.2, 0.1]


@cases_by_message(
    ("name", "text", "message"),
    [
        ("q.tsv", "", "at least one system"),
        ("q.tsv", "name\tbleu\na\t1\n", "line 1: expected a header"),
        ("q.tsv", "system\tbleu\n", "at least one system"),
        ("q.tsv", "system\tbleu\na\t1\tx\n", "line 2: expected 2 cells"),
        ("q.tsv", "system\tbleu\na\t101\n", "line 2: BLEU of 'a': expected points, 1.*got '101'"),
        ("q.tsv", "system\tbleu\na\t0.42\n", "line 2: BLEU of 'a': expected points, 1.*got '0.42'"),
        ("q.json", "[" * 100_000, "expected JSON"),
        ("q.tsv", "system\tbleu\na\tnan\n", "got 'nan'"),
        ("q.tsv", "system\tbleu\na\t1\na\t2\n", "line 3: a occurs twice"),
        ("q.tsv", "system\tbleu\n\t1\n", "line 2: expected a system"),
        ("q.tsv", "system\tbleu\tlang\na\t1\tde\n", "expected system, bleu, dataset.*got 'lang'"),
        ("q.json", '{"a": 4, "a": 5}', "the key 'a' occurs twice"),
        ("q.json", '{"a": ' + "9" * 400 + "}", "expected points, 1 to 100"),
        ("q.json", '{"a": ' + "9" * 5000 + "}", "more digits than can be read"),
        ("q.tsv", "a\t4\nb 5", "line 2: expected 2 cells"),
        ("q.json", "x", "expected JSON"),
        ("q.json", "[1]", "or a list of objects with system, bleu, .*, got .1"),
        ("q.json", '{"a": true}', "entry 1: BLEU of 'a'"),
        ("q.json", '[{"system": "a", "bleu": 0.5}]', "expected points, 1 to 100"),
        ("q.json", '[{"system": 3, "bleu": 1}]', "entry 1: system: expected a text, got 3"),
    ],
)
def test_malformed_quality_files_are_refused(
    name: str, text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_quality_scores([tmp_path / name])


def test_a_low_figure_with_its_signature_is_in_points(tmp_path: Path) -> None:
    path = tmp_path / "bleu.json"
    path.write_text('[{"system": "a", "bleu": 0.5, "signature": "x"}]', encoding="utf-8")
    assert read_quality_scores(path).of("a", "", "") == 0.005


def test_an_argument_without_points_must_be_a_json_or_tsv_file() -> None:
    with pytest.raises(InputError, match=r"or a file that ends in \.json or \.tsv"):
        read_quality_scores(["q.txt"])
