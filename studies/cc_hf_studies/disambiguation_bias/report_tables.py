"""Disambiguation bias in a report: error rates, correlations with errors, attractors."""

from __future__ import annotations

from collections.abc import Sequence

from cc_hf.reports.figure_text import metric_name
from cc_hf.reports.numbers import count, limits, percent
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Cell, ReportTable, Section, SectionPart, TableRow
from cc_hf_studies.disambiguation_bias.prediction_tables import (
    bounds_text,
    prediction_rows,
)
from cc_hf_studies.disambiguation_bias.report_charts import error_rate_chart
from cc_hf_studies.disambiguation_bias.report_figures import (
    Attractors,
    ErrorsByBias,
    attractors_of_homographs,
    errors_by_bias,
)

__all__ = ["bias_section"]


def bias_section(report: Report) -> Section | None:
    """Return what a report shows of homographs; None for data without bias.

    The page has the section only if there are error rates.
    """
    names = [system.name for system in report.systems]
    errors = errors_by_bias(report)
    parts = [
        *(part for by_metric in errors for part in _errors_parts(by_metric, names)),
        *(
            SectionPart(_attractors_table(attractors), classes="attractors")
            for attractors in attractors_of_homographs(report)
        ),
    ]
    if not parts:
        return None
    return Section(
        "bias",
        "Bias",
        "Error rate by bias",
        "A homograph beside words that go with another of its senses in the training data is"
        " translated wrongly more often, if the system relies on such words (Emelin et al. 2020)."
        " FREQ diff is the bias of the sentence towards the strongest wrong sense less that"
        " towards the right one.",
        tuple(parts),
        is_on_page=bool(errors),
    )


def _errors_parts(errors: ErrorsByBias, systems: Sequence[str]) -> list[SectionPart]:
    """Return error rates by bias, and correlations with errors if a system has some."""
    name = metric_name(errors.metric)
    chart = error_rate_chart(errors.groups, systems, label=f"Error rate by bias: {name}")
    rates = SectionPart(_error_rates_table(errors), name, chart)
    return [rates, SectionPart(_predictions_table(errors))] if errors.predictions else [rates]


def _error_rates_table(errors: ErrorsByBias) -> ReportTable:
    bounds = {
        bounds_text(group): group.errors.n for groups in errors.groups.values() for group in groups
    }
    rates = {
        (name, bounds_text(group)): Cell(percent(group.errors.value), limits(group.errors.interval))
        for name, groups in errors.groups.items()
        for group in groups
    }
    return ReportTable(
        f"Error rate by bias: {metric_name(errors.metric)}",
        "FREQ diff",
        tuple(errors.groups),
        tuple(
            TableRow(
                bound,
                tuple(rates.get((name, bound), Cell("")) for name in errors.groups),
                f"n = {n:,}",
            )
            for bound, n in bounds.items()
        ),
        caption=(
            "Share of errors in percent, with Wilson's 95 % intervals, in tenths of the sentences"
            " by their bias towards a wrong sense less that towards the right one. Inconclusive"
            " verdicts are no errors."
        ),
    )


def _predictions_table(errors: ErrorsByBias) -> ReportTable:
    tests = {
        name: {row.name: row for row in prediction_rows(prediction)}
        for name, prediction in errors.predictions.items()
    }
    features = dict.fromkeys(feature for rows in tests.values() for feature in rows)
    rows = []
    for feature in features:
        cells: list[Cell] = []
        for name in tests:
            test = tests[name][feature]
            cells += [Cell(test.rank_biserial, test.size), Cell(test.p)]
        rows.append(TableRow(feature, tuple(cells)))
    large = ", ".join(
        f"{name} {prediction.thresholds.large:.4f}"
        for name, prediction in errors.predictions.items()
    )
    return ReportTable(
        f"Does bias predict errors? {metric_name(errors.metric)}",
        "bias",
        ("RBC", "p") * len(errors.predictions),
        tuple(rows),
        groups=tuple((name, 2) for name in errors.predictions),
        caption=(
            "Rank-biserial correlation, positive if errors have more bias, with the size of the"
            f" effect at this error rate (large from: {large}) and p of the Mann-Whitney U test."
        ),
    )


def _attractors_table(attractors: Attractors) -> ReportTable:
    """Return the strongest attractors of each sense, as in Table 3.4 of the thesis."""
    return ReportTable(
        f"Attractors of {attractors.homograph}",
        "sense",
        ("pairs", "FREQ", "PPMI"),
        tuple(
            TableRow(
                ", ".join(attractors.senses.get(cluster, ())) or cluster,
                (
                    Cell(count(n)),
                    *(
                        Cell(", ".join(f"{word} {value:.3g}" for word, value in words[cluster]))
                        for words in attractors.words.values()
                    ),
                ),
            )
            for cluster, n in attractors.n_pairs.items()
            if n
        ),
        caption=(
            "Words that go with each sense in the training data, the strongest first; pairs: its"
            f" sentence pairs there. {attractors.n_errors:,} errors in the translations of this"
            " homograph."
        ),
    )
