"""How a parallel corpus is read: one frozen object with all options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cc_hf.errors import InputError
from cc_hf.rules import AtLeast, check_fields

if TYPE_CHECKING:
    from cc_hf.data.corpora.parallel import Corpus, StreamCorpus

__all__ = ["CorpusOptions"]


@dataclass(frozen=True)
class CorpusOptions:
    """How a parallel corpus is read.

    Attributes:
        config: configuration of the dataset.
        split: split of the dataset.
        columns: source and target column of the dataset, such as translation.en,translation.de.
            None for the languages, or source and reference, target or translation.
        streaming: stream the dataset instead of downloading it.
        block_pairs: number of pairs that are read together; it bounds the memory.
        processes: number of processes.

    Raises:
        InputError: for a number below 1.
    """

    config: str | None = None
    split: str = "train"
    columns: str | None = None
    streaming: bool = False
    block_pairs: Annotated[int, AtLeast(1)] = 100_000
    processes: Annotated[int, AtLeast(1)] = 1

    def __post_init__(self) -> None:
        check_fields(self)

    def open(self, names: Sequence[str], languages: tuple[str, str]) -> Corpus | StreamCorpus:
        """Return a corpus.

        Args:
            names: two files, or one dataset.
            languages: ISO 639-1 codes of the source and the target language.
        """
        from cc_hf.data.corpora.parallel import file_corpus

        if len(names) > 2:
            raise InputError(f"corpus: expected two files or one dataset, got {', '.join(names)}")
        if len(names) == 2:
            if self.config or self.columns or self.streaming:
                raise InputError(
                    "corpus: expected one dataset with `config`, `columns` or `streaming`, got two"
                    f" files, {' and '.join(names)}"
                )
            return file_corpus(*names, block_pairs=self.block_pairs)
        columns = self.columns.split(",") if self.columns else None
        if columns is not None and len(columns) != 2:
            raise InputError(
                f"columns: expected two names with a comma between them, got {self.columns!r}"
            )
        return self.open_dataset(names[0], languages, columns)

    def open_dataset(
        self, name: str, languages: tuple[str, str], columns: Sequence[str] | None
    ) -> Corpus | StreamCorpus:
        """Return the corpus in columns of a dataset; None for those that it has."""
        from cc_hf.data.corpora.parallel import dataset_corpus, open_dataset

        return dataset_corpus(
            open_dataset(name, self.config, split=self.split, streaming=self.streaming),
            name=name,
            src_lang=languages[0],
            tgt_lang=languages[1],
            columns=None if columns is None else tuple(columns),
            block_pairs=self.block_pairs,
        )
