"""Sheets that people fill in a spreadsheet, for every study that asks people.

Rows are shuffled and do not show where they come from; a key that raters do not see keeps that.
Reading is strict: whatever does not fit the key is an error that names the row.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cc_hf.comparing.alignment import check_same_data
from cc_hf.errors import InputError, in_file, shown
from cc_hf.files import exists, is_file, resolved
from cc_hf.plugins.raters.pearmut_log import Filled, is_log, read_log
from cc_hf.reading import Place
from cc_hf.records import NonEmpty, read_json, read_value
from cc_hf.results import EvaluationResult
from cc_hf.rules import OneOf
from cc_hf.tables.rows import TABLES, XLSX, read_cells
from cc_hf.text.tokenization import letters
from cc_hf.writing import check_output

__all__ = [
    "GUIDELINES_NAME",
    "Answers",
    "SheetForm",
    "SheetKey",
    "SheetRow",
    "check_sheet_files",
    "guidelines_text",
    "is_campaign",
    "key_text",
    "rater_files",
    "read_key_and_sheets",
    "read_sheet",
    "rows_of_raters",
    "sheet_text",
]

#: Id of a row -> the answers to the questions of the form, in their order.
Answers = Mapping[str, tuple[str, ...]]

#: Name of the file of guidelines beside the sheets.
GUIDELINES_NAME = "guidelines.md"

_ID = "id"
# A spreadsheet would compute a cell that begins with one of these characters, also in full width.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@dataclass(frozen=True)
class SheetForm:
    """What a sheet shows and asks."""

    name: str
    goal: str
    columns: Mapping[str, str]  # column -> what it shows
    questions: Mapping[str, Mapping[str, str]]  # column to fill -> label -> its meaning
    origin: Mapping[str, Collection[str]]  # field -> possible values, any if empty
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of a sheet."""

    id: str  # says nothing about where the row comes from
    cells: tuple[str, ...]
    # Several if the same texts come from several systems: they are judged once.
    origins: tuple[Mapping[str, str], ...]


@dataclass(frozen=True)
class SheetKey:
    """What raters do not see."""

    form: SheetForm
    settings: Mapping[str, Any]  # how the rows were drawn
    rows: tuple[SheetRow, ...]
    unrated: tuple[Mapping[str, str], ...] = field(default=())  # drawn, but on no sheet

    @classmethod
    def of(
        cls,
        form: SheetForm,
        settings: Mapping[str, Any],
        items: Iterable[tuple[tuple[str, ...], Mapping[str, str]]],
        unrated: Iterable[Mapping[str, str]] = (),
    ) -> SheetKey:
        """Return a key of shuffled rows, of which each shows other texts than all others."""
        origins: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
        for cells, origin in items:
            origins.setdefault(cells, []).append(origin)
        shuffled = list(origins.items())
        random.Random(settings["seed"]).shuffle(shuffled)
        rows = tuple(
            SheetRow(str(number), cells, tuple(of_row))
            for number, (cells, of_row) in enumerate(shuffled, 1)
        )
        return cls(form, settings, rows, tuple(unrated))

    @staticmethod
    def settings_of(
        results: Mapping[str, EvaluationResult], *, n: int, seed: int
    ) -> dict[str, Any]:
        """Check the results that a sample is drawn from, and return what the key says of them."""
        if n < 1:
            raise InputError(f"n: expected at least 1, got {n}")
        if not results:
            raise InputError("results: expected those of at least one system, got none")
        check_same_data(results, "results: expected those of the same data")
        first = next(iter(results.values()))
        data = {"dataset": first.dataset, "config": first.config, "tgt_lang": first.tgt_lang}
        return {**data, "n": n, "seed": seed}

    @classmethod
    def read(cls, path: Path, forms: Collection[SheetForm]) -> SheetKey:
        """Read a key."""
        known, remedy = {form.name: form for form in forms}, "use the key as written"
        key = read_json(path, "the JSON of a key", {"form": OneOf(*known)}, remedy=remedy)
        form = known[key["form"]]
        origin = {name: OneOf(*values) if values else str for name, values in form.origin.items()}
        with in_file(path, remedy):
            row_form = {"id": str, "cells": [str], "origins": NonEmpty([origin])}
            read_value({"settings": {}, "rows": NonEmpty([row_form]), "unrated": [origin]}, key)
        rows: dict[str, SheetRow] = {}
        for number, row in enumerate(key["rows"], 1):
            with in_file(f"{path}: rows: item {number}", remedy):
                if len(row["cells"]) != len(form.columns):
                    raise InputError(f"expected {len(form.columns)} cells, got {len(row['cells'])}")
                if row["id"] in rows:
                    raise InputError(f"the id {row['id']!r} occurs twice")
            rows[row["id"]] = SheetRow(row["id"], tuple(row["cells"]), tuple(row["origins"]))
        return cls(form, key["settings"], tuple(rows.values()), tuple(key["unrated"]))

    def read_sheets(self, paths: Sequence[Path], *, n_raters: int | None = None) -> list[Answers]:
        """Read the filled sheets of several raters, or their answers to a campaign of Pearmut.

        Args:
            n_raters: how many raters there must be; None for two or more.
        """
        raters: list[Answers] = []
        for number, path in enumerate(paths):
            if path.resolve() in [other.resolve() for other in paths[:number]]:
                raise InputError(f"sheets: expected a sheet of each rater, got {path} twice")
            if is_log(path):
                logs = read_log(path)
                raters += [_answers(rows, self, f"{path}: {user}") for user, rows in logs.items()]
            else:
                raters.append(read_sheet(path, self))
        if len(raters) < 2 or n_raters not in (None, len(raters)):
            expected = f"{n_raters} raters" if n_raters else "2 raters or more"
            raise InputError(f"sheets: expected those of {expected}, got {len(raters)}")
        return raters


def sheet_text(form: SheetForm, rows: Iterable[SheetRow]) -> str:
    """Return the table that a rater fills, with a byte order mark for spreadsheets."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((_ID, *form.columns, *form.questions))
    empty = ("",) * len(form.questions)
    for row in rows:
        # A cell that a spreadsheet would compute begins with an apostrophe.
        writer.writerow([_guarded(cell) for cell in (row.id, *row.cells, *empty)])
    return f"\ufeff{text.getvalue()}"


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) or cell.strip().startswith(_FORMULA) else cell


def guidelines_text(form: SheetForm) -> str:
    """Return the guidelines of a form as Markdown: goal, columns, labels, remarks."""
    parts = [f"# Guidelines\n\n{form.goal}", "## The data"]
    parts.append("\n".join(f"- **{name}**: {text}" for name, text in form.columns.items()))
    for question, labels in form.questions.items():
        parts.append(f"## The column {question}\n\nWrite one of these labels in every row.")
        parts.append("\n".join(f"- **{label}**: {text}" for label, text in labels.items()))
    parts.append("## Remarks")
    remarks = (
        *form.remarks,
        "Please change no other cell. An apostrophe at the beginning of a cell is no part of it.",
    )
    parts.append("\n".join(f"- {remark}" for remark in remarks))
    return "\n\n".join(parts) + "\n"


def check_sheet_files(output: Path, key: Path) -> None:
    """Check that sheets and key can be written, and that raters will not see the key.

    Args:
        output: the folder of the sheets, or the file of a campaign.
    """
    check_output(key, "key")
    if is_campaign(output):
        check_output(output)
        if exists(output):
            raise InputError(
                f"output: expected a new file, {output} may be a campaign that people work on;"
                " choose another"
            )
        return
    if is_file(output):
        raise InputError(f"output: expected a folder for the sheets, {output} is a file")
    if resolved(key).is_relative_to(resolved(output)):
        raise InputError(
            f"key: expected a file outside the folder of the sheets, {output}, got {key}; raters"
            " must not see it"
        )
    if exists(output) and any(output.iterdir()):
        raise InputError(
            f"output: expected a new or empty folder, {output} holds files, which may be filled"
            " sheets; choose another"
        )
    check_output(output / "guidelines.md" if exists(output) else output)


def is_campaign(output: Path) -> bool:
    """Return whether a campaign of Pearmut is written, by the name of the output."""
    return output.suffix.lower() == ".json"


def rater_files(key: SheetKey, *, n_raters: int = 2, seed: int = 0) -> dict[str, str]:
    """Return the guidelines and a sheet for each rater, with its rows in an order of its own."""
    raters = rows_of_raters(key, n_raters=n_raters, seed=seed)
    sheets = {f"{rater}.csv": sheet_text(key.form, rows) for rater, rows in raters.items()}
    return {GUIDELINES_NAME: guidelines_text(key.form), **sheets}


def rows_of_raters(key: SheetKey, *, n_raters: int, seed: int) -> dict[str, list[SheetRow]]:
    """Return the rows of each rater, in an order of its own."""
    if n_raters < 2:
        raise InputError(
            f"n_raters: expected at least 2, whose labels are compared, got {n_raters}"
        )
    raters = {}
    for rater in range(1, n_raters + 1):
        rows = list(key.rows)
        random.Random(f"{seed} {rater}").shuffle(rows)
        raters[f"rater{rater}"] = rows
    return raters


def key_text(key: SheetKey) -> str:
    """Return the key as JSON."""
    row = {
        "form": key.form.name,
        "settings": key.settings,
        "rows": [asdict(row) for row in key.rows],
        "unrated": key.unrated,
    }
    return json.dumps(row, ensure_ascii=False, indent=1) + "\n"


def read_key_and_sheets(
    files: Sequence[Path], forms: Collection[SheetForm]
) -> tuple[SheetKey, list[Answers]]:
    """Read filled sheets, or answers to a campaign of Pearmut, and their key, in any order."""
    keys = [path for path in files if path.suffix.lower() == ".json" and not is_log(path)]
    if len(keys) != 1:
        raise InputError(f"labels: expected the sheets and one key (.json), got {len(keys)} keys")
    sheets = [path for path in files if path != keys[0]]
    if folder := next(filter(Path.is_dir, sheets), None):
        raise InputError(f"labels: expected each filled sheet by itself, got the folder {folder}")
    key = SheetKey.read(keys[0], forms)
    return key, key.read_sheets(sheets)


def read_sheet(path: Path, key: SheetKey) -> Answers:
    """Read a sheet that a rater has filled.

    The order of rows and columns, further columns, capitals and blanks of labels do not matter;
    cells may be separated by commas, semicolons or tabs. Texts must be those of the key.
    """
    form = key.form
    header, table = _table(path)
    columns = (_ID, *form.columns, *form.questions)
    if missing := [name for name in columns if name not in header]:
        raise InputError(
            f"{path}: line 1: expected the column {missing[0]!r}, got"
            f" {', '.join(header) or 'none'}; keep the first line of the sheet"
        )
    positions = {name: header.index(name) for name in columns}
    return _answers(_filled(table, positions), key, str(path))


def _filled(
    table: Iterable[tuple[Place, list[str]]], positions: Mapping[str, int]
) -> Iterator[Filled]:
    for line, cells in table:
        name = cells[positions[_ID]].strip()
        row = {column: cells[position] for column, position in positions.items()}
        yield Filled(f"{line}: row {name!r}", name, row)


def _answers(filled: Iterable[Filled], key: SheetKey, where: str) -> Answers:
    """Return what a rater answers to each row of the key.

    Args:
        where: the place of all rows, for messages.
    """
    form = key.form
    rows = {row.id: row for row in key.rows}
    answers: dict[str, tuple[str, ...]] = {}
    for row in filled:
        if row.id not in rows:
            raise InputError(f"{row.where}: this id is not in the key; keep the ids of the sheet")
        if row.id in answers:
            raise InputError(f"{row.where}: this id occurs twice; expected each row once")
        for column, text in zip(form.columns, rows[row.id].cells, strict=True):
            # Spreadsheets change quotation marks.
            cell = row.cells.get(column)
            if not isinstance(cell, str) or letters(cell) != letters(text):
                raise InputError(
                    f"{row.where}: {column}: expected the text of the key, {shown(text)}, got"
                    f" {shown(cell)}; do not change what was to be judged"
                )
        answers[row.id] = tuple(
            _label(row.cells.get(question), labels, f"{row.where}: {question}")
            for question, labels in form.questions.items()
        )
    if unanswered := [name for name in rows if name not in answers]:
        raise InputError(
            f"{where}: expected every row of the key, row {unanswered[0]!r} is missing (and"
            f" {len(unanswered) - 1} more)"
        )
    return answers


def _table(path: Path) -> tuple[list[str], Iterable[tuple[Place, list[str]]]]:
    """Return the names of the columns, and the other rows with their places."""
    suffix = path.suffix.lower()
    rows = read_cells(path, XLSX if suffix == XLSX else TABLES[0], (_ID,))
    return next(rows, (Place(path, 1), []))[1], rows


def _label(cell: Any, labels: Collection[str], where: str) -> str:
    """Return the label in a cell as the form writes it."""
    known = {label.casefold(): label for label in labels}
    label = " ".join(cell.split()).casefold() if isinstance(cell, str) else ""
    if label not in known:
        raise InputError(
            f"{where}: expected {'; '.join(labels)}, got {shown(cell) if label else 'no label'}"
        )
    return known[label]
