"""How bias predicts errors, as text and as tables: correlations, and error rates in percent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import count, p_text, percent, signed
from cc_hf.reports.report_parts import Piece, ReportTable
from cc_hf_studies.disambiguation_bias.prediction import (
    BiasGroup,
    ErrorPrediction,
)

__all__ = [
    "FEATURE_NAMES",
    "PredictionRow",
    "bounds_text",
    "error_prediction_tables",
    "prediction_rows",
]

#: Name of a value of sentences -> its name in words.
FEATURE_NAMES: dict[str, str] = {
    "freq_right": "FREQ right",
    "ppmi_right": "PPMI right",
    "freq_wrong": "FREQ wrong",
    "ppmi_wrong": "PPMI wrong",
    "freq_diff": "FREQ diff",
    "ppmi_diff": "PPMI diff",
    "length": "length (control)",
}


class PredictionRow(NamedTuple):
    """How one value predicts errors: the texts of a `FeatureTest`."""

    name: str
    rank_biserial: str
    size: str
    u: str
    p: str


def prediction_rows(prediction: ErrorPrediction) -> list[PredictionRow]:
    """Return the rows of every table of correlations, one for each value."""
    return [
        PredictionRow(
            FEATURE_NAMES.get(test.feature, test.feature),
            signed(test.test.rank_biserial),
            test.size,
            f"{test.u:,.1f}",
            p_text(test.test.p_value),
        )
        for test in prediction.tests
    ]


def bounds_text(group: BiasGroup) -> str:
    """Return the smallest and the largest bias of a group."""
    return f"{group.low:.3g} to {group.high:.3g}"


def error_prediction_tables(
    prediction: ErrorPrediction, groups: Mapping[str, Sequence[BiasGroup]], *, title: str
) -> list[Piece]:
    """Return the correlations, and the error rate of sentences with similar bias."""
    table: list[tuple[str, ...]] = [(name, *texts) for name, *texts in prediction_rows(prediction)]
    limits = prediction.thresholds
    parts: list[Piece] = [
        ReportTable.of(
            f"{title}: {percent(prediction.error_rate)} % errors ({prediction.n_errors:,} of"
            f" {prediction.n:,})",
            ("", "RBC", "size", "U", "p"),
            table,
            f"small from {limits.small:.4f}, medium from {limits.medium:.4f}, large from"
            f" {limits.large:.4f}; RBC > 0: errors have larger values; U: the smaller of both",
        ),
    ]
    for name, members in groups.items():
        by_bias: list[tuple[str, ...]] = [
            (
                bounds_text(group),
                count(group.errors.n),
                with_interval(group.errors.value, group.errors.interval),
            )
            for group in members
        ]
        parts += [
            ReportTable.of(
                "error rate by bias, in tenths of the sentences",
                (FEATURE_NAMES.get(name, name), "sentences", "errors (%)"),
                by_bias,
            )
        ]
    return parts
