"""What a check of a judge has found, as tables and as JSON, in percent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
from cc_hf.plugins.judges.judge_check import JudgeCheck
from cc_hf.records import write_record
from cc_hf.reports.numbers import count, percent
from cc_hf.reports.report_parts import Line, Piece, ReportTable

__all__ = ["judge_check_row", "judge_check_tables"]

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
