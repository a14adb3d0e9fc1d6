"""Inputs of reports: systems from files of results, and the examples that were judged."""

from dataclasses import replace
from pathlib import Path

import pytest

import cc_hf
from cc_hf.data.files.quality_scores import QualityScores
from cc_hf.data.files.result_files import system_names
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.reports.inputs import read_examples, read_report_systems
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import ContrastiveSourceExample
from tests.helpers import reported
from tests.helpers.usual import (
    constant_scores,
    evaluate_dataset,
    fails,
    known,
    refuses,
    typed,
    write_lines,
    write_result,
)

_OWN = ("simplegen", "en-de", "de", "own", "own|data:simplegen/en-de@1.0.0|n:1", 1)
PLAIN = EvaluationResult(*_OWN, {}, {}, (), ())


def test_results_are_grouped_into_systems_by_file_or_name(tmp_path: Path) -> None:
    first, second = reported.results(0), reported.results(1)
    a, b = write_result(tmp_path, "a", first["words"]), tmp_path / "b.json"
    more = write_result(tmp_path, "more", first["contrastive_conditioning"])
    b.write_text(ResultSet(tuple(second.values()), {"bleurt": "no"}).to_json(), encoding="utf-8")
    (actual,), notes = read_report_systems([a, b], quality=QualityScores({("b", "", ""): 0.3}))
    shown = [(s.name, list(s.results), s.bleu) for s in actual]
    assert shown == [("a", ["words"], None), ("b", list(second), 0.3)]
    assert notes == ["BLEU is not known for a"]
    unproved = "Not proved: the metric words is not registered here"
    words = replace(second["words"], notes=(unproved, *second["words"].notes))
    assert actual[1].results == {**second, "words": words}

    (actual,), _ = read_report_systems([a, more, b], ["x", "x", "y"])
    shown_as = [(s.name, list(s.results)) for s in actual]
    assert shown_as == [("x", ["words", "contrastive_conditioning"]), ("y", list(second))]

    twin, bad = write_result(tmp_path / "sub", "a", first["words"]), tmp_path / "no.json"
    bad.write_text("{", encoding="utf-8")
    for files, names, message in (
        ([a, twin], [], "several files are named a; give names, one"),
        ([a, a], ["x", "x"], "x has two results by words"),
        ([a, b], ["x"], "expected one for each file of results, 2 in all, got 1"),
        ([bad], [], r"no\.json: expected the JSON of an evaluation result"),
    ):
        refuses(message, read_report_systems, files, names)
    fails(
        UnknownNameError,
        "'c'",
        read_report_systems,
        [a, b],
        quality=QualityScores({("c", "", ""): 0.3}),
    )


def test_systems_have_the_names_in_their_results(tmp_path: Path) -> None:
    first, second = reported.results(0), reported.results(1)
    aws = replace(first["words"], system="aws")
    cc = replace(first["contrastive_conditioning"], system="aws")

    def read(third: EvaluationResult, *names: str) -> list[tuple[str, list[str], int]]:
        results = enumerate((aws, cc, third), 1)
        files = [write_result(tmp_path, str(i), result) for i, result in results]
        (actual,), _ = read_report_systems(files, names)
        return [(s.name, list(s.results), len(s.files)) for s in actual]

    bing = replace(second["words"], system="bing")
    both = ["words", "contrastive_conditioning"]
    assert read(bing) == [("aws", both, 2), ("bing", ["words"], 1)]
    assert read(bing, "x", "x", "y") == [("x", both, 2), ("y", ["words"], 1)]
    # Two results by one metric, or of different translations, are of different systems.
    for third in (replace(bing, system="aws"), replace(bing, metric="other", system="aws")):
        assert [name for name, *_ in read(third)] == ["1", "2", "3"]
    # On other data, a system has the same name.
    paths = tmp_path / "1.json", tmp_path / "2.json"
    results = aws, replace(aws, tgt_lang="cs")
    assert system_names(list(zip(paths, results, strict=True))) == ["aws", "aws"]


def test_results_on_several_datasets_are_divided_by_them(tmp_path: Path) -> None:
    first, second = (reported.results(i, metrics=["words"])["words"] for i in (0, 1))
    aws, bing = replace(first, system="aws"), replace(second, system="bing")
    results = enumerate((aws, replace(aws, tgt_lang="cs"), bing), 1)
    paths = [write_result(tmp_path, str(i), result) for i, result in results]
    quality = QualityScores({("aws", "", "de"): 0.3, ("aws", "", "cs"): 0.2})
    groups, notes = read_report_systems(paths, quality=quality)
    german, czech = ([(s.name, s.bleu, s.files) for s in systems] for systems in groups)
    assert german == [("aws", 0.3, (str(paths[0]),)), ("bing", None, (str(paths[2]),))]
    assert (czech, notes) == ([("aws", 0.2, (str(paths[1]),))], ["BLEU is not known for bing"])


def test_examples_are_found_for_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    examples, notes = read_examples(PLAIN)
    assert (len(known(examples)), notes) == (2664, [])
    _, notes = read_examples(replace(PLAIN, signature="own|data:simplegen/en-de@0.9"))
    said = "revision 0.9 of simplegen, but the sources shown are from revision 1.0.0"
    assert notes == [f"the results are on {said}"]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    absent = replace(
        PLAIN, dataset="winomt", config="default", signature="own|data:winomt/default@b2f1b31"
    )
    examples, (note,) = read_examples(absent)
    assert examples is None
    assert note.startswith(
        "winomt default is not available: ids and translations are shown without their sources ("
    )
    fails(DataError, "is not in the cache", read_examples, absent, dataset="winomt")
    assert read_examples(replace(PLAIN, dataset="gone"))[0] is None
    examples, notes = read_examples(replace(PLAIN, dataset="", config="", signature="own|n:1"))
    assert examples is None
    assert "the file with the data" in notes[0]


def test_examples_of_user_data_are_read_from_their_file(tmp_path: Path) -> None:
    columns = "source,focus,correct_cues,incorrect_cues,category"
    path = write_lines(tmp_path / "bats.csv", [columns, "The bat was old.,bat,baseball,flying,a"])
    result = evaluate_dataset(
        str(path), evaluator=constant_scores, translations=["Der Schläger war alt."], tgt_lang="de"
    )
    # a result is not trusted to name a file of this machine
    for name in (result.dataset, str(path)):
        assert read_examples(replace(result, dataset=name))[0] is None
    examples, notes = read_examples(result, dataset=str(path))
    example_id = result.judgements[0].example_id
    assert [(e.source, e.id) for e in known(examples)] == [("The bat was old.", example_id)]
    assert notes == []


def test_data_of_the_user_are_shown_without_sources_unless_their_file_is_named() -> None:
    note = (
        "sources are not shown, because the results are on data of your own; to show them,"
        " name the file with the data (`--dataset FILE`, in Python `dataset`)"
    )
    assert read_examples(replace(PLAIN, dataset="custom", config="own")) == (None, [note])


def test_samples_have_the_sources_of_the_wording_that_judged() -> None:
    material = cc_hf.load_material("simplegen", "en-de", cues="gender_nouns")
    texts = ["Sie ist Ärztin."] * 2664
    result = cc_hf.evaluate(material, translations=texts, evaluator=constant_scores)
    examples, notes = read_examples(EvaluationResult.from_json(result.to_json()))
    assert not notes
    example = typed(ContrastiveSourceExample, known(examples)[0])
    assert " man " in example.correct_sources[0]
    assert "[male]" not in example.correct_sources[0]
