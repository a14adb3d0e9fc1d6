"""Which differences between two systems may come from the mistakes of their judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cc_hf.levels import RANKS_ONLY
from cc_hf.metrics.base import registered_metric
from cc_hf.metrics.figure_names import figure_name
from cc_hf.results import EvaluationResult
from cc_hf.statistics.paired import PairedDifference

__all__ = ["level_notes", "within_mistakes"]

_SIGNIFICANT = 0.05


def level_notes(result: EvaluationResult) -> Iterator[str]:
    """Yield what may be said by the judge of a result, unless its figures may be cited."""
    if result.trust is not None and result.trust.level == RANKS_ONLY:
        yield result.trust.text


def within_mistakes(
    result: EvaluationResult, baseline: str, differences: Mapping[str, PairedDifference]
) -> Iterator[str]:
    """Yield a note on significant differences that a judge for rankings only does not call."""
    trust = result.trust
    if trust is None or trust.level != RANKS_ONLY:
        return
    names = registered_metric(result.metric).figure_names
    figures = [
        figure_name(names, figure).label
        for figure, change in differences.items()
        if figure in trust.readings
        and change.p_value < _SIGNIFICANT
        and not trust.differs(figure, change.first, change.second)
    ]
    if figures:
        yield (
            f"The difference to {baseline} in {' and in '.join(figures)} is within what the judge's"
            f" mistakes may do, by {trust.labels}."
        )
