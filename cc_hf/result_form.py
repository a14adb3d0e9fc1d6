"""The types of the fields of a result that was read from JSON, since everything that uses it relies
on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cc_hf.errors import InputError
from cc_hf.schema import TextSpan

__all__ = ["METHODS", "REMEDY", "check_types", "is_text"]

#: How intervals are computed, see `cc_hf.results.Interval`.
METHODS = (
    *("percentile", "wilson", "agresti-coull", "mover", "lowest"),
    *("ppi", "lang-reiczigel", "fisher", "t", "poisson"),
)
REMEDY = "is this a file that `cc-hf evaluate` wrote?"
_LARGEST = 1 << 63  # integers of JSON can be larger than any float
_MOST = 10**9  # more judgements than a stream can have; their sums do not overflow


def check_types(result: Any) -> None:
    """Check the types of the fields of a `cc_hf.results.EvaluationResult`.

    Raises:
        InputError: for a value of another type.
    """
    _check_fields("", result)
    for name, score in result.scores.items():
        if score is not None and not _is_number(score):
            raise InputError(f"scores: {name}: expected a number, got {score!r}; {REMEDY}")
    for name, count in result.counts.items():
        if not _is_count(count):
            raise InputError(
                f"counts: {name}: expected a number, 0 or more, up to a billion, got {count!r}"
            )
    for name, interval in result.intervals.items():
        _check_fields(f"intervals: {name}: ", interval)
    for name, missing in result.no_interval.items():
        _check_fields(f"no_interval: {name}: ", missing)
    for category in result.categories:
        _check_fields(f"categories: {category.category!r}: ", category)
    for judgement in result.judgements:
        _check_fields(f"judgements: example {judgement.example_id!r}: ", judgement)
    for reading in result.readings:
        _check_fields(f"readings: example {reading.example_id!r}: ", reading)


def _check_fields(prefix: str, record: object) -> None:
    for names, is_right, expected in _TYPES[type(record).__name__]:
        for name in names:
            value = getattr(record, name)
            if not is_right(value):
                raise InputError(f"{prefix}{name}: expected {expected}, got {value!r}; {REMEDY}")


def is_text(value: Any) -> bool:
    """Return whether a value is a text."""
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


def _is_number(value: Any) -> bool:
    # The comparison is false for NaN as well.
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and -_LARGEST < value < _LARGEST
    )


def _is_span(span: TextSpan) -> bool:
    return (
        span.side in ("source", "translation")
        and is_text(span.text)
        and _is_count(span.start)
        and _is_count(span.end)
        and _is_number(span.difference)
        and is_text(span.phenomenon)
        and (span.replacement is None or is_text(span.replacement))
    )


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


_Types = tuple[tuple[tuple[str, ...], Callable[[Any], bool], str], ...]
_COUNT = "a number, 0 or more, up to a billion"
#: Name of a class -> names of fields, a check of their values, and what is expected.
_TYPES: dict[str, _Types] = {
    "EvaluationResult": (
        (("dataset", "config", "tgt_lang", "metric", "signature", "system"), is_text, "a text"),
        (("n",), _is_count, "a number of judgements"),
        (("scores", "counts"), lambda value: isinstance(value, dict), "an object"),
        (("wording",), lambda value: value is None or isinstance(value, dict), "an object or null"),
    ),
    "Interval": (
        (("low", "high", "level"), _is_number, "a number"),
        (("n_undefined",), _is_count, _COUNT),
        (("method",), lambda value: value in METHODS, " or ".join(METHODS)),
    ),
    "NoInterval": (
        (("reason",), is_text, "a text"),
        (("n_undefined",), _is_count, _COUNT),
    ),
    "CategoryAccuracy": (
        (("category",), is_text, "a text"),
        (("n", "n_correct", "n_ties", "n_inconclusive"), _is_count, _COUNT),
        (("accuracy",), _is_share, "a number in [0, 1]"),
        (
            ("weighted_accuracy",),
            lambda value: value is None or _is_share(value),
            "a number in [0, 1] or null",
        ),
    ),
    "Judgement": (
        (
            ("example_id", "category", "translation", "predicted", "gold", "pair"),
            is_text,
            "a text",
        ),
        (("is_correct",), lambda value: isinstance(value, bool), "true or false"),
        (
            ("probability_correct", "trusted", "inclusion"),
            lambda value: value is None or _is_share(value),
            "a number in [0, 1] or null",
        ),
        (
            ("score_correct", "score_incorrect"),
            lambda value: value is None or _is_number(value),
            "a number or null",
        ),
        (("weight",), _is_count, _COUNT),
        (("scores",), lambda value: all(map(_is_number, value)), "numbers"),
        (("spans",), lambda value: all(map(_is_span, value)), "parts of the texts"),
    ),
    "Reading": (
        (("example_id", "category", "translation", "reading"), is_text, "a text"),
        (
            ("probability_counted",),
            lambda value: value is None or _is_share(value),
            "a number in [0, 1] or null",
        ),
    ),
}
