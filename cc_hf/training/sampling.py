"""A part of a probing set that stands for the whole: the same share of every category, the same
examples for the same seed. No torch here.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from cc_hf.errors import InputError
from cc_hf.schema import Example

__all__ = ["stratified_sample"]

E = TypeVar("E", bound=Example)


def stratified_sample(examples: Sequence[E], n: int, *, seed: int = 0) -> list[E]:
    """`n` of the examples, in their order.

    Each category has at least one example; the others go one by one to whichever is furthest below
    its share. Which examples is drawn by the seed, for each category by itself.

    Args:
        examples: all that there are; n equal to their number gives them all.
        n: at least the number of categories, at most that of the examples.
        seed: 0 or more.

    Raises:
        InputError: for an n or a seed out of range.

    >>> from cc_hf.data.loading import load_examples
    >>> examples = load_examples("simplegen", "en-de")
    >>> sorted(example.category for example in stratified_sample(examples, 8))
    ['FoFc', 'FoFc', 'FoMc', 'FoMc', 'MoFc', 'MoFc', 'MoMc', 'MoMc']
    """
    places: dict[str, list[int]] = {}
    for place, example in enumerate(examples):
        places.setdefault(example.category, []).append(place)
    if not len(places) <= n <= len(examples):
        raise InputError(
            f"n_examples: expected at least one for each of the {len(places)} categories and at"
            f" most {len(examples)}, all that there are, got {n}"
        )
    if seed < 0:
        raise InputError(f"seed: expected 0 or more, got {seed}")
    names = sorted(places)
    shares = dict.fromkeys(names, 1)
    for _ in range(n - len(names)):  # one by one to whoever is furthest below its share
        short = max(
            (name for name in names if shares[name] < len(places[name])),
            key=lambda name: len(places[name]) * n / len(examples) - shares[name],
        )
        shares[short] += 1
    chosen = [
        place
        for name in names
        for place in random.Random(f"{seed}|{name}").sample(places[name], shares[name])
    ]
    return [examples[place] for place in sorted(chosen)]
