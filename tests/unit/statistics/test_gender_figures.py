import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.results import NoInterval
from cc_hf.statistics.gender_figures import (
    count_cells,
    gender_figures,
    gender_intervals,
    printed_figures,
)
from tests.helpers.intervals import limits

_GENDERS, _SIDES = ["male", "female", "neutral"], ["pro", "anti", "none"]
_ROW = st.tuples(*map(st.sampled_from, (_GENDERS, _SIDES, [*_GENDERS, "unknown"])))
_ROWS = st.lists(_ROW, min_size=1, max_size=30)


@given(_ROWS)
def test_figures_equal_their_definitions(rows: list[tuple[str, str, str]]) -> None:
    gold, stereotypes, predicted = zip(*rows, strict=True)
    found = gender_figures(count_cells(gold, stereotypes, predicted))
    expected: dict[str, float] = {}
    for gender in set(gold):
        correct = sum(g == p == gender for g, _, p in rows)
        precision = correct / predicted.count(gender) if gender in predicted else 0.0
        recall = correct / gold.count(gender)
        f1 = 2 * precision * recall / (precision + recall) if correct else 0.0
        names = (f"{name}_{gender}" for name in ("precision", "recall", "f1"))
        expected |= zip(names, (precision, recall, f1), strict=True)
    for side in {"pro", "anti"} & set(stereotypes):
        n_correct = sum(g == p for g, s, p in rows if s == side)
        expected[f"accuracy_{side}"] = n_correct / stereotypes.count(side)
    if {"male", "female"} <= set(gold):
        expected["delta_g"] = expected["f1_male"] - expected["f1_female"]
    if {"pro", "anti"} <= set(stereotypes):
        expected["delta_s"] = expected["accuracy_pro"] - expected["accuracy_anti"]
    assert found == pytest.approx(expected)


@given(_ROWS)
def test_printed_figures_differ_only_by_rounding(rows: list[tuple[str, str, str]]) -> None:
    cells = count_cells(*zip(*rows, strict=True))
    exact, printed = gender_figures(cells), printed_figures(cells)
    accuracy = sum(g == p for g, _, p in rows) / len(rows)
    assert printed["accuracy"] == pytest.approx(accuracy, abs=0.0006)
    assert exact.keys() | {"accuracy"} == printed.keys()
    assert all(printed[name] == pytest.approx(value, abs=0.004) for name, value in exact.items())
    assert all(round(value, 3) == value for value in printed.values())


@given(_ROWS)
def test_every_figure_has_an_interval_without_nan(rows: list[tuple[str, str, str]]) -> None:
    cells = count_cells(*zip(*rows, strict=True))
    intervals = gender_intervals(cells)
    assert intervals.keys() == gender_figures(cells).keys()
    assert all(
        isinstance(i, NoInterval) or (math.isfinite(i.low) and i.low < i.high)
        for i in intervals.values()
    )


def test_intervals_contain_their_figures() -> None:
    rng = np.random.default_rng(0)
    names = ["male", "female"], ["pro", "anti"], ["male", "female", "unknown"]
    cells = count_cells(*(rng.choice(column, size=300).tolist() for column in names))
    found = gender_intervals(cells)
    for name, value in gender_figures(cells).items():
        low, high = limits(found[name])
        assert low < value < high


def test_figures_without_samples_are_omitted() -> None:
    found = gender_figures(count_cells(["male", "male"], ["none", "pro"], ["female", "unknown"]))
    assert found == {"precision_male": 0.0, "recall_male": 0.0, "f1_male": 0.0, "accuracy_pro": 0.0}
