"""Contrastive conditioning (Vamvas & Sennrich 2021): a translation is right when it is more
probable under a correct cue than under a wrong one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator, ScoreFunction
from cc_hf.evaluators.contests import Contest
from cc_hf.evaluators.scores import SCORES, check_score_name
from cc_hf.evaluators.suitability import evaluator_notes
from cc_hf.metrics.base import Figures, Rows, Scoring, ScoringMetric
from cc_hf.metrics.checks import Fields, check_ids, own_data, text, texts
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Example, Judgement, ScoringRequest
from cc_hf.statistics.accuracy import (
    category_accuracies,
    min_accuracy,
    rank_weights,
    share,
    total_accuracy,
)
from cc_hf.statistics.bootstrap import Bootstrap, accuracy_intervals

__all__ = ["ContrastiveConditioning", "contests", "judge", "requests"]

#: of a reference
_FIELDS: Fields = {"correct_sources": texts, "incorrect_sources": texts, "category": text}
_KEYS = tuple(_FIELDS)


def requests(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]]
) -> list[ScoringRequest]:
    """One request per translation and contrastive source, row by row, the correct sources first."""
    return [
        ScoringRequest(source, translation, row)
        for row, (translation, reference) in enumerate(zip(predictions, references, strict=True))
        for key in _KEYS[:2]
        for source in reference[key]
    ]


def contests(references: Sequence[Mapping[str, Any]]) -> list[Contest]:
    """Per row the places of both sides' requests among all `requests`.

    >>> contests(
    ...     [
    ...         {"correct_sources": ["a"], "incorrect_sources": ["b", "c"]},
    ...         {"correct_sources": ["d"], "incorrect_sources": ["e"]},
    ...     ]
    ... )
    [(range(0, 1), range(1, 3)), (range(3, 4), range(4, 5))]
    """
    found: list[Contest] = []
    at = 0
    for reference in references:
        n_correct, n_incorrect = (len(reference[key]) for key in _KEYS[:2])
        found.append(
            (range(at, at + n_correct), range(at + n_correct, at + n_correct + n_incorrect))
        )
        at += n_correct + n_incorrect
    return found


def judge(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    scores: npt.NDArray[np.float64],
    *,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """The verdict on every translation (section 3.2): the best score of each side, their share, the
    rank weight.

    Where both sides score 0, probability_correct is 0.5, a tie. Ties count as correct, as in the
    paper's program.

    Args:
        predictions: translations.
        references: with the keys that `ContrastiveConditioning` reads.
        scores: in the order of `requests`.
        ids: names of the examples; None for row numbers.
    """
    names = check_ids(ids, len(predictions))
    best = np.empty((len(predictions), 2))
    at = 0
    for row, reference in enumerate(references):
        for side, key in enumerate(_KEYS[:2]):
            n = len(reference[key])
            best[row, side] = scores[at : at + n].max()
            at += n
    probability = np.array([share(correct, incorrect) for correct, incorrect in best.tolist()])
    categories = [reference["category"] for reference in references]
    weights = rank_weights(probability, categories)
    return tuple(
        Judgement(
            example_id=names[row],
            category=categories[row],
            probability_correct=float(probability[row]),
            is_correct=bool(probability[row] >= 0.5),
            verdict="correct" if probability[row] >= 0.5 else "incorrect",
            score_correct=float(best[row, 0]),
            score_incorrect=float(best[row, 1]),
            weight=int(weights[row]),
            translation=predictions[row],
        )
        for row in range(len(predictions))
    )


@dataclass(frozen=True)
class ContrastiveConditioning(ScoringMetric):
    """Accuracy by contrastive conditioning, plain and weighted.

    An evaluator that ships with the package, on data that it was not made for, adds a note to the
    result, and warns (`ResultWarning`).

    References hold `correct_sources`, `incorrect_sources` (lists of sources) and `category`.

    Figures, in [0, 1]: accuracy, weighted_accuracy, min_accuracy, weighted_min_accuracy,
    mean_confidence, accuracy_<category>, weighted_accuracy_<category>. Counts: n_correct, n_ties.

    Attributes:
        score: arithmetic, geometric or reference (`cc_hf.evaluators.base.SCORES`); of no effect
            with a function.
    """

    name = "contrastive_conditioning"
    signature_name = "cc"
    version = 2
    reference_fields = _FIELDS
    is_blank_allowed = False
    ties = "correct"

    score: str = "geometric"

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        """Every configuration with contrastive sources."""
        return (
            ""
            if form is ContrastiveSourceExample
            else f"{dataset} {config} has no contrastive sources, which contrastive_conditioning"
            " needs"
        )

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return sources of both sides and category of the examples."""
        return [
            {key: getattr(example, key) for key in _KEYS}
            for example in cast(Sequence[ContrastiveSourceExample], examples)
        ]

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        """Refuse a source that is on both sides."""
        for row, reference in enumerate(references):
            if set(reference["correct_sources"]) & set(reference["incorrect_sources"]):
                raise InputError(
                    f"row {row}: the same source is both correct and incorrect; every such pair"
                    " would be a tie. Expected sources that differ in their cue"
                )

    def requests(self, rows: Rows) -> list[ScoringRequest]:
        """Return one request per translation and contrastive source."""
        check_score_name(self.score, SCORES)
        return requests(rows.translations, rows.references)

    def contests(self, rows: Rows) -> list[Contest]:
        """Return the indices of both sides of every row."""
        return contests(rows.references)

    @property
    def evaluator_score(self) -> str:
        """The score's name is that of the evaluators."""
        return self.score

    def notes(
        self, rows: Rows, evaluator: Evaluator | ScoreFunction, *, dataset: str
    ) -> tuple[str, ...]:
        """Say where an embedded evaluator judges what it was not made for."""
        return evaluator_notes(evaluator, rows.references, dataset=dataset)

    def data_fields(
        self, references: Sequence[Mapping[str, Any]], origin: Mapping[str, str]
    ) -> dict[str, str]:
        """Return what the signature says of the data; cues of the caller's own are named so."""
        return {"data": own_data(references), "cues": "own", **origin}

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        """Judge every translation by its scores and sum up."""
        scoring = self.scored(scoring)
        judgements = judge(rows.translations, rows.references, scoring.scores, ids=rows.ids)
        categories = [j.category for j in judgements]
        probability = np.array([j.probability_correct for j in judgements])
        correct = np.array([j.is_correct for j in judgements])
        weights = np.array([j.weight for j in judgements])
        by_category = category_accuracies(probability, correct, categories)
        return Figures(
            scores={
                "accuracy": total_accuracy(correct),
                "weighted_accuracy": total_accuracy(correct, weights),
                "min_accuracy": min_accuracy(by_category, weighted=False),
                "weighted_min_accuracy": min_accuracy(by_category, weighted=True),
                "mean_confidence": math.fsum(abs(2 * p - 1) for p in probability)
                / len(probability),
                **{f"accuracy_{c.category}": c.accuracy for c in by_category},
                **{
                    f"weighted_accuracy_{c.category}": c.weighted_accuracy
                    for c in by_category
                    if c.weighted_accuracy is not None
                },
            },
            signature={
                **self.model_fields(rows, scoring.evaluator, self.score),
                "pool": "max",
                "weight": "rank",
                "tie": str(self.ties),
            },
            intervals=accuracy_intervals(correct, weights, categories, **bootstrap.options),
            categories=by_category,
            judgements=judgements,
            counts={"n_correct": int(correct.sum()), "n_ties": int((probability == 0.5).sum())},
        )

    @staticmethod
    def row_values(result: EvaluationResult) -> dict[str, Any]:
        """Return the probability of being correct of every row."""
        return {"probability_correct": [j.probability_correct for j in result.judgements]}
