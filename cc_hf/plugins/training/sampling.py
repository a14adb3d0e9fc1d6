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

    Examples:
        >>> from cc_hf.data.loading import load_examples
        >>> examples = load_examples("simplegen", "en-de")
        >>> sorted(example.category for example in stratified_sample(examples, 8))
        ['FoFc', 'FoFc', 'FoMc', 'FoMc', 'MoFc', 'MoFc', 'MoMc', 'MoMc']
    """
    indices: dict[str, list[int]] = {}  # of the examples of each category
    for i, example in enumerate(examples):
        indices.setdefault(example.category, []).append(i)
    if not len(indices) <= n <= len(examples):
        raise InputError(
            f"n_examples: expected at least one for each of the {len(indices)} categories and at"
            f" most {len(examples)}, all that there are, got {n}"
        )
    if seed < 0:
        raise InputError(f"seed: expected 0 or more, got {seed}")
    names = sorted(indices)
    shares = dict.fromkeys(names, 1)
    for _ in range(n - len(names)):
        neediest = max(
            (name for name in names if shares[name] < len(indices[name])),
            key=lambda name: len(indices[name]) * n / len(examples) - shares[name],
        )
        shares[neediest] += 1
    # One generator per category: the draw of one does not depend on the size of the others.
    chosen = [
        i
        for name in names
        for i in random.Random(f"{seed}|{name}").sample(indices[name], shares[name])
    ]
    return [examples[i] for i in sorted(chosen)]
