from __future__ import annotations

import pytest

from cc_hf.data.pair_filters import filter_pairs
from cc_hf.errors import InputError


def test_pairs_are_left_out_for_one_reason_each_and_counted() -> None:
    pairs = [
        ("a b", "c d e"),  # a ratio of 1.5 is allowed
        ("a b", "c d e f"),
        ("a " * 251, "b " * 251),
        ("a " * 250, "b " * 250),
        ("", "b"),
        ("a", " "),
    ]
    filtered = filter_pairs(pairs)
    assert filtered.rows == (0, 3)
    assert filtered.pairs == (pairs[0], pairs[3])
    assert filtered.counts == {
        "n_pairs": 6,
        "n_kept": 2,
        "n_blank": 2,
        "n_too_long": 1,
        "n_length_ratio": 1,
    }
    assert sum(filtered.counts.values()) == 2 * filtered.counts["n_pairs"]


def test_limits_can_be_lifted_and_tokens_counted_otherwise() -> None:
    pairs = [("abc", "a"), ("a", "a b c d")]
    assert filter_pairs(pairs, max_length_ratio=None).counts["n_kept"] == 2
    assert filter_pairs(pairs, n_tokens=len).counts["n_kept"] == 0
    assert filter_pairs(pairs, max_tokens=3, max_length_ratio=None).rows == (0,)


@pytest.mark.parametrize(("name", "value"), [("max_tokens", 0), ("max_length_ratio", 0.9)])
def test_limits_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name}: expected 1 or more"):
        filter_pairs([], **{name: value})  # type: ignore[arg-type]
