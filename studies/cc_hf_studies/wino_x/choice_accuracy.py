"""How often an evaluator prefers the correct translation: the one with the lower perplexity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.schema import ContrastiveTranslationExample, ScoringRequest
from cc_hf_studies.wino_x.splits import schema_of

__all__ = ["ChoiceAccuracy", "ScoredChoice", "choice_accuracy"]


@dataclass(frozen=True, slots=True)
class ScoredChoice:
    """Two scores, mean natural-log probabilities per token, of which the higher one decides."""

    example_id: str
    logprob_correct: float
    logprob_contrastive: float

    @property
    def is_correct(self) -> bool | None:
        """Whether the correct translation beats all others; None for a tie with the best."""
        if self.logprob_correct == self.logprob_contrastive:
            return None
        return self.logprob_correct > self.logprob_contrastive


@dataclass(frozen=True, slots=True)
class ChoiceAccuracy:
    """Accuracies in [0, 1], with their counts.

    Attributes:
        n, n_correct, n_ties, accuracy: over samples; ties count as wrong.
        n_pairs, n_pairs_correct, pair_accuracy: over schemas with at least two samples, which count
            as correct if all of these are. The accuracy is None if there are no such schemas.
    """

    n: int
    n_correct: int
    n_ties: int
    accuracy: float
    n_pairs: int
    n_pairs_correct: int
    pair_accuracy: float | None
    choices: tuple[ScoredChoice, ...] = field(repr=False)


def choice_accuracy(
    evaluator: Evaluator,
    examples: Sequence[ContrastiveTranslationExample],
    *,
    progress: bool = False,
) -> ChoiceAccuracy:
    """Compute accuracy over samples and over schemas (thesis, section 4.3.2).

    A seq2seq evaluator decides by perplexity, a masked LM by pseudo-perplexity.
    """
    directions = {(example.src_lang, example.tgt_lang) for example in examples}
    if len(directions) != 1:
        raise InputError(
            f"expected examples of one pair of languages, got {len(examples)} of"
            f" {sorted(directions)}"
        )
    for example in examples:
        if not example.contrastive_translations:
            raise InputError(
                f"example {example.id!r}: expected at least one contrastive translation, got none"
            )
    texts = [
        (example.source, text, row)
        for row, example in enumerate(examples)
        for text in (example.correct_translation, *example.contrastive_translations)
    ]
    ((src_lang, tgt_lang),) = directions
    scores = iter(
        evaluator.score(
            [ScoringRequest(*text) for text in texts],
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            progress=progress,
        ).mean_logprob.tolist()
    )
    choices = tuple(
        ScoredChoice(
            example.id, next(scores), max(next(scores) for _ in example.contrastive_translations)
        )
        for example in examples
    )
    schemas: dict[str, list[bool | None]] = defaultdict(list)
    for example, choice in zip(examples, choices, strict=True):
        schemas[schema_of(example)].append(choice.is_correct)
    pairs = [all(verdicts) for verdicts in schemas.values() if len(verdicts) > 1]
    n_correct = sum(choice.is_correct is True for choice in choices)
    return ChoiceAccuracy(
        n=len(choices),
        n_correct=n_correct,
        n_ties=sum(choice.is_correct is None for choice in choices),
        accuracy=n_correct / len(choices),
        n_pairs=len(pairs),
        n_pairs_correct=sum(pairs),
        pair_accuracy=sum(pairs) / len(pairs) if pairs else None,
        choices=choices,
    )
