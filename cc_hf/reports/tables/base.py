"""Results as tables for the terminal, with figures in percent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cc_hf import signature
from cc_hf.figure_keys import CORRECTED
from cc_hf.metrics.base import registered_metric
from cc_hf.reports.derived_figures import missing_figures
from cc_hf.reports.figure_text import (
    FigureRow,
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
from cc_hf.reports.what_to_cite import UNFIT, what_to_cite, why_unfit
from cc_hf.results import EvaluationResult, ResultSet

__all__ = [
    "cite_box",
    "grouped_notes",
    "heading",
    "interval_notes",
    "intervals_text",
    "names_by_note",
    "note_lines",
    "numbered_columns",
    "plain_table",
    "result_table",
    "results_table",
    "shared_notes",
    "unfit_lines",
]

# The longest names above columns, each and together, with which a table fits into 80 characters.
_LONGEST_NAME, _LONGEST_NAMES = 20, 60
_NAMED_IN_NOTES = 6  # at most so many figures, because a dataset can have hundreds of categories


def result_table(result: EvaluationResult) -> Group:
    """Return the tables of one result.

    They show n and accuracy with its interval for each category, with weighted accuracy, ties and
    inconclusive verdicts if the metric has them; then the total, the minimum and all other figures.
    """
    title = _title(result.system, data_name(result), metric_name(result.metric))
    others = [
        row
        for row in figure_rows(result)
        if not result.categories or row.name not in _in_categories(result)
    ]
    parts = [_categories_table(result)] if result.categories else []
    if others or not parts:
        parts.append(_figures_table(others))
    is_moot = "unmarked" in result.unfit
    return Group(
        *unmarked_lines([result]),
        heading(title),
        *([] if is_moot else unfit_lines([("", result)])),
        *parts,
        _caption([result]),
        *_explanations(result),
        *map(Text, interval_notes(result)),
        *note_lines(result.notes),
        *cite_box([result]),
    )


#: Further row or column of the table of categories -> the figure whose meaning explains it.
_EXPLAINED = {
    "minimum": "min_accuracy",
    "inconclusive": "n_inconclusive",
    "mean confidence": "mean_confidence",
}


def _explanations(result: EvaluationResult) -> list[Text]:
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
    return [Text(f"{label}: {meaning}") for label, meaning in meanings.items() if meaning]


def note_lines(notes: Iterable[str]) -> list[Text]:
    """Return one line of text per note, each note once."""
    return [Text.assemble(("note: ", "bold yellow"), note) for note in dict.fromkeys(notes)]


def unfit_lines(results: Iterable[tuple[str, EvaluationResult]]) -> list[Text]:
    """Return a grey line for each reason that makes results unfit to be cited.

    Args:
        results: pairs of a name, "" for none, and a result.
    """
    names: dict[str, list[str]] = {}
    for name, result in results:
        if reason := why_unfit(result):
            names.setdefault(reason, []).append(name)
    return [
        Text(": ".join(filter(None, (UNFIT, ", ".join(filter(None, of)), reason))), style="grey50")
        for reason, of in names.items()
    ]


def unmarked_lines(results: Iterable[EvaluationResult]) -> list[Text]:
    """Return a line for each reason why the translations do not show what is asked for."""
    reasons = {
        f"{'Little' if 'n_marked' in result.counts else 'Nothing'} to judge: {why_unfit(result)}"
        for result in results
        if "unmarked" in result.unfit
    }
    return [Text(line, style="bold yellow") for line in sorted(reasons)]


def cite_box(results: Iterable[EvaluationResult]) -> list[RenderableType]:
    """Return a box that says what to cite of the results of one system; [] without scores."""
    cited = what_to_cite(results)
    if cited is None:
        return []
    style = "grey50" if cited.why_not else "green"
    text = Text("\n".join(cited.sentences))
    # A width of its own, since a pipe has none.
    return [Panel(text, title="What to cite", title_align="left", border_style=style, width=80)]


def shared_notes(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """Return each note once, preceded by the names of those that have it unless all have it.

    Args:
        notes: name -> notes.

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


def results_table(result_set: ResultSet) -> Group:
    """Return a table of every figure of several metrics on the same translations."""
    results = sorted(result_set.results, key=lambda result: bool(why_unfit(result)))
    first = results[0]
    names = "1 metric" if len(results) == 1 else f"{len(results)} metrics"
    table = plain_table("", "n", "percent (95 %)")
    for result in results:
        table.add_row(Text(metric_name(result.metric), style="bold"), "", "")
        for row in figure_rows(result):
            table.add_row(Text(f"  {row.label}"), row.n, row.text)
        table.add_section()
    lines = note_lines(shared_notes({metric_name(r.metric): r.notes for r in results}))
    # Without translations, it is the evaluator that was judged.
    judged = (
        "examples" if signature.parse(first.signature)[1].get("sys") == "scored" else "translations"
    )
    notes = [
        Text(f"{metric_name(result.metric)}: {note}")
        for result in results
        for note in interval_notes(result)
    ]
    return Group(
        *unmarked_lines(results),
        heading(f"{_title(first.system, data_name(first))}: {names} on {first.n:,} {judged}"),
        *unfit_lines((metric_name(result.metric), result) for result in results),
        table,
        _caption(results),
        *lines,
        *notes,
        *cite_box(results),
    )


def _named(results: Iterable[EvaluationResult]) -> tuple[list[str], list[str]]:
    """Return the metrics of results, and their figures."""
    results = list(results)
    return [result.metric for result in results], [n for r in results for n in r.scores]


def _caption(results: Iterable[EvaluationResult]) -> Text:
    return Text(
        f"percent; intervals {intervals_text(*_named(results))}",
        style="italic",
    )


def intervals_text(metrics: Iterable[str], figures: Iterable[str] = ()) -> str:
    """Say how the intervals of each metric are computed; a shared answer is given once.

    Args:
        metrics: names of metrics; of unregistered ones it is not known.
        figures: names of the figures; of corrected ones it is said, too.

    Returns:
        A phrase that follows "intervals".

    Examples:
        >>> intervals_text(["contrastive_conditioning", "simplegen_accuracy"])
        "by Wilson's score, within categories"
        >>> intervals_text(["a metric of one's own"])
        "by the metric's own method"
    """
    by_text: dict[str, list[str]] = {}
    for metric in dict.fromkeys(metrics):
        declared = registered_metric(metric)
        text = "by the metric's own method" if declared is None else declared.interval_method
        by_text.setdefault(text, []).append(metric_name(metric))
    text = next(iter(by_text), "")
    if len(by_text) > 1:
        text = ", ".join(f"{text} ({', '.join(names)})" for text, names in by_text.items())
    is_corrected = any(name.startswith(CORRECTED) for name in figures)
    return text + "; of corrected figures by prediction-powered inference" * is_corrected


def interval_notes(result: EvaluationResult) -> list[str]:
    """Say which intervals are unusual or missing, and which figures, and why, with one line per
    reason.

    Examples:
        >>> from cc_hf.results import NoInterval
        >>> notes = {"f1": NoInterval("it is the same in every resample")}
        >>> result = EvaluationResult(
        ...     "", "", "de", "own", "own|n:2", 2, {"f1": 1.0}, {}, (), (), {}, notes
        ... )
        >>> interval_notes(result)
        ['no interval: it is the same in every resample: f1']
    """
    notes = {figure_label(result.metric, n): text for n, text in result.interval_notes().items()}
    missing = {label: f"no figure: {reason}" for label, reason in missing_figures(result).items()}
    return grouped_notes(notes | missing)


def grouped_notes(notes: Mapping[str, str]) -> list[str]:
    """Group names by their note; return one line per note, and omit empty notes.

    Args:
        notes: name -> note.

    Returns:
        One line per note, followed by at most six of the names that have it.

    Examples:
        >>> grouped_notes({"a": "no interval", "b": "", "c": "no interval"})
        ['no interval: a, c']
    """
    return [f"{text}: {names}" for text, names in names_by_note(notes).items()]


def names_by_note(notes: Mapping[str, str]) -> dict[str, str]:
    """Group names by their note, and omit empty notes.

    Args:
        notes: name -> note.

    Returns:
        Note -> the names that have it, at most six of them, separated by commas.

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


def heading(text: str) -> Text:
    """Return the line above a table. The table's own title is not used, because it would be wrapped
    to the width of the table.
    """
    return Text(text, style="italic")


def numbered_columns(names: Iterable[str]) -> dict[str, str]:
    """Return the headers of columns by name: the names, or [1], [2] ... where they are so long that
    a table would not fit into 80 characters; the names then go below the table.

    Examples:
        >>> numbered_columns(["aws", "bing"])
        {'aws': 'aws', 'bing': 'bing'}
        >>> numbered_columns(["a" * 21])
        {'aaaaaaaaaaaaaaaaaaaaa': '[1]'}
    """
    lengths = [len(name) + 2 for name in names]
    are_short = max(lengths) - 2 <= _LONGEST_NAME and sum(lengths) <= _LONGEST_NAMES
    return {name: name if are_short else f"[{i}]" for i, name in enumerate(names, 1)}


def plain_table(name: str, *numbers: str) -> Table:
    """Return a table whose first column holds names and whose other columns hold numbers. On a
    narrow terminal names are continued on further lines; numbers are not.

    Args:
        name: the header of the first column.
        numbers: the headers of the others.
    """
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(Text(name), overflow="fold")
    for number in numbers:
        table.add_column(Text(number), justify="right", no_wrap=True)
    return table


def _in_categories(result: EvaluationResult) -> set[str]:
    """Return the figures that the table of categories shows."""
    names = ["accuracy", "min_accuracy", *(f"accuracy_{c.category}" for c in result.categories)]
    return {
        *(f"{kind}{name}" for kind in _kinds(result).values() for name in names),
        *["n_inconclusive"] * any(c.n_inconclusive for c in result.categories),
    }


def _kinds(result: EvaluationResult) -> dict[str, str]:
    """Return the columns of accuracies -> how the names of their figures begin. A terminal has no
    room for weighted ones beside corrected ones.
    """
    if f"{CORRECTED}accuracy" in result.scores:
        return {"corrected": CORRECTED, "judge alone": ""}
    weighted = any(c.weighted_accuracy is not None for c in result.categories)
    return {"accuracy": "", **({"weighted": "weighted_"} if weighted else {})}


def _categories_table(result: EvaluationResult) -> Table:
    kinds = _kinds(result)
    ties = "n_ties" in result.counts
    inconclusive = any(c.n_inconclusive for c in result.categories)
    columns = [
        "category",
        "n",
        *(f"{kind} (95 %)" for kind in kinds),
        *["ties"] * ties,
        *["inconclusive"] * inconclusive,
    ]
    table = plain_table(*columns)

    def add(
        label: str,
        n: str,
        score: str,
        suffix: str = "",
        *,
        n_ties: str = "",
        n_inconclusive: str = "",
    ) -> None:
        figures = [score_text(result, f"{kind}{score}{suffix}") for kind in kinds.values()]
        table.add_row(Text(label), n, *figures, *[n_ties] * ties, *[n_inconclusive] * inconclusive)

    for category in ordered_categories(result):
        add(
            category_label(result, category.category),
            count(category.n),
            "accuracy",
            f"_{category.category}",
            n_ties=count(category.n_ties),
            n_inconclusive=count(category.n_inconclusive),
        )
    table.add_section()
    n_inconclusive = sum(c.n_inconclusive for c in result.categories)
    add(
        "total",
        count(result.n),
        "accuracy",
        n_ties=count(result.counts.get("n_ties", 0)),
        n_inconclusive=count(n_inconclusive),
    )
    if "min_accuracy" in result.scores:
        add("minimum", "", "min_accuracy")
    return table


def _figures_table(rows: Iterable[FigureRow]) -> Table:
    table = plain_table("figure", "percent (95 %)")
    for row in rows:
        table.add_row(Text(row.label), row.text)
    return table
