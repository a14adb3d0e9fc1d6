"""Parallel corpora of any size, read block by block: line-aligned files, or a dataset of the
library `datasets`, loaded or streamed. A source has one translation, or several.

A damaged pair keeps its number: its texts are empty, and the block says what is wrong with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cc_hf.errors import FileError, InputError, shown
from cc_hf.files import exists, is_file, is_folder
from cc_hf.reading import opened

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

__all__ = [
    "DATASET_SUFFIXES",
    "Corpus",
    "CorpusBlock",
    "DatasetCorpus",
    "FileCorpus",
    "LineIndex",
    "StreamCorpus",
    "corpus_blocks",
    "dataset_corpus",
    "file_corpus",
    "open_dataset",
]

#: Files of which `save_to_disk` writes one.
_SAVED = ("state.json", "dataset_dict.json")
_BUILDERS = {".parquet": "parquet", ".jsonl": "json", ".csv": "csv"}
#: Ends of the names of files that `open_dataset` loads.
DATASET_SUFFIXES = tuple(_BUILDERS)
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class CorpusBlock:
    """Consecutive sentence pairs.

    Attributes:
        number: 0-based number of the block.
        first: 0-based number of its first pair in the corpus.
        damaged: index of a damaged pair in the block -> what is wrong with it.
        others: further translations of the sources, such as those of a teacher and its student.
    """

    number: int
    first: int
    sources: Sequence[str]
    references: Sequence[str]
    damaged: Mapping[int, str]
    others: tuple[Sequence[str], ...] = ()

    @property
    def targets(self) -> tuple[Sequence[str], ...]:
        """All translations of the sources, the references first."""
        return (self.references, *self.others)

    @property
    def digest(self) -> str:
        """A hash of all texts of the block."""
        lines = [line for texts in self.targets for line in ("", *texts)]
        text = "\n".join((*self.sources, *lines))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Corpus(Protocol):
    """A parallel corpus whose blocks can be read in any order, also by several processes."""

    @property
    def name(self) -> str:
        """Its name, for messages."""

    @property
    def n_pairs(self) -> int:
        """Its number of sentence pairs."""

    @property
    def block_pairs(self) -> int:
        """The number of pairs in each block but the last."""

    def read(self, number: int) -> CorpusBlock:
        """Return a block by its 0-based number."""


@dataclass(frozen=True)
class LineIndex:
    """Where the blocks of a text file begin, so that each can be read on its own.

    Attributes:
        offsets: position of the first byte of each block, and the size of the file.
        block_lines: number of lines in each block but the last.
    """

    path: Path
    offsets: tuple[int, ...]
    n_lines: int
    block_lines: int

    @classmethod
    def of(cls, path: Path, block_lines: int) -> LineIndex:
        """Return the index of a file, which is read once; refuse a compressed file."""
        offsets, n_bytes, n_lines = [0], 0, 0
        with opened(path) as file:
            # Offsets alone are kept: a corpus of a billion lines fits no memory.
            for line in file:
                if n_lines and n_lines % block_lines == 0:
                    offsets.append(n_bytes)
                elif not n_lines and line.startswith(_GZIP):
                    raise FileError(
                        path,
                        "expected plain text, got a compressed file; decompress it first, for"
                        f" example with gunzip -k {path}",
                    )
                n_bytes += len(line)
                n_lines += 1
        return cls(path, (*offsets, n_bytes), n_lines, block_lines)

    def read(self, number: int) -> tuple[list[str], dict[int, str]]:
        """Return the lines of a block by its 0-based number, and what is wrong where not UTF-8."""
        start, end = self.offsets[number], self.offsets[number + 1]
        with self.path.open("rb") as file:
            file.seek(start)
            raw = file.read(end - start)
        # Only the first block of a file can begin with the mark of its encoding.
        raw = raw.removeprefix(_BOM) if number == 0 else raw
        try:
            return _without_returns(raw.decode("utf-8").removesuffix("\n").split("\n")), {}
        except UnicodeDecodeError:
            # Line by line, so that one broken byte costs one pair and not the block.
            return self._decoded(raw.removesuffix(b"\n").split(b"\n"))

    def _decoded(self, raw_lines: Sequence[bytes]) -> tuple[list[str], dict[int, str]]:
        lines, damaged = [], {}
        for index, raw in enumerate(raw_lines):
            try:
                lines.append(raw.decode("utf-8"))
            except UnicodeDecodeError as error:
                lines.append("")
                damaged[index] = f"expected UTF-8, got the byte 0x{raw[error.start]:02x}"
        return _without_returns(lines), damaged


def _without_returns(lines: list[str]) -> list[str]:
    return [line.removesuffix("\r") for line in lines]


@dataclass(frozen=True)
class FileCorpus:
    """Text files in which the same line holds a sentence and its translations."""

    sources: LineIndex
    references: LineIndex
    others: tuple[LineIndex, ...] = ()

    @property
    def name(self) -> str:
        """The names of all files."""
        files = (self.sources, self.references, *self.others)
        return ", ".join(str(index.path) for index in files)

    @property
    def n_pairs(self) -> int:
        """The number of lines of each file."""
        return self.sources.n_lines

    @property
    def block_pairs(self) -> int:
        """The number of lines in a block."""
        return self.sources.block_lines

    def read(self, number: int) -> CorpusBlock:
        """Return a block by its 0-based number."""
        sides = [index.read(number) for index in (self.sources, self.references, *self.others)]
        damaged = {
            row: f"{side}: {reason}"
            for side, (_, reasons) in zip(_side_names(len(sides)), sides, strict=True)
            for row, reason in reasons.items()
        }
        return _block(number, self.block_pairs, [lines for lines, _ in sides], damaged)


def file_corpus(
    source: str | Path, reference: str | Path, *others: str | Path, block_pairs: int
) -> FileCorpus:
    """Return the corpus in line-aligned text files, with blocks of at least 1 pair.

    Args:
        *others: files with further translations of the same sources.

    Raises:
        InputError: for a file that does not exist or is compressed, files without lines, or files
            with different numbers of lines.
    """
    left = LineIndex.of(Path(source), block_pairs)
    rights = [LineIndex.of(Path(path), block_pairs) for path in (reference, *others)]
    for right in rights:
        if left.n_lines != right.n_lines:
            raise InputError(
                f"{source}, {right.path}: expected as many lines in both files, got"
                f" {left.n_lines} and {right.n_lines}; line N of the second must be the translation"
                " of line N of the first, blank lines included"
            )
    if not left.n_lines:
        raise InputError(f"{source}: expected sentences, one per line, got an empty file")
    return FileCorpus(left, rights[0], tuple(rights[1:]))


@dataclass(frozen=True)
class DatasetCorpus:
    """A dataset with a text and its translations in `columns` of a row, see `dataset_corpus`."""

    name: str
    dataset: Dataset
    columns: tuple[str, ...]
    block_pairs: int

    @property
    def n_pairs(self) -> int:
        """The number of rows."""
        return len(self.dataset)

    def read(self, number: int) -> CorpusBlock:
        """Return a block by its 0-based number."""
        first = number * self.block_pairs
        rows = self.dataset[first : first + self.block_pairs]
        sides = []
        for path in self.columns:
            column, _, key = path.partition(".")
            values = rows[column]
            sides.append([value and value.get(key) for value in values] if key else values)
        return _checked(number, self.block_pairs, sides)


@dataclass(frozen=True)
class StreamCorpus:
    """A streamed dataset like `DatasetCorpus`, whose blocks can only be read in order."""

    name: str
    dataset: IterableDataset
    columns: tuple[str, ...]
    block_pairs: int

    def blocks(self) -> Iterator[CorpusBlock]:
        """Yield all blocks in order; one block is in memory."""
        rows: Iterator[Mapping[str, Any]] = iter(self.dataset)
        number = 0
        while batch := list(islice(rows, self.block_pairs)):
            sides = [[_cell(row, path) for row in batch] for path in self.columns]
            yield _checked(number, self.block_pairs, sides)
            number += 1


def open_dataset(
    name: str, config: str | None = None, *, split: str = "train", streaming: bool = False
) -> Dataset | IterableDataset:
    """Load a dataset with the library `datasets`.

    Args:
        name: a folder of `save_to_disk`, a .parquet, .jsonl or .csv file, or a dataset on the Hub.

    Raises:
        InputError: for a dataset, configuration or split that cannot be loaded.
    """
    import datasets

    suffix = Path(name).suffix.lower()
    if is_file(name) != (suffix in _BUILDERS):
        raise InputError(
            f"{name}: expected two text files, or a dataset: a folder of `save_to_disk`, a file"
            f" that ends in {', '.join(_BUILDERS)}, or a name on the Hub, got"
            + (" one text file" if is_file(name) else " a file that does not exist")
        )
    try:
        if is_folder(name) and any(exists(Path(name) / file) for file in _SAVED):
            saved = datasets.load_from_disk(name)
            dataset = saved[split] if isinstance(saved, datasets.DatasetDict) else saved
            return dataset.to_iterable_dataset() if streaming else dataset
        if suffix in _BUILDERS:
            return datasets.load_dataset(
                _BUILDERS[suffix], data_files=name, split="train", streaming=streaming
            )
        return datasets.load_dataset(name, config, split=split, streaming=streaming)
    except (OSError, ValueError, KeyError, datasets.exceptions.DatasetGenerationError) as error:
        raise InputError(
            f"{name}: expected a dataset with the configuration {config} and the split {split}, got"
            f" none that can be loaded ({error})"
        ) from error


def dataset_corpus(
    dataset: Dataset | IterableDataset,
    *,
    name: str,
    src_lang: str,
    tgt_lang: str,
    columns: tuple[str, ...] | None = None,
    block_pairs: int,
) -> DatasetCorpus | StreamCorpus:
    """Return the corpus in a dataset; refuse one without rows or without the columns.

    Args:
        name: its name, for messages.
        src_lang, tgt_lang: ISO 639-1 codes.
        columns: names of the columns of source and translations; "translation.en" for the key "en"
            of the column "translation". None for the first of these pairs that the dataset has: the
            languages under `translation`, the languages, and source and reference, target or
            translation.
    """
    import datasets

    if not isinstance(dataset, (datasets.Dataset, datasets.IterableDataset)):
        raise InputError(f"{name}: expected one split of a dataset, got {type(dataset).__name__}")
    row: Mapping[str, Any] | None = next(iter(dataset), None)
    if row is None:
        raise InputError(f"{name}: expected rows with two texts, got none")
    choices: Iterable[tuple[str, ...]] = [columns] if columns else (
        (f"translation.{src_lang}", f"translation.{tgt_lang}"),
        (src_lang, tgt_lang),
        *(("source", other) for other in ("reference", "target", "translation")),
    )  # fmt: skip
    for pair in choices:
        if all(_has(row, path) for path in pair):
            kind = StreamCorpus if isinstance(dataset, datasets.IterableDataset) else DatasetCorpus
            used = list(dict.fromkeys(path.partition(".")[0] for path in pair))
            return kind(name, dataset.select_columns(used), pair, block_pairs)
    raise InputError(
        f"{name}: expected the columns {' and '.join(columns) if columns else 'of two texts'}, got"
        f" {', '.join(row)}; name the columns of source and translation, such as"
        f" translation.{src_lang} and translation.{tgt_lang}"
    )


def _has(row: Mapping[str, Any], path: str) -> bool:
    column, _, key = path.partition(".")
    return column in row and (not key or (isinstance(row[column], dict) and key in row[column]))


def _cell(row: Mapping[str, Any], path: str) -> Any:
    column, _, key = path.partition(".")
    value = row[column]
    return value and value.get(key) if key else value


def _checked(number: int, block_pairs: int, sides: Sequence[Sequence[Any]]) -> CorpusBlock:
    """Return a block of values that may be no texts."""
    damaged = {
        row: f"{side}: expected text, got {shown(value)}"
        for side, values in zip(_side_names(len(sides)), sides, strict=True)
        for row, value in enumerate(values)
        if value is not None and not isinstance(value, str)
    }
    texts = [[value if isinstance(value, str) else "" for value in values] for values in sides]
    return _block(number, block_pairs, texts, damaged)


def _block(
    number: int,
    block_pairs: int,
    sides: Sequence[Sequence[str]],
    damaged: Mapping[int, str],
) -> CorpusBlock:
    """Return a block in which empty texts are damaged, too."""
    reasons: dict[int, list[str]] = {row: [reason] for row, reason in damaged.items()}
    for side, texts in zip(_side_names(len(sides)), sides, strict=True):
        for row, text in enumerate(texts):
            if (not text or text.isspace()) and row not in damaged:
                reasons.setdefault(row, []).append(f"the {side} is empty")
    return CorpusBlock(
        number,
        number * block_pairs,
        sides[0],
        sides[1],
        {row: "; ".join(reasons[row]) for row in sorted(reasons)},
        tuple(sides[2:]),
    )


def corpus_blocks(corpus: Corpus | StreamCorpus) -> Iterator[CorpusBlock]:
    """Yield all blocks of a corpus in order."""
    if isinstance(corpus, StreamCorpus):
        yield from corpus.blocks()
    else:
        for number in range(-(-corpus.n_pairs // corpus.block_pairs)):
            yield corpus.read(number)


def _side_names(n_sides: int) -> list[str]:
    return ["source", "reference", *(f"translation {number}" for number in range(2, n_sides))]
