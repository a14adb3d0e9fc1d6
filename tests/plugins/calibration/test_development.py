import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.errors import CCError, DataError
from cc_hf.evaluation.evaluate import evaluate
from cc_hf.evaluation.material import load_material
from cc_hf.plugins.calibration.development import (
    load_development,
    read_wordings,
    reference_development,
    table_development,
    verdict_development,
)
from cc_hf.records import write_record
from tests.helpers.usual import cases, fails, refuses, write_lines, write_text


@pytest.fixture(scope="module")
def result(shared: Path) -> cc_hf.EvaluationResult:
    """Return the verdicts of pattern matching on one archived system."""
    folder = shared / "upstream/gabrielStanovsky/mt_gender/translations"
    material = load_material("winomt", tgt_lang="de", data_dir=shared / "upstream")
    texts = folder / "aws/en-de.txt"
    return evaluate(material, translations=texts, metric="winomt_pattern_matching")


def test_verdicts_make_a_development_set(result: cc_hf.EvaluationResult, shared: Path) -> None:
    rows = verdict_development({"aws": result}, data_dir=shared / "upstream")
    shown = [j for j in result.judgements if j.predicted in ("male", "female")]
    assert len(rows.rows) < len(shown)  # some sentences occur twice
    assert {row.translation for row in rows.rows} == {j.translation for j in shown}
    assert rows.n_left_out == result.n - len(shown)
    assert (rows.src_lang, rows.tgt_lang, rows.own_cues) == ("en", "de", "gender_brackets")
    assert rows.data == "winomt/default@b2f1b31/winomt_pattern_matching"
    first: Any = rows.rows[0]
    assert (first.translation, first.reading) == (shown[0].translation, shown[0].predicted)
    assert first.source[first.focus.start :].startswith(first.focus.text)
    for reading in rows.readings:
        assert f"[{reading}]" in first.sources[reading][0]
    assert rows.readings == ("female", "male")
    twice = verdict_development({"a": result, "b": result}, data_dir=shared / "upstream")
    assert twice.rows == rows.rows


def test_genders_that_a_dictionary_reads_make_a_development_set(
    result: cc_hf.EvaluationResult, shared: Path
) -> None:
    words = {"male": "masculine", "female": "feminine"}
    judgements = tuple(
        replace(j, predicted=words.get(j.predicted, "none")) for j in result.judgements
    )
    rows, expected = (
        verdict_development({"aws": of_metric}, data_dir=shared / "upstream").rows
        for of_metric in (replace(result, judgements=judgements), result)
    )
    assert rows == expected


def test_names_are_recognised(result: cc_hf.EvaluationResult, shared: Path, tmp_path: Path) -> None:
    upstream = shared / "upstream"
    path = write_text(tmp_path / "aws.json", result.to_json())
    verdicts = verdict_development({"aws": result}, data_dir=upstream)
    assert load_development([path], data_dir=upstream) == verdicts
    references = load_development(["mt_geneval"], "counterfactual_pt", data_dir=upstream)
    assert references == reference_development("mt_geneval", "counterfactual_pt", data_dir=upstream)
    assert (len(references.rows), references.own_cues) == (2400, "counterfactual")
    assert references.data.startswith("mt_geneval/counterfactual_pt/dev@")
    for row in references.rows[:4]:
        assert row.sources[row.reading] == (row.source,)


@cases(
    ([], {}, "expected result files of one dataset, one table, or the name of one dataset"),
    (["winomt", "mucow"], {}, "got winomt, mucow"),
    (["nothing"], {}, "unknown dataset"),
    (["mt_geneval"], {"split": "test"}, "expected a split .* on which nothing is judged"),
    (["mt_geneval"], {"split": "train"}, "unknown split"),
    (["winomt"], {"tgt_lang": "pt"}, "unknown split|expected contrastive sources with ref"),
    (["missing.json"], {}, "missing.json"),
    (["missing.tsv"], {}, "missing.tsv"),
)
def test_other_sources_are_refused(names: Any, options: Any, message: str, shared: Path) -> None:
    fails(CCError, message, load_development, names, data_dir=shared / "upstream", **options)


def test_other_results_are_refused(result: Any, shared: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    first = result.signature.replace("|m:6", "|m:1")  # files of the first versions had no genders
    unread = tuple(replace(j, predicted="") for j in result.judgements)
    bare = replace(result, judgements=unread, signature=first)
    for text, message in (
        (bare.to_json(), "expected a result that says which gender was found"),
        ("{}", r"a\.json: expected the JSON of an evaluation result"),
    ):
        path.write_text(text, encoding="utf-8")
        fails(DataError, message, load_development, [path], data_dir=shared / "upstream")
    strange = (replace(result.judgements[0], example_id="x"),)
    for results, message in (
        ({"a": result, "b": replace(result, tgt_lang="fr")}, "expected all on the same data"),
        ({}, "at least one result with verdicts"),
        ({"a": replace(result, dataset="")}, "expected results on a registered dataset, got ''"),
        ({"a": replace(result, judgements=strange)}, "a: the example 'x' is not in winomt default"),
    ):
        refuses(message, verdict_development, results, data_dir=shared / "upstream")


def test_a_table_makes_a_development_set(tmp_path: Path) -> None:
    texts = [("A enfermeira saiu.", "female"), ("O enfermeiro saiu.", "male")]
    lines = [f"The nurse left.\tnurse\t{gender}\t{text}\tpt" for text, gender in texts]
    columns = "source\tfocus\tgold\treference\ttgt_lang"
    path = write_lines(tmp_path / "dev.tsv", [columns, *lines])
    rows = table_development(path)
    assert [(row.translation, row.reading) for row in rows.rows] == texts
    assert (rows.src_lang, rows.tgt_lang, rows.own_cues) == ("en", "pt", "")
    assert load_development([path]) == rows
    refuses("tgt_lang: expected one language", load_development, [path], tgt_lang="de")


@cases(
    ("{}", "expected a list of wordings"),
    ("[]", "expected a list of wordings"),
    ("[3]", "item 1: expected an object"),
    ('[{"name": "a", "cues": {"x": "1", "y": "2"}}, {"name": "a"}]', "item 2: cues of the"),
    ("{", "wordings.json"),
)
def test_files_that_are_no_wordings_are_refused(content: str, message: str, tmp_path: Path) -> None:
    fails(DataError, message, read_wordings, write_text(tmp_path / "wordings.json", content))


def test_wordings_of_users_are_read(tmp_path: Path) -> None:
    row = {"name": "a", "cues": {"x": "1", "y": "2"}, "placement": "after"}
    (wording,) = read_wordings(write_text(tmp_path / "wordings.json", json.dumps([row])))
    assert write_record(wording) == row | {"pronouns": False}
