"""Samples on which an evaluator is not sure: hints of neutral translations, which keep the
ambiguity of the source (Vamvas & Sennrich 2021, section 3.6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from cc_hf.comparing.alignment import check_same_data
from cc_hf.errors import InputError, shown
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example, Judgement
from cc_hf.statistics.shares import Share, wilson_share

__all__ = [
    "WITHIN",
    "UncertainSample",
    "UncertainSamples",
    "is_uncertain",
    "uncertain_samples",
]

#: A probability of the correct reading is uncertain if it is no farther from 0.5 than this.
WITHIN = 0.05
_ROUNDING = 1e-9  # 0.55 is farther from 0.5 than 0.05 in floating point


@dataclass(frozen=True, slots=True)
class UncertainSample:
    """A sample with a probability near 0.5.

    Attributes:
        verdict: the verdict; where nothing is right or wrong, the reading.
        probability_correct: in [0, 1]; where nothing is right, that of the counted reading.
        source: the source; "" where the dataset is not available.
        readings: other metric -> what it reads in the translation, such as "neutral" or "unknown";
            "" where it reads nothing, or not this translation.
    """

    example_id: str
    category: str
    translation: str
    verdict: str
    probability_correct: float
    source: str = ""
    readings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class UncertainSamples:
    """The uncertain samples of a result.

    Attributes:
        within: the largest distance to 0.5.
        n: number of samples with a probability.
        categories: category -> the uncertain samples among those with a probability, with Wilson's
            interval.
        samples: the least sure one first.
    """

    within: float
    n: int
    categories: Mapping[str, Share]
    samples: tuple[UncertainSample, ...]
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Return the samples as plain dicts and lists, ready for JSON."""
        categories = [
            {"category": name, "n": share.n, "n_uncertain": share.k}
            for name, share in self.categories.items()
        ]
        return {**asdict(self), "categories": categories}


def is_uncertain(judgement: Judgement, within: float = WITHIN) -> bool:
    """Return whether the probability of the correct reading is near 0.5."""
    p = judgement.probability_correct
    return p is not None and _is_near(p, within)


def _is_near(probability: float, within: float) -> bool:
    return abs(probability - 0.5) <= within + _ROUNDING


def uncertain_samples(
    result: EvaluationResult,
    *,
    others: Sequence[EvaluationResult] = (),
    examples: Sequence[Example] = (),
    within: float = WITHIN,
) -> UncertainSamples:
    """Return the samples whose probability of the correct reading is near 0.5.

    A translation may be uncertain because it keeps the ambiguity ("die Pflegekraft"), because it
    omits the word, or because the evaluator does not know the word: the list is a hint, to be read
    by people.

    Args:
        within: the largest distance to 0.5, from 0 to 0.5.
    """
    if not 0 <= within <= 0.5:
        raise InputError(f"within: expected a number from 0 to 0.5, got {shown(within)}")
    judged = _with_probabilities(result)
    if not judged:
        raise InputError(
            f"expected a result with probabilities, such as that of contrastive_conditioning, got"
            f" one of {result.metric}, which has none"
        )
    for other in others:
        check_same_data({"the first": result, "another": other})
    sources = {example.id: example.source for example in examples}
    tables = {other.metric: other.by_id() for other in others}
    uncertain = sorted(
        (sample for sample in judged if _is_near(sample.probability_correct, within)),
        # The closest decisions first; the sort is stable, so that ties stay in the file's order.
        key=lambda sample: abs(sample.probability_correct - 0.5),
    )
    n_uncertain = Counter(j.category for j in uncertain)
    return UncertainSamples(
        within,
        len(judged),
        {
            name: wilson_share(n_uncertain[name], n)
            for name, n in Counter(j.category for j in judged).items()
        },
        tuple(
            replace(
                sample,
                source=sources.get(sample.example_id, ""),
                readings={
                    metric: _reading(table.get(sample.example_id), sample)
                    for metric, table in tables.items()
                },
            )
            for sample in uncertain
        ),
        result.signature,
    )


def _with_probabilities(result: EvaluationResult) -> list[UncertainSample]:
    return [
        UncertainSample(j.example_id, j.category, j.translation, j.verdict, j.probability_correct)
        for j in result.judgements
        if j.probability_correct is not None
    ] or [
        UncertainSample(r.example_id, r.category, r.translation, r.reading, r.probability_counted)
        for r in result.readings
        if r.probability_counted is not None
    ]


def _reading(other: Judgement | None, sample: UncertainSample) -> str:
    """Return what another metric reads in the same translation."""
    if other is None or other.translation != sample.translation:
        return ""
    return other.predicted
