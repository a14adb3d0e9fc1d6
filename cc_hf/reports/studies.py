"""Studies as tables for the terminal: referent bias, trigger importance, regressions, agreement of evaluators. Shares in percent, correlations as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cc_hf.analysis.case_study import CITATION_KEY, PublishedRegression
from cc_hf.analysis.evaluator_agreement import EvaluatorAgreement
from cc_hf.analysis.referent_bias import Frequency, ReferentBias
from cc_hf.analysis.salience import Importance, TriggerImportance
from cc_hf.reports.tables import heading, percent, plain_table
from cc_hf.results import Interval
from cc_hf.statistics.mean_tests import TTest
from cc_hf.statistics.regression import Regression

__all__ = ["evaluator_agreement_tables", "p_text", "published_regression_tables", "referent_bias_tables", "regression_tables", "trigger_importance_tables"]

_SIGNIFICANT = 0.05


def p_text(value: float) -> str:
    """A p-value as people read it.

    >>> p_text(0.00004), p_text(0.0471)
    ('< 0.001', '0.047')
    """
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def referent_bias_tables(found: ReferentBias, *, title: str) -> Group:
    """Accuracies, how often each pronoun and place was preferred, and the tests with the ids used."""
    pairs = "" if found.pair_accuracy is None else f"; both of a pair right {percent(found.pair_accuracy)} % ({found.n_correct_pairs} of {found.n_pairs})"
    parts: list[RenderableType] = [heading(f"{title}: {percent(found.accuracy)} % right ({found.n_correct} of {found.n}){pairs}")]
    table = plain_table("", "preferred", "% of all", "right, % of all", "offered", "% of offered")
    for frequencies in (found.genders, found.positions):
        _add_frequencies(table, frequencies)
    tests = plain_table("bias", "|RBC|", "size", "attainable", "RBC", "U", "p", "n", "in the data", "ids")
    for one in found.tests:
        values = f"{one.strength:.3f}", one.size, f"{one.attainable:.3f}", f"{one.test.rank_biserial:+.3f}", f"{one.test.u:.1f}", p_text(one.test.p_value), str(one.test.n_first)
        ids = ", ".join(f"{name} {number}" for name, number in one.ids.items())
        tests.add_row(Text(f"{one.feature} ({one.coding})"), *values, f"{abs(one.references.rank_biserial):.3f}", ids)
    parts += [table, tests] if found.tests else [Text("no gender or position is known of any choice")]
    if found.tests:
        limits = found.tests[0].thresholds
        parts.append(Text(f"small from {limits.small:.4f}, medium from {limits.medium:.4f}, large from {limits.large:.4f}; RBC > 0: higher ids are preferred", style="italic"))
    left_out = {"ties or undecided": found.n_open, "of unknown gender": found.n_unknown_gender, "of unknown position": found.n_unknown_position}
    parts += [Text(f"left out of the bias: {n} {what}") for what, n in left_out.items() if n]
    return Group(*parts)


def _add_frequencies(table: Table, frequencies: Mapping[str, Frequency]) -> None:
    """As Table 4.9 of the thesis: shares of all choices; and of those in which the value was one of the two."""
    n = sum(one.n_preferred for one in frequencies.values())
    for name, one in frequencies.items():
        shares = percent(one.n_preferred / n), percent(one.n_correct / n), str(one.n_offered), percent(one.n_preferred / one.n_offered)
        table.add_row(Text(name), str(one.n_preferred), *shares)
    table.add_section()


def trigger_importance_tables(found: TriggerImportance, *, title: str) -> Group:
    """Importance of triggers and referents, and what was left out."""
    table = plain_table("", "n", "mean", "n", "mean", "D", "p (Welch)", "p (paired)")
    table.add_row(Text("triggers against other words"), *_importance(found.triggers))
    if found.referents is not None:
        table.add_row(Text("correct against incorrect referents"), *_importance(found.referents))
    if (own := found.as_program) is not None:
        table.add_row(Text("triggers as the program: sub-words, |D|"), str(own.n_first), "", str(own.n_second), "", f"{own.effect:.3f}", p_text(own.test.p_value), "")
    parts: list[RenderableType] = [heading(f"{title}: salience for the translation of «it», {found.n_sentences} sentences"), table]
    parts.append(Text("mean salience in percentage points of probability; D: Cohen's, above 0 where the first matter more", style="italic"))
    notes = {"sentences without their twin, whose triggers are unknown": found.n_alone, "sentences in which a referent was not found": found.n_without_referents}
    parts += [Text(f"left out: {n} {what}") for what, n in notes.items() if n]
    if found.skipped:
        name, reason = next(iter(found.skipped.items()))
        parts.append(Text(f"not measured: {len(found.skipped)} sentences, such as {name}: {reason}"))
    return Group(*parts)


def _importance(one: Importance) -> Sequence[str]:
    paired = "" if one.paired is None else _starred(one.paired)
    return str(one.n_first), f"{100 * one.mean_first:+.2f}", str(one.n_second), f"{100 * one.mean_second:+.2f}", f"{one.effect:+.3f}", _starred(one.welch), paired


def _starred(test: TTest) -> str:
    return p_text(test.p_value) + ("*" if test.p_value < _SIGNIFICANT else "")


def regression_tables(found: Regression) -> Group:
    """Every coefficient, in the units of the columns."""
    table = plain_table("", "coefficient", "(95 %)", "standard error", "t", "p")
    if found.coefficients[0].interval.level != 0.95:
        table.columns[2].header = Text(f"({100 * found.coefficients[0].interval.level:g} %)")
    for one in found.coefficients:
        star = "*" if one.p_value < _SIGNIFICANT else ""
        table.add_row(
            Text(one.name), f"{one.value:.4g}{star}", f"{one.interval.low:.4g} – {one.interval.high:.4g}", f"{one.standard_error:.4g}", f"{one.t:.2f}", p_text(one.p_value)
        )
    return Group(heading(f"{found.dependent}: least squares, n = {found.n}"), table, _fit(found))


def published_regression_tables(found: Sequence[tuple[PublishedRegression, Regression]]) -> Group:
    """Table 3 of the case study beside what its printed figures give."""
    table = plain_table("", "published", "from the printed table (95 %)", "standard error", "p")
    notes: list[RenderableType] = []
    for block, own in found:
        table.add_row(Text(f"{block.task} en-{block.tgt_lang}", style="bold"), "", "", "", "")
        for name, label, published in (("bleu", "BLEU", block.bleu), ("seqkd", "SeqKD is used", block.seqkd)):
            one = own.coefficient(name)
            star = "*" if one.p_value < _SIGNIFICANT else ""
            value = f"{one.value:.2f}{star} ({one.interval.low:.2f} – {one.interval.high:.2f})"
            table.add_row(Text(f"  {label}"), f"{published:.2f}*", value, f"{one.standard_error:.2f}", p_text(one.p_value))
        table.add_section()
        notes.append(Text.assemble(f"{block.task} en-{block.tgt_lang}: ", _fit(own), f"; {block.note}" if block.note else ""))
    title = heading(f"minimum accuracy by BLEU and distillation ({CITATION_KEY}, Table 3), percentage points; *: p < 0.05")
    return Group(title, table, *notes)


def _fit(found: Regression) -> Text:
    return Text(f"R² {found.r_squared:.3f} (adjusted {found.adjusted_r_squared:.3f}), F {found.f:.2f}, p {p_text(found.f_p_value)}, n = {found.n}", style="italic")


def evaluator_agreement_tables(found: EvaluatorAgreement) -> Group:
    """The figure of each system by each evaluator, and the rank correlations of each pair."""
    figures = plain_table("system", *found.evaluators)
    for at, system in enumerate(found.systems):
        figures.add_row(Text(system), *(percent(found.scores[name][at]) for name in found.evaluators))
    table = plain_table("", "Spearman (95 %)", "Kendall (95 %)")
    for pair in found.pairs:
        own = pair.correlation
        table.add_row(Text(f"{pair.left} and {pair.right}"), _correlation(own.spearman, own.spearman_interval), _correlation(own.kendall, own.kendall_interval))
    table.add_section()
    table.add_row(Text("mean over pairs"), f"{found.mean_spearman:.3f}", f"{found.mean_kendall:.3f}")
    notes = [Text("intervals by bootstrap over systems", style="italic")]
    if n := max(pair.correlation.n_undefined for pair in found.pairs):
        notes.append(Text(f"up to {n} resamples had no order and were left out of an interval: there are few systems"))
    return Group(heading(f"{found.figure.replace('_', ' ')} of {len(found.systems)} systems by {len(found.evaluators)} evaluators"), figures, table, *notes)


def _correlation(value: float, interval: Interval) -> str:
    return f"{value:.3f} ({interval.low:.3f} – {interval.high:.3f})"
