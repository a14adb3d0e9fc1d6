"""What a metric declares of itself, once: its core, what it reads of the examples, where it fits,
which options of its own it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cc_hf import registry
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example

__all__ = ["MetricDeclaration", "registered_declaration"]


@dataclass(frozen=True)
class MetricDeclaration:
    """A metric, as `run.evaluate` and the command line use it.

    Attributes:
        name: as registered.
        evaluate: (translations, references, *, src_lang, tgt_lang, ids, dataset, config, origin,
            seed, n_resamples, progress) -> EvaluationResult; with the keyword `evaluator` where
            `takes_evaluator`, and with those of `options`.
        references: what of the examples the metric reads, one mapping per example.
        fits: (dataset, config, class of the examples, src_lang, tgt_lang) -> "" where the metric
            fits, else the reason, as an error says it.
        takes_evaluator: whether an evaluator model scores for it.
        takes_translations: whether it judges the translations of a system. One that does not judges
            the evaluator itself, as the system under test, on what the dataset holds: `evaluate`
            then has no argument of translations.
        judges: whether there is a verdict on each translation; without, results have no judgements
            and cannot be compared row by row.
        leaderboard: names of the scores that leaderboards show, each as a task of its own: higher
            is better, so no differences and no rates of errors.
        ties: how a tie counts; None where the metric has no ties.
        resampling: how the bootstrap of its intervals draws, in words that follow "bootstrap".
        options: names of keywords of `evaluate` that are its own, such as ("dictionary",); the
            command line gives their values as strings.
    """

    name: str
    evaluate: Callable[..., EvaluationResult]
    references: Callable[[Sequence[Example]], list[dict[str, Any]]]
    fits: Callable[[str, str, type[Example], str, str], str]
    takes_evaluator: bool = False
    takes_translations: bool = True
    judges: bool = True
    options: tuple[str, ...] = ()
    leaderboard: tuple[str, ...] = ("accuracy", "min_accuracy")
    ties: Literal["correct", "incorrect"] | None = None
    resampling: str = "within categories"


def registered_declaration(metric: str) -> MetricDeclaration | None:
    """Return what a metric declares; None for a metric that is not registered, whose results can be
    shown all the same.

    >>> registered_declaration("contrastive_conditioning").ties
    'correct'
    """
    if metric not in registry.names("metric"):
        return None
    found: MetricDeclaration = registry.resolve("metric", metric)
    return found
