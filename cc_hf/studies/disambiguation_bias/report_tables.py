"""Tables of disambiguation bias in a report: error rates, correlations with errors, attractors."""

from __future__ import annotations

from cc_hf.studies.disambiguation_bias.report_figures import (
    Attractors,
    ErrorsByBias,
    attractors_of_homographs,
    errors_by_bias,
)
from cc_hf.reports.figure_text import limits, metric_name, p_text, percent
from cc_hf.reports.report import Report
from cc_hf.reports.report_tables import Cell, ReportTable, TableRow
from cc_hf.studies.disambiguation_bias.prediction_tables import FEATURE_NAMES

__all__ = ["attractors_table", "bias_tables", "errors_by_bias_tables"]


def bias_tables(report: Report) -> list[ReportTable]:
    """Return tables of homographs: error rates by bias and correlations of bias with errors, for
    each metric, and the attractors of some homographs.

    Args:
        report: the report.

    Returns:
        The tables; none for data without bias.
    """
    return [
        *(table for errors in errors_by_bias(report) for table in errors_by_bias_tables(errors)),
        *map(attractors_table, attractors_of_homographs(report)),
    ]


def errors_by_bias_tables(errors: ErrorsByBias) -> list[ReportTable]:
    """Return the error rates of one metric by bias, and the correlations of bias with errors if a
    system has some errors.

    Args:
        errors: the errors that the metric finds.
    """
    rates = _error_rates_table(errors)
    return [rates, _predictions_table(errors)] if errors.predictions else [rates]


def _error_rates_table(errors: ErrorsByBias) -> ReportTable:
    bounds = {
        f"{group.low:.3g} to {group.high:.3g}": group.errors.n
        for groups in errors.groups.values()
        for group in groups
    }
    rates = {
        (name, f"{group.low:.3g} to {group.high:.3g}"): Cell(
            percent(group.errors.value), limits(group.errors.interval)
        )
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
        (name, test.feature): test
        for name, prediction in errors.predictions.items()
        for test in prediction.tests
    }
    rows = []
    for feature in dict.fromkeys(feature for _, feature in tests):
        cells: list[Cell] = []
        for name in errors.predictions:
            test = tests[name, feature]
            cells += [
                Cell(f"{test.test.rank_biserial:+.3f}", test.size),
                Cell(p_text(test.test.p_value)),
            ]
        rows.append(TableRow(FEATURE_NAMES.get(feature, feature), tuple(cells)))
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


def attractors_table(attractors: Attractors) -> ReportTable:
    """Return the strongest attractors of each sense of a homograph, as in Table 3.4 of the thesis.

    Args:
        attractors: the attractors.
    """
    return ReportTable(
        f"Attractors of {attractors.homograph}",
        "sense",
        ("pairs", "FREQ", "PPMI"),
        tuple(
            TableRow(
                ", ".join(attractors.senses.get(cluster, ())) or cluster,
                (
                    Cell(f"{n:,}"),
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
