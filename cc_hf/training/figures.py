"""What a trainer can take: flat figures by name, of translations that a metric can judge.

No torch here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cc_hf.errors import InputError
from cc_hf.evaluators.distributed import is_launched
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.metrics.base import Metric
from cc_hf.results import EvaluationResult

__all__ = [
    "STAND_IN",
    "add_figures",
    "check_judges_translations",
    "flat_figures",
    "in_training",
    "judgeable",
]

#: Judged in place of a translation without words: metrics refuse these, and a model that has just
#: begun to learn makes some.
STAND_IN = "."


def judgeable(translations: Sequence[str]) -> tuple[list[str], int]:
    """The translations with `STAND_IN` for those without words, and how many these are.

    >>> judgeable(["Die Ärztin.", " "])
    (['Die Ärztin.', '.'], 1)
    """
    texts = [text if text.strip() else STAND_IN for text in translations]
    return texts, sum(not text.strip() for text in translations)


def in_training(loading: LoadingOptions, *, device: str | None = None) -> LoadingOptions:
    """Return how an evaluator is loaded beside a trainer: on its device, shared by its processes,
    cutting texts that are too long, where nothing else is said.

    >>> in_training(LoadingOptions()).on_too_long
    'truncate'
    """
    return replace(
        loading,
        device=loading.device or device,
        on_too_long=loading.on_too_long or "truncate",
        distributed=loading.distributed or is_launched(),
    )


def check_judges_translations(metrics: Iterable[Metric]) -> None:
    """Refuse a metric that judges the evaluator itself: its figures would say nothing of the model
    in training.

    Raises:
        InputError: with the name of the metric.
    """
    for metric in metrics:
        if not metric.takes_translations:
            raise InputError(
                "metrics: expected metrics that judge translations of the model in training, got"
                f" {metric.name}, which judges the evaluator; evaluate checkpoints by it with"
                " cc_hf.evaluate(..., evaluator=checkpoint)"
            )


def flat_figures(results: Sequence[EvaluationResult], *, n_empty: int = 0) -> dict[str, float]:
    """The scores of all results as one flat dict: those of the first under their own names, of
    others behind the name of the metric.

    Beside the scores, in [0, 1] (differences in [-1, 1]), stand the counts of each result, such as
    `n_ties` and `n_with_source`, and of the first `n`, the number of judgements, and `n_empty`, the
    number of translations without words.

    Raises:
        InputError: when two figures have the same name.

    >>> one = EvaluationResult("d", "c", "de", "first", "s", 2, {"accuracy": 0.5}, {}, (), ())
    >>> two = EvaluationResult("d", "c", "de", "second", "s", 2, {"accuracy": 1.0}, {}, (), ())
    >>> flat_figures([one, two])
    {'accuracy': 0.5, 'n': 2, 'n_empty': 0, 'second_accuracy': 1.0}
    """
    found: dict[str, float] = {}
    for number, result in enumerate(results):
        own: dict[str, float] = {
            **result.scores,
            **result.counts,
            **({"n": result.n, "n_empty": n_empty} if number == 0 else {}),
        }
        add_figures(
            found,
            {
                name if number == 0 else f"{result.metric}_{name}": value
                for name, value in own.items()
            },
            remedy="name each metric once",
        )
    return found


def add_figures(metrics: dict[str, float], figures: Mapping[str, float], *, remedy: str) -> None:
    """Put figures into metrics, in place; not over any.

    Raises:
        InputError: when a figure of that name is there.

    >>> add_figures(
    ...     {"eval_winomt_accuracy": 0.5}, {"eval_winomt_accuracy": 0.6}, remedy="give prefix"
    ... )
    Traceback (most recent call last):
        ...
    cc_hf.errors.InputError: expected new names, got figures that are there already: eval_winomt_accuracy; give prefix
    """  # noqa: E501
    if taken := sorted(metrics.keys() & figures.keys()):
        raise InputError(
            f"expected new names, got figures that are there already: {', '.join(taken)}; {remedy}"
        )
    metrics.update(figures)
