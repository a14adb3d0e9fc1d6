"""Choose the adversarial samples that are most likely to succeed, and as many at random (thesis,
section 3.3.2).
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from cc_hf.errors import InputError
from cc_hf_studies.disambiguation_bias.attacks.samples import AdversarialSample

__all__ = ["CHALLENGE_KINDS", "ChallengeSamples", "choose_challenge"]

#: Kinds of change of the challenge set: those at the homograph.
CHALLENGE_KINDS = ("insert_at_homograph", "replace_at_homograph")

# A value, the negated number of the sample, so that the first of equal ones is kept, and the
# sample.
_Item = tuple[float, int, AdversarialSample]


@dataclass(frozen=True)
class ChallengeSamples:
    """Samples chosen by the bias of the adjective, and at random.

    Attributes:
        biased: samples with the highest difference of frequencies, the highest first.
        random: as many samples of any kind, in the order of a hash of the seed and their id.
        n: number of samples from which they were chosen.
    """

    biased: tuple[AdversarialSample, ...]
    random: tuple[AdversarialSample, ...]
    n: int


def choose_challenge(
    samples: Iterable[AdversarialSample],
    *,
    n: int = 10_000,
    max_per_homograph: int = 1_000,
    seed: int = 0,
) -> ChallengeSamples:
    """Choose samples; the result does not depend on their order but for equal values."""
    for name, value in (("n", n), ("max_per_homograph", max_per_homograph)):
        if value < 1:
            raise InputError(f"{name}: expected at least 1, got {value}")
    best: dict[str, list[_Item]] = {}
    drawn: list[_Item] = []
    total = 0
    for total, sample in enumerate(samples, 1):
        if sample.kind in CHALLENGE_KINDS:
            heap = best.setdefault(sample.homograph, [])
            # The released program sorts by the bias towards the seed's sense by mistake. This is
            # the difference, as the thesis says.
            _keep(heap, (sample.freq_diff, -total, sample), max_per_homograph)
        _keep(drawn, (-_hash(seed, sample.id), -total, sample), n)
    ranked = sorted((item for heap in best.values() for item in heap), reverse=True)[:n]
    if not ranked:
        raise InputError(
            f"expected samples with a change at the homograph ({', '.join(CHALLENGE_KINDS)}), got"
            f" none among {total}"
        )
    shuffled = sorted(drawn, reverse=True)[: len(ranked)]
    return ChallengeSamples(
        tuple(sample for _, _, sample in ranked), tuple(sample for _, _, sample in shuffled), total
    )


def _keep(heap: list[_Item], item: _Item, n: int) -> None:
    """Add an item to a heap of the n greatest. Item numbers differ, so samples never compare."""
    if len(heap) < n:
        heapq.heappush(heap, item)
    elif item > heap[0]:
        heapq.heapreplace(heap, item)


def _hash(seed: int, text: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}\0{text}".encode()).digest()[:8], "big")
