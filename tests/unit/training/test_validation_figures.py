from __future__ import annotations

from collections.abc import Sequence

import pytest

from cc_hf.errors import InputError
from cc_hf.training.validation_figures import STAND_IN, flat_figures, judgeable
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.training import PEOPLE


def test_figures_of_further_metrics_carry_the_name_of_the_metric() -> None:
    def undecided(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [1.0] * len(translations)

    result = evaluate_dataset(
        "simplegen", "en-de", translations=["Sie ist Ärztin."] * 2664, evaluator=undecided
    )
    other = evaluate_dataset(
        "simplegen", "en-de", translations=["Sie ist Ärztin."] * 2664, metric="simplegen_accuracy"
    )
    found = flat_figures([result, other], n_empty=3)
    assert found["min_accuracy"] == 1.0
    assert found["n"] == 2664
    assert found["n_empty"] == 3
    assert {
        name.removeprefix("simplegen_accuracy_"): value
        for name, value in found.items()
        if name.startswith("simplegen_accuracy_")
    } == {**other.scores, **other.counts}
    assert found["n_ties"] == 2664
    with pytest.raises(InputError, match="figures that are there already"):
        flat_figures([result, result, result])


def test_blank_translations_are_replaced_and_counted() -> None:
    assert judgeable([PEOPLE[0][0], "", "\u00a0"]) == ([PEOPLE[0][0], STAND_IN, STAND_IN], 2)
