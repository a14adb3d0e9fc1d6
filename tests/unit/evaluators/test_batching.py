from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cc_hf.evaluators.batching import plan_batches

_LENGTHS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), max_size=60)


@given(_LENGTHS, st.integers(1, 300))
def test_batches_hold_every_pair_once_within_the_budget(
    lengths: list[tuple[int, int]], budget: int
) -> None:
    sources, targets = [s for s, _ in lengths], [t for _, t in lengths]
    batches = plan_batches(sources, targets, batch_tokens=budget)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        cost = len(batch) * (max(sources[i] for i in batch) + max(targets[i] for i in batch))
        assert len(batch) == 1 or cost <= budget


def test_batches_start_with_the_longest_pairs() -> None:
    assert plan_batches([1, 2, 3], [1, 2, 3], batch_tokens=2) == [[2], [1], [0]]
