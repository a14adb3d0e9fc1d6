"""Filters and files of sentence pairs for training."""

from __future__ import annotations

from pathlib import Path

import pytest

from cc_hf.errors import InputError
from tools.training.pair_filters import filter_pairs, read_pairs


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
    removed = {"n_blank": 2, "n_too_long": 1, "n_length_ratio": 1}
    assert filtered.counts == {"n_pairs": 6, "n_kept": 2, **removed}


def test_limits_can_be_lifted_and_tokens_counted_otherwise() -> None:
    pairs = [("abc", "a"), ("a", "a b c d")]
    assert filter_pairs(pairs, max_length_ratio=None).counts["n_kept"] == 2
    assert filter_pairs(pairs, n_tokens=len).counts["n_kept"] == 0
    assert filter_pairs(pairs, max_tokens=3, max_length_ratio=None).rows == (0,)


@pytest.mark.parametrize(("name", "value"), [("max_tokens", 0), ("max_length_ratio", 0.9)])
def test_limits_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name}: expected 1 or more"):
        filter_pairs([], **{name: value})  # type: ignore[arg-type]


def test_pairs_of_two_files_are_read_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes("A\u2028b.\r\n\n".encode())
    (tmp_path / "a.de").write_text("Eins.\nZwei.\n", encoding="utf-8")
    pairs = read_pairs(tmp_path / "a.en", tmp_path / "a.de")
    assert pairs == [("A\u2028b.", "Eins."), ("", "Zwei.")]


def test_files_of_different_lengths_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("A.\nB.\n", encoding="utf-8")
    (tmp_path / "a.de").write_text("A.\n", encoding="utf-8")
    with pytest.raises(InputError, match="expected as many lines in both, got 2 and 1; line N"):
        read_pairs(tmp_path / "a.en", tmp_path / "a.de")
