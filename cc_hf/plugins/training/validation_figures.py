"""Figures that a trainer accepts: flat, by name, of translations that a metric can judge.

No torch here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cc_hf.errors import InputError
from cc_hf.evaluators.distributed import is_launched
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.metrics.base import Metric
from cc_hf.metrics.figure_names import figure_name
from cc_hf.normalization import is_blank
from cc_hf.results import EvaluationResult

__all__ = [
    "STAND_IN",
    "add_figures",
    "check_best_model",
    "check_judges_translations",
    "flat_figures",
    "in_training",
    "judgeable",
]

#: Text that is judged in place of a translation without words. Metrics refuse such translations,
#: and a model that has just begun to learn produces some.
STAND_IN = "."


def judgeable(translations: Sequence[str]) -> tuple[list[str], int]:
    """Replace translations without words by `STAND_IN`.

    Examples:
        >>> judgeable(["Die Ärztin.", " "])
        (['Die Ärztin.', '.'], 1)
    """
    texts = [STAND_IN if is_blank(text) else text for text in translations]
    return texts, sum(map(is_blank, translations))


def in_training(loading: LoadingOptions, *, device: str | None = None) -> LoadingOptions:
    """Return how an evaluator is loaded beside a trainer.

    Where `loading` leaves it open, the evaluator uses the trainer's device, is shared by its
    processes, and cuts texts that are too long.

    Examples:
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
    """Refuse a metric that judges the evaluator itself."""
    # Its figures would say nothing about the model in training.
    for metric in metrics:
        if not metric.takes_translations:
            raise InputError(
                "metrics: expected metrics that judge translations of the model in training, got"
                f" {metric.name}, which judges the evaluator; evaluate checkpoints by it with"
                " cc_hf.evaluate(..., evaluator=checkpoint)"
            )


def check_best_model(name: str, metrics: Sequence[Metric], *, greater_is_better: bool) -> None:
    """Refuse to choose the best model against the direction of a figure."""
    others = (m for m in metrics[1:] if name.startswith(f"{m.name}_"))
    metric = next(others, None)
    name = name if metric is None else name.removeprefix(f"{metric.name}_")
    best = figure_name((metric or metrics[0]).figure_names, name).best
    # A trainer chooses the highest or the lowest value.
    if best == "zero":
        raise InputError(
            f"metric_for_best_model: expected a figure that is best when high or low, got {name},"
            " which is best at 0; a trainer chooses the highest or the lowest. Choose by an"
            " accuracy, such as min_accuracy"
        )
    if best in ("high", "low") and (best == "high") != greater_is_better:
        raise InputError(
            f"greater_is_better: expected {best == 'high'} for {name}, which is best when {best},"
            f" got {greater_is_better}"
        )


def flat_figures(results: Sequence[EvaluationResult], *, n_empty: int = 0) -> dict[str, float]:
    """Return the figures of all results as one flat dict.

    Figures of the first result have their own names; those of others start with the name of the
    metric. Scores are in [0, 1], differences in [-1, 1]. Beside them are the counts of each result,
    such as `n_ties` and `n_with_source`, and for the first result `n`, the number of judgements,
    and `n_empty`.

    Examples:
        >>> first = EvaluationResult("d", "c", "de", "first", "s", 2, {"accuracy": 0.5}, {}, (), ())
        >>> scores = {"accuracy": 1.0}
        >>> second = EvaluationResult("d", "c", "de", "second", "s", 2, scores, {}, (), ())
        >>> flat_figures([first, second])
        {'accuracy': 0.5, 'n': 2, 'n_empty': 0, 'second_accuracy': 1.0}
    """
    flat: dict[str, float] = {}
    for number, result in enumerate(results):
        figures: dict[str, float] = {
            **result.scores,
            **result.counts,
            **({"n": result.n, "n_empty": n_empty} if number == 0 else {}),
        }
        add_figures(
            flat,
            {
                name if number == 0 else f"{result.metric}_{name}": value
                for name, value in figures.items()
            },
            remedy="name each metric once",
        )
    return flat


def add_figures(metrics: dict[str, float], figures: Mapping[str, float], *, remedy: str) -> None:
    """Add figures to metrics in place, without replacing any.

    Examples:
        >>> add_figures(
        ...     {"eval_winomt_accuracy": 0.5}, {"eval_winomt_accuracy": 0.6}, remedy="give prefix"
        ... )
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: expected new names, got figures that are there already: eval_winomt_accuracy; give prefix
    """  # noqa: E501
    if repeated := sorted(metrics.keys() & figures.keys()):
        raise InputError(
            "expected new names, got figures that are there already:"
            f" {', '.join(repeated)}; {remedy}"
        )
    metrics.update(figures)
