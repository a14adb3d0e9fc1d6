import numpy as np
import pytest

from cc_hf.results import NoInterval
from cc_hf.statistics.shares import Share, part_shares, wilson_share
from tests.helpers.usual import limits, refuses

_ALL = np.ones(20, dtype=np.bool_)
_HALF = np.arange(20) % 2 == 0


def test_a_share_in_a_part_counts_its_own_groups() -> None:
    for share, (k, n) in zip(part_shares(_HALF, [_ALL, _HALF]), [(10, 20), (10, 10)], strict=True):
        assert (share.k, share.n) == (k, n)
        assert share.limits == pytest.approx(wilson_share(k, n).limits)

    whole, part = part_shares(_HALF, [_ALL, _HALF], groups=[row // 2 for row in range(20)])
    assert (whole.k, whole.n, part.k, part.n) == (10, 20, 10, 10)
    # Each pair has one sample of two, so that pairs vary less than independent samples.
    assert whole.limits[0] > wilson_share(10, 20).limits[0]
    assert part.limits == pytest.approx(wilson_share(10, 10).limits)


def test_a_share_of_one_group_has_no_interval() -> None:
    (alone,) = part_shares(_HALF, [_ALL], groups=["a"] * 20)
    assert alone.interval == NoInterval("all samples are in one group")


def test_a_part_without_samples_is_refused() -> None:
    refuses("parts: row 1: expected at least one sample", part_shares, _HALF, [_ALL, ~_ALL])


def test_a_row_has_the_names_that_its_file_gives() -> None:
    undefined = Share(1, 4, NoInterval("it is undefined"))
    assert undefined.limits == (0.25, 0.25)
    row = undefined.to_row(value="rate", k="n_worse")
    reason_of = {"reason": "it is undefined", "n_undefined": 0}
    assert row == {"n": 4, "n_worse": 1, "rate": 0.25, "interval": reason_of}

    share = wilson_share(1, 4)
    assert share.limits == limits(share.interval)
    assert list(share.to_row(value="accuracy")) == ["n", "accuracy", "interval"]
