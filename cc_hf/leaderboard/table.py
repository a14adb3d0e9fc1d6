"""The table of systems: rows from results, filtered and sorted, as CSV and JSON.

Figures in [0, 1]; the page shows them in percent.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from cc_hf import signature
from cc_hf.data.quality_scores import QualityScores
from cc_hf.errors import InputError
from cc_hf.leaderboard.store import Entry, Store
from cc_hf.reports.figure_text import percent

__all__ = [
    "HEADERS",
    "PERCENT_HEADERS",
    "SORT_KEYS",
    "Row",
    "choices",
    "display_cells",
    "filtered",
    "sorted_rows",
    "table_rows",
    "to_csv",
    "to_json",
]


@dataclass(frozen=True, slots=True)
class Row:
    """One system on one dataset by one metric.

    Attributes:
        language: «source-target», or the target's code where the source's is not known.
        min_accuracy, accuracy, weighted_accuracy: in [0, 1]; None of metrics that do not have them.
            `_low`, `_high`: of their 95 % intervals.
        bleu: in [0, 1], None where it was not given.
        other_figures: what else the result says of the whole: name -> value.
        notes: those of the result, one after the other, "" for none.
        system, dataset, config, metric, n, signature, file: of the result.
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


#: the page's columns
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
#: those whose cells are numbers, or None, in percent
PERCENT_HEADERS = ("min. accuracy", "accuracy", "weighted", "BLEU")
#: what the page can sort by -> the field
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
# wide ones, too: East Asian settings take them
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")


def table_rows(store: Store, quality: QualityScores | None = None) -> list[Row]:
    """One row per result, in the order of the store."""
    return [_row(entry, quality or QualityScores()) for entry in store.entries]


def _row(entry: Entry, quality: QualityScores) -> Row:
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
    return Row(
        system=entry.system,
        dataset=result.dataset or _own(fields.get("data", "")),
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


def _own(data: str) -> str:
    """Data without a name are told apart by the digest of their references."""
    return f"own data {data.partition('@')[2]}".strip()


def choices(rows: Sequence[Row], name: str) -> list[str]:
    """The values of a field, sorted.

    >>> choices([], "metric")
    []
    """
    return sorted({str(getattr(row, name)) for row in rows})


def filtered(
    rows: Iterable[Row], *, dataset: str = "", language: str = "", metric: str = "", text: str = ""
) -> list[Row]:
    """The rows of a dataset, language and metric, "" for any, with all words of the text in system,
    dataset, configuration, metric or signature.
    """
    words = text.casefold().split()

    def fits(row: Row) -> bool:
        if any(
            wanted and wanted != got
            for wanted, got in (
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


def sorted_rows(rows: Iterable[Row], by: str, *, descending: bool = True) -> list[Row]:
    """Sorted by a key of SORT_KEYS; rows without that figure last, equal ones by system.

    Raises:
        InputError: for another key.
    """
    if by not in SORT_KEYS:
        raise InputError(f"sort: expected one of {', '.join(SORT_KEYS)}, got {by!r}")
    name = SORT_KEYS[by]
    ordered = sorted(
        rows, key=lambda row: (row.system.casefold(), row.dataset, row.config, row.metric, row.file)
    )
    known = [row for row in ordered if getattr(row, name) is not None]
    known.sort(key=lambda row: row_key(row, name), reverse=descending)
    return known + [row for row in ordered if getattr(row, name) is None]


def row_key(row: Row, name: str) -> float | str:
    """What a row is sorted by."""
    value = getattr(row, name)
    return value.casefold() if isinstance(value, str) else float(value)


def display_cells(row: Row) -> list[str | float | int | None]:
    """A row as the page shows it, one cell per header; percentages as numbers with one digit, so
    that a browser sorts them.
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


def to_csv(rows: Sequence[Row]) -> str:
    """UTF-8 text with a header; `other_figures` as JSON, what is unknown empty.

    Texts that a spreadsheet would take for a formula get a «'» before them.
    """
    out = io.StringIO()
    names = [field.name for field in fields(Row)]
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


def to_json(rows: Sequence[Row]) -> str:
    """Strict JSON: a list of objects with the fields of `Row`."""
    return (
        json.dumps([asdict(row) for row in rows], ensure_ascii=False, allow_nan=False, indent=1)
        + "\n"
    )
