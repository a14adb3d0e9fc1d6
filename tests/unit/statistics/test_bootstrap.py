from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from cc_hf.errors import InputError
from cc_hf.statistics.bootstrap import accuracy_intervals


def test_width_equals_the_binomial_one() -> None:
    correct = np.arange(1000) < 700
    found = accuracy_intervals(correct, np.ones(1000, dtype=np.int64), ["a"] * 1000, n_resamples=4000)["accuracy"]
    low, high = (float(stats.binom.ppf(tail, 1000, 0.7)) / 1000 for tail in (0.025, 0.975))
    assert found.low == pytest.approx(low, abs=0.004)
    assert found.high == pytest.approx(high, abs=0.004)


def test_categories_keep_their_size() -> None:
    correct = np.array([True] * 50 + [False] * 50)
    found = accuracy_intervals(correct, np.ones(100, dtype=np.int64), ["a"] * 50 + ["b"] * 50)
    assert (found["accuracy"].low, found["accuracy"].high) == (0.5, 0.5)  # resampling over all would spread
    assert (found["accuracy_a"].low, found["accuracy_b"].high) == (1.0, 0.0)
    assert found["min_accuracy"].high == 0.0


def test_seed_decides() -> None:
    generator = np.random.default_rng(1)
    correct, weights = generator.random(200) < 0.6, generator.integers(1, 9, 200)
    one, same, other = (accuracy_intervals(correct, weights, ["a"] * 200, seed=seed) for seed in (0, 0, 1))
    assert one == same
    assert one != other


@pytest.mark.parametrize(("n_resamples", "level"), [(0, 0.95), (10, 1.0), (10, 0.0)])
def test_options_out_of_range(n_resamples: int, level: float) -> None:
    with pytest.raises(InputError, match="n_resamples >= 1"):
        accuracy_intervals(np.array([True]), np.array([1]), ["a"], n_resamples=n_resamples, level=level)


def test_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        accuracy_intervals(np.array([], dtype=bool), np.array([], dtype=np.int64), [])
