"""What a metric answers: frozen, in [0, 1], with counts beside rates, to JSON and back.

No formatting: that is for reports.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from cc_hf import signature
from cc_hf.errors import InputError
from cc_hf.files import parse_json
from cc_hf.schema import Judgement

__all__ = [
    "CategoryAccuracy",
    "EvaluationResult",
    "Interval",
    "NoInterval",
    "ResultSet",
    "difference_of_data",
]

_METHODS = ("percentile", "wilson")
_REMEDY = "is this a file that `cc-hf evaluate` wrote?"
_LARGEST = 1 << 63  # what JSON calls a number can be longer than any float


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval in the unit of its score, of a width above 0.

    Attributes:
        low, high: the limits.
        level: in (0, 1).
        n_undefined: resamples in which the figure is undefined; the interval leaves them out.
        method: "percentile" of the bootstrap, or "wilson" where all resamples agree.
    """

    low: float
    high: float
    level: float = 0.95
    n_undefined: int = 0
    method: str = "percentile"

    @property
    def note(self) -> str:
        """What a reader must know of it; "" of a usual one."""
        parts = (
            ["Wilson score interval, since all resamples agree"] if self.method == "wilson" else []
        )
        if self.n_undefined:
            parts.append(
                f"undefined in {self.n_undefined} resamples, which the interval leaves out"
            )
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class NoInterval:
    """Why a figure has no confidence interval.

    `n_undefined`: resamples in which the figure is undefined.
    """

    reason: str
    n_undefined: int = 0

    @property
    def note(self) -> str:
        """What a reader must know."""
        return f"no interval: {self.reason}"


@dataclass(frozen=True, slots=True)
class CategoryAccuracy:
    """One category: counts, accuracy and weighted accuracy in [0, 1]; the latter None of metrics
    without weights.
    """

    category: str
    n: int
    n_correct: int
    accuracy: float
    n_ties: int = 0
    weighted_accuracy: float | None = None
    n_inconclusive: int = 0


@dataclass(frozen=True)
class EvaluationResult:
    """One system on one dataset by one metric.

    Attributes:
        dataset, config, tgt_lang, metric: names; dataset and config are "" for data of the caller's
            own.
        signature: everything that the figures depend on.
        n: number of judgements.
        scores: name -> value in [0, 1], of differences (names that begin with «delta» or end in
            «_gap») in [-1, 1]. BLEU and chrF are here / 100. What is undefined, for want of
            samples, is left out.
        intervals: name of a score -> confidence interval.
        no_interval: name of a score that was resampled, but has no interval -> why.
        categories: one entry per category, sorted by name.
        judgements: one per example, in the order of the examples.
        counts: name -> number, such as n_ties.
        notes: what a reader of the figures must know, one sentence or more each; shown wherever the
            figures are.
    """

    dataset: str
    config: str
    tgt_lang: str
    metric: str
    signature: str
    n: int
    scores: Mapping[str, float]
    intervals: Mapping[str, Interval]
    categories: tuple[CategoryAccuracy, ...]
    judgements: tuple[Judgement, ...] = field(repr=False)
    counts: Mapping[str, int] = field(default_factory=dict)
    no_interval: Mapping[str, NoInterval] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value in self.scores.items():
            low = -1 if name.startswith("delta") or name.endswith("_gap") else 0
            if not (math.isfinite(value) and low <= value <= 1):
                raise InputError(
                    f"score {name!r}: expected a number in [{low}, 1], got {value!r}; leave out"
                    " what is undefined"
                )

    def interval_notes(self) -> dict[str, str]:
        """Return what a reader must know of the intervals that are not the usual ones: name of the
        score -> text.

        >>> result = EvaluationResult(
        ...     "",
        ...     "",
        ...     "de",
        ...     "own",
        ...     "own|n:2",
        ...     2,
        ...     {"f1": 1.0},
        ...     {},
        ...     (),
        ...     (),
        ...     {},
        ...     {"f1": NoInterval("it is the same in every resample")},
        ... )
        >>> result.interval_notes()
        {'f1': 'no interval: it is the same in every resample'}
        """
        notes = {name: missing.note for name, missing in self.no_interval.items()}
        return notes | {
            name: interval.note for name, interval in self.intervals.items() if interval.note
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, ready for JSON. What is as usual of an interval is left out."""
        row = {
            **asdict(self),
            "intervals": {name: _interval_row(i) for name, i in self.intervals.items()},
        }
        if not self.no_interval:
            del row["no_interval"]
        for judgement in row["judgements"]:
            if not judgement["scores"]:  # most metrics have none
                del judgement["scores"]
        return row

    def to_json(self) -> str:
        """Strict JSON (no NaN), UTF-8 text, one result."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> EvaluationResult:
        """The inverse of `to_json`; reads what older versions wrote, without verdicts of judgements
        or notes.

        Raises:
            InputError: when the text is not JSON or lacks a field.
        """
        return cls.from_dict(_parsed(text))

    @classmethod
    def from_dict(cls, row: Any) -> EvaluationResult:
        """The inverse of `to_dict`.

        Raises:
            InputError: when a field is missing or unknown, or has a value of another type.
        """
        try:
            found = cls(
                **{
                    **row,
                    "intervals": {name: Interval(**i) for name, i in row["intervals"].items()},
                    "no_interval": {
                        name: NoInterval(**i) for name, i in row.get("no_interval", {}).items()
                    },
                    "categories": tuple(CategoryAccuracy(**c) for c in row["categories"]),
                    "judgements": tuple(_judgement(j) for j in row["judgements"]),
                    "notes": _notes(row.get("notes", ())),
                }
            )
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise InputError(
                "expected the JSON of an evaluation result (the file that `cc-hf evaluate`"
                f" writes): {error!r}"
            ) from error
        _check_types(found)
        return found


@dataclass(frozen=True)
class ResultSet:
    """Results of several metrics on the same translations. `not_run`: metric -> why it was not
    run.
    """

    results: tuple[EvaluationResult, ...]
    not_run: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        """Strict JSON with the results whole, and what was not run."""
        row = {
            "results": [result.to_dict() for result in self.results],
            "not_run": dict(self.not_run),
        }
        return json.dumps(row, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> ResultSet:
        """The inverse of `to_json`; the JSON of one `EvaluationResult` is read as a set of one.

        Raises:
            InputError: when the text is neither.
        """
        row = _parsed(text)
        if not isinstance(row, dict) or "results" not in row:
            return cls((EvaluationResult.from_dict(row),))
        if (
            not isinstance(row["results"], list)
            or not row["results"]
            or not isinstance(row.get("not_run", {}), dict)
        ):
            raise InputError(
                "expected the JSON of evaluation results (the file that `cc-hf evaluate` writes),"
                " got no list of results"
            )
        return cls(
            tuple(EvaluationResult.from_dict(one) for one in row["results"]), row.get("not_run", {})
        )


def difference_of_data(results: Mapping[str, EvaluationResult]) -> str:
    """Say why the judgements of some results cannot be joined by their example ids, "" where they
    can.

    Data of the caller's own have row numbers for ids, so their signatures must have the same digest
    of the references. Two metrics read different parts of the references: their digests say nothing
    of each other, and the caller must see that the translations are the same.

    Args:
        results: by the names that the answer uses.

    >>> one, other = (
    ...     EvaluationResult("", "", "de", "m", f"m|data:own@{digest}", 1, {}, {}, (), ())
    ...     for digest in ("1a", "2b")
    ... )
    >>> difference_of_data({"a": one, "b": one}), difference_of_data({"a": one, "b": other})
    ('', 'a is of own data de (own@1a), b of own data de (own@2b)')
    """
    described = {
        name: (result.dataset, result.config, result.tgt_lang, _data(result))
        for name, result in results.items()
    }
    for left, right in itertools.combinations(results, 2):
        (*of_left, left_data), (*of_right, right_data) = described[left], described[right]
        if of_left == of_right and {left_data.partition("@")[0], right_data.partition("@")[0]} == {
            "own"
        }:
            if results[left].metric != results[right].metric:
                continue
            if "own" in (left_data, right_data):
                return (
                    f"the signature of {left if left_data == 'own' else right} does not say which"
                    " rows of own data it is of; evaluate them again with this version"
                )
        if described[left] != described[right]:
            return f"{left} is of {_words(described[left])}, {right} of {_words(described[right])}"
    return ""


def _words(described: tuple[str, ...]) -> str:
    dataset, config, tgt_lang, data = described
    return f"{dataset or 'own data'} {config} {tgt_lang} ({data})".replace("  ", " ")


def _data(result: EvaluationResult) -> str:
    return signature.parse(result.signature)[1].get("data", "" if result.dataset else "own")


def _parsed(text: str) -> Any:
    try:
        return parse_json(text)
    except InputError as error:
        raise InputError(
            f"expected the JSON of an evaluation result, got text that is not JSON: {error}"
        ) from error


def _interval_row(interval: Interval) -> dict[str, Any]:
    row = asdict(interval)
    for name, usual in (("n_undefined", 0), ("method", _METHODS[0])):
        if row[name] == usual:
            del row[name]
    return row


def _judgement(row: Mapping[str, Any]) -> Judgement:
    return Judgement(
        **{
            "verdict": "correct" if row["is_correct"] else "incorrect",
            **row,
            "scores": tuple(row.get("scores", ())),
        }
    )


def _notes(found: Any) -> tuple[str, ...]:
    if not isinstance(found, (list, tuple)) or not all(map(_is_text, found)):
        raise InputError(f"notes: expected a list of texts, got {found!r}; {_REMEDY}")
    return tuple(found)


def _check_types(found: EvaluationResult) -> None:
    """JSON can hold anything, and whatever reads a result takes its types for granted."""
    _check_fields("", found)
    for name, count in found.counts.items():
        if not _is_count(count):
            raise InputError(f"counts: {name}: expected a number, 0 or more, got {count!r}")
    for name, interval in found.intervals.items():
        _check_fields(f"intervals: {name}: ", interval)
    for name, missing in found.no_interval.items():
        _check_fields(f"no_interval: {name}: ", missing)
    for category in found.categories:
        _check_fields(f"categories: {category.category!r}: ", category)
    for judgement in found.judgements:
        _check_fields(f"judgements: example {judgement.example_id!r}: ", judgement)


def _check_fields(place: str, found: object) -> None:
    for names, is_right, expected in _TYPES[type(found)]:
        for name in names:
            value = getattr(found, name)
            if not is_right(value):
                raise InputError(f"{place}{name}: expected {expected}, got {value!r}; {_REMEDY}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST


def _is_number(value: Any) -> bool:
    # no NaN either
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and -_LARGEST < value < _LARGEST
    )


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


_Types = tuple[tuple[tuple[str, ...], Callable[[Any], bool], str], ...]
_COUNT = "a number, 0 or more"
#: class -> names of fields, whether a value is right, what is expected
_TYPES: dict[type, _Types] = {
    EvaluationResult: (
        (("dataset", "config", "tgt_lang", "metric", "signature"), _is_text, "a text"),
        (("n",), _is_count, "a number of judgements"),
    ),
    Interval: (
        (("low", "high", "level"), _is_number, "a number"),
        (("n_undefined",), _is_count, _COUNT),
        (("method",), lambda value: value in _METHODS, " or ".join(_METHODS)),
    ),
    NoInterval: (
        (("reason",), _is_text, "a text"),
        (("n_undefined",), _is_count, _COUNT),
    ),
    CategoryAccuracy: (
        (("category",), _is_text, "a text"),
        (("n", "n_correct", "n_ties", "n_inconclusive"), _is_count, _COUNT),
        (("accuracy",), _is_share, "a number in [0, 1]"),
        (
            ("weighted_accuracy",),
            lambda value: value is None or _is_share(value),
            "a number in [0, 1] or null",
        ),
    ),
    Judgement: (
        (("example_id", "category", "translation", "predicted", "gold"), _is_text, "a text"),
        (("is_correct",), lambda value: isinstance(value, bool), "true or false"),
        (
            ("probability_correct",),
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
    ),
}
