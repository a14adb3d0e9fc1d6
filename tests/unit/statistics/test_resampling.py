from __future__ import annotations

import numpy as np
import pytest

from cc_hf.errors import InputError
from cc_hf.statistics.resampling import percentile_interval, resampled_sums


def test_sums_are_of_samples_drawn_with_replacement() -> None:
    statistics = np.stack([np.ones(5), np.arange(5.0)], axis=1)
    sums = resampled_sums(statistics, n_resamples=600, seed=3)
    generator = np.random.default_rng(3)
    drawn = np.concatenate([generator.integers(0, 5, size=(rows, 5)) for rows in (250, 250, 100)])
    assert sums.tolist() == statistics[drawn].sum(axis=1).tolist()


def test_strata_keep_their_size() -> None:
    names = ["a", "b", "a", "c"]
    one_hot = np.array([[name == other for other in "abc"] for name in names], dtype=np.float64)
    assert {tuple(row) for row in resampled_sums(one_hot, names, n_resamples=20).tolist()} == {(2.0, 1.0, 1.0)}


def test_intervals_and_what_has_none() -> None:
    found = percentile_interval(np.arange(101) / 100)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.025, 0.975))
    assert percentile_interval(np.array([np.nan, 1.0])) is None


def test_refusals() -> None:
    with pytest.raises(InputError, match="at least one sample"):
        resampled_sums(np.zeros((0, 2)))
    with pytest.raises(InputError, match="n_resamples >= 1"):
        resampled_sums(np.ones((1, 1)), n_resamples=0)
