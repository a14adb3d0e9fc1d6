"""The released labels of people, and rows made of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cc_hf.errors import FileError, InputError
from cc_hf.studies.coverage_errors.human_evaluation import measured, metric_rows, read_judged_rows
from tests.helpers.cases import cases
from tests.helpers.command_line import printed_by
from tests.helpers.lines import write_lines
from tests.helpers.refusals import fails
from tests.studies.coverage_errors.contract_cases import LABELLED, PREDICTED

_FOLDER = "upstream/ZurichNLP/coverage-contrastive-conditioning/evaluation/human_evaluation"


def released(shared: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    folder = shared / _FOLDER
    predictions = [folder / f"predictions/en-de.{split}.jsonl" for split in ("dev", "test")]
    annotations = [folder / "annotations/en-de.annotator1.jsonl"]
    return (
        read_judged_rows(predictions, annotated=False),
        read_judged_rows(annotations, annotated=True),
    )


@pytest.mark.shared
@cases(
    ("pair", (767, 719), (340, 20, 0), (304, 136, 127)),
    ("pair_and_type", (798, 748), (358, 23, 0), (314, 142, 132)),
)
def test_every_figure_of_the_notebooks_comes_out(
    key: str,
    n_rows: tuple[int, int],
    additions: tuple[int, ...],
    omissions: tuple[int, ...],
    shared: Path,
) -> None:
    predictions, annotations = released(shared)
    result = measured(predictions, {"1": annotations, "2": annotations}, key=key)
    assert result.n_annotated["1"] == n_rows
    counts = {(p.split, p.side, p.by): (p.n, p.n_errors) for p in result.precisions}
    for side, (n, n_bad, n_coverage) in {"addition": additions, "omission": omissions}.items():
        assert counts["test", side, "people: any error"] == (n, n_bad)
        assert counts["test", side, "people: coverage error"] == (n, n_coverage)
    by_mqm = [
        counts[s, side, "MQM: any rater"]
        for s in ("test", "dev")
        for side in ("omission", "addition")
    ]
    assert by_mqm == [(414, 93), (456, 27), (87, 23), (55, 2)]
    assert [kappa for kappa, _ in result.kappas.values()] == [1, 1]
    assert result.n_both == n_rows[1]
    labels = [label for row in annotations for label in row["label"]]
    assert labels.count("syntactic-difference") == 463


@pytest.mark.shared
def test_rows_of_people_are_those_that_the_notebooks_keep(shared: Path) -> None:
    predictions, annotations = released(shared)
    rows = metric_rows(annotations, predictions)
    counts = Counter((row["category"], row.get("omission", row.get("addition"))) for row in rows)
    assert counts == {
        ("omission", "true"): 152,
        ("omission", "false"): 204,
        ("addition", "false"): 392,
    }


def test_commands_read_and_write_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_lines(Path("p.jsonl"), [json.dumps(PREDICTED)])
    other = {**LABELLED, "label": ["good-translation", "syntactic-difference"]}
    for name, row in (("a", LABELLED), ("b", other)):
        write_lines(Path(f"{name}.jsonl"), [json.dumps(row)])
    command = "study coverage_errors agreement p.jsonl --annotations a.jsonl --annotations b.jsonl"
    found = json.loads(printed_by(f"{command} --json"))
    assert found["n_annotated"] == {"a.jsonl": [1, 1], "b.jsonl": [1, 1]}
    assert "question 1: kappa" in printed_by(command)
    printed_by("study coverage_errors build-people p.jsonl --annotations a.jsonl -o rows.jsonl")
    row = json.loads(Path("rows.jsonl").read_text(encoding="utf-8"))
    assert (row["source_spans"], row["omission"]) == ("[[3, 6]]", "true")
    with pytest.raises(InputError, match="expected rows that belong to the predictions, got none"):
        metric_rows([{**LABELLED, "seg_id": 2}], [PREDICTED])


@cases(
    ({"seg_id": "1"}, "p.jsonl: line 1: seg_id: expected a whole number from 0, got '1'"),
    ({"coverage_error_type": "x"}, "coverage_error_type: expected one of undertranslation"),
    ({"has_omission_error_by_majority": None}, "expected true or false"),
)
def test_damaged_rows_are_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.jsonl", [json.dumps({**PREDICTED, **change})])
    fails(FileError, message, read_judged_rows, [path], annotated=False)
