"""Choices of referents by evaluators with a known bias."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np

from cc_hf.studies.wino_x.referent_choices import Choice

# correct gender, incorrect gender, position of the correct one -> is the correct one preferred?
Prefers = Callable[[str, str, str], bool]


def choices(
    prefers: Prefers, genders: tuple[str, ...] = ("male", "female", "neutral"), n: int = 100
) -> list[Choice]:
    """Return balanced schemas like those of Wino-X: every pronoun is correct in one twin and
    incorrect in the other.
    """
    found = []
    for i, (a, b), place in product(range(n), combinations(genders, 2), (0, 1)):
        pair = f"{i}.{a}.{b}.{place}"
        for twin, (right, wrong) in enumerate(((a, b), (b, a))):
            position = ("first", "second")[(place + twin) % 2]
            read = (right, wrong, position)
            found.append(Choice(f"{pair}-{twin}", pair, *read, prefers(*read)))
    return found


def always(gender: str, seed: int = 0) -> Prefers:
    """Prefer a gender wherever it is offered, otherwise choose at random."""
    generator = np.random.default_rng(seed)
    return lambda right, wrong, position: (
        right == gender if gender in (right, wrong) else bool(generator.random() < 0.5)
    )
