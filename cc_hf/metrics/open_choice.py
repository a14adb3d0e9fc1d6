"""Open choices: rows whose source does not say which reading is right.

What a metric would count as correct is then the share of one reading. It has a name of its own and
no best value, and no verdict says that a row is right or wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.figure_keys import figure_key
from cc_hf.metrics.figure_names import FigureDeclaration
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import NEITHER, Judgement, Reading
from cc_hf.statistics.score_intervals import share_interval

__all__ = [
    "MEAN_PROBABILITY",
    "counted_share",
    "open_figures",
    "open_share",
    "reading_shares",
]

_NAME = re.compile(r"[a-z]+(_[a-z]+)*_(?:preference|share)")
#: Reading that a share counts -> the reading beside it, for those that have names.
_OPPOSITES = {"feminine": "masculine", "masculine": "feminine"}
_Value = TypeVar("_Value")
#: Counts that make sense only where something is right.
_OF_VERDICTS = ("n_correct", "n_pairs", "n_pairs_correct", "n_without_twin", "n_blocks")
#: Fields of signatures that say how translations without a score count.
_REASONS = ("blank", "toolong")

#: The figure that stands beside every share.
MEAN_PROBABILITY = FigureDeclaration(
    "mean probability",
    "none",
    "The mean probability of the reading whose share is given: 50 is no preference.",
)


def open_share(references: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of the share that rows count, "" for rows of which something is right.

    Examples:
        >>> open_share([{"open_share": "feminine_share"}, {"open_share": "feminine_share"}])
        'feminine_share'
    """
    names = [reference.get("open_share") or "" for reference in references]
    for row, name in enumerate(names):
        if name and not _NAME.fullmatch(name):
            raise InputError(
                f"row {row}: open_share: expected small letters that end in _preference or _share,"
                f" such as feminine_share, got {name!r}"
            )
        if name != names[0]:
            raise InputError(
                f"row {row}: open_share: expected {names[0] or 'none'!r} as in row 0, got"
                f" {name or 'none'!r}; judge open rows apart from those of which something is right"
            )
    return names[0] if names else ""


def open_figures(figures: Figures, name: str) -> Figures:
    """Return figures with shares called `name` in place of accuracies, and without verdicts; ""
    returns the figures as they are.

    Returns:
        The share over all rows that were scored and over each category, with their intervals, and
        `mean_probability`. Each row has a reading: that of the share's name, its opposite ("other"
        if that has no name), "neither" if it shows none, or "" if it was not scored.
    """
    if not name:
        return figures
    scored = [j for j in figures.judgements if j.score_correct is not None]
    shown = [j for j in scored if j.verdict != NEITHER]
    shares = summarize(shown).named(name) if shown else Figures()
    neither = {n for n in figures.scores if figure_key(n).name == "neither_share"}
    scores = {**shares.scores, **{n: v for n, v in figures.scores.items() if n in neither}}
    probabilities = [j.probability_correct for j in scored if j.probability_correct is not None]
    if probabilities:
        scores["mean_probability"] = math.fsum(probabilities) / len(probabilities)
    return replace(
        figures,
        scores=scores,
        signature={
            key: "unscored" if key in _REASONS and value == "incorrect" else value
            for key, value in figures.signature.items()
        },
        intervals={
            **shares.intervals,
            **{n: interval for n, interval in figures.intervals.items() if n in neither},
        },
        categories=(),
        judgements=(),
        readings=_scored_readings(figures.judgements, name),
        counts={key: n for key, n in figures.counts.items() if key not in _OF_VERDICTS},
    )


def _scored_readings(judgements: Sequence[Judgement], name: str) -> tuple[Reading, ...]:
    counted = name.rpartition("_")[0]
    other = _OPPOSITES.get(counted, "other")
    return tuple(
        Reading(j.example_id, j.category, j.translation, "")
        if j.score_correct is None
        else Reading(
            *(j.example_id, j.category, j.translation),
            NEITHER if j.verdict == NEITHER else counted if j.is_correct else other,
            j.probability_correct,
        )
        for j in judgements
    )


def counted_share(result: EvaluationResult) -> str:
    """Return the name of the share whose reading has probabilities; "" without such a share."""
    name = next((name for name in result.scores if _NAME.fullmatch(name)), "")
    has_probabilities = any(r.probability_counted is not None for r in result.readings)
    return name if name and has_probabilities else ""


def reading_shares(
    parts: Mapping[str, tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]],
    *,
    groups: Sequence[str] | None = None,
) -> tuple[dict[str, float], dict[str, Interval | NoInterval]]:
    """Return shares of readings and their intervals by Wilson's score, or why they have none.

    Args:
        parts: name of a share -> which of n rows count, and which rows they are counted of. A share
            of no rows is dropped.
        groups: n names of groups of rows that are not independent; None for rows on their own.

    Examples:
        >>> scores, _ = reading_shares({"feminine_share": (np.array([1, 0]), np.array([1, 1]))})
        >>> scores
        {'feminine_share': 0.5}
    """
    filled = {name: part for name, part in parts.items() if part[1].any()}
    return (
        {name: float(np.sum(part) / np.sum(whole)) for name, (part, whole) in filled.items()},
        {name: share_interval(*part, groups=groups) for name, part in filled.items()},
    )
