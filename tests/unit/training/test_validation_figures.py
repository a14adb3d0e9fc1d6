from __future__ import annotations

from typing import Any

import pytest

from cc_hf.errors import InputError
from cc_hf.training.validation_figures import STAND_IN, flat_figures, judgeable
from tests.helpers.fake_evaluator import constant_scores
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.training import PEOPLE


def test_figures_of_further_metrics_carry_the_name_of_the_metric() -> None:
    data: Any = {"dataset": "simplegen", "translations": ["Sie ist Ärztin."] * 2664}
    result = evaluate_dataset(**data, evaluator=constant_scores)
    other = evaluate_dataset(**data, metric="simplegen_accuracy")
    found = flat_figures([result, other], n_empty=3)
    named = {f"simplegen_accuracy_{k}": v for k, v in {**other.scores, **other.counts}.items()}
    assert {k: v for k, v in found.items() if k.startswith("simplegen_accuracy_")} == named
    expected = {"min_accuracy": 1.0, "n": 2664, "n_empty": 3, "n_ties": 2664}
    assert expected.items() <= found.items()
    with pytest.raises(InputError, match="figures that are there already"):
        flat_figures([result, result, result])


def test_blank_translations_are_replaced_and_counted() -> None:
    assert judgeable([PEOPLE[0][0], "", "\u00a0"]) == ([PEOPLE[0][0], STAND_IN, STAND_IN], 2)
