"""Options of commands that read a parallel corpus, and how it is opened."""

from __future__ import annotations

from typing import Annotated

import typer

from cc_hf.cli.fields import Fields

__all__ = ["Aligner", "CorpusFields", "CorpusNames", "Lemmatizer"]

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
