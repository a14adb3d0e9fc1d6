from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.data.loading import load_examples
from cc_hf.errors import InputError
from cc_hf.schema import ContrastiveSourceExample, Focus
from cc_hf.training.sampling import stratified_sample


def example(number: int, category: str) -> ContrastiveSourceExample:
    sides = Focus("bat", 4), ("The flying bat.",), ("The wooden bat.",), category, "animal"
    return ContrastiveSourceExample(str(number), "en", "de", "The bat.", *sides)


@given(st.lists(st.sampled_from("abcd"), min_size=4, max_size=80), st.data())
def test_every_category_gets_its_share_of_the_sample(
    categories: list[str], data: st.DataObject
) -> None:
    examples = [example(number, category) for number, category in enumerate(categories)]
    sizes = Counter(categories)
    n = data.draw(st.integers(len(sizes), len(examples)))
    found = stratified_sample(examples, n, seed=3)
    assert len(found) == len({e.id for e in found}) == n
    assert [int(e.id) for e in found] == sorted(int(e.id) for e in found)
    assert found == stratified_sample(examples, n, seed=3)
    for category, size in sizes.items():
        share = sum(e.category == category for e in found)
        assert share >= 1
        # no category needs more than its share to be present
        if all(n * other >= len(examples) for other in sizes.values()):
            assert abs(share - n * size / len(examples)) < 1


def test_different_seeds_draw_different_examples() -> None:
    examples = load_examples("simplegen", "en-de")
    assert stratified_sample(examples, 100, seed=0) != stratified_sample(examples, 100, seed=1)
    assert stratified_sample(examples, len(examples)) == examples


@pytest.mark.parametrize("n", [1, 4, 0])
def test_sizes_out_of_range_are_refused(n: int) -> None:
    with pytest.raises(InputError, match="n_examples: expected at least one for each of the 2"):
        stratified_sample([example(0, "a"), example(1, "b"), example(2, "b")], n)
    with pytest.raises(InputError, match="seed: expected 0 or more"):
        stratified_sample([example(0, "a")], 1, seed=-1)
