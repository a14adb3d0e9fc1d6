"""Training pairs with context, and pairs that a system has translated in the right gender
(Currey et al. 2022, section 5.3).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, zip_longest

from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example

__all__ = ["contextual_pairs", "self_training_pairs"]

_Pair = tuple[str, str]


def contextual_pairs(
    sources: Iterable[Sequence[str]], targets: Iterable[Sequence[str]], *, separator: str = "<sep>"
) -> Iterator[_Pair]:
    """Yield each sentence pair of parallel documents after the pair before it, both sides with the
    separator between: the format "2+2" (Tiedemann & Scherrer 2017).
    """
    for number, (source, target) in enumerate(zip_longest(sources, targets), 1):
        if source is None or target is None or len(source) != len(target):
            raise InputError(
                f"document {number}: expected as many sentences in both, got"
                f" {len(source or ())} and {len(target or ())}; blank lines must separate the same"
                " documents in both files"
            )
        pairs = list(zip(source, target, strict=True))
        for (before, before_target), (text, text_target) in pairwise(pairs):
            # Translations of a system that learned from these are judged behind the separator.
            yield (f"{before} {separator} {text}", f"{before_target} {separator} {text_target}")


def self_training_pairs(
    result: EvaluationResult, examples: Sequence[Example], *, seed: int = 0
) -> list[_Pair]:
    """Return sources with translations that the metric found correct, as many of each category.

    This is gender-filtered self-training, with a judge of any kind in place of the paper's filters
    of words (Choubey et al. 2021).
    """
    sources = {example.id: example.source for example in examples}
    kept: dict[str, list[_Pair]] = defaultdict(list)
    for judgement in result.judgements:
        if judgement.example_id not in sources:
            raise InputError(
                f"result: expected judgements of these sentences, got one of"
                f" {judgement.example_id!r}"
            )
        pairs = kept[judgement.category]
        if judgement.verdict == "correct":
            pairs.append((sources[judgement.example_id], judgement.translation))
    if empty := sorted(category for category, pairs in kept.items() if not pairs):
        raise InputError(
            f"result: expected correct translations of each category, got none of {empty[0]}"
        )
    n = min((len(pairs) for pairs in kept.values()), default=0)
    drawn = []
    for category in sorted(kept):
        chosen = random.Random(f"{seed}:{category}").sample(range(len(kept[category])), n)
        drawn += [kept[category][i] for i in sorted(chosen)]
    return drawn
