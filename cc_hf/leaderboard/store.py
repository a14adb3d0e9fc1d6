"""Results in a folder, and the quality of the systems from a file.

What cannot be read is kept with the reason, and the others are shown.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cc_hf import signature
from cc_hf.data.result_files import read_result_file
from cc_hf.data.translations import read_lines
from cc_hf.errors import InputError
from cc_hf.files import is_folder, parse_json, table_rows
from cc_hf.reports.inputs import from_points
from cc_hf.results import EvaluationResult

__all__ = ["Entry", "Quality", "Store", "read_folder", "read_quality"]

_LOG = logging.getLogger(__name__)
_QUALITY_KEYS = ("system", "bleu", "dataset", "tgt_lang")


@dataclass(frozen=True)
class Entry:
    """One result.

    `system`: as its signature names it, else as its file; `judgements` of the result are left out.
    """

    system: str
    file: str
    result: EvaluationResult


@dataclass(frozen=True)
class Store:
    """Results by file name.

    `broken`: file name -> why it could not be read; `not_run`: file name -> metric -> why the
    evaluation left it out.
    """

    entries: tuple[Entry, ...]
    broken: Mapping[str, str] = field(default_factory=dict)
    not_run: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Quality:
    """BLEU of systems, in [0, 1], by (system, dataset, target language), the last two "" where it
    holds for all.
    """

    bleu: Mapping[tuple[str, str, str], float] = field(default_factory=dict)

    def of(self, system: str, dataset: str, tgt_lang: str) -> float | None:
        """The closest figure: of this dataset and language, of one of both, of the system alone;
        None where there is none.

        >>> quality = Quality({("aws", "", ""): 0.3, ("aws", "winomt", ""): 0.4})
        >>> quality.of("aws", "winomt", "de"), quality.of("aws", "mucow", "de"), quality.of(
        ...     "x", "", ""
        ... )
        (0.4, 0.3, None)
        """
        keys = [
            (system, dataset, tgt_lang),
            (system, dataset, ""),
            (system, "", tgt_lang),
            (system, "", ""),
        ]
        return next((self.bleu[key] for key in keys if key in self.bleu), None)


def read_folder(folder: str | Path) -> Store:
    """All results of a folder: its files that end in .json, not those of folders within.

    Args:
        folder: with files that `cc-hf evaluate --output` wrote.

    Raises:
        InputError: when the folder is not there. A file that cannot be read is no error: it is
            named in `Store.broken` and logged.
    """
    folder = Path(folder)
    if not is_folder(folder):
        raise InputError(
            f"results: expected a folder with files that `cc-hf evaluate --output` wrote, {folder}"
            " is not a folder"
        )
    entries: list[Entry] = []
    broken: dict[str, str] = {}
    not_run: dict[str, Mapping[str, str]] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            found = read_result_file(path)
            entries += [_entry(path, result) for result in found.results]
        except InputError as error:
            broken[path.name] = str(error).replace(str(path), path.name)
            _LOG.warning("%s is not shown: %s", path.name, broken[path.name])
            continue
        if found.not_run:
            not_run[path.name] = {str(name): str(reason) for name, reason in found.not_run.items()}
    return Store(tuple(entries), broken, not_run)


def _entry(path: Path, result: EvaluationResult) -> Entry:
    system = signature.parse(result.signature)[1].get("sys", "") if result.signature else ""
    return Entry(system or path.stem, path.name, replace(result, judgements=()))


def read_quality(path: str | Path) -> Quality:
    """BLEU by system, from a table with a header and tabs (.tsv), or from JSON.

    Columns, or keys of each object in a list: `system`, named as in the table of the page, and
    `bleu`, 0 to 100; optional `dataset` and `tgt_lang`, for figures that hold for these only. JSON
    may also be one object, system -> BLEU.

    Raises:
        InputError: for a file that is not there or not as described, with the line or entry; a
            system that occurs twice for the same data; a BLEU that is not a number of points, 0 or
            from 1 to 100.
    """
    path = Path(path)
    lines = read_lines(path)
    found: dict[tuple[str, str, str], float] = {}
    for place, row in (
        _json_rows(path, "\n".join(lines))
        if path.suffix.lower() == ".json"
        else _table_rows(path, lines)
    ):
        if unknown := [key for key in row if key not in _QUALITY_KEYS]:
            raise InputError(
                f"{path}: {place}: expected {', '.join(_QUALITY_KEYS)}, got {unknown[0]!r}"
            )
        key = (
            _text(path, place, row, "system"),
            _text(path, place, row, "dataset"),
            _text(path, place, row, "tgt_lang"),
        )
        if not key[0]:
            raise InputError(f"{path}: {place}: expected a system, got none")
        if key in found:
            raise InputError(
                f"{path}: {place}: {' '.join(filter(None, key))} occurs twice; expected one BLEU"
                " each"
            )
        found[key] = from_points(f"{path}: {place}: bleu", row.get("bleu"))
    if not found:
        raise InputError(f"{path}: expected at least one line with a system and its BLEU, got none")
    return Quality(found)


def _table_rows(path: Path, lines: list[str]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    rows = table_rows(lines, path, delimiter="\t")
    header = [name.strip().lower() for name in next(rows, (0, []))[1]]
    if not {"system", "bleu"} <= set(header):
        raise InputError(
            f"{path}: line 1: expected a header with 'system' and 'bleu', separated by tabs, got"
            f" {header}"
        )
    for line, cells in rows:
        yield f"line {line}", dict(zip(header, cells, strict=True))


def _json_rows(path: Path, text: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
    try:
        found = parse_json(text)
    except InputError as error:
        raise InputError(f"{path}: expected JSON: {error}") from None
    if isinstance(found, dict):
        found = [{"system": system, "bleu": bleu} for system, bleu in found.items()]
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise InputError(
            f"{path}: expected an object, system to BLEU, or a list of objects with"
            f" {', '.join(_QUALITY_KEYS)}"
        )
    return [(f"entry {number}", row) for number, row in enumerate(found, 1)]


def _text(path: Path, place: str, row: Mapping[str, Any], key: str) -> str:
    value = row.get(key) or ""
    if not isinstance(value, str):
        raise InputError(f"{path}: {place}: {key}: expected a text, got {value!r}")
    return value.strip()
