"""The table of systems: rows from results, filtered and sorted, as CSV and JSON.

Figures are in [0, 1]; the page shows them in percent.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from cc_hf import signature
from cc_hf.data.quality_scores import QualityScores
from cc_hf.errors import check_choice
from cc_hf.leaderboard.store import Store, StoredResult
from cc_hf.reports.figure_text import percent

__all__ = [
    "HEADERS",
    "PERCENT_HEADERS",
    "SORT_KEYS",
    "LeaderboardRow",
    "choices",
    "display_cells",
    "filtered",
    "leaderboard_rows",
    "sorted_rows",
    "to_csv",
    "to_json",
]


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One system on one dataset by one metric.

    Attributes:
        system, dataset, config, metric, n, signature, file: as in the result.
        language: "source-target", or only the target language if the source language is unknown.
        min_accuracy, accuracy, weighted_accuracy: in [0, 1]; None if the metric does not have them.
            The fields with `_low` and `_high` are the limits of their 95 % intervals.
        bleu: in [0, 1]; None if it was not given.
        other_figures: name -> value of other figures over the whole result.
        notes: the notes of the result, joined; "" for none.
    """

    system: str
    dataset: str
    config: str
    language: str
    metric: str
    min_accuracy: float | None
    min_accuracy_low: float | None
    min_accuracy_high: float | None
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    weighted_accuracy: float | None
    weighted_accuracy_low: float | None
    weighted_accuracy_high: float | None
    n: int
    bleu: float | None
    other_figures: Mapping[str, float]
    notes: str
    signature: str
    file: str


#: The columns of the page.
HEADERS = (
    "system",
    "dataset",
    "language",
    "metric",
    "min. accuracy",
    "min. 95 %",
    "accuracy",
    "acc. 95 %",
    "weighted",
    "weighted 95 %",
    "n",
    "BLEU",
    "other figures",
    "notes",
    "signature",
)
#: The columns whose cells are percentages as numbers, or None.
PERCENT_HEADERS = ("min. accuracy", "accuracy", "weighted", "BLEU")
#: Name of a sort key on the page -> field of `LeaderboardRow`.
SORT_KEYS = {
    "minimum accuracy": "min_accuracy",
    "accuracy": "accuracy",
    "weighted accuracy": "weighted_accuracy",
    "BLEU": "bleu",
    "n": "n",
    "system": "system",
    "dataset": "dataset",
}
_SHOWN = ("min_accuracy", "accuracy", "weighted_accuracy")
# Full-width characters are included, because spreadsheets accept them in East Asian locales.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")


def leaderboard_rows(store: Store, quality: QualityScores | None = None) -> list[LeaderboardRow]:
    """Return one row per result, in the order of the store.

    Args:
        store: the results.
        quality: BLEU of the systems; None if unknown.
    """
    return [_row(entry, quality or QualityScores()) for entry in store.entries]


def _row(entry: StoredResult, quality: QualityScores) -> LeaderboardRow:
    result = entry.result
    categories = {f"{w}accuracy_{c.category}" for w in ("", "weighted_") for c in result.categories}
    figures: dict[str, float | None] = {}
    for name in _SHOWN:
        interval = result.intervals.get(name)
        figures |= {
            name: result.scores.get(name),
            f"{name}_low": interval.low if interval else None,
            f"{name}_high": interval.high if interval else None,
        }
    fields = signature.parse(result.signature)[1] if result.signature else {}
    pair = fields.get("langs", "")
    return LeaderboardRow(
        system=entry.system,
        dataset=result.dataset or _unnamed_data(fields.get("data", "")),
        config=result.config,
        language=pair if pair.endswith(f"-{result.tgt_lang}") else result.tgt_lang,
        metric=result.metric,
        **figures,
        n=result.n,
        bleu=quality.of(entry.system, result.dataset, result.tgt_lang),
        other_figures={
            name: value
            for name, value in result.scores.items()
            if name not in _SHOWN and name not in categories
        },
        notes=" ".join(f"{note.rstrip('.')}." for note in result.notes),
        signature=result.signature,
        file=entry.file,
    )


def _unnamed_data(data: str) -> str:
    """Return a name for data without one, which includes the digest of their references to tell
    them apart.
    """
    return f"own data {data.partition('@')[2]}".strip()


def choices(rows: Sequence[LeaderboardRow], name: str) -> list[str]:
    """Return the distinct values of a field, sorted.

    Args:
        rows: rows of the table.
        name: a field of `LeaderboardRow`.

    Examples:
        >>> choices([], "metric")
        []
    """
    return sorted({str(getattr(row, name)) for row in rows})


def filtered(
    rows: Iterable[LeaderboardRow],
    *,
    dataset: str = "",
    language: str = "",
    metric: str = "",
    text: str = "",
) -> list[LeaderboardRow]:
    """Return the rows that match all conditions; "" matches any row.

    Args:
        rows: rows of the table.
        dataset: the dataset.
        language: the language as in `LeaderboardRow.language`.
        metric: the metric.
        text: words that must all occur in system, dataset, configuration, language, metric or
            signature, regardless of case.
    """
    words = text.casefold().split()

    def fits(row: LeaderboardRow) -> bool:
        if any(
            condition and condition != value
            for condition, value in (
                (dataset, row.dataset),
                (language, row.language),
                (metric, row.metric),
            )
        ):
            return False
        everything = " ".join(
            (row.system, row.dataset, row.config, row.language, row.metric, row.signature)
        ).casefold()
        return all(word in everything for word in words)

    return [row for row in rows if fits(row)]


def sorted_rows(
    rows: Iterable[LeaderboardRow], by: str, *, descending: bool = True
) -> list[LeaderboardRow]:
    """Sort rows by a key; rows without that figure come last, and equal rows are sorted by system.

    Args:
        rows: rows of the table.
        by: a key of `SORT_KEYS`.
        descending: whether the largest value comes first.

    Returns:
        The rows, in a new list.

    Raises:
        InputError: for another key.
    """
    check_choice("sort", by, SORT_KEYS)
    name = SORT_KEYS[by]
    ordered = sorted(
        rows, key=lambda row: (row.system.casefold(), row.dataset, row.config, row.metric, row.file)
    )
    with_figure = [row for row in ordered if getattr(row, name) is not None]
    with_figure.sort(key=lambda row: row_key(row, name), reverse=descending)
    return with_figure + [row for row in ordered if getattr(row, name) is None]


def row_key(row: LeaderboardRow, name: str) -> float | str:
    """Return the value by which a row is sorted; texts are case-folded.

    Args:
        row: a row that has the figure.
        name: a field of `LeaderboardRow`.
    """
    value = getattr(row, name)
    return value.casefold() if isinstance(value, str) else float(value)


def display_cells(row: LeaderboardRow) -> list[str | float | int | None]:
    """Return the cells of a row as the page shows them, one per header.

    Percentages are numbers with one decimal, so that a browser can sort them.

    Args:
        row: a row of the table.
    """

    def in_percent(value: float | None) -> float | None:
        return None if value is None else float(percent(value))

    def interval(name: str) -> str:
        low, high = getattr(row, f"{name}_low"), getattr(row, f"{name}_high")
        return "" if low is None or high is None else f"{percent(low)} – {percent(high)}"

    figures = [cell for name in _SHOWN for cell in (in_percent(getattr(row, name)), interval(name))]
    others = "; ".join(
        f"{name.replace('_', ' ')} {percent(value)}" for name, value in row.other_figures.items()
    )
    dataset = row.dataset if row.config in ("", "default") else f"{row.dataset} {row.config}"
    return [
        row.system,
        dataset,
        row.language,
        row.metric.replace("_", " "),
        *figures,
        row.n,
        in_percent(row.bleu),
        others,
        row.notes,
        row.signature,
    ]


def to_csv(rows: Sequence[LeaderboardRow]) -> str:
    """Return the rows as CSV with a header; `other_figures` is JSON, and unknown values are empty.

    Texts that a spreadsheet would read as a formula are preceded by an apostrophe.

    Args:
        rows: rows of the table.
    """
    out = io.StringIO()
    names = [field.name for field in fields(LeaderboardRow)]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        cells = {
            **asdict(row),
            "other_figures": json.dumps(dict(row.other_figures), allow_nan=False),
        }
        writer.writerow([_harmless(cells[name]) for name in names])
    return out.getvalue()


def _harmless(cell: object) -> object:
    return (
        f"'{cell}"
        if isinstance(cell, str) and cell.startswith(_FORMULA)
        else ""
        if cell is None
        else cell
    )


def to_json(rows: Sequence[LeaderboardRow]) -> str:
    """Return the rows as strict JSON: a list of objects with the fields of `LeaderboardRow`.

    Args:
        rows: rows of the table.
    """
    return (
        json.dumps([asdict(row) for row in rows], ensure_ascii=False, allow_nan=False, indent=1)
        + "\n"
    )
