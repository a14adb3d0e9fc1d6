from __future__ import annotations

import numpy as np
import pytest

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import Bootstrap, wilson_interval
from cc_hf.statistics.shares import Share, resampled_shares, wilson_share

_ALL = np.ones(20, dtype=np.bool_)
_HALF = np.arange(20) % 2 == 0
_IN_PAIRS = [row // 2 for row in range(20)]


def test_wilson_stands_in_only_where_samples_are_drawn_one_by_one() -> None:
    bootstrap = Bootstrap(n_resamples=50)
    alone = resampled_shares(_HALF, [_ALL, _HALF], bootstrap=bootstrap)
    assert (alone[0].k, alone[0].n, alone[0].value) == (10, 20, 0.5)
    assert isinstance(alone[0].interval, Interval)
    assert alone[0].interval.method == "percentile"
    assert alone[1] == Share(10, 10, wilson_interval(10, 10))
    in_pairs = resampled_shares(_HALF, [_ALL, _HALF], groups=_IN_PAIRS, bootstrap=bootstrap)
    # Each pair has one sample of two, so that all resamples agree.
    assert [share.interval for share in in_pairs] == [
        NoInterval("it is the same in every resample")
    ] * 2


def test_an_empty_part_is_refused() -> None:
    with pytest.raises(InputError, match="parts: row 1: expected at least one sample, got none"):
        resampled_shares(_HALF, [_ALL, ~_ALL], bootstrap=Bootstrap(n_resamples=50))


def test_limits_are_those_of_the_interval_or_the_value() -> None:
    share = wilson_share(1, 4)
    assert isinstance(share.interval, Interval)
    assert share.limits == (share.interval.low, share.interval.high)
    assert Share(1, 4, NoInterval("it is undefined")).limits == (0.25, 0.25)


def test_a_row_has_the_names_of_its_file() -> None:
    row = Share(1, 4, NoInterval("it is undefined")).to_row(value="rate", k="n_worse")
    assert list(row.items()) == [
        ("n", 4), ("n_worse", 1), ("rate", 0.25),
        ("interval", {"reason": "it is undefined", "n_undefined": 0}),
    ]  # fmt: skip
    assert list(wilson_share(1, 4).to_row(value="accuracy")) == ["n", "accuracy", "interval"]
