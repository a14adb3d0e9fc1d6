"""Tables of an audit, each with what it means for the figures that the judge gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from cc_hf.reports.figure_text import ratio_text, with_interval
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.results import Interval
from cc_hf_studies.metric_bias.guards import WRONG_TEXTS

if TYPE_CHECKING:
    from cc_hf_studies.metric_bias.audit import Audit
    from cc_hf_studies.metric_bias.calibration import Reliability
    from cc_hf_studies.metric_bias.choices import Choices
    from cc_hf_studies.metric_bias.guards import Passed
    from cc_hf_studies.metric_bias.pairs import PairBias
    from cc_hf_studies.metric_bias.preference import Errors, PairShare, Preference
    from cc_hf_studies.metric_bias.verdicts import Checked

__all__ = ["audit_tables", "pair_table", "preferred_gender", "summary", "verdict_tables"]


def summary(audit: Audit) -> list[str]:
    """Return what a reader of the judge's figures must know, one sentence each."""
    sentences = []
    for name, lean in audit.open_sets.items():
        side = preferred_gender(lean.masculine)
        start = f"prefers the {side} translation" if side else "no preference for a gender shows"
        share = with_interval(lean.masculine.value, lean.masculine.interval)
        sentences.append(f"{name}: {start} where the source says none: masculine {share}.")
    for name, wrong in audit.known_sets.items():
        shares = [with_interval(s.value, s.interval) for s in (wrong.feminine, wrong.masculine)]
        sentences.append(
            f"{name}: where the source says the gender, it is wrong on women in {shares[0]} and on"
            f" men in {shares[1]} of 100."
        )
    if audit.choices is not None:
        sentences.append(_choices(audit.choices))
    let_pass = [
        f"{WRONG_TEXTS[kind]} {check.n_passed} of {check.n}"
        for kind, check in audit.guards.items()
        if check.n_passed * 20 > check.n
    ]
    if let_pass:
        sentences.append(f"Not worse than the right translation: {', '.join(let_pass)}.")
    return sentences


def _choices(choices: Choices) -> str:
    """Return what came back from a language model, in a sentence or two."""
    orders, changed = "one order", ""
    if choices.n_changed is not None:
        orders = "both orders"
        changed = f" and {choices.n_changed:,} another one when they are swapped"
    ties = (
        f"Of {choices.n:,} questions in {orders} of the options, {choices.n_invalid:,} have no"
        f" valid answer{changed}, which are ties."
    )
    if choices.first is None:
        return ties
    first = with_interval(choices.first, None).strip()
    return f"{ties} The first option is named by {first} of 100 valid answers."


def preferred_gender(masculine: PairShare) -> str:
    """Return the gender that is preferred, "" if the interval holds one half.

    Examples:
        >>> from cc_hf_studies.metric_bias.preference import PairShare
        >>> preferred_gender(PairShare(0.7, 100, Interval(0.6, 0.8, 0.95)))
        'masculine'
    """
    interval = masculine.interval
    if not isinstance(interval, Interval):
        return ""
    return "masculine" if interval.low > 0.5 else "feminine" if interval.high < 0.5 else ""


def audit_tables(audit: Audit) -> Iterable[Piece]:
    """Yield a table of each part of the audit, and the summary."""
    if audit.open_sets:
        yield Line("Where the source leaves the gender open, masculine preferred", "heading")
        yield _open_table(audit.open_sets, has_shifts=audit.choices is None)
    if audit.known_sets:
        yield Line("Where the source says the gender, errors", "heading")
        yield _known_table(audit.known_sets)
    if audit.calibration:
        yield Line("Probabilities of the right answer", "heading")
        yield _calibration_table(audit.calibration)
    if audit.guards:
        yield Line(
            f"Wrong texts beside the right one (mean score {audit.reference_score:.2f})", "heading"
        )
        yield _guards_table(audit.guards)
    yield from summary(audit)
    yield Line(audit.signature, "dim")


def _open_table(sets: Mapping[str, Preference], *, has_shifts: bool = True) -> Piece:
    shift = ["median shift"] * has_shifts
    table: list[tuple[str, ...]] = [
        (
            name,
            f"{lean.masculine.n:,}",
            with_interval(lean.masculine.value, lean.masculine.interval),
            f"{lean.n_ties:,}",
            *[f"{lean.median_shift:+.3f}".replace("-", "−")] * has_shifts,
            *(
                with_interval(share.value, share.interval) if share else ""
                for share in map(lean.by_referent.get, ("male", "female"))
            ),
        )
        for name, lean in sets.items()
    ]
    return ReportTable.of(
        "", ("set", "n", "percent (95 %)", "ties", *shift, "of men", "of women"), table
    )


def _known_table(sets: Mapping[str, Errors]) -> Piece:
    table: list[tuple[str, ...]] = []
    for name, wrong in sets.items():
        gap = wrong.feminine.value - wrong.masculine.value
        table.append(
            (
                name,
                f"{wrong.feminine.n:,}",
                *(with_interval(s.value, s.interval) for s in (wrong.feminine, wrong.masculine)),
                ratio_text(wrong.ratio, wrong.ratio_interval),
                with_interval(gap, wrong.gap_interval),
            )
        )
        for label, shares in (
            ("without the median shift", wrong.shift_free),
            ("between sources", wrong.by_source),
        ):
            if not shares:
                continue
            women, men = shares["female"], shares["male"]
            texts = [with_interval(s.value, s.interval) for s in (women, men)]
            table.append((f"  {label}", f"{women.n:,}", *texts, "", ""))
    return ReportTable.of(
        "", ("set, which errors", "n", "on women", "on men", "ratio", "difference"), table
    )


def _calibration_table(calibration: Mapping[str, Reliability]) -> Piece:
    table: list[tuple[str, ...]] = [
        (
            name.removeprefix("by ") + "s",
            f"{measured.n:,}",
            with_interval(measured.accuracy, None),
            with_interval(measured.error, None),
            f"{measured.brier:.3f}",
            f"{measured.temperature:.3f}",
        )
        for name, measured in calibration.items()
    ]
    return ReportTable.of(
        "", ("compared", "n", "right", "calibration error", "Brier", "temperature"), table
    )


def _guards_table(guards: Mapping[str, Passed]) -> Piece:
    table: list[tuple[str, ...]] = []
    for kind, check in guards.items():
        mean = f"{check.mean:.2f}".replace("-", "−")
        table.append((WRONG_TEXTS[kind], f"{check.n:,}", f"{check.n_passed:,}", mean))
    return ReportTable.of("", ("text", "n", "not worse", "mean score"), table)


def verdict_tables(made: Checked) -> Iterable[Piece]:
    """Yield tables of released verdicts, of those by words, and of what a judge finds."""
    yield Line("Correct translations, by the released verdicts and by words", "heading")
    table: list[tuple[str, ...]] = [("released", *_numbers(made.n_correct), "", "")]
    for tokens, rule in made.rules.items():
        name = f"gender_accuracy, tokens={tokens}"
        table.append(
            (name, *_numbers(rule.n_correct), f"{rule.n_agree:,}", f"{rule.n_undecided:,}")
        )
    yield ReportTable.of(
        "", ("verdicts", "of women", "of men", "of pairs", "agree", "undecided"), table
    )
    yield (
        f"{made.n_equal:,} pairs have the same translation for both; {made.n_comparable:,} are"
        " right and equally good by BLEU."
    )
    if made.preference is not None and made.ratio is not None:
        lean, ratio = made.preference, ratio_text(made.ratio, made.ratio_interval)
        yield Line(
            "Which of two equally good translations is better, each under its own source", "heading"
        )
        yield _open_table({"right in both": lean})
        yield f"The score of the feminine one is {ratio} of that of the masculine one."
    if made.agreement:
        yield Line("Contrastive conditioning beside the released verdicts", "heading")
        rows: list[tuple[str, ...]] = []
        for name, beside in made.agreement.items():
            shares = (beside.share, beside.of_correct, beside.of_incorrect)
            texts = [with_interval(share.value, share.interval) for share in shares]
            area = with_interval(beside.auc, beside.auc_interval)
            rows.append((name, f"{beside.share.n:,}", *texts, area))
        yield ReportTable.of(
            "", ("translations", "n", "agree (95 %)", "of correct", "of incorrect", "AUC"), rows
        )
    yield Line(made.signature, "dim")


def _numbers(n_correct: Mapping[str, int]) -> list[str]:
    return [f"{n_correct[name]:,}" for name in ("female", "male", "both")]


def pair_table(biases: Mapping[str, PairBias]) -> Piece:
    """Return a table of what systems do with pairs, a column for each."""
    table: list[tuple[str, ...]] = []
    rows: dict[str, list[PairShare | None]] = {
        "both right": [bias.right for bias in biases.values()],
        "one gender for both": [bias.same for bias in biases.values()],
        "  male for both": [bias.same_gender["male"] for bias in biases.values()],
        "  female for both": [bias.same_gender["female"] for bias in biases.values()],
        "two genders": [bias.different for bias in biases.values()],
        "one without a gender": [bias.unread for bias in biases.values()],
        "of right ones, stereotype female": [b.right_pro.get("female") for b in biases.values()],
        "of right ones, stereotype male": [b.right_pro.get("male") for b in biases.values()],
    }
    for label, shares in rows.items():
        if any(shares):
            texts = [
                with_interval(share.value, share.interval) if share else "" for share in shares
            ]
            table.append((label, *texts))
    return ReportTable.of("", ("percent of pairs (95 %)", *biases), table)
