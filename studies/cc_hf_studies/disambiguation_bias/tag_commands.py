"""Commands of the study that read parallel corpora: `tag` finds pairs in which the sense of a
homograph is known, `count-corpus` counts sentences and words.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome
from cc_hf.cli.fields import Fields
from cc_hf.errors import InputError
from cc_hf_studies.common.corpus_options import CorpusFields, CorpusNames, CorpusOptions
from cc_hf_studies.disambiguation_bias.command_options import LexiconFields, LexiconOptions
from cc_hf_studies.disambiguation_bias.tagging import TaggingOptions

__all__ = ["count_corpus", "tag"]


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
            rare=(
                "aligner spacy_model lemmatizer rule window max_length_ratio min_known_words"
                " identifies_languages"
            ),
            flags={"homographs": "--homograph", "identifies_languages": "--identify-languages"},
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
    from cc_hf_studies.disambiguation_bias.tables import tagging_table
    from cc_hf_studies.disambiguation_bias.tagging import PairTagger
    from cc_hf_studies.disambiguation_bias.tagging_run import tag_corpus
    from cc_hf_studies.disambiguation_bias.tagging_summary import summary_path

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
        lambda: tagging_table(summary, title=f"pairs with a known sense in {parallel.name}"),
        files=[
            NewFile(pairs, None, f" (summary: {summary_path(pairs)})"),
            NewFile(held_out_pairs, None),
        ],
    )


def count_corpus(
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS...",
            help=(
                "Parallel corpora: two line-aligned files for each, source and target, such as"
                " train.en train.de dev.en dev.de; or one dataset, as for `tag`."
            ),
        ),
    ],
    *,
    languages: Annotated[
        LexiconOptions,
        Fields("language_pair", "Corpus", defaults={"language_pair": "en-de"}),
    ],
    cleaning: Annotated[
        TaggingOptions,
        Fields(
            "max_length_ratio min_known_words identifies_languages held_out",
            "Cleaning",
            flags={"identifies_languages": "--identify-languages"},
            helps={
                "held_out": (
                    "Share of the pairs of the first corpus that `tag` holds out for testing. The"
                    " thesis uses 0.2."
                )
            },
        ),
    ],
    options: Annotated[CorpusOptions, replace(CorpusFields, rare="block_pairs processes")],
    progress: bool = False,
) -> Outcome:
    """Count the sentences and words of parallel corpora after cleaning.

    The figures correspond to Emelin (2023), Tables 3.1 and 3.2, and to the numbers of samples in
    Vamvas and Sennrich (2021), Table A2.

    Example: cc-hf study disambiguation_bias count-corpus train.en train.de --max-length-ratio 2
    """
    from cc_hf_studies.disambiguation_bias.corpus_sizes import corpus_sizes, part_names
    from cc_hf_studies.disambiguation_bias.tables import sizes_table

    if len(corpora) > 1 and len(corpora) % 2:
        raise InputError(
            f"corpora: expected two files for each corpus, or one dataset, got {', '.join(corpora)}"
        )
    parts = [corpora[first : first + 2] for first in range(0, len(corpora), 2)]
    names = part_names([files[0] for files in parts])
    sizes = [
        size
        for number, (name, files) in enumerate(zip(names, parts, strict=True))
        for size in corpus_sizes(
            options.open(files, languages.languages),
            languages.languages,
            replace(cleaning, held_out=0.0) if number else cleaning,
            name=name,
            n_processes=options.processes,
            progress=progress,
        )
    ]
    return Outcome(
        {"language_pair": "-".join(languages.languages), "corpora": [s.to_row() for s in sizes]},
        lambda: [sizes_table(sizes, languages.languages)],
    )
