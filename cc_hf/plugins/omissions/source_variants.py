"""What metrics share that ask whether one text is more probable under a changed other text:
requests in pairs, differences by row, and the agreement of the largest ones with people's labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from cc_hf.evaluators.contests import Contest
from cc_hf.metrics.figure_names import FigureDeclaration
from cc_hf.metrics.figures import Figures
from cc_hf.schema import INCONCLUSIVE, Judgement, ScoringRequest
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.score_intervals import estimate_share
from cc_hf.statistics.separation import auc, auc_interval

__all__ = [
    "Variants",
    "label_figure_names",
    "label_figures",
    "n_without_difference",
    "share_figure",
    "with_error_rate",
]

_RANGE = (-1e3, 1e3)  # nats: a probability of 0 in floating point would be infinite

_Change = TypeVar("_Change")


@dataclass
class Variants(Generic[_Change]):
    """Changes of texts, and requests in pairs, with the whole text and with the changed one."""

    changes: list[tuple[int, _Change]] = field(default_factory=list)
    requests: list[ScoringRequest] = field(default_factory=list)

    def add(self, row: int, change: _Change, whole: str, changed: str, other: str) -> None:
        """Add a change of the text of a row, and both requests for the other text."""
        self.changes.append((row, change))
        self.requests += [ScoringRequest(text, other, row) for text in (whole, changed)]

    @property
    def contests(self) -> list[Contest]:
        """The indices of both requests of each change."""
        return [([2 * i], [2 * i + 1]) for i in range(len(self.changes))]

    def differences(
        self, scores: npt.NDArray[np.float64]
    ) -> dict[int, list[tuple[_Change, float]]]:
        """Return, by row, each change and how much more probable the other text is with it, in
        nats per token.
        """
        with np.errstate(divide="ignore"):
            logprobs = np.log(scores)
        rows: dict[int, list[tuple[_Change, float]]] = {}
        for i, (row, change) in enumerate(self.changes):
            whole, changed = float(logprobs[2 * i]), float(logprobs[2 * i + 1])
            # Rows that were not scored are left out.
            if not np.isnan(whole):
                difference = 0.0 if whole == changed else float(np.clip(changed - whole, *_RANGE))
                rows.setdefault(row, []).append((change, difference))
        return rows


def n_without_difference(
    differences: Iterable[Mapping[int, Sequence[tuple[object, float]]]],
) -> int:
    """Return the number of rows whose best change makes no difference."""
    largest: dict[int, float] = {}
    for of_rows in differences:
        for row, changes in of_rows.items():
            best = max(difference for _, difference in changes)
            largest[row] = max(best, largest.get(row, best))
    return sum(difference == 0 for difference in largest.values())


def with_error_rate(figures: Figures, judgements: Sequence[Judgement]) -> Figures:
    """Return figures with the share of translations that are wrong, of those that were judged."""
    n_of = Counter(j.verdict for j in judgements)
    n_judged = len(judgements) - n_of[INCONCLUSIVE]
    if not n_judged:
        return figures
    rate = n_of["incorrect"] / n_judged
    return replace(figures, scores={**figures.scores, "error_rate": rate})


def share_figure(
    name: str, parts: Any, wholes: Any, *, groups: Sequence[str] | None = None
) -> Figures:
    """Return the sum of parts by the sum of wholes with its interval; nothing where that is 0.

    Examples:
        >>> share_figure("rate", [1, 0], [1, 1]).scores, share_figure("rate", [], []).scores
        ({'rate': 0.5}, {})
    """
    if np.sum(wholes) <= 0:
        return Figures()
    estimate = estimate_share(np.asarray(parts, float), np.asarray(wholes, float), groups=groups)
    return Figures({name: estimate.value}, intervals={name: estimate.interval})


def label_figure_names(name: str, error: str) -> dict[str, FigureDeclaration]:
    """Return the names of the figures of `label_figures` for one kind of error."""
    return {
        name.format(figure): FigureDeclaration(f"{error} {label}", "high", meaning)
        for figure, label, meaning in (
            ("precision", "precision", "The share of errors found that people found, too."),
            ("recall", "recall", "The share of translations with the error that are found."),
            ("f1", "F1", "The harmonic mean of precision and recall."),
            (
                "auc",
                "AUC",
                "The share of pairs of a right and a wrong translation that the largest"
                " difference puts in the right order.",
            ),
        )
    }


def label_figures(
    name: str,
    largest: npt.NDArray[np.float64],
    gold: npt.NDArray[np.bool_],
    sources: Sequence[str],
    *,
    min_difference: float,
    bootstrap: Bootstrap,
) -> Figures:
    """Return precision, recall, F1 and AUC, unless all translations are right or all are wrong.

    `largest` is the largest difference of each translation, (n,); `gold` says whether people found
    the error, (n,).
    """
    if not gold.any() or gold.all():
        return Figures()
    predicted = largest > min_difference
    right, wholes = predicted & gold, predicted.astype(int) + gold
    precision, area = name.format("precision"), name.format("auc")
    return Figures({precision: 0.0}).joined(
        share_figure(precision, right, predicted, groups=sources),
        share_figure(name.format("recall"), right, gold, groups=sources),
        share_figure(name.format("f1"), 2 * right, wholes, groups=sources),
        Figures(
            {area: auc(largest, gold)},
            intervals={area: auc_interval(largest, gold, sources, **bootstrap.options)},
        ),
    )
