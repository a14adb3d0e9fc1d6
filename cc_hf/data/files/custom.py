"""Users' own phenomena: a table or JSON of sources, positions and cues becomes a dataset in
contrastive format.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.data.files.cells import SOURCE_KEYS, TRANSLATION_KEYS
from cc_hf.data.files.custom_examples import (
    CUE_KEYS,
    OWN_KEYS,
    check_keys,
    column_advice,
    example_of_row,
    flat_row,
    with_known_keys,
    word_example,
)
from cc_hf.data.files.published_rows import own_columns
from cc_hf.errors import DataError, FileError, InputError, in_file, shown
from cc_hf.files import file_sha256, file_slug
from cc_hf.languages import LANGUAGES, language_tag
from cc_hf.lists import listed_rows
from cc_hf.reading import Place, opened
from cc_hf.schema import (
    CUSTOM,
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    Example,
    ProbingExample,
)
from cc_hf.tables.rows import TABLES, XLSX, read_rows, sheets, suffixes

__all__ = [
    "custom_declaration",
    "custom_rows",
    "is_custom",
    "read_custom",
    "read_words",
    "rows_declaration",
]

_FORMS: dict[type[Example], tuple[str, str]] = {
    ContrastiveSourceExample: ("Contrastive sources", "vamvas-sennrich-2021"),
    ContrastiveTranslationExample: ("Contrastive translations", "sennrich-2017"),
    ProbingExample: ("Homographs", "emelin-2020"),
}


def is_custom(name: str | Path) -> bool:
    """Return whether a dataset's name is a user's file, which need not exist, by its ending.

    Examples:
        >>> is_custom("rows.jsonl"), is_custom("mucow")
        (True, False)
    """
    return Path(name).suffix.lower() in suffixes()


def custom_declaration(
    path: str | Path, *, src_lang: str = "en", tgt_lang: str | None = None
) -> DatasetDeclaration:
    """Return the declaration of a user's file."""
    path = Path(path)
    src_lang, tgt_lang = _languages(src_lang, tgt_lang)
    with opened(path):  # raises if the file itself is missing
        pass
    return _declared(path, file_sha256(path), src_lang, tgt_lang)


def rows_declaration(
    rows: Any, *, src_lang: str = "en", tgt_lang: str | None = None
) -> DatasetDeclaration:
    """Return the declaration of rows in memory.

    Args:
        rows: mappings with the columns of `read_custom`, in a list, a table of pandas, a
            `datasets.Dataset`, or any iterable. None and NaN stand for an empty cell.

    Examples:
        >>> row = {"source": "The nurse left.", "focus": "nurse", "gold": "male"}
        >>> rows_declaration([row], tgt_lang="de").default_config
        'rows'
    """
    if isinstance(rows, Mapping) or not isinstance(rows, Iterable):
        raise InputError(
            "dataset: expected a name, a file, or rows: mappings in a list, a table of pandas or a"
            f" datasets.Dataset, such as one split of a DatasetDict; got {type(rows).__name__}"
        )
    placed, texts = [], []
    for number, row in enumerate(listed_rows("dataset", rows)):
        if not isinstance(row, Mapping):
            raise InputError(
                f"dataset: row {number}: expected a mapping from columns such as source, focus and"
                f" gold to values, got {shown(row)}; or give the name of a dataset, or a file"
            )
        cells = with_known_keys({str(key): _plain(value) for key, value in row.items()})
        filled = {key: cell for key, cell in cells.items() if cell is not None}
        placed.append((_RowNumber(number), filled))
        try:
            texts.append(json.dumps(filled, sort_keys=True, default=str))
        except (RecursionError, ValueError) as error:  # nested too deep, or too many digits
            raise InputError(
                f"dataset: row {number}: expected texts, numbers and lists of texts, got a value"
                f" that JSON cannot hold ({error})"
            ) from error
    digest = hashlib.sha256(f"[{', '.join(texts)}]".encode()).hexdigest()
    languages = _languages(src_lang, tgt_lang)
    return _declaration(_Rows("rows in memory", "rows", placed), digest, *languages)


def _plain(value: Any) -> Any:
    """Return a value of a table as plain Python, None for NaN."""
    if not isinstance(value, (str, list, dict)) and hasattr(value, "tolist"):
        value = value.tolist()  # of numpy
    return None if isinstance(value, float) and math.isnan(value) else value


class _RowNumber(NamedTuple):
    """The number of a row in memory, as messages name it."""

    line: int

    def __str__(self) -> str:
        return f"row {self.line}"


class _Rows(NamedTuple):
    """Rows with their places, the file or what stands for it, and the name of the configuration."""

    origin: str | Path
    name: str
    placed: Sequence[tuple[Place | _RowNumber, Mapping[str, Any]]]

    @classmethod
    def of_file(cls, path: Path) -> _Rows:
        rows = [(where, {"line": str(where.line), **row}) for where, row in custom_rows(path)]
        return cls(path, file_slug(path.stem), rows)


@lru_cache(maxsize=4)
def _declared(path: Path, sha256: str, src_lang: str, tgt_lang: str | None) -> DatasetDeclaration:
    """Return the declaration for this content, cached since one run asks for it several times."""
    return _declaration(_Rows.of_file(path), sha256, src_lang, tgt_lang)


def _declaration(
    rows: _Rows, revision: str, src_lang: str, tgt_lang: str | None
) -> DatasetDeclaration:
    gets_brackets = []
    path = rows.origin
    made_from = f"made from {path.name if isinstance(path, Path) else path}"

    def make(
        row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
    ) -> Example:
        example = example_of_row(row, number, extra_keys, src_lang)
        has_own = any(key in row for key in (*CUE_KEYS, *SOURCE_KEYS))
        gets_brackets.append(isinstance(example, ContrastiveSourceExample) and not has_own)
        return example

    examples = list(_examples(rows, src_lang, make, tgt_lang))
    if len(forms := {type(example) for example in examples}) > 1:
        raise DataError(
            f"{path}: expected rows of one kind (with cues, with senses and cluster, or with"
            " contrastive translations), got several; make one file each"
        )
    languages = {example.tgt_lang for example in examples}
    if len({example.src_lang for example in examples}) > 1 or len(languages) > 1:
        raise DataError(
            f"{path}: expected one source and one target language in a file, got"
            f" {sorted({(e.src_lang, e.tgt_lang) for e in examples})}; make one file each"
        )
    named = (tgt_lang,) if tgt_lang else tuple(LANGUAGES)
    targets = named if languages == {""} else tuple(languages)
    config = ConfigDeclaration(
        rows.name,
        made_from,
        targets,
        {"test": len(examples)},
        form=forms.pop(),
        src_lang=examples[0].src_lang,
        extra_keys=tuple(examples[0].extra),
    )
    about, citation = _FORMS[config.form]
    return DatasetDeclaration(
        name=CUSTOM,
        description=f"{about} {made_from}.",
        licence="unknown",
        homepage="",
        citation_keys=(citation,),
        revision=revision,
        cues="gender_brackets" if all(gets_brackets) else "own",
        files=(),
        configs=(config,),
        default_config=config.name,
        extra_keys=config.extra_keys or (),
        read=lambda paths, config, split: iter(examples),
    )


def read_custom(
    path: str | Path, *, src_lang: str = "en", tgt_lang: str | None = None
) -> Iterator[Example]:
    """Yield the examples of a file, one per row.

    The columns of a table, or the keys of JSON objects, are:

    - `source`: the sentence.
    - `focus` and `position`: the words to be disambiguated and their 0-based first character. One
      may be missing: without `position`, the focus must occur exactly once as written; without
      `focus`, the word at the position is used.
    - `correct_cues` and `incorrect_cues`: lists in JSONL, texts separated by "|" in a table. See
      `cc_hf.cues.templates.apply_cue` for what a cue can be. A row without both whose `gold` is
      "male" or "female" gets gender brackets in the source language (`cc_hf.cues.gender_brackets`).
    - `placement` (optional): "before", "after", "replace" or "phrase".
    - `id` (optional): the 0-based row by default.
    - `category` (optional): the gender by default, or "all".
    - `gold`, `src_lang` and `tgt_lang` (optional): any target language by default.

    A row may have `senses` and `cluster` in place of cues, for the metric `homograph_accuracy`:

    - `senses`: the clusters of senses of the focus, each with the words of the target language that
      show it (`cc_hf.data.files.sense_rows.parse_senses`), as an object or its JSON.
    - `cluster`: the cluster of the right sense. It becomes `gold`.
    - `homograph` (optional): the lemma of the focus; the focus by default.

    Rows in a contrastive format (`cc_hf.schema`), as `cc_hf.load_dataset` gives them, have other
    columns, with lists in JSONL and texts separated by "|" in a table, where "\\|" is a bar within
    a text:

    - `source`, `correct_sources` and `incorrect_sources`; optional are `focus`, a text or an object
      with `text` and `start`, and all columns above.
    - `correct_translation`, `contrastive_translations` and `tgt_lang`; optional are `source`,
      `category`, `id` and `src_lang`.

    Rows of ACES, ContraPro and GeNTE are read in the format of their authors
    (`cc_hf.data.files.published_rows`). All other columns are kept as strings in `extra`, with
    `line`, the number of the line in the file.

    Args:
        tgt_lang: target language of rows with contrastive translations that name none; None if they
            must name it.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "rows.tsv")
        ...     lines = "source\\tfocus\\tgold", "The nurse left.\\tnurse\\tmale"
        ...     _ = path.write_text("\\n".join(lines), encoding="utf-8")
        ...     next(read_custom(path)).incorrect_sources
        ('The [female] nurse left.',)
    """
    source, target = _languages(src_lang, tgt_lang)
    yield from _examples(_Rows.of_file(Path(path)), source, example_of_row, target)


def read_words(
    path: str | Path, *, src_lang: str = "en", tgt_lang: str | None = None
) -> Iterator[ProbingExample]:
    """Yield ambiguous words with references, one per row. `cc-hf cues build` finds cues for them.

    The columns are those of `read_custom` without cues: `source`; `focus` or `position` or both;
    `gold` (the sense); `reference` (a correct translation); `tgt_lang`. Optional columns are
    `ambiguous_word` (the focus by default), `id`, `category` and `src_lang`.

    Args:
        src_lang, tgt_lang: languages of rows that name none, ISO 639-1; `tgt_lang` is None if they
            must name it.

    Yields:
        Examples whose `extra` has `ambiguous_word` and `reference`.
    """
    source, target = _languages(src_lang, tgt_lang)
    yield from _examples(_Rows.of_file(Path(path)), source, word_example, target)


def custom_rows(path: Path) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the rows of a file without empty cells and nulls; a table must have a column `source`.

    Names of known columns may have other capitals and outer blanks.
    """
    suffix = path.suffix.lower()
    is_table = suffix in (*TABLES, *sheets())
    blank = "" if suffix in (*TABLES, XLSX) else None
    for where, row in read_rows(path):
        with in_file(where):
            own_row = with_known_keys(own_columns(row))
        if is_table and "source" not in own_row:
            raise FileError(
                Place(path, 1),
                f"expected columns named source, got {shown(list(row))}"
                f"{column_advice(row, 'source')}",
            )
        yield where, {key: cell for key, cell in own_row.items() if cell != blank}


_E = TypeVar("_E", bound=Example)


def _examples(
    given: _Rows,
    src_lang: str,
    make: Callable[[Mapping[str, Any], int, Sequence[str], str], _E],
    tgt_lang: str | None = None,
) -> Iterator[_E]:
    rows = [(where, flat_row(row)) for where, row in given.placed]
    if not rows:
        raise InputError(
            f"{given.origin}: expected at least one row with source, focus or position, and what"
            " belongs to them, got none"
        )
    extra_keys = sorted({key for _, row in rows for key in row} - set(OWN_KEYS))
    seen: dict[str, str] = {}
    for number, (where, row) in enumerate(rows):
        if tgt_lang and (make is word_example or all(key in row for key in TRANSLATION_KEYS)):
            row = {"tgt_lang": tgt_lang, **row}
        with in_file(where):
            check_keys(tuple(row))
            example = make(row, number, extra_keys, src_lang)
        if example.id in seen:
            raise FileError(
                where,
                f"the id {example.id!r} is that of {seen[example.id]} too; expected ids that are"
                " unique",
            )
        seen[example.id] = str(where).rpartition(": ")[2]
        yield example


def _languages(src_lang: str, tgt_lang: str | None) -> tuple[str, str | None]:
    target = None if tgt_lang is None else language_tag(tgt_lang, "tgt_lang")
    return language_tag(src_lang, "src_lang"), target
