"""Which figures of a result say most: the main one, the gap, and those that a paper's table has."""

from __future__ import annotations

from collections.abc import Collection

from cc_hf.metrics.base import registered_metric
from cc_hf.reports.figure_text import figure_name, ordered_categories
from cc_hf.results import CORRECTED, CategoryAccuracy, EvaluationResult
from cc_hf.schema import UNCOUNTED_CATEGORY

__all__ = ["extremes", "is_gap", "key_figures", "key_names", "main_figure", "usual_first"]

_MOST_CATEGORIES = 6  # among more, the best and the worst are extremes of small samples


def key_figures(result: EvaluationResult) -> tuple[str, ...]:
    """Return the figures of a result that say most: those that the metric names, or those that
    leaderboards show, then differences and gaps; or every figure, for a metric that has none of
    these.

    Examples:
        >>> scores = {"f1_male": 0.5, "accuracy": 0.5, "delta_g": 0.1}
        >>> result = EvaluationResult(
        ...     "", "", "de", "winomt_pattern_matching", "m|n:2", 2, scores, {}, (), ()
        ... )
        >>> key_figures(result)
        ('accuracy', 'delta_g')
    """
    return key_names(result.metric, result.scores)


def key_names(
    metric: str, names: Collection[str], *, usual: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return those of some figures that say most, in the sense of `key_figures`. A figure that is
    corrected by trusted verdicts precedes the one that is not.

    Args:
        names: the figures to choose from.
        usual: figures in place of those that leaderboards show, for a metric that names none.
    """
    declared = registered_metric(metric)
    shown = ("accuracy", "min_accuracy") if declared is None else declared.leaderboard
    wanted = (declared.key_figures if declared else ()) or usual or shown
    chosen = [name for plain in wanted for name in (f"{CORRECTED}{plain}", plain) if name in names]
    chosen += [name for name in names if is_gap(metric, name)]
    return tuple(dict.fromkeys(chosen)) or tuple(names)


def is_gap(metric: str, name: str) -> bool:
    """Return whether a figure is a difference, for which 0 is best."""
    return figure_name(metric, name).best == "zero"


def main_figure(result: EvaluationResult) -> str:
    """Return the figure that ranks systems: minimum accuracy if there is one; "" without scores.

    Examples:
        >>> scores = {"accuracy": 0.5, "min_accuracy": 0.4}
        >>> main_figure(EvaluationResult("", "", "de", "own", "own|n:2", 2, scores, {}, (), ()))
        'min_accuracy'
    """
    return next(iter(usual_first(key_figures(result))), "")


def usual_first(names: tuple[str, ...]) -> list[str]:
    """Return figures with the one first by which systems are usually ranked.

    Examples:
        >>> usual_first(("accuracy", "min_accuracy"))
        ['min_accuracy', 'accuracy']
    """
    return sorted(names, key=lambda name: name.removeprefix(CORRECTED) != "min_accuracy")


def extremes(result: EvaluationResult) -> tuple[CategoryAccuracy, CategoryAccuracy] | None:
    """Return the worst and the best category of a result; None for fewer than two categories, and
    for many. The category that minimum accuracies ignore is left out.
    """
    categories = [c for c in ordered_categories(result) if c.category != UNCOUNTED_CATEGORY]
    if not 2 <= len(categories) <= _MOST_CATEGORIES:
        return None
    return (
        min(categories, key=lambda category: category.accuracy),
        max(categories, key=lambda category: category.accuracy),
    )
