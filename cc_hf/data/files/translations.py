"""Files of translations, matched to the examples by their order, their ids or their sources. Rows
are never dropped silently.
"""

from __future__ import annotations

import difflib
import heapq
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cc_hf.data.files.translation_rows import (
    TranslationRow,
    read_translation_rows,
    split_column,
)
from cc_hf.errors import FileError, InputError
from cc_hf.languages import base_code
from cc_hf.normalization import composed, is_blank
from cc_hf.schema import Example

__all__ = [
    "LineCountError",
    "MatchedTranslations",
    "name_of_file",
    "read_translations",
    "translated_ids",
]

#: Quotation marks and apostrophes that programs put in place of straight ones.
_STRAIGHT = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    }
)
_N_NEAR, _LONGEST, _LEAST_RATIO = 20, 500, 0.6  # of the search for the line that is meant


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


def name_of_file(path: str | Path, src_lang: str, tgt_lang: str) -> str:
    """Return the name of the system that a file of translations is named after.

    It is the column or system of FILE#COLUMN; else the name of the file without its ending, or of
    its folder if the file is named after the languages only; "" if none says anything.

    Examples:
        >>> name_of_file("out/opus-mt.txt", "en", "de"), name_of_file("aws/en-de.txt", "en", "de")
        ('opus-mt', 'aws')
    """
    path, column = split_column(path)
    if column and column.isprintable():
        return column
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

    Rows are matched by `id` if all have one and the ids are those of the examples, else by `source`
    (or `sentence`), and line by line if they have neither, one line per example, or one line per
    line of a longer file to which the examples belong. Sources match also where one is composed
    (NFC), has other blanks at its ends, or typographic quotation marks, if no other source could be
    meant.

    A file is one of these:

    - JSON objects with `translation`, one per line or in an array. Under `translation` may be an
      object with a text for each of the two languages, as in the library `datasets`. Replies of
      chat models in batches have `custom_id` as their id.
    - A .csv, .tsv, .xlsx or .parquet file with a column `translation`, or `from` and `to`. A .csv
      or .tsv file of one column needs no name for it.
    - "FILE#COLUMN": the translations are in this column of a table, under this key of JSON objects,
      or of this system in a file of WMT.
    - XML or SGM of WMT.
    - A file in which every line holds " ||| " between source and translation; blank lines between
      them are skipped.
    - Any other file has one translation per line.

    A blank translation is returned as it is, because metrics differ in what it means.

    Args:
        path: "-" for standard input.
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
    if not examples:
        raise InputError("expected at least one example to match translations to, got none")
    path, column = split_column(path)
    lengths = {len(examples), *(other_lengths or {})}
    rows = read_translation_rows(path, column, examples, lengths)
    if path == Path("-"):
        path = Path("standard input")  # as messages name it
    if all(is_blank(row.translation) for row in rows):
        raise FileError(path, "expected translations, got an empty file")
    lines_of_examples = (other_lengths or {}).get(len(rows), ())
    chosen = [rows[line] for line in lines_of_examples]
    # Plain lines have their order alone, which the number of lines must confirm.
    has_keys = not all(row.source is None and row.id is None for row in rows)
    if chosen and (
        not has_keys or all(_is_same(row, e) for row, e in zip(chosen, examples, strict=True))
    ):
        return MatchedTranslations(
            tuple(row.translation for row in chosen), len(rows), len(rows) - len(chosen)
        )
    if not has_keys:
        return _by_order(path, rows, examples, sorted(other_lengths or {}))
    known = {example.id for example in examples}
    # Ids of another numbering are common: with sources beside them, ids must all be known.
    by_id = all(row.id is not None for row in rows) and (
        rows[0].source is None or known <= {row.id for row in rows}
    )
    key = "id" if by_id else "source"
    return _by_key(path, rows, examples, key)


def translated_ids(path: str | Path) -> frozenset[str]:
    """Return the ids of the examples that a file translates."""
    path, column = split_column(path)
    rows = read_translation_rows(path, column, (), ())
    if without := [row for row in rows if row.id is None]:
        raise FileError(without[0].where, "expected the key 'id', got none")
    ids = frozenset(row.id for row in rows if row.id is not None and not is_blank(row.translation))
    if not ids:
        raise FileError(path, "expected translations, got none")
    return ids


def _by_order(
    path: Path,
    rows: list[TranslationRow],
    examples: Sequence[Example],
    other_lengths: Sequence[int],
) -> MatchedTranslations:
    if len(rows) != len(examples):
        index = min(len(rows), len(examples))
        where = (
            f"{_place(rows[index])} has no example"
            if len(rows) > len(examples)
            else f"the source {examples[index].source!r} has no line"
        )
        line = rows[0].where.line if rows else 1
        header = f" besides the header in line {line - 1}" if line > 1 else ""
        is_short = len(rows) < len(examples)
        look = "; translations of a first look need the same `limit`" if is_short else ""
        others = "".join(f" or {n}" for n in other_lengths if n != len(examples))
        raise LineCountError(
            f"{path}: expected one line per example, {len(examples)} in all{others}, got"
            f' {len(rows)}{header} ({where}). "source ||| translation" lines, or JSONL with ids,'
            f" are matched by source or id{look}",
            len(rows),
        )
    return MatchedTranslations(tuple(row.translation for row in rows), len(rows), 0)


def _by_key(
    path: Path, rows: list[TranslationRow], examples: Sequence[Example], key: str
) -> MatchedTranslations:
    table: dict[str, list[TranslationRow]] = {}
    for row in rows:
        value = getattr(row, key)
        if value is None:
            raise FileError(row.where, f'expected "{key}", as on other lines')
        table.setdefault(value, []).append(row)
    n_examples: dict[str, int] = {}
    for example in examples:
        n_examples[getattr(example, key)] = n_examples.get(getattr(example, key), 0) + 1
    if key == "source":
        _match_forgiving(table, n_examples)
    if missing := [example for example in examples if getattr(example, key) not in table]:
        first = missing[0]
        value = getattr(first, key)
        near = (
            _nearest(value, table, n_examples)
            if key == "source"
            else f"{_place(rows[0]).capitalize()} of the file has the id {rows[0].id!r}"
        )
        raise InputError(
            f"{path}: {len(missing)} of {len(examples)} examples have no translation; the first is"
            f" example {first.id}, {key} {value!r}. {near}. Translate all of them, or judge only"
            " the first ones with `limit`"
        )
    translations = []
    n_matched: dict[str, int] = {}
    for example in examples:
        value = getattr(example, key)
        candidates = table[value]
        for row in candidates:
            if row.source is not None and not _is_same(row, example):
                raise FileError(
                    row.where,
                    f"{key} {value!r} has the source {example.source!r}, the line says"
                    f" {row.source!r}",
                )
        different = {row.translation for row in candidates}
        if len(different) > 1 and len(candidates) != n_examples[value]:
            lines = ", ".join(str(row.where.line) for row in candidates)
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


def _place(row: TranslationRow) -> str:
    return f"{row.where.unit} {row.where.line}"


def _is_same(row: TranslationRow, example: Example) -> bool:
    return row.source == example.source or (
        row.source is not None and _forgiven(row.source) == _forgiven(example.source)
    )


def _forgiven(source: str) -> str:
    """Return a source without what programs change in passing."""
    return " ".join(composed(source).translate(_STRAIGHT).split())


def _match_forgiving(table: dict[str, list[TranslationRow]], sources: Collection[str]) -> None:
    """Move rows to the sources that they mean, where exactly one row and one source are left."""
    missing = [source for source in sources if source not in table]
    if not missing:
        return
    wanted: dict[str, list[str]] = {}
    for source in missing:
        wanted.setdefault(_forgiven(source), []).append(source)
    # A source that matched exactly keeps its rows; one that differs in quotes alone is another.
    free: dict[str, list[str]] = {}
    for source in table:
        if source not in sources:
            free.setdefault(_forgiven(source), []).append(source)
    for forgiven, meant in wanted.items():
        written = free.get(forgiven, [])
        if len(meant) == len(written) == 1:
            table[meant[0]] = table.pop(written[0])


def _nearest(text: str, table: Mapping[str, list[TranslationRow]], known: Collection[str]) -> str:
    """Return the line of the file that is nearest to a text, and where they differ."""
    others = [other for other in table if other not in known] or list(table)
    words = set(_forgiven(text).split())
    # Few are compared in full: all would take time that grows with the square of a file.
    near = heapq.nlargest(_N_NEAR, others, key=lambda other: len(words & set(other.split())))
    ratios = {
        other: difflib.SequenceMatcher(None, text[:_LONGEST], other[:_LONGEST]).ratio()
        for other in near
    }
    best = max(near, key=lambda other: ratios[other])
    line = _place(table[best][0])
    if ratios[best] < _LEAST_RATIO:
        return f"{line.capitalize()} of the file has {best[:200]!r}"
    pairs = enumerate(zip(text, best, strict=False))
    start = next((i for i, (a, b) in pairs if a != b), min(len(text), len(best)))
    return (
        f"The nearest is {line}; it differs at character {start}: {_excerpt(best, start)} in place"
        f" of {_excerpt(text, start)}"
    )


def _excerpt(text: str, start: int) -> str:
    """Return a part of a text, with the code of a character that another may look like."""
    sign = text[start : start + 1]
    code = f" (U+{ord(sign):04X})" if sign and not sign.isascii() else ""
    return f"{text[max(start - 10, 0) : start + 20]!r}{code}"
