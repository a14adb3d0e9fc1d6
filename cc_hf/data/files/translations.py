"""Files of translations, matched to the examples: one per line, "source ||| translation" lines, a
CSV table, or JSONL. Rows are never dropped silently.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import FileError, InputError, in_file
from cc_hf.languages import base_code
from cc_hf.normalization import is_blank
from cc_hf.reading import (
    JSONL,
    TEXT,
    Place,
    check_form,
    parse_objects,
    parse_table,
    read_lines,
    read_rows,
)
from cc_hf.schema import Example

__all__ = [
    "LineCountError",
    "MatchedTranslations",
    "name_of_file",
    "read_translations",
    "translated_ids",
]

_SEPARATOR = re.compile(r"\s+\|\|\|(?=\s|$)")
_JSON_LINE = re.compile(r'\s*\{\s*"')
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: Columns of a table that hold source and translation; those of GEST's archive are the second pair.
_COLUMNS = (("source", "translation"), ("from", "to"))


class LineCountError(InputError):
    """A file that should have one line per example, and has another number of lines."""

    def __init__(self, message: str, n_lines: int) -> None:
        super().__init__(message)
        self.n_lines = n_lines


@dataclass(frozen=True)
class MatchedTranslations:
    """One translation per example, in the order of the examples.

    Attributes:
        n_lines: number of lines that hold a translation.
        n_unused: number of lines whose source (or id) belongs to no example.
    """

    translations: tuple[str, ...]
    n_lines: int
    n_unused: int


@dataclass(frozen=True)
class _Row:
    line: int
    translation: str
    source: str | None = None
    id: str | None = None


def name_of_file(path: str | Path, src_lang: str, tgt_lang: str) -> str:
    """Return the name of the system that a file of translations is named after.

    Returns:
        The name of the file without its ending; that of its folder if the file is named after the
        languages only; "" if neither says anything, as for standard input.

    Examples:
        >>> name_of_file("out/opus-mt.txt", "en", "de"), name_of_file("aws/en-de.txt", "en", "de")
        ('opus-mt', 'aws')
    """
    path = Path(path)
    words = set(re.split(r"[-_.]", path.stem.lower()))
    name = path.parent.name if words <= {base_code(src_lang), base_code(tgt_lang)} else path.stem
    return name if name != "-" and name.isprintable() else ""


def read_translations(
    path: str | Path,
    examples: Sequence[Example],
    *,
    other_lengths: Mapping[int, Sequence[int]] | None = None,
) -> MatchedTranslations:
    """Read a file of translations and match it to the examples.

    A file of JSON objects, one per line, holds `translation` and, to match by, `id` or `source` (or
    `sentence`). It is matched by source if the ids are not those of the examples, and line by line
    if it has neither. A file in which every line holds " ||| " is matched by source; blank lines
    between them are skipped. So is a .csv or .tsv file whose first line names the columns `source`
    and `translation`, or `from` and `to`; it may have others. Without these names, such a file has
    one cell a line, which may be quoted. Any other file is matched line by line, one line per
    example, or one line per line of a longer file to which the examples belong.

    A blank translation is returned as it is, because metrics differ in what it means.

    Args:
        path: "-" for standard input.
        examples: at least one example.
        other_lengths: further numbers of lines that a file may have, each with the 0-based line of
            every example (`cc_hf.evaluation.material.Material.translated_lines`).

    Raises:
        InputError: for a file that does not exist or is not UTF-8, a file without any translation,
            a line without " ||| " among lines with it, an example without a translation, two
            different translations of one source, or no examples.
        LineCountError: for a number of lines that fits neither the examples nor `other_lengths`.

    Examples:
        >>> import tempfile
        >>> from cc_hf.data.loading import load_examples
        >>> examples = load_examples("simplegen", "en-de")[:1]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "de.txt")
        ...     _ = path.write_text("Mein Mann ist Direktor.\\n", encoding="utf-8")
        ...     read_translations(path, examples)
        MatchedTranslations(translations=('Mein Mann ist Direktor.',), n_lines=1, n_unused=0)
    """
    path = Path(path)
    if not examples:
        raise InputError("expected at least one example to match translations to, got none")
    lines = read_lines(path, keeps_end=True)
    if path == Path("-"):
        path = Path("standard input")  # as messages name it
    if lines and lines[0].strip() == "{" and path.suffix != ".jsonl":
        raise InputError(
            f"{path}: expected translations, got a JSON document of several lines, such as the"
            " result of an evaluation; give a text with one translation per line, or JSONL"
        )
    # Blank lines at the end are translations only if the file has the right number with them.
    n_written = max((i for i, line in enumerate(lines, 1) if line.strip()), default=0)
    lengths = {len(examples), *(other_lengths or {})}
    if n_written not in lengths:
        n_written = min((n for n in lengths if n_written < n <= len(lines)), default=n_written)
    lines = lines[:n_written]
    if delimiter := _DELIMITERS.get(path.suffix.lower()):
        rows = _parse_cells(path, lines, delimiter)
    elif path.suffix == ".jsonl" or (
        lines and _JSON_LINE.match(next(line for line in lines if line.strip()))
    ):
        rows = [_row(where, parsed) for where, parsed in parse_objects(lines, path)]
    else:
        rows = _parse_text(path, lines)
    if all(is_blank(row.translation) for row in rows):
        raise InputError(f"{path}: expected translations, got an empty file")
    lines_of_examples = (other_lengths or {}).get(len(rows), ())
    chosen = [rows[line] for line in lines_of_examples]
    has_keys = not all(row.source is None and row.id is None for row in rows)
    if chosen and (
        not has_keys or all(row.source == e.source for row, e in zip(chosen, examples, strict=True))
    ):
        return MatchedTranslations(
            tuple(row.translation for row in chosen), len(rows), len(rows) - len(chosen)
        )
    if not has_keys:
        return _by_order(path, rows, examples, sorted(other_lengths or {}))
    known = {example.id for example in examples}
    by_id = all(row.id is not None for row in rows) and (
        rows[0].source is None or known <= {row.id for row in rows}
    )
    key = "id" if by_id else "source"
    return _by_key(path, rows, examples, key)


def translated_ids(path: str | Path) -> frozenset[str]:
    """Return the ids of the examples that a file translates.

    Args:
        path: a file of JSON objects, one per line, with `id` and `translation`, which is blank
            where there is none.

    Raises:
        InputError: for a line without id or translation, or a file without any translation.
    """
    path = Path(path)
    rows = [_row(where, row) for where, row in read_rows(path, JSONL, {"id": TEXT})]
    ids = frozenset(row.id for row in rows if row.id is not None and not is_blank(row.translation))
    if not ids:
        raise FileError(path, "expected translations, got none")
    return ids


def _parse_cells(path: Path, lines: list[str], delimiter: str) -> list[_Row]:
    """Return the rows of a table, or of a table of one column, which needs no name."""
    names = [cell.strip(' "\ufeff') for cell in lines[0].split(delimiter)] if lines else []
    for columns in _COLUMNS:
        if {*columns} <= {*names}:
            (_, names), *rows = parse_table(lines, path, delimiter=delimiter)
            source, translation = map(names.index, columns)
            return [_Row(w.line, cells[translation], source=cells[source]) for w, cells in rows]
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    rows_of_cells = []
    try:
        for cells in reader:
            if len(cells) > 1:
                raise FileError(
                    Place(path, reader.line_num),
                    f"expected one cell, as in a table of translations alone, got {len(cells)};"
                    " name the columns source and translation in the first line, or quote cells"
                    " that hold separators",
                )
            rows_of_cells.append(_Row(reader.line_num, "".join(cells)))
    except csv.Error as error:
        raise FileError(
            Place(path, reader.line_num),
            f"expected a cell that can be read ({error}); quote cells that hold quotes",
        ) from None
    has_name = names[:1] in [[translation] for _, translation in _COLUMNS]
    return rows_of_cells[1:] if has_name else rows_of_cells


def _parse_text(path: Path, lines: list[str]) -> list[_Row]:
    paired = ["|||" in line for line in lines]
    if not any(paired):
        return [_Row(number, line) for number, line in enumerate(lines, 1)]
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if not paired[number - 1]:
            raise InputError(
                f'{path}: line {number}: expected "source ||| translation", as on {sum(paired)} of'
                f" the {len(lines)} lines, got {line[:80]!r}"
            )
        parts = _SEPARATOR.split(line)
        if len(parts) != 2 or line.count("|||") != 1:
            raise InputError(
                f'{path}: line {number}: expected "source ||| translation", with blanks or tabs'
                f" around the only |||, got {line[:80]!r}; cut further columns off, or write JSONL"
                " with source and translation"
            )
        source, translation = parts
        rows.append(_Row(number, translation.strip(), source=source.strip()))
    return rows


def _row(where: Place, parsed: dict[str, Any]) -> _Row:
    with in_file(where):
        check_form(parsed, {"translation": TEXT, "id?": TEXT, "source?": TEXT, "sentence?": TEXT})
    return _Row(
        where.line,
        parsed["translation"],
        source=parsed.get("source", parsed.get("sentence")),
        id=parsed.get("id"),
    )


def _by_order(
    path: Path, rows: list[_Row], examples: Sequence[Example], other_lengths: Sequence[int]
) -> MatchedTranslations:
    if len(rows) != len(examples):
        index = min(len(rows), len(examples))
        where = (
            f"line {rows[index].line} has no example"
            if len(rows) > len(examples)
            else f"the source {examples[index].source!r} has no line"
        )
        is_short = len(rows) < len(examples)
        look = "; translations of a first look need the same `limit`" if is_short else ""
        others = "".join(f" or {n}" for n in other_lengths if n != len(examples))
        raise LineCountError(
            f"{path}: expected one line per example, {len(examples)} in all{others}, got"
            f' {len(rows)} ({where}). "source ||| translation" lines, or JSONL with ids, are'
            f" matched by source or id{look}",
            len(rows),
        )
    return MatchedTranslations(tuple(row.translation for row in rows), len(rows), 0)


def _by_key(
    path: Path, rows: list[_Row], examples: Sequence[Example], key: str
) -> MatchedTranslations:
    table: dict[str, list[_Row]] = {}
    for row in rows:
        value = getattr(row, key)
        if value is None:
            raise InputError(f'{path}: line {row.line}: expected "{key}", as on other lines')
        table.setdefault(value, []).append(row)
    n_examples: dict[str, int] = {}
    for example in examples:
        n_examples[getattr(example, key)] = n_examples.get(getattr(example, key), 0) + 1
    if missing := [example for example in examples if getattr(example, key) not in table]:
        first = missing[0]
        raise InputError(
            f"{path}: {len(missing)} of {len(examples)} examples have no translation; the first is"
            f" example {first.id}, {key} {getattr(first, key)!r}. Line {rows[0].line} of the file"
            f" has the {key} {getattr(rows[0], key)!r}. Translate all of them, or judge only the"
            " first ones with `limit`"
        )
    translations = []
    n_matched: dict[str, int] = {}
    for example in examples:
        value = getattr(example, key)
        candidates = table[value]
        for row in candidates:
            if row.source is not None and row.source != example.source:
                raise InputError(
                    f"{path}: line {row.line}: {key} {value!r} has the source {example.source!r},"
                    f" the line says {row.source!r}"
                )
        different = {row.translation for row in candidates}
        if len(different) > 1 and len(candidates) != n_examples[value]:
            lines = ", ".join(str(row.line) for row in candidates)
            raise InputError(
                f"{path}: lines {lines} give {len(different)} different translations of {value!r},"
                f" which {n_examples[value]} examples have; keep one line each"
            )
        position = n_matched.get(value, 0)
        translations.append(candidates[position if len(different) > 1 else 0].translation)
        n_matched[value] = position + 1
    n_unused = sum(
        len(candidates) for value, candidates in table.items() if value not in n_examples
    )
    return MatchedTranslations(tuple(translations), len(rows), n_unused)
