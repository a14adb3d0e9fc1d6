"""The command `tag` of the study: sentence pairs in which the sense of a homograph is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome
from cc_hf.cli.corpora import CorpusFields, CorpusNames, CorpusOptions
from cc_hf.cli.fields import Fields
from cc_hf.studies.disambiguation_bias.command_options import LexiconFields, LexiconOptions
from cc_hf.studies.disambiguation_bias.tagging import TaggingOptions

__all__ = ["tag"]


def tag(
    corpus: CorpusNames,
    *,
    pairs: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Write the pairs with a known sense to this .jsonl."),
    ],
    held_out_pairs: Annotated[
        Path | None, typer.Option(help="Write the pairs of --held-out to this .jsonl.")
    ] = None,
    lexicon: Annotated[LexiconOptions, LexiconFields],
    tagging: Annotated[
        TaggingOptions,
        Fields(
            "homographs held_out min_tokens",
            "Tagging",
            rare=("aligner spacy_model lemmatizer rule window max_length_ratio min_known_words"),
            flags={"homographs": "--homograph"},
        ),
    ],
    alignments: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Word alignments in Pharaoh format, one line per pair, between tokens split at"
                " spaces. Default: align with --aligner."
            )
        ),
    ] = None,
    options: Annotated[
        CorpusOptions,
        replace(
            CorpusFields,
            rare="block_pairs processes",
            helps={
                "block_pairs": (
                    "Number of pairs that are tagged, aligned and stored together. It bounds the"
                    " memory, and the signature names it."
                )
            },
        ),
    ],
    on_damaged: Annotated[
        str,
        typer.Option(
            help="A pair that is empty or not UTF-8: skip (it is named and counted) or error."
        ),
    ] = "skip",
    progress: bool = False,
) -> Outcome:
    """Find pairs of a parallel corpus in which the sense of a homograph is known.

    An interrupted run continues where it stopped when the same command is given again. The method
    is that of Emelin (2023), section 3.2.1.

    Example: cc-hf study disambiguation_bias tag train.en train.de --pairs pairs.jsonl
    """
    from cc_hf.studies.disambiguation_bias.tables import tagging_table
    from cc_hf.studies.disambiguation_bias.tagging import PairTagger
    from cc_hf.studies.disambiguation_bias.tagging_run import tag_corpus
    from cc_hf.studies.disambiguation_bias.tagging_summary import summary_path

    tagger = PairTagger(lexicon.read(), tagging)
    parallel = options.open(corpus, (tagger.lexicon.src_lang, tagger.lexicon.tgt_lang))
    summary = tag_corpus(
        parallel,
        tagger,
        pairs,
        held_out_pairs=held_out_pairs,
        alignments=alignments,
        n_processes=options.processes,
        on_damaged=on_damaged,
        progress=progress,
    )
    return Outcome(
        summary.to_json(),
        lambda: [tagging_table(summary, title=f"pairs with a known sense in {parallel.name}")],
        files=[
            NewFile(pairs, None, f" (summary: {summary_path(pairs)})"),
            NewFile(held_out_pairs, None),
        ],
    )
