"""Regressions as tables for the terminal, and beside them those of the case study."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from cc_hf.reports.numbers import in_points, limits, p_text
from cc_hf.reports.tables.base import heading, plain_table
from cc_hf.statistics.regression import Regression
from cc_hf_studies.distillation.case_study import CITATION_KEY, PublishedRegression

__all__ = ["published_regression_tables", "regression_tables"]

_SIGNIFICANT = 0.05


def regression_tables(regression: Regression) -> Group:
    """Return a table of every coefficient, in the units of the columns."""
    table = plain_table("", "coefficient", "(95 %)", "standard\nerror", "t", "p")
    if regression.coefficients[0].interval.level != 0.95:
        table.columns[2].header = Text(
            f"({in_points(regression.coefficients[0].interval.level):g} %)"
        )
    for coefficient in regression.coefficients:
        star = "*" if coefficient.p_value < _SIGNIFICANT else ""
        table.add_row(
            Text(coefficient.name),
            f"{coefficient.value:.4g}{star}",
            f"{coefficient.interval.low:.4g} – {coefficient.interval.high:.4g}",
            f"{coefficient.standard_error:.4g}",
            f"{coefficient.t:.2f}",
            p_text(coefficient.p_value),
        )
    return Group(
        heading(f"{regression.dependent}: least squares, n = {regression.n}"),
        table,
        _fit(regression),
    )


def published_regression_tables(blocks: Sequence[tuple[PublishedRegression, Regression]]) -> Group:
    """Return Table 3 of the case study beside the regressions of the printed figures."""
    table = plain_table("", "published", "from the printed\ntable (95 %)", "standard\nerror", "p")
    notes: list[RenderableType] = []
    for block, regression in blocks:
        table.add_row(Text(f"{block.task} en-{block.tgt_lang}", style="bold"), "", "", "", "")
        for name, label, printed in (
            ("bleu", "BLEU", block.bleu),
            ("seqkd", "SeqKD is used", block.seqkd),
        ):
            coefficient = regression.coefficient(name)
            star = "*" if coefficient.p_value < _SIGNIFICANT else ""
            value = f"{coefficient.value:.2f}{star} ({limits(coefficient.interval, digits=2)})"
            value = value.replace("-", "−")
            table.add_row(
                Text(f"  {label}"),
                f"{printed:.2f}*".replace("-", "−"),
                value,
                f"{coefficient.standard_error:.2f}",
                p_text(coefficient.p_value),
            )
        table.add_section()
        notes.append(
            Text.assemble(
                f"{block.task} en-{block.tgt_lang}: ",
                _fit(regression),
                f"; {block.note}" if block.note else "",
            )
        )
    title = heading(
        f"minimum accuracy by BLEU and distillation ({CITATION_KEY}, Table 3), percentage points;"
        " *: p < 0.05"
    )
    return Group(title, table, *notes)


def _fit(regression: Regression) -> Text:
    return Text(
        f"R² {regression.r_squared:.3f} (adjusted {regression.adjusted_r_squared:.3f}), F"
        f" {regression.f:.2f}, p {p_text(regression.f_p_value)}, n = {regression.n}",
        style="italic",
    )
