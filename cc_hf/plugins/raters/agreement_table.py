"""How often results agree with human annotators, as a table, as JSON and as notes, beside Table 2
of Vamvas & Sennrich 2021, in percent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from cc_hf.plugins.raters.compared import AgreementRow
from cc_hf.plugins.raters.published import (
    CITATION_KEY,
    published_agreement,
    published_earlier_kappas,
    published_kappas,
)
from cc_hf.reports.figure_text import data_name, metric_name
from cc_hf.reports.numbers import decimal, limits, percent
from cc_hf.reports.report_parts import Cell, ReportTable
from cc_hf.reports.tables.base import grouped_notes
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.signature import parse

__all__ = ["agreement_json", "agreement_notes", "human_agreement_table"]


def human_agreement_table(rows: Sequence[AgreementRow]) -> ReportTable:
    """Return a table with one line per result, and those of the paper after them."""
    keys = [(row.result.dataset, row.result.tgt_lang, row.result.metric) for row in rows]
    shown: list[Sequence[str | Cell]] = []
    for index, (row, key) in enumerate(zip(rows, keys, strict=True)):
        agreement = row.agreement
        assumed = f" + {agreement.n_assumed:.0f}" if agreement.n_assumed else ""
        scores = ("–" if math.isnan(score) else percent(score) for score in agreement.f_scores)
        cells: Sequence[str | Cell] = [
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
