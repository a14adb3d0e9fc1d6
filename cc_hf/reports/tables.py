"""Results as tables for the terminal. Figures in percent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from cc_hf import signature
from cc_hf.metrics.base import registered_metric
from cc_hf.results import CategoryAccuracy, EvaluationResult, Interval, NoInterval, ResultSet
from cc_hf.schema import UNCOUNTED_CATEGORY

__all__ = [
    "FigureRow",
    "category_key",
    "category_label",
    "data_name",
    "figure_rows",
    "grouped_notes",
    "heading",
    "interval_notes",
    "limits",
    "note_lines",
    "percent",
    "plain_table",
    "resampling_text",
    "result_table",
    "results_table",
    "shared_notes",
    "tie_text",
    "with_interval",
]

# The paper lists «female» behind «male»; SimpleGEN's own order is that of its Table 2.
_ORDER = {
    name: i
    for i, name in enumerate(
        ("male", "female", "frequent", "infrequent", "MoMc", "FoFc", "MoFc", "FoMc")
    )
}
_NAMED_IN_NOTES = 6  # figures; a dataset can have hundreds of categories


def result_table(result: EvaluationResult) -> Group:
    """Per category n, accuracy with interval, and what the metric has of: weighted accuracy, ties,
    inconclusive; then the total, the minimum, all other figures.
    """
    title = f"{data_name(result)}: {result.metric.replace('_', ' ')}"
    others = [
        row
        for row in figure_rows(result)
        if not result.categories or row.name.removeprefix("weighted_") not in _in_categories(result)
    ]
    parts = [_categories_table(result)] if result.categories else []
    if others or not parts:
        parts.append(_figures_table(others))
    return Group(
        heading(title),
        *parts,
        _caption([result]),
        *map(Text, interval_notes(result)),
        *note_lines(result.notes),
    )


def note_lines(notes: Iterable[str]) -> list[Text]:
    """One line of text per note, each note once."""
    return [Text.assemble(("note: ", "bold yellow"), note) for note in dict.fromkeys(notes)]


def shared_notes(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """Each note once, after the names of those that have it unless all have it.

    >>> shared_notes({"a": ["x"], "b": ["x", "y"]})
    ['x', 'b: y']
    """
    owners = {
        note: [name for name in notes if note in notes[name]]
        for own in notes.values()
        for note in own
    }
    return [
        note if len(names) == len(notes) else f"{', '.join(names)}: {note}"
        for note, names in owners.items()
    ]


def results_table(found: ResultSet) -> Group:
    """Every figure of several metrics on the same translations; below, which were not run, and
    why.
    """
    first = found.results[0]
    names = "1 metric" if len(found.results) == 1 else f"{len(found.results)} metrics"
    table = plain_table("", "n", "percent (95 %)")
    for result in found.results:
        table.add_row(Text(result.metric.replace("_", " "), style="bold"), "", "")
        for row in figure_rows(result):
            table.add_row(Text(f"  {row.label}"), row.n, row.value)
        table.add_section()
    said = note_lines(shared_notes({r.metric.replace("_", " "): r.notes for r in found.results}))
    notes = [
        Text(f"not run: {name.replace('_', ' ')}: {reason}")
        for name, reason in found.not_run.items()
    ]
    # without translations, the evaluator is judged
    judged = (
        "examples" if signature.parse(first.signature)[1].get("sys") == "scored" else "translations"
    )
    notes += [
        Text(f"{result.metric.replace('_', ' ')}: {note}")
        for result in found.results
        for note in interval_notes(result)
    ]
    return Group(
        heading(f"{data_name(first)}: {names} on {first.n} {judged}"),
        table,
        _caption(found.results),
        *said,
        *notes,
    )


def _caption(results: Iterable[EvaluationResult]) -> Text:
    return Text(
        f"percent; intervals by bootstrap {resampling_text(result.metric for result in results)}",
        style="italic",
    )


def resampling_text(metrics: Iterable[str]) -> str:
    """Say how the bootstrap of each metric draws, as it declares; what all share is said once.

    >>> resampling_text(["contrastive_conditioning", "simplegen_accuracy"])
    'within categories'
    >>> resampling_text(["contrastive_conditioning", "winomt_pattern_matching"])
    'within categories (contrastive conditioning), within gold genders (winomt pattern matching)'
    >>> resampling_text(["a metric of one's own"])
    'over samples'
    """
    by_text: dict[str, list[str]] = {}
    for metric in dict.fromkeys(metrics):
        declared = registered_metric(metric)
        by_text.setdefault("over samples" if declared is None else declared.resampling, []).append(
            metric.replace("_", " ")
        )
    if len(by_text) == 1:
        return next(iter(by_text))
    return ", ".join(f"{text} ({', '.join(names)})" for text, names in by_text.items())


def interval_notes(result: EvaluationResult) -> list[str]:
    """Say which intervals are unusual or missing, and why; one line for all figures of which the
    same is to be said.

    >>> from cc_hf.results import NoInterval
    >>> result = EvaluationResult(
    ...     "",
    ...     "",
    ...     "de",
    ...     "own",
    ...     "own|n:2",
    ...     2,
    ...     {"f1": 1.0},
    ...     {},
    ...     (),
    ...     (),
    ...     {},
    ...     {"f1": NoInterval("it is the same in every resample")},
    ... )
    >>> interval_notes(result)
    ['no interval: it is the same in every resample: f1']
    """
    return grouped_notes(
        {name.replace("_", " "): text for name, text in result.interval_notes().items()}
    )


def grouped_notes(notes: Mapping[str, str]) -> list[str]:
    """Put the names of which the same is said into one line.

    >>> grouped_notes({"a": "no interval", "b": "", "c": "no interval"})
    ['no interval: a, c']
    """
    by_text: dict[str, list[str]] = {}
    for name, text in notes.items():
        if text:
            by_text.setdefault(text, []).append(name)
    found = []
    for text, names in by_text.items():
        more = f" and {len(names) - _NAMED_IN_NOTES} more" if len(names) > _NAMED_IN_NOTES else ""
        found.append(f"{text}: {', '.join(names[:_NAMED_IN_NOTES])}{more}")
    return found


def tie_text(result: EvaluationResult) -> str:
    """Say how many judgements are ties, where they are many, and how the metric counts them; ""
    otherwise.
    """
    if 10 * (ties := result.counts.get("n_ties", 0)) <= result.n:
        return ""
    declared = registered_metric(result.metric)
    counted = f", which count as {declared.ties}" if declared is not None and declared.ties else ""
    return f"{ties} of {result.n} judgements of {result.metric} are ties{counted}"


def category_key(name: str) -> tuple[int, str]:
    """To sort categories as the papers list them."""
    return _ORDER.get(name, len(_ORDER)), name


def percent(value: float) -> str:
    """A figure in [-1, 1] as people read it.

    >>> percent(0.6244), percent(-0.001), percent(-0.0001)
    ('62.4', '-0.1', '0.0')
    """
    return f"{round(100 * value, 1) + 0.0:.1f}"  # + 0.0: no negative zero


def with_interval(value: float, interval: Interval | NoInterval | None) -> str:
    """A figure with its interval, where it has one.

    >>> with_interval(0.5, Interval(0.41, 0.6))
    '50.0 (41.0 – 60.0)'
    """
    return (
        f"{percent(value)} ({percent(interval.low):>4} – {percent(interval.high):>4})"
        if isinstance(interval, Interval)
        else percent(value)
    )


def limits(interval: Interval | NoInterval | None, *, digits: int | None = None) -> str:
    """Write the limits of an interval, in percent or with so many digits; "" where there is none.

    >>> limits(Interval(0.41, 0.6)), limits(Interval(0.41, 0.6), digits=2), limits(None)
    ('41.0 – 60.0', '0.41 – 0.60', '')
    """
    if not isinstance(interval, Interval):
        return ""
    return " – ".join(
        percent(value) if digits is None else f"{value:.{digits}f}"
        for value in (interval.low, interval.high)
    )


def heading(text: str) -> Text:
    """The line above a table; not the table's own title, which would be folded to its width."""
    return Text(text, style="italic")


def plain_table(name: str, *numbers: str) -> Table:
    """A table whose first column holds names, and the others numbers, which are never cut."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(Text(name), no_wrap=True)
    for number in numbers:
        table.add_column(Text(number), justify="right", no_wrap=True)
    return table


class FigureRow(NamedTuple):
    """A figure of a result: its name in `scores`, its name in words, the number of samples where it
    is of a category or of all, the figure in percent.
    """

    name: str
    label: str
    n: str
    value: str


def figure_rows(result: EvaluationResult) -> list[FigureRow]:
    """Every figure of a result: totals and minima, the categories as the papers list them, all
    others.

    >>> from cc_hf.results import EvaluationResult
    >>> figure_rows(
    ...     EvaluationResult("", "", "de", "own", "own|n:2", 2, {"accuracy": 0.5}, {}, (), ())
    ... )
    [FigureRow(name='accuracy', label='accuracy', n='2', value='50.0')]
    """
    categories = [c.category for c in _in_order(result.categories)]
    order = [
        "accuracy",
        "weighted_accuracy",
        "min_accuracy",
        "weighted_min_accuracy",
        *(f"{w}accuracy_{c}" for w in ("", "weighted_") for c in categories),
    ]
    names = [name for name in order if name in result.scores] + [
        name for name in result.scores if name not in order
    ]
    sizes = {"accuracy": str(result.n)} | {
        f"accuracy_{c.category}": str(c.n) for c in result.categories
    }
    rows = [
        FigureRow(name, name.replace("_", " "), sizes.get(name, ""), _cell(result, name))
        for name in names
    ]
    if n_inconclusive := result.counts.get("n_inconclusive"):
        rows.append(
            FigureRow(
                "n_inconclusive",
                "inconclusive",
                str(n_inconclusive),
                percent(n_inconclusive / result.n),
            )
        )
    return rows


def _in_categories(result: EvaluationResult) -> set[str]:
    """The figures, but for weights, that the table of categories shows."""
    return {
        "accuracy",
        "min_accuracy",
        *(f"accuracy_{c.category}" for c in result.categories),
        *["n_inconclusive"] * any(c.n_inconclusive for c in result.categories),
    }


def _categories_table(result: EvaluationResult) -> Table:
    weighted = any(c.weighted_accuracy is not None for c in result.categories)
    ties = "n_ties" in result.counts
    inconclusive = any(c.n_inconclusive for c in result.categories)
    columns = [
        "category",
        "n",
        "accuracy (95 %)",
        *["weighted (95 %)"] * weighted,
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
        figures = [
            _cell(result, name)
            for name in (f"{score}{suffix}", *[f"weighted_{score}{suffix}"] * weighted)
        ]
        table.add_row(Text(label), n, *figures, *[n_ties] * ties, *[n_inconclusive] * inconclusive)

    for found in _in_order(result.categories):
        add(
            category_label(result, found.category),
            str(found.n),
            "accuracy",
            f"_{found.category}",
            n_ties=str(found.n_ties),
            n_inconclusive=str(found.n_inconclusive),
        )
    table.add_section()
    n_inconclusive = sum(c.n_inconclusive for c in result.categories)
    add(
        "total",
        str(result.n),
        "accuracy",
        n_ties=str(result.counts.get("n_ties", 0)),
        n_inconclusive=str(n_inconclusive),
    )
    if "min_accuracy" in result.scores:
        add("minimum", "", "min_accuracy")
    return table


def category_label(result: EvaluationResult, category: str) -> str:
    """Return the name of a category, with a note where the minimum leaves it out.

    >>> from cc_hf.results import CategoryAccuracy, EvaluationResult
    >>> categories = tuple(CategoryAccuracy(name, 1, 1, 1.0) for name in ("a", "none"))
    >>> result = EvaluationResult(
    ...     "", "", "de", "own", "own|n:2", 2, {"min_accuracy": 1.0}, {}, categories, ()
    ... )
    >>> category_label(result, "none")
    'none (not in minimum)'
    """
    left_out = (
        category == UNCOUNTED_CATEGORY
        and "min_accuracy" in result.scores
        and len(result.categories) > 1
    )
    return f"{category} (not in minimum)" if left_out else category


def _figures_table(rows: Iterable[FigureRow]) -> Table:
    table = plain_table("figure", "percent (95 %)")
    for row in rows:
        table.add_row(Text(row.label), row.value)
    return table


def data_name(result: EvaluationResult) -> str:
    """Dataset, configuration and target language, in one line."""
    return " ".join(part for part in (result.dataset, result.config, result.tgt_lang) if part)


def _in_order(categories: Iterable[CategoryAccuracy]) -> list[CategoryAccuracy]:
    return sorted(categories, key=lambda c: category_key(c.category))


def _cell(result: EvaluationResult, name: str) -> str:
    return (
        with_interval(result.scores[name], result.intervals.get(name))
        if name in result.scores
        else ""
    )
