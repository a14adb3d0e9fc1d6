"""The result of one system by one metric, from a file that may hold those of several metrics."""

from __future__ import annotations

from pathlib import Path

from cc_hf.comparing.systems import read_results
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult

__all__ = ["read_result"]


def read_result(path: Path, *, metric: str | None) -> EvaluationResult:
    """Return the only result of a file, or the only one by a metric."""
    results = read_results([path], metric=metric)
    if len(results) != 1:
        raise InputError(
            f"expected one result, got {', '.join(results)}; name the metric with --metric"
        )
    return next(iter(results.values()))
