"""Adversarial attacks as tables and as a page: success by kind of change (Figure
3.2 of the thesis) and by bias, and seeds beside attacked sentences with the changed word marked.
Rates are in percent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import count, decimal, limits, p_text, percent
from cc_hf.reports.page.page import small_page
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.reports.tables.base import note_lines
from cc_hf.statistics.shares import Share
from cc_hf_studies.disambiguation_bias.attacks.changes import KINDS
from cc_hf_studies.disambiguation_bias.attacks.judge import AttackFigures, JudgeAgreement
from cc_hf_studies.disambiguation_bias.attacks.judging import AttackReport
from cc_hf_studies.disambiguation_bias.attacks.samples import AdversarialSample, AttackJudgement
from cc_hf_studies.disambiguation_bias.attacks.sheets import SheetFigures
from cc_hf_studies.disambiguation_bias.attacks.transfer import Transfer

__all__ = [
    "attack_page",
    "attack_tables",
    "generation_table",
    "sheet_tables",
    "transfer_table",
]

#: What the judges are called in reports.
JUDGE_NAMES = {
    "lexicon": "words of the senses",
    "contrastive": "contrastive conditioning",
}
_KIND_NAMES = {
    "": "all",
    "insert_at_homograph": "inserted before the homograph",
    "replace_at_homograph": "exchanged before the homograph",
    "insert_at_other": "inserted before another noun",
    "replace_at_other": "exchanged before another noun",
}
_SCORE_NAMES = {
    "freq_adv": "FREQ of the wrong sense",
    "ppmi_adv": "PPMI of the wrong sense",
    "freq_diff": "FREQ difference",
    "ppmi_diff": "PPMI difference",
}
_MOST_SHOWN = 100  # successful attacks on a page
_MOST_FAILED = 20  # others

#: Numbers that `select_seeds`, `generate_samples` and `fluent_samples` count -> what they are.
_STEPS = {
    "n_pairs": "tagged pairs",
    "n_unknown": "without a homograph of the table of attractors",
    "n_short": "too short",
    "n_unclear": "the masked model prefers another sense",
    "n_biased": "most biased towards a wrong sense",
    "n_seeds": "seeds",
    **{kind: f"samples: {name}" for kind, name in _KIND_NAMES.items() if kind},
    "n_not_fluent": "samples dropped: less fluent than the seed",
    "n_samples": "samples",
}


def generation_table(counts: Mapping[str, int]) -> ReportTable:
    """Return how many seeds and samples each step kept or dropped."""
    table: list[tuple[str, ...]] = [
        (label, count(counts[name])) for name, label in _STEPS.items() if counts.get(name)
    ]
    return ReportTable.of("", ("", "n"), table)


def attack_tables(report: AttackReport) -> list[Piece]:
    """Return success by kind and by bias, correlations, and the agreement of the judges."""
    parts: list[Piece] = []
    for figures in report.figures:
        parts += [
            Line(f"attacks on {report.system}, judged by {JUDGE_NAMES[figures.judge]}", "heading"),
            _seeds_line(figures),
            _share_table("change", _by_kind(figures)),
            _share_table("FREQ difference", figures.by_bias),
        ]
        parts.append(_correlation_table(figures) or "no correlation: all attacks end alike")
    if report.agreement is not None:
        parts.append(agreement_line(report.agreement))
    return [*parts, *note_lines(report.notes), f"signature: {report.signature}"]


def _by_kind(figures: AttackFigures) -> list[tuple[str, Share]]:
    by_kind = {
        f"{_KIND_NAMES[kind]} ({KINDS[kind]})": share for kind, share in figures.by_kind.items()
    }
    return [(_KIND_NAMES[""], figures.total), *by_kind.items()]


def _seeds_line(figures: AttackFigures) -> str:
    flips = (
        ""
        if figures.n_flipped is None
        else f"; {figures.n_flipped:,} samples are flipped to any wrong sense"
    )
    return (
        f"{figures.n_samples:,} samples of {figures.n_seeds:,} seeds, of which"
        f" {figures.n_seeds_correct:,} are translated correctly and count{flips}"
    )


def _share_table(name: str, rows: Iterable[tuple[str, Share]]) -> ReportTable:
    table: list[tuple[str, ...]] = [
        (label, count(share.n), count(share.k), percent(share.value), limits(share.interval))
        for label, share in rows
    ]
    return ReportTable.of("", (name, "n", "succeed", "%", "95 % interval"), table)


def _correlation_table(figures: AttackFigures) -> ReportTable | None:
    prediction = figures.prediction
    if prediction is None:
        return None
    table: list[tuple[str, ...]] = [
        (
            _SCORE_NAMES[row.feature],
            decimal(row.test.rank_biserial, digits=3),
            row.size,
            f"{row.u:.1f}",
            p_text(row.test.p_value),
        )
        for row in prediction.tests
    ]
    return ReportTable.of("", ("bias of the adjective", "RBC", "size", "U", "p"), table)


def agreement_line(agreement: JudgeAgreement) -> str:
    """Return how well both judges agree, as a sentence."""
    kappa = decimal(agreement.kappa, agreement.kappa_interval)
    return (
        f"Both judges agree on {percent(agreement.agreement)} % of {agreement.n:,} samples whose"
        f" seed both find correct, kappa {kappa}: {agreement.n_both:,} attacks succeed by both,"
        f" {agreement.n_success[0]:,} by the words of the senses, {agreement.n_success[1]:,} by"
        " contrastive conditioning. They agree on whether the seed is correct for"
        f" {agreement.n_seeds_agree:,} of {agreement.n_seeds:,} samples."
    )


def transfer_table(transfers: Sequence[Transfer], *, judge: str) -> list[Piece]:
    """Return how far systems fall for the same attacks."""
    table: list[tuple[str, ...]] = []
    for row in transfers:
        index = "" if row.jaccard is None else percent(row.jaccard)
        table.append(
            (" + ".join(row.systems), count(row.n), count(row.n_all), count(row.n_any), index)
        )
    return [
        ReportTable.of(
            f"successful attacks that transfer, judged by {JUDGE_NAMES[judge]}",
            ("systems", "n", "succeed on all", "on any", "Jaccard, %"),
            table,
        ),
        "n: samples whose seed all of these systems translate correctly",
    ]


def sheet_tables(figures: SheetFigures) -> list[Piece]:
    """Return error rates, naturalness and agreement of two raters."""
    table: list[tuple[str, ...]] = [
        (
            kind.kind,
            count(kind.n),
            percent(kind.error_rate),
            limits(kind.interval),
            count(kind.n_wrong),
            count(kind.n_none),
            count(kind.n_both),
            f"{kind.naturalness:.2f}",
        )
        for kind in figures.kinds
    ]
    kappas = ", ".join(f"{decimal(v)} ({w} weights)" for w, v in figures.naturalness_kappas.items())
    return [
        ReportTable.of(
            f"two raters on {figures.n:,} sentences",
            (
                "sentences",
                "answers",
                "errors, %",
                "95 % interval",
                "wrong",
                "none",
                "both",
                "naturalness",
            ),
            table,
        ),
        "error: any answer other than the right sense; naturalness from 1 to 5",
        f"kappa on the sense: {decimal(figures.kappa, figures.kappa_interval)}",
        f"weighted kappa on naturalness: {kappas}",
    ]


class _Row(NamedTuple):
    """A share as the page shows it; widths and positions are in percent of the chart."""

    label: str
    share: Share
    text: str
    width: str
    low: str
    high: str


class _Part(NamedTuple):
    """A part of a sentence and its mark: "", "changed", "removed" or "homograph"."""

    text: str
    mark: str


def attack_page(
    report: AttackReport, judgements: Iterable[AttackJudgement], *, command: str = ""
) -> str:
    """Return a page with the figures and with seeds beside attacked sentences; it loads nothing."""
    judge = report.figures[0].judge
    examples = _chosen(judgements, judge)
    return small_page(
        "cc_hf_studies:disambiguation_bias/attacks/attacks.html.jinja",
        title=f"Adversarial attacks on {report.system}",
        about=(
            "An attack succeeds if the seed is translated correctly, and the homograph in the"
            " attacked sentence gets the sense that goes with the adjective. Rates are in percent"
            " of the samples whose seed is translated correctly; lines are 95 % intervals over"
            " seeds."
        ),
        command=command,
        sections=[
            {
                "judge": JUDGE_NAMES[figures.judge],
                "seeds": _seeds_line(figures),
                "charts": [
                    ("Success by change", _chart(_by_kind(figures))),
                    (
                        "Success by FREQ difference, in tenths of the samples",
                        _chart(figures.by_bias),
                    ),
                ],
                "tests": [
                    (
                        _SCORE_NAMES[row.feature],
                        decimal(row.test.rank_biserial, digits=3).replace("-", "−"),
                        row.size,
                        p_text(row.test.p_value),
                    )
                    for row in (figures.prediction.tests if figures.prediction else ())
                ],
            }
            for figures in report.figures
        ],
        agreement="" if report.agreement is None else agreement_line(report.agreement),
        notes=list(dict.fromkeys(report.notes)),
        signature=report.signature,
        examples=[_example(judgement, judge) for judgement in examples],
    )


def _chart(rows: Sequence[tuple[str, Share]]) -> list[_Row]:
    """Return bars on a scale that ends at the largest share or limit."""
    highest = max((share.limits[1] for _, share in rows), default=0.0)
    scale = 100 / highest if highest else 0.0
    chart = []
    for label, share in rows:
        positions = [f"{scale * value:.2f}" for value in (share.value, *share.limits)]
        text = with_interval(share.value, share.interval)
        chart.append(_Row(label.replace("-", "−"), share, text, *positions))
    return chart


def _chosen(judgements: Iterable[AttackJudgement], judge: str) -> list[AttackJudgement]:
    """Return successful attacks, the most biased first, and the most biased of the others."""
    ranked: dict[bool, list[AttackJudgement]] = {True: [], False: []}
    for judgement in judgements:
        verdict = judgement.succeeds(judge)
        if verdict is not None:
            ranked[verdict].append(judgement)
    for rows in ranked.values():
        rows.sort(key=lambda row: -row.sample.freq_diff)
    return ranked[True][:_MOST_SHOWN] + ranked[False][:_MOST_FAILED]


def _example(judgement: AttackJudgement, judge: str) -> dict[str, Any]:
    sample = judgement.sample
    return {
        "succeeds": judgement.succeeds(judge),
        "kind": _KIND_NAMES[sample.kind],
        "homograph": sample.homograph,
        "clusters": (sample.seed_cluster, sample.adv_cluster),
        "freq_diff": f"{sample.freq_diff:+g}".replace("-", "−"),
        "rows": [
            ("seed", seed_parts(sample), judgement.seed_translation, judgement.seed_outcome),
            ("attacked", sample_parts(sample), judgement.translation, judgement.outcome),
        ],
    }


def sample_parts(sample: AdversarialSample) -> list[_Part]:
    """Return the attacked sentence with the new adjective and the homograph marked."""
    end = sample.start + len(sample.adjective)
    marks = [(sample.start, end, "changed"), _homograph(sample.source, sample.homograph_start)]
    return _parts(sample.source, marks)


def seed_parts(sample: AdversarialSample) -> list[_Part]:
    """Return the seed with the exchanged adjective, if there is one, and the homograph marked."""
    marks = [_homograph(sample.seed_source, sample.seed_homograph_start)]
    if sample.replaced:
        # What follows the changed adjective is the same in both sentences.
        n_after = len(sample.source) - sample.start - len(sample.adjective)
        end = len(sample.seed_source) - n_after
        marks.append((end - len(sample.replaced), end, "removed"))
    return _parts(sample.seed_source, marks)


def _homograph(text: str, start: int) -> tuple[int, int, str]:
    end = start
    while end < len(text) and text[end].isalnum():
        end += 1
    return start, end, "homograph"


def _parts(text: str, marks: Iterable[tuple[int, int, str]]) -> list[_Part]:
    parts, position = [], 0
    for start, end, mark in sorted(marks):
        if start >= position:
            parts += [_Part(text[position:start], ""), _Part(text[start:end], mark)]
            position = end
    return [part for part in [*parts, _Part(text[position:], "")] if part.text]
