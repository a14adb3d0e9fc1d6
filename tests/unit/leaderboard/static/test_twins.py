"""Sentences that differ in nothing but who is meant, as datasets tell them."""

from collections import defaultdict
from pathlib import Path

import pytest

from cc_hf.data.loading import declaration, load_examples
from cc_hf.schema import Example


@pytest.mark.parametrize(
    ("dataset", "config", "n_pairs", "n_triples"),
    [
        ("winomt", "acl2019", 1594, 206),
        ("winomt", "default", 1800, 0),
        ("gender_res", "en-es", 4680, 0),
        ("gender_res", "en-es.all", 4680, 0),
        ("simplegen", "en-de", 1332, 0),
    ],
)
def test_twins_are_told_in_all_rows(
    dataset: str, config: str, n_pairs: int, n_triples: int, shared: Path
) -> None:
    declared = declaration(dataset)
    sets: dict[str, dict[str, Example]] = defaultdict(dict)
    for example in load_examples(declared, config, data_dir=shared / "upstream"):
        assert declared.twins is not None
        if twin := declared.twins(example):
            sets[twin[0]].setdefault(twin[1], example)
    whole = [of_name for of_name in sets.values() if {"woman", "man"} <= of_name.keys()]
    assert sum(len(of_name) == 2 for of_name in whole) == n_pairs
    assert sum(len(of_name) == 3 for of_name in whole) == n_triples
    for of_name in whole:
        sources = {example.source for example in of_name.values()}
        assert len(sources) == len(of_name)  # they do differ


def test_twins_of_winomt_differ_in_the_pronoun(shared: Path) -> None:
    examples = load_examples("winomt", "acl2019", data_dir=shared / "upstream")
    twins = declaration("winomt").twins
    assert twins is not None
    name = "customer: The technician told the customer that _ could pay with cash."
    sources = {
        twin[1]: example.source
        for example in examples
        if (twin := twins(example)) and twin[0] == name
    }
    assert sources == {
        "man": "The technician told the customer that he could pay with cash.",
        "woman": "The technician told the customer that she could pay with cash.",
        "nobody": "The technician told the customer that they could pay with cash.",
    }
