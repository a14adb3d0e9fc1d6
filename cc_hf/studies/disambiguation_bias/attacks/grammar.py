"""How many samples have more grammatical errors than their seed (thesis, section 3.3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cc_hf.errors import InputError
from cc_hf.results import Interval
from cc_hf.statistics.bootstrap import wilson_interval
from cc_hf.studies.disambiguation_bias.attacks.samples import AdversarialSample
from cc_hf.text.grammar import language_tool

__all__ = ["GrammarFigures", "compare_grammar", "language_tool"]


@dataclass(frozen=True, slots=True)
class GrammarFigures:
    """Samples that a grammar checker finds worse than their seed.

    Attributes:
        n: number of different pairs of a seed and an attacked sentence.
        n_worse: how many of the attacked sentences have more errors.
        rate: n_worse / n, in [0, 1].
        interval: Wilson's interval of the rate.
    """

    n: int
    n_worse: int
    rate: float
    interval: Interval


def compare_grammar(
    samples: Iterable[AdversarialSample], count_errors: Callable[[str], int]
) -> GrammarFigures:
    """Count the samples with more errors than their seed.

    Args:
        samples: samples. Those that differ in the wrong sense only count once.
        count_errors: returns the number of errors of a sentence; it is called once per sentence.

    Returns:
        The share of samples with more errors, in [0, 1].

    Raises:
        InputError: for no samples.

    Examples:
        >>> compare_grammar([], len)
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: samples: expected at least one, got none
    """
    pairs = dict.fromkeys((sample.seed_source, sample.source) for sample in samples)
    if not pairs:
        raise InputError("samples: expected at least one, got none")
    counts = {text: count_errors(text) for text in dict.fromkeys(t for pair in pairs for t in pair)}
    n_worse = sum(counts[source] > counts[seed] for seed, source in pairs)
    return GrammarFigures(
        len(pairs), n_worse, n_worse / len(pairs), wilson_interval(n_worse, len(pairs))
    )
