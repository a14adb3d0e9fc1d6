"""Options of commands that read a parallel corpus, and how it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.data.corpora.parallel import Corpus, StreamCorpus

__all__ = [
    "BlockPairs",
    "CorpusColumns",
    "CorpusConfig",
    "CorpusNames",
    "CorpusProcesses",
    "CorpusSplit",
    "Streaming",
    "open_corpus",
]

CorpusNames = Annotated[
    list[str],
    typer.Argument(
        help=(
            "Parallel corpus: two line-aligned files, source and target; or one dataset: a"
            " folder of `save_to_disk`, a .parquet, .jsonl or .csv file, or a name on the Hub."
        )
    ),
]
CorpusConfig = Annotated[str | None, typer.Option(help="Configuration of the dataset.")]
CorpusSplit = Annotated[str, typer.Option(help="Split of the dataset.")]
CorpusColumns = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE,TARGET",
        help=(
            "Columns of the dataset, such as translation.en,translation.de. Default: the"
            " languages, or source and reference, target or translation."
        ),
    ),
]
Streaming = Annotated[
    bool, typer.Option("--streaming", help="Stream the dataset instead of downloading it.")
]
CorpusProcesses = Annotated[int, typer.Option("--processes", min=1, help="Processes.")]
BlockPairs = Annotated[
    int, typer.Option(min=1, help="Pairs that are read together; it bounds the memory.")
]


def open_corpus(
    names: list[str],
    langs: tuple[str, str],
    *,
    config: str | None,
    split: str,
    columns: str | None,
    streaming: bool,
    block_pairs: int,
) -> Corpus | StreamCorpus:
    """Return the corpus that the arguments name.

    Args:
        names: two files, or one dataset.
        langs: ISO 639-1 codes of the source and the target language.
        columns: two names with a comma between them; None for those that the dataset has.
    """
    from cc_hf.data.corpora.parallel import dataset_corpus, file_corpus, open_dataset

    if len(names) > 2:
        raise InputError(f"corpus: expected two files or one dataset, got {', '.join(names)}")
    if len(names) == 2:
        if config or columns or streaming:
            raise InputError(
                "corpus: expected one dataset with --config, --columns or --streaming, got two"
                f" files, {' and '.join(names)}"
            )
        return file_corpus(*names, block_pairs=block_pairs)
    pair = tuple(columns.split(",")) if columns else None
    if pair is not None and len(pair) != 2:
        raise InputError(f"columns: expected two names with a comma between them, got {columns!r}")
    return dataset_corpus(
        open_dataset(names[0], config, split=split, streaming=streaming),
        name=names[0],
        src_lang=langs[0],
        tgt_lang=langs[1],
        columns=None if pair is None else (pair[0], pair[1]),
        block_pairs=block_pairs,
    )
