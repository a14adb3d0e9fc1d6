from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import cc_hf
from cc_hf.data.files.quality_scores import QualityScores
from cc_hf.data.files.result_files import system_names
from cc_hf.errors import DataError, InputError, UnknownNameError
from cc_hf.reports.inputs import read_examples, read_report_systems
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import ContrastiveSourceExample
from tests.helpers import reported
from tests.helpers.metrics import evaluate_dataset

PLAIN = EvaluationResult(
    "simplegen", "en-de", "de", "own", "own|data:simplegen/en-de@1.0.0|n:1", 1, {}, {}, (), ()
)


def test_results_are_grouped_into_systems_by_file_or_name(tmp_path: Path) -> None:
    own, other = reported.results(0), reported.results(1)
    (tmp_path / "a.json").write_text(own["words"].to_json(), encoding="utf-8")
    (tmp_path / "more.json").write_text(own["contrastive_conditioning"].to_json(), encoding="utf-8")
    (tmp_path / "b.json").write_text(
        ResultSet(tuple(other.values()), {"bleurt": "no"}).to_json(), encoding="utf-8"
    )
    a, more, b = tmp_path / "a.json", tmp_path / "more.json", tmp_path / "b.json"
    (found,), notes = read_report_systems([a, b], quality=QualityScores({("b", "", ""): 0.3}))
    assert [(s.name, list(s.results), s.bleu) for s in found] == [
        ("a", ["words"], None),
        ("b", list(other), 0.3),
    ]
    assert notes == ["BLEU is not known for a"]
    assert found[1].results == other
    (found,), _ = read_report_systems([a, more, b], ["x", "x", "y"])
    assert [(s.name, list(s.results)) for s in found] == [
        ("x", ["words", "contrastive_conditioning"]),
        ("y", list(other)),
    ]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.json").write_bytes(a.read_bytes())
    with pytest.raises(InputError, match="several files are named a; give names, one"):
        read_report_systems([a, tmp_path / "sub" / "a.json"])
    with pytest.raises(InputError, match="x has two results by words"):
        read_report_systems([a, a], ["x", "x"])
    with pytest.raises(InputError, match="expected one for each file of results, 2 in all, got 1"):
        read_report_systems([a, b], ["x"])
    with pytest.raises(UnknownNameError, match="'c'"):
        read_report_systems([a, b], quality=QualityScores({("c", "", ""): 0.3}))
    (tmp_path / "no.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"no\.json: expected the JSON of an evaluation result"):
        read_report_systems([tmp_path / "no.json"])


def write(path: Path, result: EvaluationResult) -> Path:
    path.write_text(result.to_json(), encoding="utf-8")
    return path


def test_systems_have_the_names_in_their_results(tmp_path: Path) -> None:
    first, second = reported.results(0), reported.results(1)
    named = [
        write(tmp_path / "1.json", replace(first["words"], system="aws")),
        write(tmp_path / "2.json", replace(first["contrastive_conditioning"], system="aws")),
        write(tmp_path / "3.json", replace(second["words"], system="bing")),
    ]
    (found,), _ = read_report_systems(named)
    assert [(s.name, list(s.results), len(s.files)) for s in found] == [
        ("aws", ["words", "contrastive_conditioning"], 2),
        ("bing", ["words"], 1),
    ]
    (found,), _ = read_report_systems(named, ["x", "x", "y"])
    assert [s.name for s in found] == ["x", "y"]
    # Two results by one metric, or of different translations, are of different systems.
    write(named[2], replace(second["words"], system="aws"))
    assert [s.name for s in read_report_systems(named)[0][0]] == ["1", "2", "3"]
    write(named[2], replace(second["words"], metric="other", system="aws"))
    assert [s.name for s in read_report_systems(named)[0][0]] == ["1", "2", "3"]
    # On other data, a system has the same name.
    assert system_names(
        [
            (named[0], replace(first["words"], system="aws")),
            (named[1], replace(first["words"], system="aws", tgt_lang="cs")),
        ]
    ) == ["aws", "aws"]


def test_results_on_several_datasets_are_divided_by_them(tmp_path: Path) -> None:
    first, second = reported.results(0), reported.results(1)
    paths = [
        write(tmp_path / "1.json", replace(first["words"], system="aws")),
        write(tmp_path / "2.json", replace(first["words"], system="aws", tgt_lang="cs")),
        write(tmp_path / "3.json", replace(second["words"], system="bing")),
    ]
    quality = QualityScores({("aws", "", "de"): 0.3, ("aws", "", "cs"): 0.2})
    groups, notes = read_report_systems(paths, quality=quality)
    assert [[(s.name, s.bleu, s.files) for s in systems] for systems in groups] == [
        [("aws", 0.3, (str(paths[0]),)), ("bing", None, (str(paths[2]),))],
        [("aws", 0.2, (str(paths[1]),))],
    ]
    assert notes == ["BLEU is not known for bing"]


def test_examples_are_found_for_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    examples, notes = read_examples(PLAIN)
    assert examples is not None
    assert (len(examples), notes) == (2664, [])
    _, notes = read_examples(replace(PLAIN, signature="own|data:simplegen/en-de@0.9"))
    assert notes == [
        "the results are on revision 0.9 of simplegen, but the sources shown are from revision 1.0.0"
    ]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    absent = replace(
        PLAIN, dataset="winomt", config="default", signature="own|data:winomt/default@b2f1b31"
    )
    examples, notes = read_examples(absent)
    assert examples is None
    assert len(notes) == 1
    assert notes[0].startswith(
        "winomt default is not available: ids and translations are shown without their sources ("
    )
    with pytest.raises(DataError):
        read_examples(absent, dataset="winomt")
    assert read_examples(replace(PLAIN, dataset="gone"))[0] is None
    examples, notes = read_examples(replace(PLAIN, dataset="", config="", signature="own|n:1"))
    assert examples is None
    assert "the file with the data" in notes[0]


def test_examples_of_user_data_are_read_from_their_file(tmp_path: Path) -> None:

    path = tmp_path / "bats.csv"
    path.write_text(
        "source,focus,correct_cues,incorrect_cues,category\nThe bat was"
        " old.,bat,baseball,flying,a\n",
        encoding="utf-8",
    )
    result = evaluate_dataset(
        str(path),
        translations=["Der Schläger war alt."],
        evaluator=lambda sources, texts: [1.0] * len(sources),
        tgt_lang="de",
    )
    # a result is not trusted to name a file of this machine
    for name in (result.dataset, str(path)):
        assert read_examples(replace(result, dataset=name))[0] is None
    examples, notes = read_examples(result, dataset=str(path))
    assert examples is not None
    assert (examples[0].source, examples[0].id, notes) == (
        "The bat was old.",
        result.judgements[0].example_id,
        [],
    )


def test_data_of_the_user_are_shown_without_sources_unless_their_file_is_named() -> None:
    own = replace(PLAIN, dataset="custom", config="own")
    assert read_examples(own) == (
        None,
        [
            "sources are not shown, because the results are on data of your own; to show them,"
            " name the file with the data (`--dataset FILE`, in Python `dataset`)"
        ],
    )


def test_samples_have_the_sources_of_the_wording_that_judged() -> None:
    result = cc_hf.evaluate(
        cc_hf.load_material("simplegen", "en-de", cues="gender_nouns"),
        translations=["Sie ist Ärztin."] * 2664,
        evaluator=lambda sources, translations: [1.0] * len(sources),
    )
    examples, notes = read_examples(EvaluationResult.from_json(result.to_json()))
    assert examples is not None
    assert not notes
    assert isinstance(examples[0], ContrastiveSourceExample)
    assert " man " in examples[0].correct_sources[0]
    assert "[male]" not in examples[0].correct_sources[0]
