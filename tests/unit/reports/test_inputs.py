"""Inputs of reports, and `cc-hf compare` of different data, of scores and of figures of studies."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.data.files.quality_scores import QualityScores
from cc_hf.data.files.result_files import system_names
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.reports.inputs import read_examples, read_report_systems
from cc_hf.reports.side_by_side import of_several_data, side_by_side
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import ContrastiveSourceExample
from tests.helpers import reported
from tests.helpers.command_line import printed_by, read_json
from tests.helpers.fake_evaluator import constant_scores
from tests.helpers.judged import judgement, result_of
from tests.helpers.lines import write_lines, write_text
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.refusals import refuses
from tests.helpers.results import write_result

_OWN = ("simplegen", "en-de", "de", "own", "own|data:simplegen/en-de@1.0.0|n:1", 1)
PLAIN = EvaluationResult(*_OWN, {}, {}, (), ())


def test_results_are_grouped_into_systems_by_file_or_name(tmp_path: Path) -> None:
    own, other = reported.results(0), reported.results(1)
    a, b = write_result(tmp_path, "a", own["words"]), tmp_path / "b.json"
    more = write_result(tmp_path, "more", own["contrastive_conditioning"])
    b.write_text(ResultSet(tuple(other.values()), {"bleurt": "no"}).to_json(), encoding="utf-8")
    (found,), notes = read_report_systems([a, b], quality=QualityScores({("b", "", ""): 0.3}))
    shown = [(s.name, list(s.results), s.bleu) for s in found]
    assert shown == [("a", ["words"], None), ("b", list(other), 0.3)]
    assert notes == ["BLEU is not known for a"]
    assert found[1].results == other
    (found,), _ = read_report_systems([a, more, b], ["x", "x", "y"])
    shown_as = [(s.name, list(s.results)) for s in found]
    assert shown_as == [("x", ["words", "contrastive_conditioning"]), ("y", list(other))]
    twin, bad = write_result(tmp_path / "sub", "a", own["words"]), tmp_path / "no.json"
    bad.write_text("{", encoding="utf-8")
    for files, names, message in (
        ([a, twin], [], "several files are named a; give names, one"),
        ([a, a], ["x", "x"], "x has two results by words"),
        ([a, b], ["x"], "expected one for each file of results, 2 in all, got 1"),
        ([bad], [], r"no\.json: expected the JSON of an evaluation result"),
    ):
        refuses(message, read_report_systems, files, names)
    with pytest.raises(UnknownNameError, match="'c'"):
        read_report_systems([a, b], quality=QualityScores({("c", "", ""): 0.3}))


def test_systems_have_the_names_in_their_results(tmp_path: Path) -> None:
    first, second = reported.results(0), reported.results(1)
    aws = replace(first["words"], system="aws")
    cc = replace(first["contrastive_conditioning"], system="aws")

    def read(third: EvaluationResult, *names: str) -> list[tuple[str, list[str], int]]:
        results = enumerate((aws, cc, third), 1)
        files = [write_result(tmp_path, str(i), result) for i, result in results]
        (found,), _ = read_report_systems(files, names)
        return [(s.name, list(s.results), len(s.files)) for s in found]

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
    assert examples is not None
    assert (len(examples), notes) == (2664, [])
    _, notes = read_examples(replace(PLAIN, signature="own|data:simplegen/en-de@0.9"))
    said = "revision 0.9 of simplegen, but the sources shown are from revision 1.0.0"
    assert notes == [f"the results are on {said}"]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    winomt: Any = {"dataset": "winomt", "config": "default"}
    absent = replace(PLAIN, **winomt, signature="own|data:winomt/default@b2f1b31")
    examples, (note,) = read_examples(absent)
    assert examples is None
    missing = "winomt default is not available: ids and translations are shown without their"
    assert note.startswith(f"{missing} sources (")
    with pytest.raises(DataError):
        read_examples(absent, dataset="winomt")
    assert read_examples(replace(PLAIN, dataset="gone"))[0] is None
    examples, notes = read_examples(replace(PLAIN, dataset="", config="", signature="own|n:1"))
    assert examples is None
    assert "the file with the data" in notes[0]


def test_examples_of_user_data_are_read_from_their_file(tmp_path: Path) -> None:
    columns = "source,focus,correct_cues,incorrect_cues,category"
    path = write_lines(tmp_path / "bats.csv", [columns, "The bat was old.,bat,baseball,flying,a"])
    options: Any = {"translations": ["Der Schläger war alt."], "tgt_lang": "de"}
    result = evaluate_dataset(str(path), evaluator=constant_scores, **options)
    # a result is not trusted to name a file of this machine
    for name in (result.dataset, str(path)):
        assert read_examples(replace(result, dataset=name))[0] is None
    examples, notes = read_examples(result, dataset=str(path))
    assert examples is not None
    example_id = result.judgements[0].example_id
    assert ([(e.source, e.id) for e in examples], notes) == ([("The bat was old.", example_id)], [])


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
    assert examples is not None
    assert not notes
    assert isinstance(examples[0], ContrastiveSourceExample)
    assert " man " in examples[0].correct_sources[0]
    assert "[male]" not in examples[0].correct_sources[0]


def write_scores(path: Path, *rows: tuple[str, float]) -> Path:
    return write_text(path, json.dumps([{"system": s, "bleu": bleu} for s, bleu in rows]))


def judged(folder: Path, name: str, right: str, **fields: Any) -> Path:
    rows = [judgement(i, ("incorrect", "correct")[int(r)]) for i, r in enumerate(right)]
    return write_result(folder, name, result_of(rows, **fields))


def test_scores_of_several_test_sets_have_a_mean(tmp_path: Path) -> None:
    first = write_scores(tmp_path / "nt13.json", ("base", 20.0), ("big", 26.5))
    files = [first, write_scores(tmp_path / "nt14.json", ("base", 23.0))]
    shown = side_by_side(files)
    values = {key: cell.value for key, cell in shown.tables["BLEU"].items()}
    assert values == {("nt13", "base"): 0.2, ("nt13", "big"): 0.265, ("nt14", "base"): 0.23}
    assert shown.means == {("BLEU", "base"): pytest.approx(0.215)}  # "big" lacks a set
    out = tmp_path / "out.json"
    picture = tmp_path / "bars.svg"
    printed = printed_by("compare", *files, "-o", out, "--plot", picture)
    drawn = picture.read_text(encoding="utf-8")
    assert all(f">{text}<" in drawn for text in ("BLEU", "nt13", "nt14", "base", "big"))
    bars = re.findall(r'd="M \S+ (\S+) \nL.*\nL \S+ (\S+) \nL.*\nz\n" clip-path', drawn)
    heights = [float(ground) - float(top) for ground, top in bars]
    assert [20 * height / heights[0] for height in heights] == pytest.approx([20, 23, 26.5])
    assert "mean   21.50" in printed
    assert read_json(out)["tables"][0]["means"] == {"base": pytest.approx(0.215)}


def test_results_on_different_data_stand_side_by_side(tmp_path: Path) -> None:
    systems = (("a", "0011", "de", "base"), ("b", "0111", "de", "big"), ("c", "0001", "fr", "base"))
    files = []
    for name, right, lang, system in systems:
        named = {"dataset": "wino_x", "config": f"mt_en_{lang}.translations", "system": system}
        scores = {"accuracy": right.count("1") / 4}
        files.append(judged(tmp_path, name, right, scores=scores, **named))
    assert [of_several_data(files[:n]) for n in (1, 2, 3)] == [False, False, True]
    (table,) = side_by_side(files).tables.values()
    shown = [(system, cell.value) for (_, system), cell in table.items()]
    assert shown == [("base", 0.5), ("big", 0.75), ("base", 0.25)]
    assert "no differences are tested" in printed_by("compare", *files)
    refuses("shared, right_alone: .* on the same data", printed_by, "compare --shared", *files)
    command = f"compare --plot {tmp_path}/bars.svg"
    refuses("plot: .* on different data", printed_by, command, *files[:2])


def test_a_figure_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    path = write_scores(tmp_path / "nt13.json", ("base", 20.0), ("base", 21.0))
    refuses("expected one value of base on nt13, got two", side_by_side, [path])
    path.write_text('[{"system": 1, "bleu": 2}]', encoding="utf-8")
    refuses(r"nt13.json: item 1: system: expected a text, got 1", side_by_side, [path])
