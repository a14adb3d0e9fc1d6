"""Contrastive translation scoring, which takes no predictions, as users of `evaluate` call it and
as its card shows it.
"""

from __future__ import annotations

import doctest
import functools
import re
from pathlib import Path
from typing import Any

import evaluate
import pytest

import cc_hf
from cc_hf.errors import InputError
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.metrics import compute_metric

compute = functools.partial(compute_metric, "contrastive_translation_scoring", None)

NAME = "contrastive_translation_scoring"
ROWS: list[dict[str, Any]] = [
    {
        "source": "s",
        "correct_translation": "a",
        "contrastive_translations": ["b", "c"],
        "category": "x",
        "pair": "p",
    },
    {"source": "", "correct_translation": "a", "contrastive_translations": ("d",), "pair": "p"},
    {"correct_translation": "e", "contrastive_translations": []},
]
OPTIONS: dict[str, Any] = {"evaluator": hash_scores, "n_resamples": 20}


def load(root: Path, **options: Any) -> Any:
    return evaluate.load(str(root / "metrics" / NAME), **options)


def test_compute_equals_the_core_in_batches_and_with_options_at_load(root: Path) -> None:
    expected = compute(ROWS, **OPTIONS)
    assert load(root).compute(references=ROWS, **OPTIONS) == expected
    metric = load(root, **OPTIONS)
    for row in ROWS:
        metric.add_batch(references=[row])
    assert metric.compute() == expected
    assert cc_hf.load_metric(NAME, **OPTIONS).compute(references=ROWS) == expected


def test_bad_input_is_refused_before_evaluate_converts_it(root: Path) -> None:
    metric = load(root, **OPTIONS)
    for call in (metric.compute, metric.add_batch):
        with pytest.raises(
            InputError,
            match=(
                "predictions: expected none: contrastive_translation_scoring judges the evaluator"
                " itself"
            ),
        ):
            call(predictions=["a"] * 3, references=ROWS)
    with pytest.raises(InputError, match="at least one reference"):
        metric.compute(references=[])
    with pytest.raises(
        InputError, match="row 1: correct_translation: expected a text that is not blank, got 3"
    ):
        metric.compute(references=[ROWS[0], {**ROWS[1], "correct_translation": 3}])


def test_the_card_example_runs_and_the_module_describes_every_figure(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = (root / f"cards/metrics/{NAME}.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", card, re.DOTALL)
    assert code is not None
    monkeypatch.chdir(root)
    found: dict[str, Any] = {}
    exec(compile(code.group(1), f"{NAME}.md", "exec"), found)
    assert found["result"]["n_pairs"] == 1
    module = (root / f"metrics/{NAME}/{NAME}.py").read_text(encoding="utf-8")
    for key in found["result"]:
        for text in (card, module):
            assert (
                f"`{key}`" in text
                or key in text
                or key.removeprefix("accuracy_") in ("male", "female")
            ), key
    for field in re.findall(r"\|(\w+):", f"|{found['result']['signature'].partition('|')[2]}"):
        assert f"`{field}`" in card, field
    assert all(0 < score < 1 for scores in found["result"]["scores"] for score in scores)


def test_the_doctest_of_the_module_passes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    test = doctest.DocTestParser().get_doctest(
        load(root).inputs_description, {"evaluate": evaluate}, NAME, None, None
    )
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
