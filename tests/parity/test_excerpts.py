"""Parity on excerpts that are part of the repository, so that every clone checks it.

Where the recorded outputs are present, test_winomt_pattern_matching.py and test_winomt_sources.py
check all of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.metrics import evaluate_metric

_FOLDER = Path(__file__).parent / "excerpts"


def excerpt(name: str) -> list[dict[str, Any]]:
    lines = (_FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", ["aws.de", "google.ru"])
def test_winomt_genders_equal_those_of_the_original_program(name: str) -> None:
    rows = excerpt(f"winomt_pattern_matching.{name}")
    result = evaluate_metric(
        "winomt_pattern_matching",
        [row["translation"] for row in rows],
        [
            {
                "source": row["sentence"],
                "occupation": row["entity"],
                "occupation_index": row["src_index"],
                "gold_gender": row["gold"],
                "stereotype": "none",
            }
            for row in rows
        ],
        tgt_lang=name.partition(".")[2],
        alignments=[row["alignment"] for row in rows],
    )
    assert len(rows) == 41
    assert [j.predicted for j in result.judgements] == [row["pred"] for row in rows]


def test_winomt_probabilities_equal_those_of_the_original_program() -> None:
    rows = excerpt("contrastive_conditioning.winomt")
    result = evaluate_metric(
        "contrastive_conditioning",
        [row["translation"] for row in rows],
        [
            {
                "correct_sources": [row["source_correct"]],
                "incorrect_sources": [row["source_incorrect"]],
                "category": row["category"],
            }
            for row in rows
        ],
        hash_scores,
    )
    assert len(rows) == 38
    assert [(j.probability_correct, j.is_correct) for j in result.judgements] == [
        (row["probability_correct"], row["is_correct"]) for row in rows
    ]
