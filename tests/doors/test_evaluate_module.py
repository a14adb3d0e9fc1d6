"""Contrastive conditioning as users of `evaluate` call it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import evaluate
import pytest

import cc_hf
from cc_hf.errors import InputError
from tests.helpers.cases import cases_by_message
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.metrics import compute_metric

REFERENCE = {
    "correct_sources": ["The assistant asked the [female] doctor if she needs any help."],
    "incorrect_sources": ["The assistant asked the [male] doctor if she needs any help."],
    "category": "female",
}


@pytest.fixture(scope="module")
def metric(root: Path) -> Any:
    return evaluate.load(str(root / "metrics/contrastive_conditioning"))


def test_compute_equals_compute_metric(metric: Any) -> None:
    compute = functools.partial(compute_metric, "contrastive_conditioning")

    predictions, references = (
        ["Die Ärztin.", "Der Arzt."],
        [
            REFERENCE,
            {**REFERENCE, "category": "male"},
        ],
    )
    found = metric.compute(
        predictions=predictions,
        references=references,
        evaluator=hash_scores,
        src_lang="en",
        tgt_lang="de",
    )
    assert found == compute(
        predictions, references, evaluator=hash_scores, src_lang="en", tgt_lang="de"
    )


def test_the_embedded_evaluator_is_accepted_by_name(metric: Any) -> None:
    predictions = [
        "Der Assistent fragte die Ärztin, ob sie Hilfe brauche.",
        "Die Assistentin fragte den Arzt, ob sie Hilfe brauche.",
    ]
    found = metric.compute(
        predictions=predictions,
        references=[REFERENCE] * 2,
        evaluator="cc-tiny-en-de",
        src_lang="en",
        tgt_lang="de",
        score="geometric",
    )
    assert found["probability_correct"][0] > 0.5 > found["probability_correct"][1]
    assert found["accuracy"] == found["accuracy_female"] == 0.5
    assert "eval:cc-tiny-en-de@" in found["signature"]


def test_batches_added_one_by_one_are_judged_together(metric: Any) -> None:
    for translation in ("Die Ärztin.", "Der Arzt."):
        metric.add_batch(predictions=[translation], references=[REFERENCE])
    assert metric.compute(evaluator=hash_scores)["n"] == 2


def test_options_can_be_given_when_the_metric_is_loaded() -> None:
    metric = cc_hf.load_metric(
        "contrastive_conditioning", evaluator=hash_scores, src_lang="en", tgt_lang="de"
    )
    assert metric.compute(predictions=["Die Ärztin."], references=[REFERENCE])["n"] == 1


@cases_by_message(
    ("predictions", "references", "message"),
    [
        ([], [], "at least one prediction"),
        (["x"], [REFERENCE] * 2, "1 predictions and 2 references"),
        (["x"], [{**REFERENCE, "category": 3}], "category: expected a string or nothing, got 3"),
        (["x"], [{"category": "a"}], "lacks correct_sources"),
        ([" "], [REFERENCE], "row 0: expected a translation"),
    ],
)
def test_bad_input_is_refused_before_evaluate_converts_it(
    root: Path, predictions: Any, references: Any, message: str
) -> None:
    metric = evaluate.load(str(root / "metrics/contrastive_conditioning"))
    with pytest.raises(InputError, match=message):
        metric.compute(predictions=predictions, references=references, evaluator=hash_scores)
