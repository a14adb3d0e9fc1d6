"""The figures of results as text: names, and values in percent with their intervals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cc_hf.results import CategoryAccuracy, EvaluationResult, Interval, NoInterval
from cc_hf.schema import UNCOUNTED_CATEGORY

if TYPE_CHECKING:
    from cc_hf.studies.comparison import Comparison

__all__ = [
    "FigureRow",
    "category_key",
    "category_label",
    "data_name",
    "figure_rows",
    "limits",
    "ordered_categories",
    "p_text",
    "percent",
    "score_text",
    "with_interval",
]

# The papers list "female" after "male". The order of SimpleGEN's categories is that of its Table 2.
_ORDER = {
    name: i
    for i, name in enumerate(
        ("male", "female", "frequent", "infrequent", "MoMc", "FoFc", "MoFc", "FoMc")
    )
}


def percent(value: float) -> str:
    """Write a figure as a percentage with one decimal.

    Args:
        value: a figure in [-1, 1].

    Returns:
        The percentage without a percent sign; never "-0.0".

    Examples:
        >>> percent(0.6244), percent(-0.001), percent(-0.0001)
        ('62.4', '-0.1', '0.0')
    """
    return f"{round(100 * value, 1) + 0.0:.1f}"  # adding 0.0 avoids a negative zero


def with_interval(value: float, interval: Interval | NoInterval | None) -> str:
    """Write a figure in percent, followed by its interval if it has one.

    Args:
        value: a figure in [-1, 1].
        interval: its interval, in the same unit.

    Returns:
        The percentage, and the limits of the interval in brackets, with real minus signs.

    Examples:
        >>> with_interval(0.5, Interval(0.41, 0.6)), with_interval(-0.1, None)
        ('50.0 (41.0 – 60.0)', '−10.0')
    """
    text = (
        f"{percent(value)} ({percent(interval.low):>4} – {percent(interval.high):>4})"
        if isinstance(interval, Interval)
        else percent(value)
    )
    return text.replace("-", "−")


def limits(interval: Interval | NoInterval | None, *, digits: int | None = None) -> str:
    """Write the limits of an interval; "" if there is no interval.

    Args:
        interval: the interval.
        digits: number of decimals; None to write percentages.

    Returns:
        The lower and the upper limit, separated by a dash, with real minus signs.

    Examples:
        >>> limits(Interval(0.41, 0.6)), limits(Interval(0.41, 0.6), digits=2), limits(None)
        ('41.0 – 60.0', '0.41 – 0.60', '')
    """
    if not isinstance(interval, Interval):
        return ""
    return " – ".join(
        percent(value) if digits is None else f"{value:.{digits}f}"
        for value in (interval.low, interval.high)
    ).replace("-", "−")


def p_text(value: float) -> str:
    """Write a p-value with three decimals, or as "< 0.001".

    Args:
        value: a p-value in [0, 1].

    Returns:
        The p-value as text.

    Examples:
        >>> p_text(0.0499), p_text(0.0002)
        ('0.050', '< 0.001')
    """
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def score_text(result: EvaluationResult, name: str) -> str:
    """Write a score of a result with its interval; "" if the result does not have the score.

    Args:
        result: the result.
        name: the name of the score.

    Returns:
        The score in percent, with the limits of its interval in brackets.
    """
    return (
        with_interval(result.scores[name], result.intervals.get(name))
        if name in result.scores
        else ""
    )


def data_name(result: EvaluationResult | Comparison) -> str:
    """Return dataset, configuration and target language of a result, separated by spaces. The
    language is omitted if the name of the configuration has it.

    Args:
        result: the result, or a comparison of results.

    Examples:
        >>> data_name(EvaluationResult("simplegen", "en-de", "de", "", "", 1, {}, {}, (), ()))
        'simplegen en-de'
    """
    in_config = result.tgt_lang in re.split(r"[-_.]", result.config)
    parts = (result.dataset, result.config, "" if in_config else result.tgt_lang)
    return " ".join(part for part in parts if part)


def category_key(name: str) -> tuple[int, str]:
    """Return the key that sorts categories in the order of the papers, and others after them by
    name.

    Args:
        name: the category.
    """
    return _ORDER.get(name, len(_ORDER)), name


def ordered_categories(result: EvaluationResult) -> list[CategoryAccuracy]:
    """Return the categories of a result in the order of the papers.

    Args:
        result: the result.
    """
    return sorted(result.categories, key=lambda c: category_key(c.category))


def category_label(result: EvaluationResult, category: str) -> str:
    """Return the name of a category, with a remark if the minimum ignores it.

    Args:
        result: the result.
        category: the name of one of its categories.

    Examples:
        >>> from cc_hf.results import CategoryAccuracy, EvaluationResult
        >>> categories = tuple(CategoryAccuracy(name, 1, 1, 1.0) for name in ("a", "none"))
        >>> result = EvaluationResult(
        ...     "", "", "de", "own", "own|n:2", 2, {"min_accuracy": 1.0}, {}, categories, ()
        ... )
        >>> category_label(result, "none")
        'none (not in minimum)'
    """
    left_out = (
        category == UNCOUNTED_CATEGORY
        and "min_accuracy" in result.scores
        and len(result.categories) > 1
    )
    return f"{category} (not in minimum)" if left_out else category


class FigureRow(NamedTuple):
    """A figure of a result.

    Attributes:
        name: its name in `scores`.
        label: its name in words.
        n: the number of samples if it covers a category or all samples; "" otherwise.
        value: the figure in percent, with its interval.
    """

    name: str
    label: str
    n: str
    value: str


def figure_rows(result: EvaluationResult) -> list[FigureRow]:
    """Return every figure of a result: totals and minima, then categories in the order of the
    papers, then all others.

    Args:
        result: the result.

    Examples:
        >>> from cc_hf.results import EvaluationResult
        >>> figure_rows(
        ...     EvaluationResult("", "", "de", "own", "own|n:2", 2, {"accuracy": 0.5}, {}, (), ())
        ... )
        [FigureRow(name='accuracy', label='accuracy', n='2', value='50.0')]
    """
    categories = [c.category for c in ordered_categories(result)]
    order = [
        "accuracy",
        "weighted_accuracy",
        "min_accuracy",
        "weighted_min_accuracy",
        *(f"{w}accuracy_{c}" for w in ("", "weighted_") for c in categories),
    ]
    names = [name for name in order if name in result.scores] + [
        name for name in result.scores if name not in order
    ]
    sizes = {"accuracy": f"{result.n:,}"} | {
        f"accuracy_{c.category}": f"{c.n:,}" for c in result.categories
    }
    rows = [
        FigureRow(name, name.replace("_", " "), sizes.get(name, ""), score_text(result, name))
        for name in names
    ]
    if n_inconclusive := result.counts.get("n_inconclusive"):
        rows.append(
            FigureRow(
                "n_inconclusive",
                "inconclusive",
                f"{n_inconclusive:,}",
                percent(n_inconclusive / result.n),
            )
        )
    return rows
