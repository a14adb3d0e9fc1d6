"""Files of BLEU, times and counts of senses, and senses as text."""

import json
from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.data.files.sense_counts import frequent_senses, read_sense_counts, with_counts
from cc_hf.data.files.sense_rows import parse_senses, senses_text
from cc_hf.data.files.timings import Timing, read_timings
from cc_hf.data.loading import declaration
from cc_hf.text.sense_matching import SenseCluster
from tests.helpers.cases import cases
from tests.helpers.lines import write_text
from tests.helpers.refusals import refuses


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
    refuses(r"bleu: BLEU of 'a': expected points, 1 to 100", read_quality_scores, [text])


def test_the_most_specific_score_of_a_system_is_used(tmp_path: Path) -> None:
    table = tmp_path / "q.tsv"
    rows = "system\tBLEU\tdataset\n aws \t31.5\t\ngoogle\t40\twinomt\n\n"
    table.write_text(rows, encoding="utf-8")
    quality = read_quality_scores([table])
    assert (quality.of("aws", "mucow", "de"), quality.of("google", "winomt", "de")) == (0.315, 0.4)
    assert quality.of("google", "mucow", "de") is None
    entries = [{"system": "aws", "bleu": 20, "tgt_lang": "de"}, {"system": "aws", "bleu": 10}]
    path = write_text(tmp_path / "l.json", json.dumps(entries))
    assert [read_quality_scores([path]).of("aws", "x", lang) for lang in ("de", "fr")] == [0.2, 0.1]


@cases(
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
)
def test_malformed_scores_are_refused(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    refuses(message, read_quality_scores, [tmp_path / name])


def test_a_low_figure_with_its_signature_is_in_points(tmp_path: Path) -> None:
    path = write_text(tmp_path / "bleu.json", '[{"system": "a", "bleu": 0.5, "signature": "x"}]')
    assert read_quality_scores(path).of("a", "", "") == 0.005


def test_an_argument_without_points_must_be_a_json_or_tsv_file() -> None:
    refuses(r"or a file that ends in \.json or \.tsv", read_quality_scores, ["q.txt"])


TIMES = {"seconds": 2.5, "rounds": [2.5, 2.4, 2.6], "tokens_per_second": 100.0, "busy": False}
ENTRY = {"system": "base-seed1", "precision": "int8", "backend": "ctranslate2", "beams": 5, **TIMES}


def timed(path: Path, *entries: Any, **more: Any) -> Path:
    return write_text(path, json.dumps({"timings": entries, **more}))


def test_times_are_read_with_how_systems_were_decoded(tmp_path: Path) -> None:
    timings = read_timings([timed(tmp_path / "t.json", ENTRY, {"system": "b", "seconds": 1})])
    first = Timing(2.5, 100.0, "int8", "ctranslate2", 5)
    assert (timings.systems, timings.notes) == ({"base-seed1": first, "b": Timing(1.0)}, ())


def test_unreliable_and_incomparable_times_are_noted(tmp_path: Path) -> None:
    first = timed(tmp_path / "a.json", {**ENTRY, "busy": True}, machine=1, options={})
    other = timed(tmp_path / "b.json", {**ENTRY, "system": "b"}, machine=2, options={})
    different, busy = read_timings([first, other]).notes
    assert "different machines" in different
    assert str(other) in different
    assert busy.endswith("shared the processor: base-seed1")


@cases(
    ([], r"expected an object, got \[\]"),
    ({"timings": []}, "timings: expected at least one item"),
    ({"timings": [1]}, "timings: item 1: expected an object, got 1"),
    ({"timings": [{"seconds": 1}]}, "timings: item 1: expected the key 'system'"),
    ({"timings": [{"system": "a", "seconds": 0}]}, "timings: item 1: seconds: expected.*got 0"),
    ({"timings": [{**ENTRY, "beams": 0}]}, "beams: expected a whole number from 1 or.*got 0"),
    ({"timings": [{**ENTRY, "backend": 1}]}, "backend: expected a text or null, got 1"),
    ({"timings": [ENTRY, ENTRY]}, "timings: item 2: base-seed1 occurs twice"),
)
def test_malformed_timings_are_refused(content: Any, message: str, tmp_path: Path) -> None:
    path = write_text(tmp_path / "t.json", json.dumps(content))
    refuses(message, read_timings, [path])
    path.write_text("{", encoding="utf-8")
    refuses(r"t\.json", read_timings, [path])


def test_the_frequent_sense_has_the_highest_count_and_of_equal_ones_is_the_first() -> None:
    counts = {"bat - a": 1, "bat - b c": 2, "air - x": 4, "air - y": 4}
    assert frequent_senses(counts) == {("bat", frozenset({"b", "c"})), ("air", frozenset({"x"}))}


@cases(
    ("[]", "expected an object, sense to number"),
    ("{}", "expected an object, sense to number"),
    ('{"bat": 1}', "expected a word, ' - ' and the target words"),
    ('{"bat - a": -1}', "bat - a: expected a whole number from 0, got -1"),
    ('{"bat - a": 1.5}', "bat - a: expected a whole number from 0, got 1.5"),
    ("{", "counts.json: "),
)
def test_files_that_are_no_counts_are_refused(text: str, message: str, tmp_path: Path) -> None:
    refuses(message, read_sense_counts, write_text(tmp_path / "counts.json", text))


def test_counts_fit_only_data_that_name_senses(tmp_path: Path) -> None:
    path = write_text(tmp_path / "counts.json", json.dumps({"counts": {"bat - a": 1}}))
    assert read_sense_counts(path) == {"bat - a": 1}
    assert with_counts(declaration("mucow"), "en-de", path).counts
    for name, config in (("winomt", None), ("mucow", "scoring.lt-en")):
        refuses(f"counts: {name} .* not name senses", with_counts, declaration(name), config, path)


_BAT = SenseCluster(("Fledermaus",), blacklisted=("Vampir",))
CLUSTERS = {"1": SenseCluster(("Schläger",), ("Keule",)), "2": _BAT}


def test_senses_survive_the_way_through_text() -> None:
    text = senses_text(CLUSTERS)
    assert parse_senses(text, "row 0") == CLUSTERS
    assert parse_senses(CLUSTERS, "row 0") == CLUSTERS
    assert "blacklisted" not in text.partition('"2"')[0]


def test_ambiguous_words_may_belong_to_several_clusters() -> None:
    row = {name: {"senses": [name], "ambiguous": ["Ding"]} for name in ("a", "b")}
    assert parse_senses(row, "row 0")["b"].ambiguous == ("Ding",)
