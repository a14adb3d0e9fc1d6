"""Judges beside people, as tables, as JSON and as notes: what a check of a judge has found, and how
often results agree with human annotators, beside Table 2 of Vamvas & Sennrich 2021, in percent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from cc_hf.comparing.people.compared import AgreementRow
from cc_hf.comparing.people.published import (
    CITATION_KEY,
    published_agreement,
    published_earlier_kappas,
    published_kappas,
)
from cc_hf.evaluation.judge_check import JudgeCheck
from cc_hf.evidence import Rate, bias_limits, kappa, rates, shown_rates
from cc_hf.languages import language_name
from cc_hf.levels import (
    ACCURACIES,
    MEANINGS,
    RANKS_ONLY,
    SCREEN,
    SUPPORTED,
    Trust,
    labels_to_rank,
    missing_labels,
    readings_of,
)
from cc_hf.records import write_record
from cc_hf.reports.figure_text import data_name, metric_name
from cc_hf.reports.numbers import count, decimal, limits, percent
from cc_hf.reports.report_parts import Cell, Line, Piece, ReportTable, Texts
from cc_hf.reports.tables.base import grouped_notes
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.signature import parse

__all__ = [
    "AgreementRow",
    "agreement_json",
    "agreement_notes",
    "human_agreement_table",
    "judge_check_row",
    "judge_check_tables",
]

_READINGS = {"female": "women", "male": "men", "": "all"}


def judge_check_tables(checked: JudgeCheck) -> Iterator[Piece]:
    """Yield the level on each test set, the rates behind it, and what is missing for a better."""
    name = checked.evaluator.rpartition("@")[0] or checked.evaluator
    source, _, target = checked.languages.partition("-")
    yield Line(f"{name}, {language_name(source)} to {language_name(target)}", "title")
    for dataset, trust in checked.by_dataset().items():
        yield Line(f"\n{dataset}: {trust.level}", "bold")
        meaning = MEANINGS[trust.level]
        yield f"{meaning[0].upper()}{meaning[1:]}."
        rows, moved = [], []
        for reading in readings_of(trust.rows):
            of_figure = rates(trust.rows, reading)
            texts = map(_rate_text, (of_figure.right, of_figure.wrong))
            rows.append((_READINGS[reading], *texts))
            limits = (bias_limits(accuracy, of_figure) for accuracy in ACCURACIES)
            spans = (f"{100 * low:+.1f} to {100 * high:+.1f}" for low, high in limits)
            moved.append((_READINGS[reading], *spans))
        yield ReportTable.of("", ("", "right found right", "wrong found wrong"), rows)
        accuracies = ("accuracy", *(f"{100 * a:.0f} %" for a in ACCURACIES))
        yield ReportTable.of(
            "By how many points its mistakes may move an accuracy:", accuracies, moved
        )
        yield from _remarks(trust)


def _rate_text(rate: Rate) -> str:
    if not rate.n:
        return "no labels"
    low, high = rate.limits
    return (
        f"{count(rate.n_found)} of {count(rate.n)}, {percent(rate.value)} % ({percent(low)} –"
        f" {percent(high)})"
    )


def _remarks(trust: Trust) -> Iterator[str]:
    """Yield the kappas, what shows neither reading, and what is missing for the next level."""
    reading = readings_of(trust.rows)[0]
    shown = shown_rates(trust.rows, reading)
    with_labels = kappa(shown)
    people = next((r.people_kappa for r in trust.rows if r.people_kappa is not None), None)
    if with_labels is not None:
        among = "" if people is None else f"; of the people among themselves {people:.3f}"
        yield f"kappa with the labels {with_labels:.3f}{among}"
    n_neither = sum(row.n_neither for row in trust.rows)
    if n_neither and trust.rows[0].threshold:
        n_shown = sum(row.n_right_neither + row.n_wrong_neither for row in trust.rows)
        n_found = sum(row.n_neither_found for row in trust.rows)
        yield (
            f"{count(n_neither)} translations show neither; it finds {count(n_found)} of them, and"
            f" {count(n_shown)} of the {count(shown.right.n + shown.wrong.n + n_shown)} others"
        )
    elif n_neither:
        n_right = sum(row.n_neither_right for row in trust.rows)
        word = "of the reading that is counted" if trust.rows[0].is_open else "right"
        yield f"{count(n_neither)} translations show neither; it finds {count(n_right)} {word}"
    yield from _missing(trust)


def _missing(trust: Trust) -> Iterator[str]:
    """Yield what is missing for the next level."""
    if trust.level == SCREEN:
        for reading in readings_of(trust.rows):
            n = labels_to_rank(shown_rates(trust.rows, reading))
            whom = f" on {_READINGS[reading]}" if reading else ""
            if n is None:
                yield f"missing for {RANKS_ONLY}: fewer mistakes{whom}; more labels will not help"
            else:
                yield f"missing for {RANKS_ONLY}{whom}: {count(n)} labels of each kind in all"
        return
    if trust.level == SUPPORTED:
        return
    if all(row.n_people < 2 for row in trust.rows):
        yield f"missing for {SUPPORTED}: labels by two people or more"
        return
    for reading in readings_of(trust.rows):
        needed = missing_labels(rates(trust.rows, reading))
        for which, n in zip(("right", "wrong"), needed, strict=True):
            whom = f" of {_READINGS[reading]}" if reading else ""
            if n is None:
                yield f"missing for {SUPPORTED}: fewer mistakes on {which} translations{whom}"
            elif n:
                yield f"missing for {SUPPORTED}: {count(n)} labels of {which} translations{whom}"


def judge_check_row(checked: JudgeCheck) -> dict[str, Any]:
    """Return what was found as plain values; shares are in [0, 1]."""
    return {
        "evaluator": checked.evaluator,
        "languages": checked.languages,
        "levels": {
            dataset: {
                "level": trust.level,
                "accuracies": list(ACCURACIES),
                "bias": {name: list(moved) for name, moved in trust.bias.items()},
            }
            for dataset, trust in checked.by_dataset().items()
        },
        "evidence": [*map(write_record, checked.evidence)],
        "not_run": dict(checked.not_run),
        **({"file": str(checked.file)} if checked.file else {}),
    }


def human_agreement_table(rows: Sequence[AgreementRow]) -> ReportTable:
    """Return a table with one line per result. After the last result of a test set and metric comes
    the line that the paper has for them.
    """
    keys = [(row.result.dataset, row.result.tgt_lang, row.result.metric) for row in rows]
    shown: list[Texts] = []
    for index, (row, key) in enumerate(zip(rows, keys, strict=True)):
        agreement = row.agreement
        assumed = f" + {agreement.n_assumed:.0f}" if agreement.n_assumed else ""
        scores = ("–" if math.isnan(score) else percent(score) for score in agreement.f_scores)
        cells: Texts = [
            f"{data_name(row.result)}: {_name(row.result)}",
            f"{agreement.n_open}{assumed}",
            _percent(agreement.agreement, agreement.interval),
            percent(agreement.strict_agreement),
            _percent(agreement.weighted_agreement, agreement.weighted_interval),
            decimal(agreement.kappa),
            " / ".join(scores),
        ]
        shown.append(cells)
        if key not in keys[index + 1 :] and (published_row := published_agreement(*key)):
            name = f"{metric_name(published_row.metric)}, {CITATION_KEY}, {published_row.source}"
            figures = (published_row.agreement, published_row.weighted_agreement)
            agreed, weighted = map(_percent, figures)
            shown.append([f"{data_name(row.result)}: {name}", "", agreed, "", weighted, "", ""])
    names = ("labels", "agreement", "strict", "weighted", "kappa", "F1")
    return ReportTable.of(
        "agreement with human labels",
        ("data and what judged it", *names),
        shown,
        "percent; 95 % intervals over translations, of kappa by bootstrap; strict: an inconclusive"
        " verdict agrees with nothing; F1: of male and female, or of correct and wrong",
    )


def agreement_notes(rows: Sequence[AgreementRow]) -> list[str]:
    """Return what the table omits: confusions, annotators' kappas, counts, and signatures."""
    notes = []
    for row in rows:
        agreement, annotators = row.agreement, row.annotators
        notes.append(f"{data_name(row.result)}, {_name(row.result)}")
        confusion = "; ".join(
            f"human {name}: judged {counts}"
            for name, counts in zip(agreement.labels, agreement.confusion, strict=True)
        )
        notes.append(f"  {confusion} (columns {', '.join(agreement.labels)})")
        if agreement.n_inconclusive:
            notes.append(
                f"  {agreement.n_inconclusive} of {agreement.n_labels} labels are of translations"
                f" with an inconclusive verdict, which stands for {agreement.inconclusive}"
            )
        if agreement.coverage is not None:
            notes.append(
                f"  assumed verdicts decide {percent(agreement.coverage)} % of the"
                f" translations and stand for {agreement.n_assumed:.1f} labels beside"
                f" {agreement.n_open} human ones"
            )
        if agreement.n_skipped:
            notes.append(
                f"  {agreement.n_skipped} annotated translations are not those that were judged,"
                " and were ignored"
            )
        notes += [f"  {note}" for note in _kappa_notes(row)]
        notes += [
            f"  {note}"
            for note in grouped_notes(
                {
                    **agreement.interval_notes(),
                    "kappa of the annotators": annotators.binarised_interval.note,
                }
            )
        ]
        notes.append(f"  signature: {row.result.signature}")
    return notes


def _kappa_notes(row: AgreementRow) -> Iterator[str]:
    """Yield the annotators' kappas, with each other and earlier labels, beside the printed ones."""
    annotators, data = row.annotators, (row.result.dataset, row.result.tgt_lang)
    raw = (
        ""
        if annotators.kappa_raw is None
        else f"{decimal(annotators.kappa_raw, digits=4)} on {annotators.n_raw} raw labels, "
    )
    printed = ""
    if kappas := published_kappas(*data):
        printed = f" ({CITATION_KEY}, Table A3: {', '.join(map(decimal, kappas))})"
    kappa = _with_limits(annotators.kappa_binarised, annotators.binarised_interval)
    mean = f", mean over {len(annotators.pairs)} pairs" if annotators.pairs else ""
    yield (
        f"kappa of the annotators{mean}: {raw}{kappa} on {annotators.n_binarised} binary"
        f" ones{printed}; Krippendorff's alpha {decimal(annotators.alpha, digits=4)}"
    )
    for pair in annotators.pairs:
        left, right = pair.annotators
        raw = (
            "" if pair.kappa_raw is None else f"{decimal(pair.kappa_raw, digits=4)} on raw labels, "
        )
        kappa = f"{raw}{decimal(pair.kappa_binarised, digits=4)} on binary ones"
        yield f"kappa of annotators {left} and {right}: {kappa}"
    for earlier in row.earlier:
        published_kappa = published_earlier_kappas(*data).get(earlier.annotator)
        printed = ""
        if published_kappa is not None:
            printed = f" ({CITATION_KEY}, Table A4: {decimal(published_kappa)})"
        kappa = _with_limits(earlier.kappa, earlier.interval)
        yield (
            f"kappa of annotator {earlier.annotator} with earlier labels: {kappa} on"
            f" {earlier.n}{printed}"
        )


def _with_limits(kappa: float, interval: Interval | NoInterval) -> str:
    shown = limits(interval, digits=2)
    return decimal(kappa, digits=4) + (f" ({shown})" if shown else "")


def agreement_json(rows: Sequence[AgreementRow]) -> list[dict[str, Any]]:
    """Return the rows as plain dicts with values in [0, 1], including the published figures."""
    json_rows = []
    for row in rows:
        result, published_row = (
            row.result,
            published_agreement(row.result.dataset, row.result.tgt_lang, row.result.metric),
        )
        names = {
            name: getattr(result, name)
            for name in ("dataset", "config", "tgt_lang", "metric", "signature")
        }
        published_json = (
            None if published_row is None else {**asdict(published_row), "citation": CITATION_KEY}
        )
        json_rows.append(
            {
                **names,
                **({"system": result.system} if result.system else {}),
                **asdict(row.agreement),
                "f_scores": {
                    name: None if math.isnan(score) else score
                    for name, score in zip(
                        row.agreement.labels, row.agreement.f_scores, strict=True
                    )
                },
                "annotators": asdict(row.annotators),
                **(
                    {"earlier": [asdict(earlier) for earlier in row.earlier]} if row.earlier else {}
                ),
                "published": published_json,
            }
        )
    return json_rows


def _name(result: EvaluationResult) -> str:
    fields = parse(result.signature)[1]
    with_what = fields.get("eval") or fields.get("lemma") or fields.get("align")
    names = (result.system, metric_name(result.metric), with_what)
    return ", ".join(name for name in names if name)


def _percent(value: float | None, interval: Interval | NoInterval | None = None) -> Cell:
    """Return a percentage with two digits and its interval, or with one as in the paper."""
    if value is None:
        return Cell("")
    digits = 2 if isinstance(interval, Interval) else 1
    return Cell(percent(value, digits=digits), limits(interval))
