"""Referent bias and trigger importance as tables. Shares are in percent;
correlations are not scaled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cc_hf.reports.numbers import decimal, in_points, p_text, percent, signed
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf_studies.common.mean_tests import TTest
from cc_hf_studies.wino_x.referent_bias import BiasTest, Frequency, ReferentBias
from cc_hf_studies.wino_x.salience import Importance, TriggerImportance

__all__ = [
    "bias_tables",
    "referent_bias_tables",
    "trigger_importance_tables",
]

_SIGNIFICANT = 0.05


def referent_bias_tables(bias: ReferentBias, *, title: str) -> list[Piece]:
    """Return accuracies, how often genders and positions were preferred, and tests with ids."""
    pairs = (
        ""
        if bias.pair_accuracy is None
        else (
            f"; both of a pair right {percent(bias.pair_accuracy)} % ({bias.n_correct_pairs} of"
            f" {bias.n_pairs})"
        )
    )
    parts: list[Piece] = [
        Line(
            f"{title}: {percent(bias.accuracy)} % right ({bias.n_correct} of {bias.n}){pairs}",
            "heading",
        )
    ]
    if bias.tests:
        columns = ("", "preferred", "% of all", "right, % of all", "offered", "% of offered")
        rows = [*_frequencies(bias.genders), (), *_frequencies(bias.positions)]
        parts += [ReportTable.of("", columns, rows), *_bias_tests(bias.tests)]
    else:
        parts.append("no gender or position of any choice is known")
    left_out = {
        "ties or undecided": bias.n_open,
        "of unknown gender": bias.n_unknown_gender,
        "of unknown position": bias.n_unknown_position,
    }
    parts += [f"ignored in the bias: {n} {what}" for what, n in left_out.items() if n]
    return parts


def _bias_tests(bias_tests: Sequence[BiasTest]) -> list[Piece]:
    """Return a table of the tests, at least one, and what is needed to interpret them."""
    tests: list[tuple[str, ...]] = []
    frame: list[tuple[str, ...]] = []
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
        tests.append((name, *values))
        ids = ", ".join(f"{value} {number}" for value, number in bias_test.ids.items())
        frame.append(
            (
                name,
                decimal(bias_test.attainable, digits=3),
                decimal(abs(bias_test.references.rank_biserial), digits=3),
                ids,
            )
        )
    thresholds = bias_tests[0].thresholds
    return [
        ReportTable.of(
            "",
            ("bias", "|RBC|", "size", "RBC", "U", "p", "n"),
            tests,
            f"small from {thresholds.small:.4f}, medium from {thresholds.medium:.4f}, large from"
            f" {thresholds.large:.4f}; RBC > 0: higher ids are preferred",
        ),
        ReportTable.of(
            "",
            ("", "attainable", "data's own", "ids"),
            frame,
            "|RBC| of choices that always prefer the higher id, |RBC| of the right readings"
            " against the wrong ones, ids of the values",
        ),
    ]


def _frequencies(frequencies: Mapping[str, Frequency]) -> Iterator[Sequence[str]]:
    """Yield shares of all choices, and of those with the value as an option (thesis, Table 4.9)."""
    n = sum(frequency.n_preferred for frequency in frequencies.values())
    for name, frequency in frequencies.items():
        yield (
            name,
            str(frequency.n_preferred),
            percent(frequency.n_preferred / n),
            percent(frequency.n_correct / n),
            str(frequency.n_offered),
            percent(frequency.n_preferred / frequency.n_offered),
        )


def bias_tables(points: Sequence[tuple[str, int, Mapping[str, Any]]], *, title: str) -> list[Piece]:
    """Return tables of how |RBC| and the preferred genders change with training.

    Args:
        points: tuples of the part that was evaluated, the number of training samples, and its
            `ReferentBias` as a dict.
    """
    parts: list[Piece] = []
    for name in dict.fromkeys(part for part, _, _ in points):
        table: list[tuple[str, ...]] = []
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
            table.append(
                (
                    str(size),
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
            )
        parts += [
            ReportTable.of(
                f"{title} on {name}",
                (
                    "trained on",
                    "gender program",
                    "gender thesis",
                    "position",
                    "male %",
                    "female %",
                    "neutral %",
                ),
                table,
            )
        ]
    note = (
        "|RBC| of gender by both orders of ids and of position, as in `cc-hf study wino_x"
        " referent-bias`; share of choices that prefer the gender"
    )
    return [*parts, Line(note, "about")]


def trigger_importance_tables(importance: TriggerImportance, *, title: str) -> list[Piece]:
    """Return tables of the importance of triggers and referents, and what was ignored."""
    means: list[tuple[str, ...]] = []
    tests: list[tuple[str, ...]] = []
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
                means.append((group, str(n), signed(in_points(mean), digits=2)))
            means.append(())
            tests.append((comparison_name, *_importance(comparison)))
    if (program_test := importance.as_program) is not None:
        tests.append(
            (
                "triggers as the program: sub-words, |D|",
                f"{program_test.effect:.3f}",
                _starred(program_test.test),
                "",
            )
        )
    parts: list[Piece] = [
        ReportTable.of(
            f'{title}: salience for the translation of "it", {importance.n_sentences} sentences',
            ("", "n", "mean salience"),
            means,
        ),
        ReportTable.of("", ("", "D", "p (Welch)", "p (paired)"), tests),
    ]
    parts.append(
        Line(
            "salience in percentage points of probability; D: Cohen's d, above 0 if the first"
            " matter more; *: p < 0.05",
            "about",
        )
    )
    notes = {
        "sentences without their twin, whose triggers are unknown": importance.n_alone,
        "sentences in which a referent was not found": importance.n_without_referents,
    }
    parts += [f"ignored: {n} {what}" for what, n in notes.items() if n]
    if importance.skipped:
        name, reason = next(iter(importance.skipped.items()))
        parts.append(f"not measured: {len(importance.skipped)} sentences, such as {name}: {reason}")
    return parts


def _importance(importance: Importance) -> tuple[str, str, str]:
    return (
        signed(importance.effect),
        _starred(importance.welch),
        "" if importance.paired is None else _starred(importance.paired),
    )


def _starred(test: TTest) -> str:
    return p_text(test.p_value) + ("*" if test.p_value < _SIGNIFICANT else "")
