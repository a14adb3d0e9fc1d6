"""Batches of pairs of similar length, and their order."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.training.scratch.batches import EpochOrder, PairBatches, batch_starts

_LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80)


@given(_LENGTHS, st.integers(60, 200))
def test_a_batch_is_as_large_as_its_tokens_allow(
    pairs: list[tuple[int, int]], batch_tokens: int
) -> None:
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
def test_batches_hold_every_pair_once_with_pairs_of_similar_length(
    batch_tokens: int | None,
) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"input_ids": [i] * rng.integers(1, 9), "labels": [i] * rng.integers(1, 9)}
        for i in range(50)
    ]
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
