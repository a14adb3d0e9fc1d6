"""Results as tables, with figures in percent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from cc_hf import signature
from cc_hf.figure_keys import CORRECTED, is_corrected
from cc_hf.metrics.base import Metric, registered_metric
from cc_hf.reports.derived_figures import missing_figures
from cc_hf.reports.figure_text import (
    category_label,
    data_name,
    figure_label,
    figure_name,
    figure_rows,
    metric_name,
    ordered_categories,
    score_text,
)
from cc_hf.reports.numbers import count
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.reports.what_to_cite import UNFIT, what_to_cite, why_unfit
from cc_hf.results import EvaluationResult, ResultSet

__all__ = [
    "cite_box",
    "grouped_notes",
    "interval_notes",
    "intervals_text",
    "names_by_note",
    "note_lines",
    "result_table",
    "results_table",
    "shared_notes",
    "unfit_reasons",
]

_NAMED_IN_NOTES = 6  # at most so many figures, because a dataset can have hundreds of categories


def result_table(result: EvaluationResult) -> Iterator[Piece]:
    """Yield the tables of one result, and the lines around them: categories, then the total, the
    minimum and all other figures.
    """
    title = _title(result.system, data_name(result), metric_name(result.metric))
    others = [
        (row.label, row.text)
        for row in figure_rows(result)
        if not result.categories or row.name not in _in_categories(result)
    ]
    lead = "" if "unmarked" in result.unfit else "\n".join(unfit_reasons([("", result)]))
    yield from unmarked_lines([result])
    tables = [_categories_table(result)] if result.categories else []
    if others or not tables:
        tables.append(ReportTable.of("", ("figure", "percent (95 %)"), others))
    tables[0] = replace(tables[0], title=title, lead=lead)
    tables[-1] = replace(tables[-1], caption=_caption([result]))
    yield from tables
    yield from _explanations(result)
    yield from interval_notes(result)
    yield from note_lines(result.notes)
    yield from cite_box([result])


#: Further row or column of the table of categories -> the figure whose meaning explains it.
_EXPLAINED = {
    "minimum": "min_accuracy",
    "inconclusive": "n_inconclusive",
    "neither": "neither_share",
    "mean confidence": "mean_confidence",
}


def _explanations(result: EvaluationResult) -> list[str]:
    """Return what the rows and columns of the table of categories are, one line each."""
    if not result.categories:
        return []
    shown = {*result.scores, *["n_inconclusive"] * any(c.n_inconclusive for c in result.categories)}
    columns = {label: f"{prefix}accuracy" for label, prefix in _kinds(result).items()}
    meanings = {
        label: figure_name(result.metric, name).meaning
        for label, name in {**columns, **_EXPLAINED}.items()
        if name in shown
    }
    if "n_ties" in result.counts and result.ties is not None:
        meanings["ties"] = f"Both sides have the same score; they count as {result.ties}."
    return [f"{label}: {meaning}" for label, meaning in meanings.items() if meaning]


def note_lines(notes: Iterable[str]) -> list[Line]:
    """Return one line of text per note, each note once."""
    return [Line.named("note: ", note, "alert") for note in dict.fromkeys(notes)]


def unfit_reasons(results: Iterable[tuple[str, EvaluationResult]]) -> list[str]:
    """Return a line for each reason that makes results unfit to be cited.

    Args:
        results: pairs of a name, "" for none, and a result.
    """
    names: dict[str, list[str]] = {}
    for name, result in results:
        if reason := why_unfit(result):
            names.setdefault(reason, []).append(name)
    return [
        ": ".join(filter(None, (UNFIT, ", ".join(filter(None, of)), reason)))
        for reason, of in names.items()
    ]


def unmarked_lines(results: Iterable[EvaluationResult]) -> list[Line]:
    """Return a line for each reason why the translations do not show what is asked for."""
    reasons = {
        f"{'Little' if 'n_marked' in result.counts else 'Nothing'} to judge: {why_unfit(result)}"
        for result in results
        if "unmarked" in result.unfit
    }
    return [Line(line, "alert") for line in sorted(reasons)]


def cite_box(results: Iterable[EvaluationResult]) -> list[Line]:
    """Return a frame that says what to cite of the results of one system; [] without scores."""
    cited = what_to_cite(results)
    if cited is None:
        return []
    style = "unfit" if cited.why_not else "green"
    return [Line("\n".join(cited.sentences), style, frame="What to cite")]


def shared_notes(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """Return each note once, preceded by the names of those that have it unless all have it.

    Examples:
        >>> shared_notes({"a": ["x"], "b": ["x", "y"]})
        ['x', 'b: y']
    """
    owners = {
        note: [name for name in notes if note in notes[name]]
        for named_notes in notes.values()
        for note in named_notes
    }
    return [
        note if len(names) == len(notes) else f"{', '.join(names)}: {note}"
        for note, names in owners.items()
    ]


def results_table(result_set: ResultSet) -> Iterator[Piece]:
    """Yield a table of every figure of several metrics on the same translations, and its lines."""
    results = sorted(result_set.results, key=lambda result: bool(why_unfit(result)))
    first = results[0]
    names = "1 metric" if len(results) == 1 else f"{len(results)} metrics"
    rows: list[tuple[str, ...]] = []
    for result in results:
        rows += [(), (metric_name(result.metric), "", "")]
        rows += [(f"  {row.label}", row.n, row.text) for row in figure_rows(result)]
    # Without translations, it is the evaluator that was judged.
    judged = (
        "examples" if signature.parse(first.signature)[1].get("sys") == "scored" else "translations"
    )
    yield from unmarked_lines(results)
    yield ReportTable.of(
        f"{_title(first.system, data_name(first))}: {names} on {first.n:,} {judged}",
        ("", "n", "percent (95 %)"),
        rows,
        _caption(results),
        lead="\n".join(unfit_reasons((metric_name(r.metric), r) for r in results)),
    )
    yield from note_lines(shared_notes({metric_name(r.metric): r.notes for r in results}))
    for result in results:
        yield from (f"{metric_name(result.metric)}: {note}" for note in interval_notes(result))
    yield from cite_box(results)


def _caption(results: Sequence[EvaluationResult]) -> str:
    figures = [name for result in results for name in result.scores]
    return f"percent; intervals {intervals_text([r.metric for r in results], figures)}"


def intervals_text(metrics: Iterable[str], figures: Iterable[str] = ()) -> str:
    """Say how the intervals of each metric are computed; a shared answer is given once.

    Examples:
        >>> intervals_text(["contrastive_conditioning", "simplegen_accuracy"])
        "by Wilson's score, within categories"
    """
    by_text: dict[str, list[str]] = {}
    for metric in dict.fromkeys(metrics):
        declared = registered_metric(metric)
        text = "by the metric's own method" if declared is Metric else declared.interval_method
        by_text.setdefault(text, []).append(metric_name(metric))
    text = next(iter(by_text), "")
    if len(by_text) > 1:
        text = ", ".join(f"{text} ({', '.join(names)})" for text, names in by_text.items())
    has_corrected = any(map(is_corrected, figures))
    return text + "; of corrected figures by prediction-powered inference" * has_corrected


def interval_notes(result: EvaluationResult) -> list[str]:
    """Say which intervals are unusual or missing, and why, with one line per reason."""
    notes = {figure_label(result.metric, n): text for n, text in result.interval_notes().items()}
    missing = {label: f"no figure: {reason}" for label, reason in missing_figures(result).items()}
    return grouped_notes(notes | missing)


def grouped_notes(notes: Mapping[str, str]) -> list[str]:
    """Return one line per note, followed by at most six of the names that have it.

    Examples:
        >>> grouped_notes({"a": "no interval", "b": "", "c": "no interval"})
        ['no interval: a, c']
    """
    return [f"{text}: {names}" for text, names in names_by_note(notes).items()]


def names_by_note(notes: Mapping[str, str]) -> dict[str, str]:
    """Return note -> the names that have it, at most six of them, separated by commas.

    Examples:
        >>> names_by_note({"a": "no interval", "b": "", "c": "no interval"})
        {'no interval': 'a, c'}
    """
    by_text: dict[str, list[str]] = {}
    for name, text in notes.items():
        if text:
            by_text.setdefault(text, []).append(name)
    listed = {}
    for text, names in by_text.items():
        more = f" and {len(names) - _NAMED_IN_NOTES} more" if len(names) > _NAMED_IN_NOTES else ""
        listed[text] = f"{', '.join(names[:_NAMED_IN_NOTES])}{more}"
    return listed


def _title(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def _in_categories(result: EvaluationResult) -> set[str]:
    names = ["accuracy", "min_accuracy", *(f"accuracy_{c.category}" for c in result.categories)]
    return {
        *(f"{kind}{name}" for kind in _kinds(result).values() for name in names),
        *["n_inconclusive"] * any(c.n_inconclusive for c in result.categories),
    }


def _kinds(result: EvaluationResult) -> dict[str, str]:
    """Return the columns of accuracies -> how the names of their figures begin."""
    # A terminal has no room for weighted accuracies beside corrected ones.
    if f"{CORRECTED}accuracy" in result.scores:
        return {"corrected": CORRECTED, "judge alone": ""}
    weighted = any(c.weighted_accuracy is not None for c in result.categories)
    return {"accuracy": "", **({"weighted": "weighted_"} if weighted else {})}


def _categories_table(result: EvaluationResult) -> ReportTable:
    kinds = _kinds(result)
    shown = {
        "ties": "n_ties" in result.counts,
        "inconclusive": any(c.n_inconclusive for c in result.categories),
        "neither": "neither_share" in result.scores,
    }
    columns = ["category", "n", *(f"{kind} (95 %)" for kind in kinds)]
    columns += [name for name, is_shown in shown.items() if is_shown]

    def row(label: str, n: str, name: str, **counts: int) -> list[str]:
        figures = [score_text(result, f"{kind}{name}") for kind in kinds.values()]
        others = [count(counts[of]) if counts else "" for of, is_shown in shown.items() if is_shown]
        return [label, n, *figures, *others]

    rows = [
        row(
            category_label(result, category.category),
            count(category.n),
            f"accuracy_{category.category}",
            ties=category.n_ties,
            inconclusive=category.n_inconclusive,
            neither=category.n_neither,
        )
        for category in ordered_categories(result)
    ]
    total = row(
        "total",
        count(result.n),
        "accuracy",
        ties=result.counts.get("n_ties", 0),
        inconclusive=sum(c.n_inconclusive for c in result.categories),
        neither=sum(c.n_neither for c in result.categories),
    )
    rows += [[], total]
    if "min_accuracy" in result.scores:
        rows.append(row("minimum", "", "min_accuracy"))
    return ReportTable.of("", columns, rows)
