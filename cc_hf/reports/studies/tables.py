"""Studies as tables for the terminal: referent bias, trigger importance, regressions and evaluator
agreement. Shares are in percent; correlations are not scaled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cc_hf.reports.figure_text import limits, p_text, percent
from cc_hf.reports.tables import grouped_notes, heading, plain_table
from cc_hf.results import Interval, NoInterval
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
_LONGEST_NAME = 20  # longest name of an evaluator above a column; longer ones go below the table


def referent_bias_tables(found: ReferentBias, *, title: str) -> Group:
    """Return the accuracies, how often each gender and position was preferred, and the tests with
    the ids that they used.

    Args:
        found: the biases.
        title: the text before the accuracies.
    """
    pairs = (
        ""
        if found.pair_accuracy is None
        else (
            f"; both of a pair right {percent(found.pair_accuracy)} % ({found.n_correct_pairs} of"
            f" {found.n_pairs})"
        )
    )
    parts: list[RenderableType] = [
        heading(
            f"{title}: {percent(found.accuracy)} % right ({found.n_correct} of {found.n}){pairs}"
        )
    ]
    table = plain_table("", "preferred", "% of all", "right, % of all", "offered", "% of offered")
    for frequencies in (found.genders, found.positions):
        _add_frequencies(table, frequencies)
    parts += (
        [table, *_bias_tests(found.tests)]
        if found.tests
        else [Text("no gender or position is known of any choice")]
    )
    left_out = {
        "ties or undecided": found.n_open,
        "of unknown gender": found.n_unknown_gender,
        "of unknown position": found.n_unknown_position,
    }
    parts += [Text(f"left out of the bias: {n} {what}") for what, n in left_out.items() if n]
    return Group(*parts)


def _bias_tests(found: Sequence[BiasTest]) -> list[RenderableType]:
    """Return a table of the tests, of which there is at least one, and what is needed to interpret
    them.
    """
    tests = plain_table("bias", "|RBC|", "size", "RBC", "U", "p", "n")
    frame = plain_table("", "attainable", "data's own", "ids")
    for one in found:
        name = f"{one.feature} ({one.coding})"
        values = (
            f"{one.strength:.3f}",
            one.size,
            f"{one.test.rank_biserial:+.3f}",
            f"{one.test.u:.1f}",
            p_text(one.test.p_value),
            str(one.test.n_first),
        )
        tests.add_row(Text(name), *values)
        ids = ", ".join(f"{value} {number}" for value, number in one.ids.items())
        frame.add_row(
            Text(name), f"{one.attainable:.3f}", f"{abs(one.references.rank_biserial):.3f}", ids
        )
    thresholds = found[0].thresholds
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
    n = sum(one.n_preferred for one in frequencies.values())
    for name, one in frequencies.items():
        shares = (
            percent(one.n_preferred / n),
            percent(one.n_correct / n),
            str(one.n_offered),
            percent(one.n_preferred / one.n_offered),
        )
        table.add_row(Text(name), str(one.n_preferred), *shares)
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
                (one["feature"], one["coding"]): f"{one['strength']:.3f}" for one in bias["tests"]
            }
            genders = {gender: one["n_preferred"] for gender, one in bias["genders"].items()}
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
        "|RBC| of gender by both orders of ids and of position, as `cc-hf analyze referent-bias`;"
        " share of choices that prefer the gender"
    )
    return Group(*parts, Text(note, style="italic"))


def trigger_importance_tables(found: TriggerImportance, *, title: str) -> Group:
    """Return tables of the importance of triggers and referents, and what was ignored.

    Args:
        found: the importances.
        title: the text above the tables.
    """
    means = plain_table("", "n", "mean salience")
    tests = plain_table("", "D", "p (Welch)", "p (paired)")
    kinds = (
        ("triggers", "other words", "triggers against other words", found.triggers),
        (
            "correct referents",
            "incorrect referents",
            "correct against incorrect referents",
            found.referents,
        ),
    )
    for first, second, both, one in kinds:
        if one is not None:
            means.add_row(Text(first), str(one.n_first), f"{100 * one.mean_first:+.2f}")
            means.add_row(Text(second), str(one.n_second), f"{100 * one.mean_second:+.2f}")
            means.add_section()
            tests.add_row(Text(both), *_importance(one))
    if (own := found.as_program) is not None:
        tests.add_row(
            Text("triggers as the program: sub-words, |D|"),
            f"{own.effect:.3f}",
            _starred(own.test),
            "",
        )
    parts: list[RenderableType] = [
        heading(f'{title}: salience for the translation of "it", {found.n_sentences} sentences'),
        means,
        tests,
    ]
    parts.append(
        Text(
            "salience in percentage points of probability; D: Cohen's, above 0 where the first"
            " matter more; *: p < 0.05",
            style="italic",
        )
    )
    notes = {
        "sentences without their twin, whose triggers are unknown": found.n_alone,
        "sentences in which a referent was not found": found.n_without_referents,
    }
    parts += [Text(f"left out: {n} {what}") for what, n in notes.items() if n]
    if found.skipped:
        name, reason = next(iter(found.skipped.items()))
        parts.append(
            Text(f"not measured: {len(found.skipped)} sentences, such as {name}: {reason}")
        )
    return Group(*parts)


def _importance(one: Importance) -> tuple[str, str, str]:
    return (
        f"{one.effect:+.3f}",
        _starred(one.welch),
        "" if one.paired is None else _starred(one.paired),
    )


def _starred(test: TTest) -> str:
    return p_text(test.p_value) + ("*" if test.p_value < _SIGNIFICANT else "")


def regression_tables(found: Regression) -> Group:
    """Return a table of every coefficient, in the units of the columns.

    Args:
        found: the regression.
    """
    table = plain_table("", "coefficient", "(95 %)", "standard\nerror", "t", "p")
    if found.coefficients[0].interval.level != 0.95:
        table.columns[2].header = Text(f"({100 * found.coefficients[0].interval.level:g} %)")
    for one in found.coefficients:
        star = "*" if one.p_value < _SIGNIFICANT else ""
        table.add_row(
            Text(one.name),
            f"{one.value:.4g}{star}",
            f"{one.interval.low:.4g} – {one.interval.high:.4g}",
            f"{one.standard_error:.4g}",
            f"{one.t:.2f}",
            p_text(one.p_value),
        )
    return Group(heading(f"{found.dependent}: least squares, n = {found.n}"), table, _fit(found))


def published_regression_tables(found: Sequence[tuple[PublishedRegression, Regression]]) -> Group:
    """Return Table 3 of the case study beside the regressions of the printed figures.

    Args:
        found: blocks of `case_study_regressions`.
    """
    table = plain_table("", "published", "from the printed\ntable (95 %)", "standard\nerror", "p")
    notes: list[RenderableType] = []
    for block, own in found:
        table.add_row(Text(f"{block.task} en-{block.tgt_lang}", style="bold"), "", "", "", "")
        for name, label, published in (
            ("bleu", "BLEU", block.bleu),
            ("seqkd", "SeqKD is used", block.seqkd),
        ):
            one = own.coefficient(name)
            star = "*" if one.p_value < _SIGNIFICANT else ""
            value = f"{one.value:.2f}{star} ({one.interval.low:.2f} – {one.interval.high:.2f})"
            table.add_row(
                Text(f"  {label}"),
                f"{published:.2f}*",
                value,
                f"{one.standard_error:.2f}",
                p_text(one.p_value),
            )
        table.add_section()
        notes.append(
            Text.assemble(
                f"{block.task} en-{block.tgt_lang}: ",
                _fit(own),
                f"; {block.note}" if block.note else "",
            )
        )
    title = heading(
        f"minimum accuracy by BLEU and distillation ({CITATION_KEY}, Table 3), percentage points;"
        " *: p < 0.05"
    )
    return Group(title, table, *notes)


def _fit(found: Regression) -> Text:
    return Text(
        f"R² {found.r_squared:.3f} (adjusted {found.adjusted_r_squared:.3f}), F {found.f:.2f}, p"
        f" {p_text(found.f_p_value)}, n = {found.n}",
        style="italic",
    )


def evaluator_agreement_tables(found: EvaluatorAgreement) -> Group:
    """Return the figure of each system by each evaluator, and the rank correlations of each pair.

    Args:
        found: the agreement.
    """
    named = {
        name: name if max(map(len, found.evaluators)) <= _LONGEST_NAME else f"[{number}]"
        for number, name in enumerate(found.evaluators, 1)
    }
    figures = plain_table("system", *named.values())
    for at, system in enumerate(found.systems):
        figures.add_row(
            Text(system), *(percent(found.scores[name][at]) for name in found.evaluators)
        )
    table = plain_table("", "Spearman (95 %)", "Kendall (95 %)")
    for pair in found.pairs:
        own = pair.correlation
        table.add_row(
            Text(f"{named[pair.left]} and {named[pair.right]}"),
            _correlation(own.spearman, own.spearman_interval),
            _correlation(own.kendall, own.kendall_interval),
        )
    table.add_section()
    table.add_row(
        Text("mean over pairs"), f"{found.mean_spearman:.3f}", f"{found.mean_kendall:.3f}"
    )
    notes = [Text(f"{short}: {name}") for name, short in named.items() if short != name]
    notes.append(Text("intervals by bootstrap over systems", style="italic"))
    if n := max(pair.correlation.n_undefined for pair in found.pairs):
        notes.append(
            Text(
                f"up to {n} resamples had no order and were left out of an interval: there are few"
                " systems"
            )
        )
    without = {
        f"{named[pair.left]} and {named[pair.right]} ({name})": one.note
        for pair in found.pairs
        for name, one in (
            ("Spearman", pair.correlation.spearman_interval),
            ("Kendall", pair.correlation.kendall_interval),
        )
        if isinstance(one, NoInterval)
    }
    notes += map(Text, grouped_notes(without))
    return Group(
        heading(
            f"{found.figure.replace('_', ' ')} of {len(found.systems)} systems by"
            f" {len(found.evaluators)} evaluators"
        ),
        figures,
        table,
        *notes,
    )


def _correlation(value: float, interval: Interval | NoInterval) -> str:
    shown = limits(interval, digits=3)
    return f"{value:.3f} ({shown})" if shown else f"{value:.3f}"
