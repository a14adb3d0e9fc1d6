from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import cc_hf as package
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from tests.helpers.command_line import printed_by, read_json, run_command
from tests.helpers.samples import declare_wino_x
from tests.helpers.wino_x_schemas import ROW, TWIN


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
    printed = printed_by(
        f"study wino_x referent-bias {data}/r.json --data-dir {data} -o {data}/out.json"
    )
    assert "50.0 % right (2 of 4); both of a pair right 0.0 % (0 of 2)" in " ".join(printed.split())
    assert "female 1, male 2, neutral 3" in printed
    # preferred, % of all, correct in % of all, offered, % of these
    assert re.search(r"female +4 +100\.0 +50\.0 +4 +100\.0 *\n", printed)
    assert re.search(r"first +2 +50\.0 +50\.0 +4 +50\.0 *\n", printed)
    assert "of: cts|n:4" in printed
    own = read_json(data / "out.json")
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
    printed = printed_by(
        "study", "wino_x", "referent-bias", "--preferences", path, "--data-dir", data
    )
    assert "75.0 % right (3 of 4); both of a pair right 50.0 % (1 of 2)" in " ".join(
        printed.split()
    )
    assert "ignored in the bias: 1 ties or undecided" in printed
    with pytest.raises(InputError, match=r"expected either a file of results or.*got neither"):
        printed_by("study", "wino_x", "referent-bias")
    with pytest.raises(InputError, match="got both"):
        printed_by("study", "wino_x", "referent-bias", path, "--preferences", path)


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
        in run_command("study", "wino_x", "referent-bias", data / "r.json", status=2).stderr
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
    printed = printed_by("study", "wino_x", "trigger-importance", *options)
    assert 'salience for the translation of "it", 4 sentences' in " ".join(printed.split())
    assert "prediction-difference|data:wino_x/mt_en_de.translations@local." in printed
    own = read_json(files["json"])
    assert [one["example_id"] for one in own["saliences"]] == ["Q1-1", "Q1-2", "Q2-1", "Q2-2"]
    assert (own["triggers"]["n_first"], own["n_sentences"], own["skipped"]) == (2 * 3, 4, {})
    assert own["referents"] is not None
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    page = files["html"].read_text(encoding="utf-8")
    assert page.count('class="name"') == 2
    assert len(re.findall(r'class="word (?:more|less) trigger', page)) == 3
    few = data / "few.json"
    # judged by the embedded evaluator
    printed_by(
        "study", "wino_x", "trigger-importance", "--data-dir", data, "-q", "--pairs", "1", "-o", few
    )
    assert [one["example_id"] for one in read_json(few)["saliences"]] == ["Q1-1", "Q1-2"]
    with pytest.raises(InputError, match=r"--evaluator: expected one sequence-to-sequence.*got a"):
        printed_by(f"study wino_x trigger-importance --data-dir {data} --evaluator a --evaluator b")
