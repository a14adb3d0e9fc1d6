"""Files of sentence pairs: read line by line, filtered, encoded once, and put into batches."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.errors import InputError
from cc_hf.training.scratch.batches import EpochOrder, PairBatches, batch_starts
from cc_hf.training.scratch.pairs import PairFiles, drop_reason, encoded_pairs, load_pairs
from tests.helpers.cases import cases
from tests.helpers.lines import write_lines

_ROWS = [("a b", "c d e"), ("a b", "c d e f"), ("a " * 251, "b " * 251), ("", "b"), ("a", " ")]


def _files(folder: Path, rows: Sequence[tuple[str, str]] = _ROWS, **options: Any) -> PairFiles:
    sides = zip(("en", "de"), zip(*rows, strict=True), strict=True)
    source, target = (write_lines(folder / f"a.{side}", texts) for side, texts in sides)
    return PairFiles(source, target, **options)


def _encode(sources: Sequence[str], targets: Sequence[str]) -> tuple[Any, Any]:
    sides = [[[*map(len, text.split()), 0] for text in texts] for texts in (sources, targets)]
    return sides[0], sides[1]


@cases(
    ("a b", "c d e", {}, None),  # a ratio of 1.5 is allowed
    ("a b", "c d e f", {}, "n_length_ratio"),
    ("a b", "c d e f", {"max_length_ratio": None}, None),
    ("a " * 250, "b " * 250, {}, None),
    ("a " * 251, "b " * 251, {}, "n_too_long"),
    ("a " * 251, "b " * 251, {"max_tokens": None}, None),
    ("", "b", {}, "n_blank"),
    ("a", "\u200b", {}, "n_blank"),
)
def test_a_pair_has_one_reason(source: str, target: str, limits: Any, expected: Any) -> None:
    lengths = (len(source.split()), len(target.split()))
    assert drop_reason(source, target, lengths, **limits) == expected


def test_pairs_are_encoded_once_for_the_same_files_vocabulary_and_filters(tmp_path: Path) -> None:
    files, vocabulary = _files(tmp_path), write_lines(tmp_path / "vocabulary", ["a"])
    encoded: list[int] = []

    def encode(sources: Sequence[str], targets: Sequence[str]) -> Any:
        encoded.append(len(sources))
        return _encode(sources, targets)

    def folder(limit: int = 250) -> Path:
        given: Any = {"vocabulary": [vocabulary], "max_tokens": limit, "max_length_ratio": 1.5}
        return encoded_pairs(files, encode, tmp_path / "data", **given)

    first = folder()
    rows, counts = load_pairs(first)
    assert rows[:] == {"input_ids": [[1, 1, 0]], "labels": [[1, 1, 1, 0]]}
    assert counts == {"n_pairs": 5, "n_kept": 1, "n_blank": 2, "n_too_long": 1, "n_length_ratio": 1}
    assert folder() == first
    assert encoded == [5]
    assert folder(300) != first
    write_lines(vocabulary, ["b"])
    assert folder() != first
    assert encoded == [5, 5, 5]


def test_files_without_a_pair_that_passes_are_refused(tmp_path: Path) -> None:
    files = _files(tmp_path, _ROWS[1:])
    given: Any = {"vocabulary": [], "max_tokens": 250, "max_length_ratio": 1.5}
    with pytest.raises(InputError, match="expected pairs that pass the filters, got none"):
        encoded_pairs(files, _encode, tmp_path / "data", **given)
    assert not list((tmp_path / "data").iterdir())


def test_a_random_subset_keeps_the_order_and_depends_on_the_seed(tmp_path: Path) -> None:
    rows = [(f"s{i}", f"t{i}") for i in range(100)]
    first, same, other = (list(_files(tmp_path, rows, n_pairs=9, seed=s)) for s in (1, 1, 2))
    assert first == same != other
    assert len(set(first)) == len(_files(tmp_path, rows, n_pairs=9)) == 9
    assert first == sorted(first, key=rows.index)


def test_lines_end_at_line_feeds_only_and_blank_pairs_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes("A\u2028b.\r\n\n".encode())
    write_lines(tmp_path / "a.de", ["Eins.", "Zwei."])
    files = PairFiles(tmp_path / "a.en", tmp_path / "a.de")
    assert list(files) == [("A\u2028b.", "Eins."), ("", "Zwei.")]
    assert files.whole() == [("A\u2028b.", "Eins.")]


@cases(
    (["A.", "B."], {}, "expected as many lines in both files, got 2 and 1; line N"),
    (["A."], {"n_pairs": 2}, "n_pairs: expected at most the 1 pairs of .*, got 2"),
)
def test_unfit_files_are_refused(lines: Any, options: Any, message: str, tmp_path: Path) -> None:
    paths = write_lines(tmp_path / "a.en", lines), write_lines(tmp_path / "a.de", ["A."])
    with pytest.raises(InputError, match=message):
        list(PairFiles(*paths, **options))


_LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80)


@given(_LENGTHS, st.integers(60, 200))
def test_a_batch_is_as_large_as_allowed(pairs: list[tuple[int, int]], batch_tokens: int) -> None:
    lengths = np.array(sorted(pairs, key=sum))
    starts = batch_starts(lengths, batch_size=1, batch_tokens=batch_tokens)
    assert (starts[0], starts[-1]) == (0, len(pairs))

    def cost(first: int, end: int) -> int:
        return int((end - first) * lengths[first:end].max(axis=0).sum())

    for first, end in pairwise(starts):
        assert end > first
        assert cost(first, end) <= batch_tokens
        assert end == len(pairs) or cost(first, end + 1) > batch_tokens


@pytest.mark.parametrize("batch_tokens", [None, 40])
def test_batches_hold_every_pair_once_beside_similar_ones(batch_tokens: int | None) -> None:
    rng = np.random.default_rng(0)
    sides = ("input_ids", "labels")
    rows = [{side: [i] * rng.integers(1, 9) for side in sides} for i in range(50)]
    batches = PairBatches(Dataset.from_list(rows), batch_size=8, batch_tokens=batch_tokens)
    pairs = [row for batch in map(batches.__getitem__, range(len(batches))) for row in batch]
    assert sorted(pairs, key=str) == sorted(rows, key=str)
    sums = [len(row["input_ids"]) + len(row["labels"]) for row in pairs]
    assert sums == sorted(sums)
    assert batches.n_target_tokens == sum(len(row["labels"]) for row in rows)
    if batch_tokens is None:
        assert Counter(map(len, map(batches.__getitem__, range(7)))) == {8: 6, 2: 1}


def test_seed_and_epoch_decide_the_order() -> None:
    def order(seed: int, epoch: float) -> list[int]:
        sampler = EpochOrder(20, seed)
        state: Any = SimpleNamespace(epoch=epoch)
        sampler.on_epoch_begin(None, state, None)
        return list(sampler)

    orders = [order(1, 0), order(1, 1), order(2, 0)]
    assert order(1, 1.7) == orders[1]  # a training that continues within the epoch
    assert len(set(map(tuple, orders))) == 3
    assert {tuple(sorted(numbers)) for numbers in orders} == {tuple(range(20))}
