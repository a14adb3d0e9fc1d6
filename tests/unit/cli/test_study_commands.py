from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import cc_hf as package
from cc_hf.cli.main import app
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from tests.helpers.samples import declare_wino_x
from tests.unit.cli.test_commands import cc_hf

ROW = {
    "qID": "Q1-1",
    "sentence": "The nurse put the bag on the table because it was heavy.",
    "translation1": "Die Pflegerin stellte die Tasche auf den Tisch, weil sie schwer war.",
    "translation2": "Die Pflegerin stellte die Tasche auf den Tisch, weil er schwer war.",
    "answer": 1,
    "pronoun1": "sie",
    "pronoun2": "er",
    "referent1_en": "bag",
    "referent2_en": "table",
    "true_translation_referent_of_pronoun1_de": "Tasche",
    "true_translation_referent_of_pronoun2_de": "Tisch",
    "false_translation_referent_of_pronoun1_de": "Tasche",
    "false_translation_referent_of_pronoun2_de": "Tisch",
}
TWIN = {
    **ROW,
    "qID": "Q1-2",
    "sentence": str(ROW["sentence"]).replace("heavy", "quite strong"),
    "answer": 2,
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write two schemas in which the correct referent of "sie" comes first and second."""
    book = {"referent1_en": "table", "referent2_en": "book"}
    other = [
        {
            **row,
            **book,
            "qID": str(row["qID"]).replace("1-", "2-"),
            "sentence": str(row["sentence"]).replace("bag", "book"),
        }
        for row in (ROW, TWIN)
    ]
    path = tmp_path / "demelin/wino_x/data/mt/en_de_test.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in (ROW, TWIN, *other)), encoding="utf-8"
    )
    declare_wino_x(tmp_path)
    return tmp_path


def run(*arguments: str | Path, status: int = 0, columns: int = 80) -> str:
    """Run in this process, where warnings are errors, in a terminal of the usual width, which must
    not truncate figures.
    """
    found = CliRunner(env={"COLUMNS": str(columns)}).invoke(app, ["analyze", *map(str, arguments)])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == status, found.output
    assert "…" not in found.stdout
    return found.stdout


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_referent_bias_reads_a_result(data: Path) -> None:
    examples = package.load_examples("wino_x", "mt_en_de.translations", data_dir=data)
    judgements = tuple(
        Judgement(
            e.id,
            e.category,
            e.category == "female",
            e.correct_translation,
            "correct" if e.category == "female" else "incorrect",
            score_correct=0.1,
            score_incorrect=0.2,
        )
        for e in examples
    )
    result = EvaluationResult(
        "wino_x",
        "mt_en_de.translations",
        "de",
        "contrastive_translation_scoring",
        "cts|n:4",
        4,
        {},
        {},
        (),
        judgements,
    )
    (data / "r.json").write_text(result.to_json(), encoding="utf-8")
    printed = run("referent-bias", data / "r.json", "--data-dir", data, "-o", data / "out.json")
    assert "50.0 % right (2 of 4); both of a pair right 0.0 % (0 of 2)" in " ".join(printed.split())
    assert "female 1, male 2, neutral 3" in printed
    # preferred, % of all, correct in % of all, offered, % of these
    assert re.search(r"female +4 +100\.0 +50\.0 +4 +100\.0 *\n", printed)
    assert re.search(r"first +2 +50\.0 +50\.0 +4 +50\.0 *\n", printed)
    assert "of: cts|n:4" in printed
    own = read(data / "out.json")
    assert own["genders"]["female"] == {"n_offered": 4, "n_preferred": 4, "n_correct": 2}
    assert [(test["feature"], test["coding"], test["strength"]) for test in own["tests"]] == [
        ("gender", "program", 1),
        ("gender", "thesis", 1),
        ("position", "program", 0),
    ]
    assert own["positions"]["first"] == {"n_offered": 4, "n_preferred": 2, "n_correct": 2}
    assert own["tests"][0]["test"]["rank_biserial"] == -1


def test_referent_bias_reads_a_file_of_preferences(data: Path) -> None:
    path = data / "p.csv"
    path.write_text("id,preferred\nQ1-1,1\nQ1-2,tie\nQ2-1,1\nQ2-2,2\n", encoding="utf-8")
    printed = run("referent-bias", "--preferences", path, "--data-dir", data)
    assert "75.0 % right (3 of 4); both of a pair right 50.0 % (1 of 2)" in " ".join(
        printed.split()
    )
    assert "ignored in the bias: 1 ties or undecided" in printed
    with pytest.raises(
        InputError, match="expected either a file of results or --preferences FILE, got neither"
    ):
        run("referent-bias")
    with pytest.raises(InputError, match="got both"):
        run("referent-bias", path, "--preferences", path)


def test_referent_bias_refuses_other_data(data: Path) -> None:
    result = EvaluationResult(
        "winomt",
        "en-de",
        "de",
        "m",
        "m|n:1",
        1,
        {},
        {},
        (),
        (Judgement("0", "a", True, "t", "correct"),),
    )
    (data / "r.json").write_text(result.to_json(), encoding="utf-8")
    assert (
        "expected a result on wino_x, whose examples name pronouns and referents, got one on winomt"
        in cc_hf("study", "wino_x", "referent-bias", data / "r.json", status=2).stderr
    )


def test_trigger_importance_writes_figures_page_and_picture(data: Path) -> None:
    files = {name: data / f"out.{name}" for name in ("json", "html", "png")}
    options = (
        "--evaluator",
        "cc-tiny-en-de",
        "--data-dir",
        data,
        "-q",
        "-o",
        files["json"],
        "--html",
        files["html"],
        "--png",
        files["png"],
        "--maps",
        "1",
    )
    printed = run("trigger-importance", *options)
    assert 'salience for the translation of "it", 4 sentences' in " ".join(printed.split())
    assert "prediction-difference|data:wino_x/mt_en_de.translations@local." in printed
    own = read(files["json"])
    assert [one["example_id"] for one in own["saliences"]] == ["Q1-1", "Q1-2", "Q2-1", "Q2-2"]
    assert (own["triggers"]["n_first"], own["n_sentences"], own["skipped"]) == (2 * 3, 4, {})
    assert own["referents"] is not None
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    page = files["html"].read_text(encoding="utf-8")
    assert page.count('class="name"') == 2
    assert len(re.findall(r'class="word (?:more|less) trigger', page)) == 3
    few = data / "few.json"
    # judged by the embedded evaluator
    run("trigger-importance", "--data-dir", data, "-q", "--pairs", "1", "-o", few)
    assert [one["example_id"] for one in read(few)["saliences"]] == ["Q1-1", "Q1-2"]
    with pytest.raises(
        InputError, match="--evaluator: expected one sequence-to-sequence model, got a, b"
    ):
        run("trigger-importance", "--data-dir", data, "--evaluator", "a", "--evaluator", "b")


def test_regression_reproduces_the_published_figures(tmp_path: Path) -> None:
    printed = run("regression", "--published", "-o", tmp_path / "r.json")
    for figure in (
        "1.78*",
        "−6.47*",
        "5.00*",
        "−7.56*",
        "1.55*",
        "−2.90*",
        "2.50*",
        "−5.15*",
        "1.39*",
        "−2.14*",
    ):
        assert figure in printed
    assert "MuCoW en-ru:" in printed
    assert "do not follow from the printed table" in printed
    rows = read(tmp_path / "r.json")["regressions"]
    assert [(row["published"]["task"], row["n"]) for row in rows] == [
        ("MuCoW", 30),
        ("MuCoW", 30),
        ("WinoMT", 30),
        ("WinoMT", 30),
    ]
    with pytest.raises(InputError, match="--published: expected neither files nor columns"):
        run("regression", "--published", "--dependent", "x")


def test_regression_reads_a_table_of_systems(tmp_path: Path) -> None:
    path = tmp_path / "systems.csv"
    path.write_text(
        "pair,bleu,min\nde,1,1\nde,2,2.5\nde,3,2.7\nde,4,4.1\nru,1,9\n", encoding="utf-8"
    )
    printed = run(
        "regression",
        path,
        "--dependent",
        "min",
        "--independent",
        "bleu",
        "--where",
        "pair=de",
        "-o",
        tmp_path / "r.json",
    )
    assert "min: least squares, n = 4" in printed
    assert read(tmp_path / "r.json")["coefficients"][1]["value"] == pytest.approx(0.95)
    with pytest.raises(InputError, match=r"expected FILE \.\.\. --dependent COLUMN"):
        run("regression", path, "--dependent", "min")


def test_evaluator_agreement_reads_several_results(tmp_path: Path) -> None:
    paths = []
    for evaluator, accuracies in {"a": (0.1, 0.2, 0.3), "b": (0.3, 0.4, 0.2)}.items():
        for system, accuracy in enumerate(accuracies):
            judgements = (Judgement("0", "all", True, f"t{system}", "correct"),)
            result = EvaluationResult(
                "winomt",
                "",
                "de",
                "m",
                f"cc|eval:{evaluator}|n:1",
                1,
                {"accuracy": accuracy},
                {},
                (),
                judgements,
            )
            paths.append(tmp_path / f"{evaluator}{system}.json")
            paths[-1].write_text(result.to_json(), encoding="utf-8")
    printed = run("evaluator-agreement", *paths, "-o", tmp_path / "r.json", "--resamples", "200")
    assert "accuracy of 3 systems by 2 evaluators" in printed
    assert "a and b" in printed
    longer = []
    for path in paths:
        longer.append(path.with_name(f"long-{path.name}"))
        longer[-1].write_text(
            path.read_text(encoding="utf-8").replace(
                "eval:", "eval:an-organisation/opus-mt-tc-big-en-de-"
            ),
            encoding="utf-8",
        )
    printed = run("evaluator-agreement", *longer, "--resamples", "200")
    assert "[1] and [2]" in printed
    assert "[2]: an-organisation/opus-mt-tc-big-en-de-b\n" in printed
    found = read(tmp_path / "r.json")
    assert found["mean_spearman"] == pytest.approx(-0.5)
    assert found["systems"] == ["a0", "a1", "a2"]
    assert found["pairs"][0]["correlation"]["n_undefined"] > 0
