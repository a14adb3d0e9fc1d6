from __future__ import annotations

import json
from pathlib import Path

import pytest

from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import Judgement
from tests.unit.cli.test_commands import cc_hf


def result(dataset: str, metric: str, *verdicts: str) -> EvaluationResult:
    judgements = tuple(
        Judgement(str(i), "all", v == "correct", f"t{i}", v) for i, v in enumerate(verdicts)
    )
    return EvaluationResult(
        dataset,
        "",
        "de",
        metric,
        f"{metric}|lemma:some|n:3",
        len(judgements),
        {},
        {},
        (),
        judgements,
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Write results of two metrics for three translations, of which the third was annotated."""
    first = result("mucow", "mucow_pattern_matching", "correct", "incorrect", "inconclusive")
    second = result("mucow", "contrastive_conditioning", "correct", "correct", "correct")
    (tmp_path / "one.json").write_text(first.to_json(), encoding="utf-8")
    (tmp_path / "all.json").write_text(ResultSet((first, second)).to_json(), encoding="utf-8")
    label = {
        "id": "2",
        "translation": "t2",
        "label_annotator1": "Correct Sense",
        "label_annotator2": "Wrong Sense",
    }
    (tmp_path / "labels.jsonl").write_text(json.dumps(label) + "\n", encoding="utf-8")
    return tmp_path


def test_own_agreement_is_shown_beside_the_published_one(files: Path) -> None:
    output = files / "out.json"
    arguments = (
        "--labels",
        files / "labels.jsonl",
        "--assume",
        files / "one.json",
        "--output",
        output,
    )
    printed = cc_hf(
        "compare", "--by", "rater", files / "all.json", *arguments, environment={"COLUMNS": "80"}
    ).stdout
    printed = " ".join(printed.split())
    assert "vamvas-sennrich-2" in printed  # the name is broken in a narrow terminal
    assert "83.8" in printed
    assert "88.0" in printed
    assert "kappa of the annotators: 0.0000 on 1 raw labels" in printed
    assert "Table A3: 0.38, 0.92" in printed
    rows = json.loads(output.read_text(encoding="utf-8"))
    assert [row["metric"] for row in rows] == ["mucow_pattern_matching", "contrastive_conditioning"]
    assert rows[0]["agreement"] == pytest.approx(2 / 3 + 1 / 3 * 1 / 2)
    assert rows[1]["agreement"] == pytest.approx(1 / 3 + 1 / 3 * 1 / 2)
    assert (rows[0]["n_inconclusive"], rows[0]["weighted_agreement"]) == (2, None)
    assert rows[1]["published"]["weighted_agreement"] == 0.88


def test_annotations_can_be_shared_by_results_or_given_per_result(files: Path) -> None:
    labels = ("--labels", files / "labels.jsonl")
    assert (
        cc_hf(
            "compare", "--by", "rater", files / "one.json", files / "all.json", *labels
        ).stdout.count("signature:")
        == 3
    )
    assert (
        cc_hf(
            "compare", "--by", "rater", files / "one.json", files / "all.json", *labels, *labels
        ).stdout.count("signature:")
        == 3
    )
    wrong = cc_hf("compare", "--by", "rater", files / "one.json", *labels, *labels, status=2).stderr
    assert "expected the option once, or once per file of results (1), got it 2 times" in wrong


def test_options_that_do_not_fit_together_are_refused(files: Path) -> None:
    common = (
        "compare",
        "--by",
        "rater",
        files / "one.json",
        "--labels",
        files / "labels.jsonl",
    )
    refused = cc_hf(*common, "--without-corpus", "opensubs", status=2)
    assert "--without-corpus: expected --assume RESULT with it" in refused.stderr
    (files / "decided.json").write_text(
        result("mucow", "m", "correct", "correct", "correct").to_json(), encoding="utf-8"
    )
    assert (
        "expected a file with one result that has inconclusive verdicts"
        in cc_hf(*common, "--assume", files / "decided.json", status=2).stderr
    )
    assert (
        "inconclusive: expected correct or incorrect, got 'perhaps'"
        in cc_hf(*common, "--inconclusive", "perhaps", status=2).stderr
    )
