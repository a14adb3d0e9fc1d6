"""The command `tag` of the study: sentence pairs in which the sense of a homograph is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.corpora import (
    CorpusColumns,
    CorpusConfig,
    CorpusNames,
    CorpusProcesses,
    CorpusSplit,
    Streaming,
    open_corpus,
)
from cc_hf.cli.options import AsJson, DataDir, Quiet
from cc_hf.cli.output import check_output, print_result, say_written, shows_progress

__all__ = ["Homographs", "Lexicon", "LexiconTgtLang", "SrcLang", "tag"]

Lexicon = Annotated[
    Path | None,
    typer.Option(
        help=(
            "JSON file of homographs with clusters of their translations. Default: the published"
            " English-German lexicon of Emelin et al. (2020)."
        )
    ),
]
SrcLang = Annotated[
    str, typer.Option(help="Language of the homographs of the lexicon, as an ISO 639-1 code.")
]
LexiconTgtLang = Annotated[
    str, typer.Option("--tgt-lang", help="Language of the senses of the lexicon.")
]
Homographs = Annotated[
    list[str] | None,
    typer.Option("--homograph", help="Homograph to use. May be repeated. Default: all."),
]


def tag(
    corpus: CorpusNames,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Write the pairs with a known sense to this .jsonl."),
    ],
    lexicon: Lexicon = None,
    src_lang: SrcLang = "en",
    tgt_lang: LexiconTgtLang = "de",
    homographs: Homographs = None,
    config: CorpusConfig = None,
    split: CorpusSplit = "train",
    columns: CorpusColumns = None,
    streaming: Streaming = False,
    alignments: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Word alignments in Pharaoh format, one line per pair, between tokens split at"
                " spaces. Default: align with --aligner."
            )
        ),
    ] = None,
    aligner: Annotated[str, typer.Option(help="Aligner: fast_align or eflomal.")] = "fast_align",
    spacy_model: Annotated[
        str | None,
        typer.Option(
            help=(
                "spaCy pipeline of the source language, by which homographs must be nouns, such as"
                " en_core_web_sm. Default: every token is accepted."
            )
        ),
    ] = None,
    lemmatizer: Annotated[
        str, typer.Option(help="Lemmatizer of both languages: simplemma or none.")
    ] = "simplemma",
    rule: Annotated[
        str,
        typer.Option(
            help=(
                "How a word belongs to a sense: recommended, or program, as the released program"
                " matches compounds and uncertain words."
            )
        ),
    ] = "recommended",
    window: Annotated[
        int,
        typer.Option(
            min=0,
            help=(
                "If the linked words show no sense, search so many positions around them. The"
                " released program searches 3."
            ),
        ),
    ] = 0,
    max_length_ratio: Annotated[
        float | None,
        typer.Option(
            min=1, help="Drop pairs whose numbers of tokens differ by more. The thesis uses 2."
        ),
    ] = None,
    min_known_words: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help=(
                "Drop pairs of which a smaller share of words is in the dictionary of their"
                " language, on either side."
            ),
        ),
    ] = 0.0,
    held_out: Annotated[
        float,
        typer.Option(
            min=0, help="Share of pairs to hold out for testing, chosen by a hash. Thesis: 0.2."
        ),
    ] = 0.0,
    held_out_output: Annotated[
        Path | None, typer.Option(help="Write the held-out pairs to this .jsonl.")
    ] = None,
    min_tokens: Annotated[
        int, typer.Option(min=0, help="Smallest number of source tokens of a held-out pair.")
    ] = 10,
    block_pairs: Annotated[
        int,
        typer.Option(
            min=1,
            help=(
                "Pairs of the corpus that are tagged, aligned and stored together. It bounds the"
                " memory, and the signature names it."
            ),
        ),
    ] = 100_000,
    n_processes: CorpusProcesses = 1,
    on_damaged: Annotated[
        str,
        typer.Option(
            help="A pair that is empty or not UTF-8: skip (it is named and counted) or error."
        ),
    ] = "skip",
    data_dir: DataDir = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find pairs of a parallel corpus in which the sense of a homograph is known.

    An interrupted run goes on where it stopped when the same command is given again. The method is
    that of Emelin (2023), section 3.2.1.
    """
    from cc_hf.studies.disambiguation_bias.homographs import read_lexicon
    from cc_hf.studies.disambiguation_bias.tables import tagging_table
    from cc_hf.studies.disambiguation_bias.tagging import PairTagger, TaggingOptions
    from cc_hf.studies.disambiguation_bias.tagging_run import tag_corpus
    from cc_hf.studies.disambiguation_bias.tagging_summary import summary_path

    for name, path in {"output": output, "held_out_output": held_out_output}.items():
        check_output(path, name)
    tagger = PairTagger(
        read_lexicon(lexicon, data_dir=data_dir, src_lang=src_lang, tgt_lang=tgt_lang),
        TaggingOptions(
            homographs=tuple(homographs or ()),
            lemmatizer=lemmatizer,
            spacy_model=spacy_model,
            aligner=aligner,
            rule=rule,
            window=window,
            max_length_ratio=max_length_ratio,
            min_known_words=min_known_words,
            held_out=held_out,
            min_tokens=min_tokens,
        ),
    )
    parallel = open_corpus(
        corpus,
        (tagger.lexicon.src_lang, tagger.lexicon.tgt_lang),
        config=config,
        split=split,
        columns=columns,
        streaming=streaming,
        block_pairs=block_pairs,
    )
    summary = tag_corpus(
        parallel,
        tagger,
        output,
        held_out_output=held_out_output,
        alignments=alignments,
        n_processes=n_processes,
        on_damaged=on_damaged,
        progress=shows_progress(quiet=quiet),
    )
    print_result(
        as_json,
        summary.to_json(),
        lambda: [tagging_table(summary, title=f"pairs with a known sense in {parallel.name}")],
        output=None,
    )
    say_written(output, f" (summary: {summary_path(output)})")
    say_written(held_out_output)
