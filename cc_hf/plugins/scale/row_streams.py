"""Rows in the contrastive format with their translations, read chunk by chunk from files or streams
that need not fit into memory.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from cc_hf.data.files.cells import text_cell
from cc_hf.data.files.custom_examples import example_of_row
from cc_hf.errors import FileError, InputError, shown
from cc_hf.files import is_folder
from cc_hf.languages import base_code, language_tag
from cc_hf.normalization import is_blank
from cc_hf.reading import opened
from cc_hf.rules import AtLeast, check_fields
from cc_hf.schema import Example
from cc_hf.tables.rows import PARQUET, parquet_batches, read_rows, suffixes

__all__ = ["Chunk", "RowStream", "TranslatedRow"]

_HUB = "hf://"
_SOURCES = ("correct_sources", "incorrect_sources")
_EXAMPLE = ("id", "source", *_SOURCES, "category")
_COLUMNS = (*_EXAMPLE, "src_lang", "tgt_lang", "translation")
_OPEN = "open_share"
_READ_AT_ONCE = 8192
#: Rows of Arrow that are not values of Python yet, or rows.
_Piece: TypeAlias = Any


@dataclass(frozen=True)
class TranslatedRow:
    """An example and its translation."""

    number: int  # 0-based, in the stream
    example: Example  # without the words to disambiguate, which judging does not need
    translation: str


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a stream, which become values of Python when they are needed."""

    number: int  # 0-based
    first: int  # 0-based number of its first row
    n: int
    pieces: tuple[_Piece, ...]

    def rows(self) -> list[Mapping[str, Any]]:
        """Return the rows as they were given."""
        return [
            row
            for piece in self.pieces
            for row in (piece if isinstance(piece, list) else piece.to_pylist())
        ]


@dataclass(frozen=True)
class RowStream:
    """Rows to judge that need not fit into memory.

    Each row has `source`, `correct_sources` and `incorrect_sources` (lists, or texts separated by
    "|"), and `translation`; optional are `id` (its number by default), `category` ("all" by
    default), `src_lang` and `tgt_lang`. Other columns are not read.

    Attributes:
        rows: a .parquet or .jsonl file, or another one of `cc_hf.tables.rows.read_rows`, a folder
            of .parquet files, a pattern such as "rows-*.parquet", .parquet files on the Hub
            (hf://datasets/NAME/..., also as a pattern), several of these, or rows: a dataset of the
            library `datasets`, streamed or not, or any iterable of mappings. An iterator can be
            read once.
        src_lang, tgt_lang: languages as `cc_hf.languages.language_tag` reads them, which are kept
            in its form; rows must name no others.
        chunk_rows: number of rows that are in memory at once, and whose batches are planned
            together: scores depend on it in their last digits.

    Raises:
        InputError: for a language that is not known, or a number of rows that is not 1 or more.

    Examples:
        >>> row = {"source": "A bat.", "translation": "Ein Schläger."}
        >>> row |= {"correct_sources": ["A baseball bat."], "incorrect_sources": ["A flying bat."]}
        >>> chunks = list(RowStream([row] * 5, "en", "de", chunk_rows=2).chunks())
        >>> [(chunk.first, chunk.n) for chunk in chunks]
        [(0, 2), (2, 2), (4, 1)]
    """

    rows: str | Path | Sequence[str | Path] | Iterable[Mapping[str, Any]]
    src_lang: str
    tgt_lang: str
    chunk_rows: Annotated[int, AtLeast(1)] = 10_000

    def __post_init__(self) -> None:
        check_fields(self)
        for key, language in (("src_lang", self.src_lang), ("tgt_lang", self.tgt_lang)):
            object.__setattr__(self, key, language_tag(language, key))

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows in order; all chunks but the last have `chunk_rows` rows."""
        numbers = itertools.count()
        pieces: list[_Piece] = []
        n = 0
        for piece in self._pieces():
            start = 0
            while start < len(piece):
                taken = min(len(piece) - start, self.chunk_rows - n)
                pieces.append(
                    piece[start : start + taken]
                    if isinstance(piece, list)
                    else piece.slice(start, taken)
                )
                start, n = start + taken, n + taken
                if n == self.chunk_rows:
                    number = next(numbers)
                    yield Chunk(number, number * self.chunk_rows, n, tuple(pieces))
                    pieces, n = [], 0
        if n:
            number = next(numbers)
            yield Chunk(number, number * self.chunk_rows, n, tuple(pieces))

    def _pieces(self) -> Iterator[_Piece]:
        n = min(_READ_AT_ONCE, self.chunk_rows)
        if (paths := _paths(self.rows)) is not None:
            for path in paths:
                yield from _file_pieces(path, n)
            return
        if isinstance(self.rows, Mapping) or not isinstance(self.rows, Iterable):
            raise InputError(
                "rows: expected a file, files, a dataset or an iterable of mappings, got"
                f" {shown(self.rows)}"
            )
        yield from _lists(self.rows, n)

    def translated(self, chunk: Chunk, *, takes_blank: bool = False) -> list[TranslatedRow]:
        """Return the rows of a chunk, checked.

        Raise an InputError that names the first row, from 0, that is not as expected.
        """
        translated = []
        for number, row in enumerate(chunk.rows(), chunk.first):
            try:
                translated.append(self._translated(number, row, takes_blank=takes_blank))
            except InputError as error:
                raise InputError(f"row {number}: {error}") from None
        return translated

    def _translated(self, number: int, given: Any, *, takes_blank: bool) -> TranslatedRow:
        if not isinstance(given, Mapping):
            raise InputError(f"expected a mapping from columns to values, got {shown(given)}")
        row = {key: value for key, value in given.items() if value is not None}
        languages = {"src_lang": self.src_lang, "tgt_lang": self.tgt_lang}
        for key, language in languages.items():
            tag = language_tag(text_cell(row, key) or language, key)
            if base_code(tag) != base_code(language):
                raise InputError(f"{key}: expected {language}, got {tag}; judge it apart")
        if row.get(_OPEN) or (isinstance(row.get("extra"), Mapping) and row["extra"].get(_OPEN)):
            raise InputError(
                f"{_OPEN}: expected rows of which something is right; judge open ones by"
                " `cc_hf.evaluate`"
            )
        translation = text_cell(row, "translation")
        if is_blank(translation) and not takes_blank:
            raise InputError(
                f"expected a translation, got {shown(translation)}; fix the system's output, drop"
                ' the row, or count it as incorrect with the option on_blank="incorrect"'
            )
        # With both keys, the row is in the contrastive format, whatever else it lacks.
        columns = {**dict.fromkeys(_SOURCES), **{key: row[key] for key in _EXAMPLE if key in row}}
        example = example_of_row({**columns, **languages}, number, (), self.src_lang)
        return TranslatedRow(number, example, translation)


def _paths(rows: Any) -> list[str] | None:
    """Return the files that are meant, in order; None for rows."""
    if isinstance(rows, (str, Path)):
        rows = [rows]
    if not (isinstance(rows, (list, tuple)) and rows):
        return None
    if not all(isinstance(path, (str, Path)) for path in rows):
        return None
    paths: list[str] = []
    for given in map(str, rows):
        if is_folder(given):
            given = str(Path(glob.escape(given)) / f"*{PARQUET}")
        is_pattern = any(sign in given for sign in "*?[")
        several = (_glob(given) or []) if is_pattern else [given]
        if not several:
            raise FileError(given, f"expected {', '.join(suffixes())} files, got none of the name")
        paths += several
    return paths


def _glob(pattern: str) -> list[str]:
    if pattern.startswith(_HUB):
        with _reading(pattern):
            return [f"{_HUB}{path}" for path in sorted(_hub().glob(pattern))]
    return sorted(glob.glob(pattern))


def _hub() -> Any:
    from huggingface_hub import HfFileSystem

    return HfFileSystem()


def _lists(rows: Iterable[Any], n: int) -> Iterator[list[Any]]:
    iterator = iter(rows)
    while piece := list(itertools.islice(iterator, n)):
        yield piece


def _file_pieces(path: str, n: int) -> Iterator[_Piece]:
    suffix = Path(path).suffix.lower()
    if suffix == PARQUET:
        with _reading(path):
            yield from _parquet_pieces(path, n)
    elif suffix in suffixes() and not path.startswith(_HUB):
        yield from _lists((row for _, row in read_rows(Path(path))), n)
    else:
        raise FileError(
            path,
            f"expected a file that ends in {', '.join(suffixes())} ({PARQUET} on the Hub), got"
            " another; give the rows themselves, such as datasets.load_dataset(...,"
            " streaming=True)",
        )


def _parquet_pieces(path: str, n: int) -> Iterator[_Piece]:
    """Yield batches of n rows; a group of rows is read a batch at a time."""
    import pyarrow
    import pyarrow.parquet

    file_of: Any = _hub().open if path.startswith(_HUB) else lambda name: opened(Path(name))
    with file_of(path) as source, pyarrow.parquet.ParquetFile(source) as file:
        schema = file.schema_arrow
        columns = [name for name in schema.names if name in (*_COLUMNS, _OPEN)]
        if "extra" in schema.names:
            kind = schema.field("extra").type
            if pyarrow.types.is_struct(kind) and kind.get_field_index(_OPEN) >= 0:
                columns.append(f"extra.{_OPEN}")
        yield from parquet_batches(file, n, columns)


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    """Raise errors of files and of the Hub as a FileError."""
    import pyarrow

    try:
        yield
    except FileNotFoundError:
        raise FileError(path, "file not found") from None
    except (OSError, ValueError, NotImplementedError, pyarrow.ArrowException) as error:
        if isinstance(error, InputError):
            raise
        reason = str(error).partition("\n")[0]
        raise FileError(path, f"cannot be read: {reason}") from error
