"""Regressions as tables, and beside them those of the case study."""

from __future__ import annotations

from collections.abc import Sequence

from cc_hf.reports.numbers import in_points, limits, p_text
from cc_hf.reports.report_parts import Piece, ReportTable
from cc_hf.statistics.regression import Regression
from cc_hf_studies.distillation.case_study import CITATION_KEY, PublishedRegression

__all__ = ["published_regression_tables", "regression_tables"]

_SIGNIFICANT = 0.05


def regression_tables(regression: Regression) -> list[Piece]:
    """Return a table of every coefficient, in the units of the columns."""
    rows = []
    for coefficient in regression.coefficients:
        star = "*" if coefficient.p_value < _SIGNIFICANT else ""
        row = (
            coefficient.name,
            f"{coefficient.value:.4g}{star}",
            f"{coefficient.interval.low:.4g} – {coefficient.interval.high:.4g}",
            f"{coefficient.standard_error:.4g}",
            f"{coefficient.t:.2f}",
            p_text(coefficient.p_value),
        )
        rows.append(row)
    level = f"({in_points(regression.coefficients[0].interval.level):g} %)"
    title = f"{regression.dependent}: least squares, n = {regression.n}"
    columns = ("", "coefficient", level, "standard error", "t", "p")
    return [ReportTable.of(title, columns, rows, _fit(regression))]


def published_regression_tables(
    blocks: Sequence[tuple[PublishedRegression, Regression]],
) -> list[Piece]:
    """Return Table 3 of the case study beside the regressions of the printed figures."""
    rows: list[tuple[str, ...]] = []
    notes = []
    for block, regression in blocks:
        name_of_block = f"{block.task} en-{block.tgt_lang}"
        rows += [(), (name_of_block, "", "", "", "")]
        for name, label, printed in (
            ("bleu", "BLEU", block.bleu),
            ("seqkd", "SeqKD is used", block.seqkd),
        ):
            coefficient = regression.coefficient(name)
            star = "*" if coefficient.p_value < _SIGNIFICANT else ""
            value = f"{coefficient.value:.2f}{star} ({limits(coefficient.interval, digits=2)})"
            row = (
                f"  {label}",
                f"{printed:.2f}*".replace("-", "−"),
                value.replace("-", "−"),
                f"{coefficient.standard_error:.2f}",
                p_text(coefficient.p_value),
            )
            rows.append(row)
        note = f"; {block.note}" if block.note else ""
        notes.append(f"{name_of_block}: {_fit(regression)}{note}")
    title = (
        f"minimum accuracy by BLEU and distillation ({CITATION_KEY}, Table 3), percentage points;"
        " *: p < 0.05"
    )
    columns = ("", "published", "from the printed table (95 %)", "standard error", "p")
    return [ReportTable.of(title, columns, rows), *notes]


def _fit(regression: Regression) -> str:
    return (
        f"R² {regression.r_squared:.3f} (adjusted {regression.adjusted_r_squared:.3f}), F"
        f" {regression.f:.2f}, p {p_text(regression.f_p_value)}, n = {regression.n}"
    )
