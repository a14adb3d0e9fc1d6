"""How many samples have more grammatical errors than their seed (thesis, section 3.3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cc_hf.errors import InputError
from cc_hf.statistics.shares import Share, wilson_share
from cc_hf_studies.common.grammar import language_tool
from cc_hf_studies.disambiguation_bias.attacks.samples import AdversarialSample

__all__ = ["compare_grammar", "language_tool"]


def compare_grammar(
    samples: Iterable[AdversarialSample], count_errors: Callable[[str], int]
) -> Share:
    """Count the samples with more errors than their seed."""
    pairs = dict.fromkeys((sample.seed_source, sample.source) for sample in samples)
    if not pairs:
        raise InputError("samples: expected at least one, got none")
    counts = {text: count_errors(text) for text in dict.fromkeys(t for pair in pairs for t in pair)}
    return wilson_share(sum(counts[source] > counts[seed] for seed, source in pairs), len(pairs))
