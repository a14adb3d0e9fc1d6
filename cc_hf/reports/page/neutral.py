"""Hints of neutral translations, and what is read where the source is neutral, as tables whose
figures open samples.
"""

from __future__ import annotations

from collections.abc import Iterable

from cc_hf.comparing.uncertain import WITHIN, is_uncertain
from cc_hf.figure_keys import figure_key
from cc_hf.reports.derived_figures import derived_figures
from cc_hf.reports.figure_text import metric_name, with_interval
from cc_hf.reports.numbers import count, percent
from cc_hf.reports.page.standing_out import LinkedText, LinkTable, sample_link
from cc_hf.reports.report import Report
from cc_hf.results import EvaluationResult
from cc_hf.statistics.shares import wilson_share

__all__ = ["neutral_tables"]


def neutral_tables(report: Report) -> Iterable[LinkTable]:
    """Yield how many samples of each system are uncertain by each metric with probabilities, and
    how each metric that reads genders reads samples of neutral gender.
    """
    for metric in report.judging:
        link = sample_link(report, metric)
        unsure = {"verdict": "unsure", "order": "unsure"}
        uncertain, readings = [], []
        columns = dict.fromkeys(
            reading for result in report.of_metric(metric).values() for reading in _texts(result)
        )
        for system, result in report.of_metric(metric).items():
            judged = [j for j in result.judgements if j.probability_correct is not None]
            if judged:
                share = wilson_share(sum(map(is_uncertain, judged)), len(judged))
                href = link({**unsure, "system": system}) if share.k else ""
                text = with_interval(share.value, share.interval)
                cells = ((LinkedText(count(share.k), href),), (LinkedText(text),))
                uncertain.append((system, cells))
            if texts := _texts(result):
                hrefs = {c: link({"system": system, "gold": "neutral", "found": c}) for c in texts}
                readings.append(
                    (
                        system,
                        tuple(
                            (LinkedText(texts.get(c, percent(0)), hrefs.get(c, "")),)
                            for c in columns
                        ),
                    )
                )
        name = metric_name(metric)
        if uncertain:
            limits = (f"{50 + sign * 100 * WITHIN:g}" for sign in (-1, 1))
            title = f"Samples with a probability from {' to '.join(limits)} %: {name}"
            yield LinkTable(title, "system", ("samples", "% (95 %)"), tuple(uncertain))
        if readings:
            title = f"How samples of neutral gender are read, %: {name}"
            yield LinkTable(
                title, "system", tuple(c or "nothing" for c in columns), tuple(readings)
            )


def _texts(result: EvaluationResult) -> dict[str, str]:
    """Return how often samples of neutral gender are read as each gender, "" for neither."""
    figures = [(figure_key(figure.name), figure) for figure in derived_figures(result)]
    return {
        key.category: with_interval(figure.value, figure.interval)
        for key, figure in figures
        if key.name == "neutral_as"
    }
