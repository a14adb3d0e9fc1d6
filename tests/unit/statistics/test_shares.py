from __future__ import annotations

import numpy as np
import pytest

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.shares import Share, part_shares, wilson_share

_ALL = np.ones(20, dtype=np.bool_)
_HALF = np.arange(20) % 2 == 0
_IN_PAIRS = [row // 2 for row in range(20)]


def test_a_share_in_a_part_counts_its_own_groups() -> None:
    for share, (k, n) in zip(part_shares(_HALF, [_ALL, _HALF]), [(10, 20), (10, 10)], strict=True):
        assert (share.k, share.n) == (k, n)
        assert share.limits == pytest.approx(wilson_share(k, n).limits)
    whole, part = part_shares(_HALF, [_ALL, _HALF], groups=_IN_PAIRS)
    assert (whole.k, whole.n, part.k, part.n) == (10, 20, 10, 10)
    # Each pair has one sample of two, so that pairs vary less than independent samples.
    assert whole.limits[0] > wilson_share(10, 20).limits[0]
    assert part.limits == pytest.approx(wilson_share(10, 10).limits)
    (alone,) = part_shares(_HALF, [_ALL], groups=["a"] * 20)
    assert alone.interval == NoInterval("all samples are in one group")


def test_an_empty_part_is_refused() -> None:
    with pytest.raises(InputError, match="parts: row 1: expected at least one sample, got none"):
        part_shares(_HALF, [_ALL, ~_ALL])


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
