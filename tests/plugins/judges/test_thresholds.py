"""Thresholds of the verdict neither, by labels."""

from typing import Any

from cc_hf.plugins.judges.thresholds import cross_fitted
from tests.helpers.usual import cases


@cases(
    ("right " * 20 + "neither " * 20, [1.0] * 20 + [0.1] * 20, 0.55),
    ("right " * 40, [1.0] * 40, None),  # no label
    ("right " * 36 + "neither " * 4, [0.1] * 36 + [0.2] * 4, None),  # would be more than twice
    ("neither " * 20 + "right " * 20, [0.1, 1.0] * 20, None),  # no better than two verdicts
)
def test_thresholds_are_cross_fitted(labels: str, distances: Any, expected: Any) -> None:
    fitted = cross_fitted(distances, ["right"] * len(distances), labels.split())
    assert (None if fitted is None else fitted[0]) == expected
