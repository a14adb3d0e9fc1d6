from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from cc_hf.comparing.published import read_published
from cc_hf.statistics.rank_tests import effect_thresholds
from cc_hf.studies import disambiguation_bias
from cc_hf.studies.disambiguation_bias.prediction import error_rate_by_bias, predict_errors
from tests.helpers.cases import cases
from tests.helpers.refusals import refuses


def test_values_that_separate_errors_have_a_correlation_of_one() -> None:
    prediction = predict_errors(
        {"above": [3, 4, 1, 2, 0], "below": [1, 0, 3, 2, 4]}, [True, True, False, False, False]
    )
    above, below = prediction.tests
    assert (above.test.rank_biserial, above.u, above.size) == (1, 0, "large")
    assert (below.test.rank_biserial, below.u, below.size) == (-1, 0, "large")
    assert (prediction.n, prediction.n_errors, prediction.error_rate) == (5, 2, 0.4)
    assert prediction.thresholds == effect_thresholds(0.4)


@cases(
    ({}, [True, False], "at least one value per sentence"),
    ({"freq_diff": [1.0]}, [True, False], "freq_diff: expected one value per sentence, 2"),
    ({"freq_diff": [1.0, 2.0]}, [True, True], "nothing to predict"),
    ({"freq_diff": [1.0, 2.0]}, [False, False], "nothing to predict"),
    ({"freq_diff": [1.0, float("nan")]}, [True, False], "finite"),
)
def test_bad_input_is_named(
    values: dict[str, list[float]], errors: list[bool], message: str
) -> None:
    refuses(message, predict_errors, values, errors)


def test_deciles_hold_all_sentences_in_the_order_of_their_values() -> None:
    values = np.random.default_rng(0).normal(size=1003)
    groups = error_rate_by_bias(values.tolist(), (values > 1).tolist())
    assert len(groups) == 10
    assert {group.errors.n for group in groups} <= {100, 101}
    assert sum(group.errors.n for group in groups) == 1003
    assert sum(group.errors.k for group in groups) == (values > 1).sum()
    assert all(a.high < b.low for a, b in itertools.pairwise(groups))
    assert all(g.errors.limits[0] <= g.errors.value <= g.errors.limits[1] for g in groups)
    assert list(groups[0].to_dict()) == [
        "low", "high", "n", "n_errors", "error_rate", "interval",
    ]  # fmt: skip


def test_equal_values_share_a_group() -> None:
    groups = error_rate_by_bias([0.0] * 95 + [1.0] * 5, [False] * 95 + [True] * 5)
    assert [(g.low, g.errors.n, g.errors.k) for g in groups] == [(0, 95, 0), (1, 5, 5)]
    assert len(error_rate_by_bias([0.1 + 0.2, 0.3] * 9, [True, False] * 9, n_groups=2)) == 1


@cases(
    ([], [], 10, "at least one sentence"),
    ([1.0], [True, False], 10, "1 values for 2"),
    ([float("inf")], [True], 10, "finite"),
    ([1.0], [True], 0, "n_groups"),
)
def test_groups_of_no_or_wrong_values_are_refused(
    values: list[float], errors: list[bool], n_groups: int, message: str
) -> None:
    refuses(message, error_rate_by_bias, values, errors, n_groups=n_groups)


def test_published_thresholds_are_those_of_the_error_rates() -> None:
    rates = (0.080, 0.128, 0.149, 0.038, 0.056, 0.068)
    table = read_published(Path(disambiguation_bias.__path__[0]))["Table 3.8"]
    for system, rate in zip(table.rows, rates, strict=True):
        large = table.value(system, "large")
        assert effect_thresholds(rate).large == pytest.approx(large, abs=2e-3)
