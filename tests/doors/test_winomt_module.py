"""Pattern matching on WinoMT as users of `evaluate` call it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import evaluate
import pytest

import cc_hf
from cc_hf.errors import InputError
from tests.helpers.cases import cases_by_message
from tests.helpers.metrics import compute_metric

compute = functools.partial(compute_metric, "winomt_pattern_matching")

REFERENCE = {
    "source": "The cook left.",
    "occupation": "cook",
    "occupation_index": 1,
    "gold_gender": "female",
    "stereotype": "pro",
}
PREDICTIONS = ["Die Köchin ging.", "Der Koch ging."]
REFERENCES = [REFERENCE, {**REFERENCE, "gold_gender": "male", "stereotype": "anti"}]


@pytest.fixture
def metric(root: Path) -> Any:
    return evaluate.load(str(root / "metrics/winomt_pattern_matching"))


def test_compute_equals_the_core(metric: Any) -> None:
    options: dict[str, Any] = {"tgt_lang": "de", "alignments": ["0-0 1-1"] * 2}
    found = metric.compute(predictions=PREDICTIONS, references=REFERENCES, **options)
    assert found == compute(PREDICTIONS, REFERENCES, **options)
    assert found["predicted"] == ["female", "male"]


def test_batches_added_one_by_one_are_aligned_together(metric: Any) -> None:
    for prediction, reference in zip(PREDICTIONS, REFERENCES, strict=True):
        metric.add_batch(predictions=[prediction], references=[reference])
    assert metric.compute(tgt_lang="de") == compute(PREDICTIONS, REFERENCES, tgt_lang="de")


def test_options_can_be_given_when_the_metric_is_loaded() -> None:
    metric = cc_hf.load_metric("winomt_pattern_matching", tgt_lang="de", alignments=["0-0 1-1"] * 2)
    assert metric.compute(predictions=PREDICTIONS, references=REFERENCES)["accuracy"] == 1.0


@cases_by_message(
    ("predictions", "references", "message"),
    [
        ([], [], "at least one prediction"),
        (["x"], REFERENCES, "1 predictions and 2 references"),
        ([None], [REFERENCE], "row 0: expected a translation, got None"),
        (["x"], [{**REFERENCE, "occupation_index": "1"}], "occupation_index: expected an integer"),
    ],
)
def test_bad_input_is_refused_before_evaluate_converts_it(
    metric: Any, predictions: Any, references: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        metric.compute(predictions=predictions, references=references, tgt_lang="de")
