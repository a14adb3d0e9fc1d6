"""Errors on homographs, predictions by bias and success of attacks, for several models and sets
side by side (Emelin 2023, Table 3.7, Figures 3.1 to 3.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from cc_hf.records import COUNT
from cc_hf.reports.figure_text import data_name
from cc_hf.reports.side_by_side import ShownFiles, SystemFigure
from cc_hf.results import Interval
from cc_hf.statistics.score_intervals import estimate_share, ratio
from cc_hf.statistics.shares import Share, wilson_share
from cc_hf.test_sets.mucow.homograph_accuracy import HomographAccuracy, is_flipped
from cc_hf_studies.disambiguation_bias.attacks.changes import KINDS
from cc_hf_studies.disambiguation_bias.challenge import SETS

__all__ = ["ATTACK", "CORRELATION", "cells"]

#: What the key "study" of the files is.
ATTACK, CORRELATION = "disambiguation_bias/attack", "disambiguation_bias/correlate"
_RANDOM = "random"
_SIGNIFICANT = 0.05
_SHARE = {"n": COUNT, "n_success": COUNT, "rate": float}
_JUDGE = {"total": _SHARE, "by_kind?": [{"name": str, **_SHARE}]}
_ROW = {"feature": str, "test": {"rank_biserial": float, "p_value": float}}


def cells(figures: ShownFiles) -> Iterator[SystemFigure]:
    """Yield errors on challenge sets, success of attacks, both relative to the random set, and
    correlations of biases with errors, with "*" where p < .05.
    """
    errors = {}
    for system, result in figures.results:
        if result.metric == HomographAccuracy.name and result.config in SETS:
            wrong = sum(map(is_flipped, result.judgements))
            share = wilson_share(wrong, len(result.judgements))
            errors[system, result.config] = share
            label = "flipped senses (homograph accuracy)"
            yield SystemFigure(system, data_name(result), label, share.value, share.interval)
    yield from _ratios("flipped senses", errors)
    attacks: dict[str, dict[tuple[str, str], Share]] = {}
    for file in figures.files.get("disambiguation_bias", ()):
        if f"disambiguation_bias/{file.kind}" == CORRELATION:
            content = file.checked({"data": str, "tests": [_ROW]})
            yield from _correlations(file.system, content)
            continue
        content = file.checked({"data": str, "judges": {str: _JUDGE}})
        for judge, row in content["judges"].items():
            total, data, label = row["total"], content["data"], f"attacks that succeed ({judge})"
            yield _of_share(file.system, data, label, total)
            for kind in row.get("by_kind", ()):
                name = f"{data}, {KINDS.get(kind['name'], kind['name'])}"
                yield _of_share(file.system, name, f"{label} by kind of change", kind)
            share = wilson_share(total["n_success"], total["n"])
            attacks.setdefault(judge, {})[file.system, data] = share
    for judge, shares in attacks.items():
        yield from _ratios(f"attacks that succeed ({judge})", shares)


def _of_share(system: str, data: str, figure: str, row: Mapping[str, Any]) -> SystemFigure:
    interval = row.get("interval") or {}
    limits = Interval(**interval) if "low" in interval else None
    return SystemFigure(system, data, figure, row["rate"], limits)


def _ratios(name: str, shares: Mapping[tuple[str, str], Share]) -> Iterator[SystemFigure]:
    """Yield each share divided by that of the same system on the random set."""
    for (system, data), share in shares.items():
        random = shares.get((system, _RANDOM))
        if random is None or data == _RANDOM or random.k == 0:
            continue
        interval = ratio(*_stacked((share, random)))
        label = f"{name}, times those of the random set"
        value = share.value / random.value
        yield SystemFigure(system, data, label, value, interval, is_share=False)


def _stacked(shares: Iterable[Share]) -> Iterator[Any]:
    """Yield shares of different samples as estimates over all of them."""
    shares = tuple(shares)
    n = sum(share.n for share in shares)
    start = 0
    for share in shares:
        members = np.arange(n)
        parts = (start <= members) & (members < start + share.k)
        yield estimate_share(parts, (start <= members) & (members < start + share.n))
        start += share.n


def _correlations(system: str, content: Mapping[str, Any]) -> Iterator[SystemFigure]:
    for row in content["tests"]:
        mark = "*" if row["test"]["p_value"] < _SIGNIFICANT else ""
        label = f"{row['feature']} and errors, RBC"
        value = row["test"]["rank_biserial"]
        yield SystemFigure(system, content["data"], label, value, is_share=False, mark=mark)
