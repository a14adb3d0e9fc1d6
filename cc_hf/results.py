"""What a metric answers: frozen, in [0, 1], with counts beside rates, to JSON and back. No formatting: that is for reports."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from cc_hf.errors import InputError
from cc_hf.schema import Judgement

__all__ = ["CategoryAccuracy", "EvaluationResult", "Interval", "ResultSet"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval in the unit of its score; `level` in (0, 1)."""

    low: float
    high: float
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class CategoryAccuracy:
    """One category: counts, accuracy and weighted accuracy in [0, 1]; the latter None of metrics without weights."""

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
        dataset, config, tgt_lang, metric: names; dataset and config are "" for data of the caller's own.
        signature: everything that the figures depend on.
        n: number of judgements.
        scores: name -> value in [0, 1], of differences (names that begin with «delta» or end in «_gap») in [-1, 1]. BLEU and chrF are here / 100.
            What is undefined, for want of samples, is left out.
        intervals: name of a score -> confidence interval.
        categories: one entry per category, sorted by name.
        judgements: one per example, in the order of the examples.
        counts: name -> number, such as n_ties.
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

    def __post_init__(self) -> None:
        for name, value in self.scores.items():
            low = -1 if name.startswith("delta") or name.endswith("_gap") else 0
            if not (math.isfinite(value) and low <= value <= 1):
                raise InputError(f"score {name!r}: expected a number in [{low}, 1], got {value!r}; leave out what is undefined")

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, ready for JSON."""
        row = {**asdict(self), "intervals": {name: asdict(i) for name, i in self.intervals.items()}}
        for judgement in row["judgements"]:
            if not judgement["scores"]:  # most metrics have none
                del judgement["scores"]
        return row

    def to_json(self) -> str:
        """Strict JSON (no NaN), UTF-8 text, one result."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> EvaluationResult:
        """The inverse of `to_json`; reads what older versions wrote, whose judgements had no verdict.

        Raises:
            InputError: when the text is not JSON or lacks a field.
        """
        return cls.from_dict(_parsed(text))

    @classmethod
    def from_dict(cls, row: Any) -> EvaluationResult:
        """The inverse of `to_dict`.

        Raises:
            InputError: when a field is missing or unknown.
        """
        try:
            return cls(
                **{
                    **row,
                    "intervals": {name: Interval(**i) for name, i in row["intervals"].items()},
                    "categories": tuple(CategoryAccuracy(**c) for c in row["categories"]),
                    "judgements": tuple(_judgement(j) for j in row["judgements"]),
                }
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"expected the JSON of an evaluation result (the file that `cc-hf evaluate --output` writes): {error!r}") from error


@dataclass(frozen=True)
class ResultSet:
    """Results of several metrics on the same translations. `not_run`: metric -> why it was not run."""

    results: tuple[EvaluationResult, ...]
    not_run: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        """Strict JSON with the results whole, and what was not run."""
        row = {"results": [result.to_dict() for result in self.results], "not_run": dict(self.not_run)}
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
        if not isinstance(row["results"], list) or not row["results"] or not isinstance(row.get("not_run", {}), dict):
            raise InputError("expected the JSON of evaluation results (the file that `cc-hf evaluate --output` writes), got no list of results")
        return cls(tuple(EvaluationResult.from_dict(one) for one in row["results"]), row.get("not_run", {}))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"expected the JSON of an evaluation result, got text that is not JSON: {error}") from error


def _judgement(row: Mapping[str, Any]) -> Judgement:
    return Judgement(**{"verdict": "correct" if row["is_correct"] else "incorrect", **row, "scores": tuple(row.get("scores", ()))})
