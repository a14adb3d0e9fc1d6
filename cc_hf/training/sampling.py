"""Stratified samples of a probing set, reproducible by seed. No torch here."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from cc_hf.errors import InputError
from cc_hf.schema import Example

__all__ = ["stratified_sample"]

E = TypeVar("E", bound=Example)


def stratified_sample(examples: Sequence[E], n: int, *, seed: int = 0) -> list[E]:
    """Return `n` of the examples, in their order.

    Each category gets at least one example. The others are assigned one by one to the category that
    is furthest below its share. The seed determines which examples are drawn, separately for each
    category.

    Args:
        examples: all examples.
        n: size of the sample, at least the number of categories and at most that of the examples.
        seed: 0 or more.

    Raises:
        InputError: for `n` or `seed` out of range.

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
    for _ in range(n - len(names)):
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
