"""Studies as tables for the terminal: referent bias, trigger importance, regressions and evaluator
agreement. Shares are in percent; correlations are not scaled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cc_hf.reports.numbers import decimal, in_points, limits, p_text, percent, signed
from cc_hf.reports.tables import grouped_notes, heading, plain_table
from cc_hf.results import NoInterval
from cc_hf.statistics.mean_tests import TTest
from cc_hf.statistics.regression import Regression
from cc_hf.studies.distillation.case_study import CITATION_KEY, PublishedRegression
from cc_hf.studies.evaluator_agreement import EvaluatorAgreement
from cc_hf.studies.wino_x.referent_bias import BiasTest, Frequency, ReferentBias
from cc_hf.studies.wino_x.salience import Importance, TriggerImportance

__all__ = [
    "bias_tables",
    "evaluator_agreement_tables",
    "published_regression_tables",
    "referent_bias_tables",
    "regression_tables",
    "trigger_importance_tables",
]

_SIGNIFICANT = 0.05
# The longest names of evaluators above columns, each and together; longer ones go below the table,
# so that it fits into 80 characters.
_LONGEST_NAME, _LONGEST_NAMES = 20, 42


def referent_bias_tables(bias: ReferentBias, *, title: str) -> Group:
    """Return the accuracies, how often each gender and position was preferred, and the tests with
    the ids that they used.

    Args:
        bias: the biases.
        title: the text before the accuracies.
    """
    pairs = (
        ""
        if bias.pair_accuracy is None
        else (
            f"; both of a pair right {percent(bias.pair_accuracy)} % ({bias.n_correct_pairs} of"
            f" {bias.n_pairs})"
        )
    )
    parts: list[RenderableType] = [
        heading(f"{title}: {percent(bias.accuracy)} % right ({bias.n_correct} of {bias.n}){pairs}")
    ]
    table = plain_table("", "preferred", "% of all", "right, % of all", "offered", "% of offered")
    for frequencies in (bias.genders, bias.positions):
        _add_frequencies(table, frequencies)
    parts += (
        [table, *_bias_tests(bias.tests)]
        if bias.tests
        else [Text("no gender or position of any choice is known")]
    )
    left_out = {
        "ties or undecided": bias.n_open,
        "of unknown gender": bias.n_unknown_gender,
        "of unknown position": bias.n_unknown_position,
    }
    parts += [Text(f"ignored in the bias: {n} {what}") for what, n in left_out.items() if n]
    return Group(*parts)


def _bias_tests(bias_tests: Sequence[BiasTest]) -> list[RenderableType]:
    """Return a table of the tests, of which there is at least one, and what is needed to interpret
    them.
    """
    tests = plain_table("bias", "|RBC|", "size", "RBC", "U", "p", "n")
    frame = plain_table("", "attainable", "data's own", "ids")
    for bias_test in bias_tests:
        name = f"{bias_test.feature} ({bias_test.coding})"
        values = (
            decimal(bias_test.strength, digits=3),
            bias_test.size,
            signed(bias_test.test.rank_biserial),
            f"{bias_test.test.u:.1f}",
            p_text(bias_test.test.p_value),
            str(bias_test.test.n_first),
        )
        tests.add_row(Text(name), *values)
        ids = ", ".join(f"{value} {number}" for value, number in bias_test.ids.items())
        frame.add_row(
            Text(name),
            decimal(bias_test.attainable, digits=3),
            decimal(abs(bias_test.references.rank_biserial), digits=3),
            ids,
        )
    thresholds = bias_tests[0].thresholds
    return [
        tests,
        Text(
            f"small from {thresholds.small:.4f}, medium from {thresholds.medium:.4f}, large from"
            f" {thresholds.large:.4f}; RBC > 0: higher ids are preferred",
            style="italic",
        ),
        frame,
        Text(
            "|RBC| of choices that always prefer the higher id, |RBC| of the right readings"
            " against the wrong ones, ids of the values",
            style="italic",
        ),
    ]


def _add_frequencies(table: Table, frequencies: Mapping[str, Frequency]) -> None:
    """Add rows as in Table 4.9 of the thesis: shares of all choices, and of those in which the
    value was an option.
    """
    n = sum(frequency.n_preferred for frequency in frequencies.values())
    for name, frequency in frequencies.items():
        shares = (
            percent(frequency.n_preferred / n),
            percent(frequency.n_correct / n),
            str(frequency.n_offered),
            percent(frequency.n_preferred / frequency.n_offered),
        )
        table.add_row(Text(name), str(frequency.n_preferred), *shares)
    table.add_section()


def bias_tables(points: Sequence[tuple[str, int, Mapping[str, Any]]], *, title: str) -> Group:
    """Return tables of how biases change with training: |RBC|, and how often each gender was
    preferred.

    Args:
        points: tuples of the part that was evaluated, the number of training samples, and its
            `ReferentBias` as a dict.
        title: the beginning of each table's title, which is followed by the part.
    """
    parts: list[RenderableType] = []
    for name in dict.fromkeys(part for part, _, _ in points):
        table = plain_table(
            "trained on",
            "gender\nprogram",
            "gender\nthesis",
            "position",
            "male\n%",
            "female\n%",
            "neutral\n%",
        )
        for _, size, bias in (point for point in points if point[0] == name):
            strengths = {
                (test["feature"], test["coding"]): decimal(test["strength"], digits=3)
                for test in bias["tests"]
            }
            genders = {
                gender: frequency["n_preferred"] for gender, frequency in bias["genders"].items()
            }
            shares = (
                percent(genders[gender] / sum(genders.values())) if gender in genders else ""
                for gender in ("male", "female", "neutral")
            )
            table.add_row(
                Text(str(size)),
                *(
                    strengths.get(key, "")
                    for key in (
                        ("gender", "program"),
                        ("gender", "thesis"),
                        ("position", "program"),
                    )
                ),
                *shares,
            )
        parts += [heading(f"{title} on {name}"), table]
    note = (
        "|RBC| of gender by both orders of ids and of position, as in `cc-hf analyze"
        " referent-bias`; share of choices that prefer the gender"
    )
    return Group(*parts, Text(note, style="italic"))


def trigger_importance_tables(importance: TriggerImportance, *, title: str) -> Group:
    """Return tables of the importance of triggers and referents, and what was ignored.

    Args:
        importance: the importances.
        title: the text above the tables.
    """
    means = plain_table("", "n", "mean salience")
    tests = plain_table("", "D", "p (Welch)", "p (paired)")
    kinds = (
        ("triggers", "other words", "triggers against other words", importance.triggers),
        (
            "correct referents",
            "incorrect referents",
            "correct against incorrect referents",
            importance.referents,
        ),
    )
    for first, second, comparison_name, comparison in kinds:
        if comparison is not None:
            for group, n, mean in (
                (first, comparison.n_first, comparison.mean_first),
                (second, comparison.n_second, comparison.mean_second),
            ):
                means.add_row(Text(group), str(n), signed(in_points(mean), digits=2))
            means.add_section()
            tests.add_row(Text(comparison_name), *_importance(comparison))
    if (program_test := importance.as_program) is not None:
        tests.add_row(
            Text("triggers as the program: sub-words, |D|"),
            f"{program_test.effect:.3f}",
            _starred(program_test.test),
            "",
        )
    parts: list[RenderableType] = [
        heading(
            f'{title}: salience for the translation of "it", {importance.n_sentences} sentences'
        ),
        means,
        tests,
    ]
    parts.append(
        Text(
            "salience in percentage points of probability; D: Cohen's d, above 0 if the first"
            " matter more; *: p < 0.05",
            style="italic",
        )
    )
    notes = {
        "sentences without their twin, whose triggers are unknown": importance.n_alone,
        "sentences in which a referent was not found": importance.n_without_referents,
    }
    parts += [Text(f"ignored: {n} {what}") for what, n in notes.items() if n]
    if importance.skipped:
        name, reason = next(iter(importance.skipped.items()))
        parts.append(
            Text(f"not measured: {len(importance.skipped)} sentences, such as {name}: {reason}")
        )
    return Group(*parts)


def _importance(importance: Importance) -> tuple[str, str, str]:
    return (
        signed(importance.effect),
        _starred(importance.welch),
        "" if importance.paired is None else _starred(importance.paired),
    )


def _starred(test: TTest) -> str:
    return p_text(test.p_value) + ("*" if test.p_value < _SIGNIFICANT else "")


def regression_tables(regression: Regression) -> Group:
    """Return a table of every coefficient, in the units of the columns.

    Args:
        regression: the regression.
    """
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
    """Return Table 3 of the case study beside the regressions of the printed figures.

    Args:
        blocks: blocks of `case_study_regressions`.
    """
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


def evaluator_agreement_tables(agreement: EvaluatorAgreement) -> Group:
    """Return the figure of each system by each evaluator, and the rank correlations of each pair.

    Args:
        agreement: the agreement.
    """
    lengths = [len(name) + 2 for name in agreement.evaluators]
    are_short = max(lengths) - 2 <= _LONGEST_NAME and sum(lengths) <= _LONGEST_NAMES
    column_names = {
        name: name if are_short else f"[{number}]"
        for number, name in enumerate(agreement.evaluators, 1)
    }
    figures = plain_table("system", *column_names.values())
    for index, system in enumerate(agreement.systems):
        figures.add_row(
            Text(system), *(percent(agreement.scores[name][index]) for name in agreement.evaluators)
        )
    table = plain_table("", "Spearman (95 %)", "Kendall (95 %)")
    for pair in agreement.pairs:
        correlation = pair.correlation
        table.add_row(
            Text(f"{column_names[pair.left]} and {column_names[pair.right]}"),
            decimal(correlation.spearman, correlation.spearman_interval, digits=3),
            decimal(correlation.kendall, correlation.kendall_interval, digits=3),
        )
    table.add_section()
    table.add_row(
        Text("mean over pairs"),
        *(decimal(mean, digits=3) for mean in (agreement.mean_spearman, agreement.mean_kendall)),
    )
    notes = [Text(f"{short}: {name}") for name, short in column_names.items() if short != name]
    notes.append(Text("intervals by bootstrap over systems", style="italic"))
    if n := max(pair.correlation.n_undefined for pair in agreement.pairs):
        notes.append(
            Text(
                f"up to {n} resamples had no order and were ignored in an interval, because there"
                " are few systems"
            )
        )
    without = {
        f"{column_names[pair.left]} and {column_names[pair.right]} ({name})": interval.note
        for pair in agreement.pairs
        for name, interval in (
            ("Spearman", pair.correlation.spearman_interval),
            ("Kendall", pair.correlation.kendall_interval),
        )
        if isinstance(interval, NoInterval)
    }
    notes += map(Text, grouped_notes(without))
    return Group(
        heading(
            f"{agreement.figure.replace('_', ' ')} of {len(agreement.systems)} systems by"
            f" {len(agreement.evaluators)} evaluators"
        ),
        figures,
        table,
        *notes,
    )
