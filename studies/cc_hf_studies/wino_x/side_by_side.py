"""Biases of referents and importance of triggers, for several models and languages side by side
(Emelin 2023, Tables 4.8 and 4.10).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cc_hf.reports.side_by_side import ShownFiles, SystemFigure

__all__ = ["IMPORTANCE", "REFERENT_BIAS", "cells"]

#: What the key "study" of the files is.
REFERENT_BIAS, IMPORTANCE = "wino_x/referent_bias", "wino_x/trigger_importance"
_SIGNIFICANT = 0.05
_TEST = {
    "feature": str,
    "coding": str,
    "strength": float,
    "size": str,
    "test": {"p_value": float},
}
_IMPORTANCE = {"config": str, "triggers": {"effect": float}}


def cells(figures: ShownFiles) -> Iterator[SystemFigure]:
    """Yield |RBC| of each bias and the effect of triggers (Cohen's d), with "*" where p < .05."""
    for file in figures.files.get("wino_x", ()):
        if f"wino_x/{file.kind}" == REFERENT_BIAS:
            read = _bias(file.checked({"config": str, "tests": [_TEST]})["tests"])
        else:
            read = _importance(file.checked(_IMPORTANCE)["triggers"])
        for figure, value, p_value in read:
            # For triggers, p is that of the paired t-test.
            mark = "*" if p_value is not None and p_value < _SIGNIFICANT else ""
            data = file.content["config"]
            yield SystemFigure(file.system, data, figure, value, is_share=False, mark=mark)


def _bias(tests: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, float, float | None]]:
    for test in tests:
        figure = f"bias by {test['feature']} ({test['coding']}), |RBC|"
        yield figure, test["strength"], test["test"]["p_value"]


def _importance(triggers: Mapping[str, Any]) -> Iterator[tuple[str, float, float | None]]:
    paired = triggers.get("paired")
    p_value = None if paired is None else paired["p_value"]
    yield "importance of triggers, Cohen's d", triggers["effect"], p_value
