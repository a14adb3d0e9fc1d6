import json
from pathlib import Path
from typing import Any

import pytest

from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import Judgement
from tests.helpers.usual import cc_hf, cells_beside, write_jsonl, write_result, write_text


def result(dataset: str, metric: str, *verdicts: str) -> EvaluationResult:
    rows = [(str(i), "all", v == "correct", f"t{i}", v) for i, v in enumerate(verdicts)]
    rest: Any = len(rows), {}, {}, (), tuple(Judgement(*row) for row in rows)
    return EvaluationResult(dataset, "", "de", metric, f"{metric}|lemma:some|n:3", *rest)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Write results of two metrics for three translations, of which the third was annotated."""
    first = result("mucow", "mucow_pattern_matching", "correct", "incorrect", "inconclusive")
    second = result("mucow", "contrastive_conditioning", "correct", "correct", "correct")
    write_result(tmp_path, "one", first)
    write_text(tmp_path / "all.json", ResultSet((first, second)).to_json())
    labels = {"label_annotator1": "Correct Sense", "label_annotator2": "Wrong Sense"}
    return write_jsonl(
        tmp_path / "labels.jsonl", [{"id": "2", "translation": "t2", **labels}]
    ).parent


def test_own_agreement_is_shown_beside_the_published_one(files: Path) -> None:
    output = files / "out.json"
    shown = cc_hf(
        "compare --by rater all.json --labels labels.jsonl --assume one.json --output out.json",
        cwd=files,
        environment={"COLUMNS": "80"},
    )
    kappa = "kappa of the annotators: 0.0000 on 1 raw labels"
    # the name of the paper is broken in a narrow terminal
    for text in ("vamvas-sennrich-2", "83.8", "88.0", kappa, "Table A3: 0.38, 0.92"):
        assert text in " ".join(shown.stdout.split())
    rows = json.loads(output.read_text(encoding="utf-8"))
    assert [row["metric"] for row in rows] == ["mucow_pattern_matching", "contrastive_conditioning"]
    assert rows[0]["agreement"] == pytest.approx(2 / 3 + 1 / 3 * 1 / 2)
    assert rows[1]["agreement"] == pytest.approx(1 / 3 + 1 / 3 * 1 / 2)
    assert (rows[0]["n_inconclusive"], rows[0]["weighted_agreement"]) == (2, None)
    assert rows[1]["published"]["weighted_agreement"] == 0.88
    beside = cells_beside("distillation", output)
    assert beside["Table 2"] == {"mucow de": rows[0]["agreement"]}
    assert beside["Table A3"] == {"mucow de": 0}


def test_annotations_can_be_shared_by_results_or_given_per_result(files: Path) -> None:
    labels = "--labels labels.jsonl"
    for given in (labels, f"{labels} {labels}"):
        shown = cc_hf(f"compare --by rater one.json all.json {given}", cwd=files).stdout
        assert shown.count("signature:") == 3
    wrong = cc_hf(f"compare --by rater one.json {labels} {labels}", cwd=files, status=2).stderr
    assert "--labels: expected one file, or one per file of results (1), or filled" in wrong


def test_options_that_do_not_fit_together_are_refused(files: Path) -> None:
    write_result(files, "decided", result("mucow", "m", "correct", "correct", "correct"))
    for options, message in (
        ("--without-corpus opensubs", "--without-corpus: expected `--assume` with it"),
        ("--assume decided.json", "expected a file with one result that has inconclusive verdicts"),
        ("--inconclusive perhaps", "inconclusive: expected correct or incorrect, got 'perhaps'"),
    ):
        command = f"compare --by rater one.json --labels labels.jsonl {options}"
        assert message in cc_hf(command, cwd=files, status=2).stderr
