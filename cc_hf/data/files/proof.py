"""Whether the figures of a result that was read from a file follow from its judgements.

What the judgements of a metric determine is checked: what `Metric.proof` returns, and the figures
that trusted verdicts correct. What needs more than them is not: BLEU, shares of readings, rates of
groups that only the data know, figures by trusted verdicts on other samples, and percentiles of
resamples, beyond their range. Which data, system and evaluator the signature names cannot be
checked, nor can it be seen that scores and verdicts were changed together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from cc_hf import registry, signature
from cc_hf.errors import InputError
from cc_hf.figure_keys import CORRECTED, is_corrected
from cc_hf.results import EvaluationResult, Interval, NoInterval, least_value

if TYPE_CHECKING:
    from cc_hf.metrics.base import Metric

__all__ = ["proved", "why_not_proved"]

_ROUNDING = 1e-9
_DRAWN = ("percentile", "poisson")  # methods of intervals that need resamples
#: Methods whose intervals hold their figure.
_AROUND = ("wilson", "agresti-coull", "mover", "lowest", "ppi")
_REMEDY = (
    "figures must follow from the judgements of the same file; evaluate the translations again"
    " with `cc-hf evaluate`"
)


def why_not_proved(result: EvaluationResult) -> str:
    """Return why nothing shows that the figures of a result are right; "" where its judgements do.

    Examples:
        >>> why_not_proved(EvaluationResult("", "", "de", "own", "own|n:1", 1, {}, {}, (), ()))
        'not proved: the metric own is not registered here'
    """
    metric: type[Metric] | None = registry.find("metric", result.metric)
    if metric is None:
        return f"not proved: the metric {result.metric} is not registered here"
    if not result.judgements:
        return "not proved: the file has no judgements from which its figures follow"
    # A later version may count otherwise, so that "wrong" cannot be told from "newer".
    if (version := _version(result)) > metric.version:
        return (
            f"not proved: the file is by version {version} of {metric.name}, and the rules of"
            f" version {metric.version} are known here"
        )
    return ""


def proved(result: EvaluationResult) -> EvaluationResult:
    """Check that the figures of a result follow from its judgements, without resamples.

    Returns:
        The result; that of an older version of the metric with the figures of today's rules, and
        with a note where these are others. A result that cannot be proved has a note that says why
        (`why_not_proved`), except where nothing is right or wrong.
    """
    metric: type[Metric] | None = registry.find("metric", result.metric)
    why = why_not_proved(result)
    if metric is None or (why and metric.judges and not result.readings):
        return _with_note(result, f"{why[0].upper()}{why[1:]}")
    if why:
        return result
    signed = signature.parse(result.signature)[1]
    _check_number(result, signed)
    today = _of_today(metric, result, signed)
    if _version(result) == metric.version:
        metric.check_verdicts(result.judgements, signed)
        if denied := next(_denied(result, today), ""):
            raise InputError(f"{denied}; {_REMEDY}")
        _check_intervals(result)
        return result
    if not any(_denied(result, today, only_told=True)):
        return today
    return _with_note(
        today,
        f"Figures that follow from the judgements are by today's rules of {metric.name} (version"
        f" {metric.version}); the file is by an older version, which gave others",
    )


def _with_note(result: EvaluationResult, note: str) -> EvaluationResult:
    return replace(result, notes=tuple(dict.fromkeys([note, *result.notes])))


def _version(result: EvaluationResult) -> int:
    """Return the version of the metric; 0 for a file that does not say it."""
    text = signature.parse(result.signature)[1].get("m", "") if result.signature else ""
    return int(text) if text.isdecimal() else 0


def _check_number(result: EvaluationResult, signed: Mapping[str, str]) -> None:
    n = len(result.judgements)
    for name, value in (("n", str(result.n)), ("n of the signature", signed.get("n", str(n)))):
        if value != str(n):
            raise InputError(f"{name}: the file says {value}, and has {n} judgements; {_REMEDY}")


def _of_today(
    metric: type[Metric], result: EvaluationResult, signed: Mapping[str, str]
) -> EvaluationResult:
    """Return the result with all that today's rules make of its judgements."""
    figures = metric.proof(result.judgements, signed)
    estimates = metric.corrected(result.judgements)
    scores = {name: v for name, v in result.scores.items() if not is_corrected(name)}
    intervals: dict[str, Interval | NoInterval] = {**result.intervals, **result.no_interval}
    intervals = {n: i for n, i in intervals.items() if not is_corrected(n)}
    intervals |= figures.intervals
    intervals |= {f"{CORRECTED}{name}": e.interval for name, e in estimates.items()}
    n_trusted = sum(j.trusted is not None for j in result.judgements)
    return replace(
        result,
        scores={
            **scores,
            **figures.scores,
            **{f"{CORRECTED}{name}": e.value for name, e in estimates.items()},
        },
        intervals={n: i for n, i in intervals.items() if isinstance(i, Interval)},
        no_interval={n: i for n, i in intervals.items() if isinstance(i, NoInterval)},
        categories=figures.categories,
        counts={
            **result.counts,
            **figures.counts,
            **({"n_trusted": n_trusted} if n_trusted or "n_trusted" in result.counts else {}),
        },
    )


def _denied(
    result: EvaluationResult, today: EvaluationResult, *, only_told: bool = False
) -> Iterator[str]:
    """Yield what the judgements deny, the figures first."""
    in_file, by_rows = _numbers(result), _numbers(today)
    is_of_plugin = result.metric not in registry.METRICS
    # Metrics of other packages may have fewer figures, and intervals of their own.
    for name in dict.fromkeys([*in_file, *(() if only_told or is_of_plugin else by_rows)]):
        if is_of_plugin and name.startswith("intervals: "):
            continue
        # A figure that only one side has is a difference, too.
        told, follows = in_file.get(name), by_rows.get(name)
        if told is None or follows is None:
            is_same = told is follows
        else:
            is_same = abs(told - follows) <= _ROUNDING
        if not is_same:
            told_text, text = ("nothing" if v is None else f"{v:.6g}" for v in (told, follows))
            yield f"{name}: the file says {told_text}, its judgements give {text}"


def _numbers(result: EvaluationResult) -> dict[str, float | None]:
    """Return all numbers of a result by the words for them, the figures first."""
    return {
        **{f"scores: {name}": value for name, value in result.scores.items()},
        **{f"counts: {name}": value for name, value in result.counts.items()},
        **{
            f"categories: {category.category}: {name}": value
            for category in result.categories
            for name, value in asdict(category).items()
            if name != "category"
        },
        **{
            f"intervals: {figure}: {name}": value
            for figure, interval in result.intervals.items()
            for name, value in asdict(interval).items()
            if name != "method"
        },
    }


def _check_intervals(result: EvaluationResult) -> None:
    """Refuse an interval that no rule can give."""
    for name, interval in result.intervals.items():
        value = result.scores.get(name)
        low, high = interval.low, interval.high
        is_around = (
            interval.method not in _AROUND
            or value is None
            or low - _ROUNDING <= value <= high + _ROUNDING
        )
        is_in_range = interval.method not in _DRAWN or (high <= 1 and low >= least_value(name))
        if low > high or not is_around or not is_in_range:
            raise InputError(
                f"intervals: {name}: expected limits around the figure, in its range, got"
                f" {low:.6g} to {high:.6g}; {_REMEDY}"
            )
