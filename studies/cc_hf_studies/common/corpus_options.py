"""Options of commands that read a parallel corpus, and how it is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.fields import Fields
from cc_hf.errors import InputError
from cc_hf.rules import AtLeast, check_fields

if TYPE_CHECKING:
    from cc_hf.data.corpora.parallel import Corpus, StreamCorpus

__all__ = ["Aligner", "CorpusFields", "CorpusNames", "CorpusOptions", "Lemmatizer"]

#: Fields of `CorpusOptions`.
CorpusFields = Fields("config split columns streaming", "Corpus", rare="block_pairs")
CorpusNames = Annotated[
    list[str],
    typer.Argument(
        help=(
            "Parallel corpus: two line-aligned files, source and target; or one dataset: a"
            " folder of `save_to_disk`, a .parquet, .jsonl or .csv file, or a name on the Hub."
        )
    ),
]
Aligner = Annotated[str, typer.Option(help="Aligner: fast_align or eflomal.")]
Lemmatizer = Annotated[str, typer.Option(help="Lemmatizer of the translations: simplemma or none.")]


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
        """Return a corpus."""
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
