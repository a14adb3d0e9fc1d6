"""Sentences that a system translates much better about men than about women, and the reverse
(Currey et al. 2022, section 5.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf import signature
from cc_hf.errors import InputError, check_choice
from cc_hf.metrics.checks import check_spaced_language
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Example

__all__ = ["SCORES", "SentenceGap", "SentenceGaps", "sentence_gaps"]

#: Scores of single sentences, by sacreBLEU.
SCORES = ("bleu", "chrf")

_GENDERS = ("male", "female")


@dataclass(frozen=True, slots=True)
class SentenceGap:
    """The gap of one pair of counterfactual sentences; fields of two are masculine, feminine.

    Attributes:
        gap: score of the masculine minus that of the feminine translation, in [-1, 1].
        scores: in [0, 1].
    """

    pair: str
    gap: float
    scores: tuple[float, float]
    sources: tuple[str, str]
    translations: tuple[str, str]
    references: tuple[str, str]


@dataclass(frozen=True)
class SentenceGaps:
    """The largest and the smallest gaps, each from the outermost on.

    Attributes:
        n_male, n_female: number of pairs whose masculine, or feminine, translation has the higher
            score; the others have none.
        mean_gap: mean gap of all pairs, in [-1, 1].
        largest, smallest: pairs with gaps above 0, and below 0.
    """

    score: str
    n_pairs: int
    n_male: int
    n_female: int
    mean_gap: float
    largest: tuple[SentenceGap, ...]
    smallest: tuple[SentenceGap, ...]
    signature: str


def sentence_gaps(
    result: EvaluationResult, examples: Sequence[Example], *, n: int = 50, score: str = "bleu"
) -> SentenceGaps:
    """Return the n pairs of sentences with the largest and with the smallest gap.

    BLEU of a sentence is that of sacreBLEU: smoothed, with the orders that the sentence has.
    References are those of `gender_quality_gap`, with upstream's quotes.
    """
    check_choice("score", score, SCORES)
    check_spaced_language(result.tgt_lang, "sentence_gaps")
    if n < 1:
        raise InputError(f"n: expected at least 1, got {n}")
    scorer = _scorer(score)
    translations = {j.example_id: j.translation for j in result.judgements}
    gaps = []
    for sides in _pairs(examples):
        if absent := [side.id for side in sides if side.id not in translations]:
            raise InputError(
                f"result: expected a translation of every sentence, got none of {absent[0]!r};"
                f" {_remedy(result, len(examples))}"
            )
        outputs = [translations[side.id] for side in sides]
        references = [side.extra["reference_raw"] for side in sides]
        male, female = (
            min(1.0, scorer.sentence_score(output, [reference]).score / 100)
            for output, reference in zip(outputs, references, strict=True)
        )
        gaps.append(
            SentenceGap(
                sides[0].extra["pair"],
                male - female,
                (male, female),
                (sides[0].source, sides[1].source),
                (outputs[0], outputs[1]),
                (references[0], references[1]),
            )
        )
    ordered = sorted(gaps, key=lambda gap: -gap.gap)
    positive = [gap for gap in ordered if gap.gap > 0]
    negative = [gap for gap in reversed(ordered) if gap.gap < 0]
    return SentenceGaps(
        score,
        len(gaps),
        len(positive),
        len(negative),
        sum(gap.gap for gap in gaps) / len(gaps),
        tuple(positive[:n]),
        tuple(negative[:n]),
        _signature(result, scorer, score, len(gaps)),
    )


def _remedy(result: EvaluationResult, n: int) -> str:
    """Return what to do about a result that lacks translations of some of the n sentences."""
    _, limit = signature.split_and_limit(result.signature, result.dataset, result.config)
    if limit is not None:
        return (
            f"the result is of a limited number of sentences, {limit:,} of {n:,}; evaluate all of"
            " them, without `limit`"
        )
    return "use the result of a metric that judges single translations, such as gender_accuracy"


def _scorer(score: str) -> Any:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    return BLEU(tokenize="13a", effective_order=True) if score == "bleu" else CHRF()


def _signature(result: EvaluationResult, scorer: Any, score: str, n: int) -> str:
    """Return the signature; the scorer has scored a sentence, so that it knows its own."""
    of_result = signature.parse(result.signature)[1]
    fields: dict[str, str | int] = {
        key: of_result[key] for key in ("data", "langs", "sys") if key in of_result
    }
    fields[score] = str(scorer.get_signature()).replace("|", ",").replace(":", "=")
    return signature.build("gaps", {**fields, "n": n})


def _pairs(
    examples: Sequence[Example],
) -> list[tuple[ContrastiveSourceExample, ContrastiveSourceExample]]:
    """Return the masculine and the feminine sentence of each pair."""
    pairs: dict[str, dict[str, ContrastiveSourceExample]] = {}
    for example in examples:
        if not isinstance(example, ContrastiveSourceExample) or "pair" not in example.extra:
            raise InputError(
                f"result: example {example.id!r}: expected a configuration counterfactual_* of"
                " mt_geneval, whose sentences have a counterfactual"
            )
        pairs.setdefault(example.extra["pair"], {})[example.gold] = example
    for pair, sides in pairs.items():
        if set(sides) != set(_GENDERS):
            raise InputError(
                f"result: pair {pair!r}: expected a sentence of each gender, got {', '.join(sides)}"
            )
    return [(sides["male"], sides["female"]) for sides in pairs.values()]
