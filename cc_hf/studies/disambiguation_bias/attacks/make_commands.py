"""cc-hf study disambiguation_bias attack make: adversarial sentences from sentences with a known
sense.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import AsJson, DataDir, Device, Quiet
from cc_hf.cli.output import STANDARD, check_output, json_text, print_result, say_written
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.evaluators.base import Evaluator

__all__ = ["make"]


def make(
    seeds: Annotated[
        Path,
        typer.Argument(
            help=(
                "Tagged pairs to attack (.jsonl), held out from the corpus:"
                " `cc-hf study disambiguation_bias tag --held-out-output` writes them."
            )
        ),
    ],
    attractors: Annotated[
        Path,
        typer.Option(
            help=(
                "Table of attractors of the training corpus, by `cc-hf study disambiguation_bias"
                " attractors --output`."
            )
        ),
    ],
    training: Annotated[
        Path,
        typer.Option(
            help="Tagged pairs of the training corpus (.jsonl), in which adjectives are looked up."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the samples to this .jsonl.")
    ],
    sources: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Write every distinct sentence to this file, one per line, for systems outside of"
                " cc_hf. `cc-hf study disambiguation_bias attack judge --translations` reads their"
                " translations."
            )
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Further source sentences of the training corpus, one per line, in which adjectives"
                " of other nouns are looked up."
            )
        ),
    ] = None,
    spacy_model: Annotated[
        str | None,
        typer.Option(
            help=(
                "English spaCy pipeline that finds adjectives by its parser, such as"
                " en_core_web_sm. Default: the dictionary of lemminflect, without a parser."
            )
        ),
    ] = None,
    masked_lm: Annotated[
        str | None,
        typer.Option(
            help=(
                "Masked language model of the target language: seeds whose right sense it does not"
                " prefer are dropped. Default: no such check."
            )
        ),
    ] = None,
    lexicon: Annotated[
        Path | None,
        typer.Option(
            help=(
                "With --masked-lm: JSON file of homographs with their senses. Default: the"
                " published English-German lexicon of Emelin et al. (2020)."
            )
        ),
    ] = None,
    tgt_lang: Annotated[
        str, typer.Option(help="Language of the senses of the lexicon, as an ISO 639-1 code.")
    ] = "de",
    fluency_lm: Annotated[
        str | None,
        typer.Option(
            help=(
                "Causal language model of the source language, such as openai-community/gpt2:"
                " samples that read much worse than their seed are dropped. Default: no such check."
            )
        ),
    ] = None,
    max_ratio: Annotated[
        float,
        typer.Option(
            help="With --fluency-lm: largest perplexity of a sample, divided by that of its seed."
        ),
    ] = 1.2,
    min_tokens: Annotated[
        int, typer.Option(min=1, help="Smallest number of tokens of a seed.")
    ] = 10,
    dropped_share: Annotated[
        float,
        typer.Option(help="Share of the seeds most biased towards a wrong sense that are dropped."),
    ] = 0.1,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Kind of change: insert_at_homograph, replace_at_homograph, insert_at_other or"
                " replace_at_other. May be repeated. Default: all."
            )
        ),
    ] = None,
    min_bigram: Annotated[
        int,
        typer.Option(
            min=1,
            help=(
                "Smallest number of times that the corpus has the adjective before the noun."
                " Program of the thesis: 10."
            ),
        ),
    ] = 1,
    max_replaced: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=(
                "Do not exchange an adjective that the corpus has so often before its noun. Program"
                " of the thesis: 300."
            ),
        ),
    ] = None,
    drop_er_est: Annotated[
        bool,
        typer.Option(
            "--drop-er-est",
            help=(
                "Use no short adjectives in -er and -est, as the program of the thesis does."
                " Comparatives and superlatives are never used."
            ),
        ),
    ] = False,
    smoothing: Annotated[
        float, typer.Option(min=0, help="Added to every count before PPMI is computed.")
    ] = 0.0,
    log: Annotated[
        bool, typer.Option("--log/--no-log", help="PPMI with the logarithm to base 2.")
    ] = True,
    data_dir: DataDir = None,
    device: Device = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make adversarial sentences: one changed adjective in a sentence with a known sense.

    The method is that of Emelin (2023), section 3.3.1.
    """
    from cc_hf.studies.disambiguation_bias.attacks.changes import KINDS
    from cc_hf.studies.disambiguation_bias.attacks.generate import GenerationRules
    from cc_hf.studies.disambiguation_bias.attacks.make import AttackFiles, Checks, make_attacks
    from cc_hf.studies.disambiguation_bias.attacks.seeds import SeedRules
    from cc_hf.studies.disambiguation_bias.attacks.tables import generation_table
    from cc_hf.studies.disambiguation_bias.homographs import read_lexicon
    from cc_hf.studies.disambiguation_bias.tagging_summary import summary_path
    from cc_hf.text.nouns import noun_parser

    for name, path in {"output": output, "sources": sources}.items():
        check_output(path, name)
    if output == STANDARD:
        raise InputError("output: expected a file, got -; its summary is written beside it")
    if unknown := sorted(set(kind or ()) - set(KINDS)):
        raise InputError(f"kind: expected one of {', '.join(KINDS)}, got {unknown[0]!r}")
    if lexicon is not None and masked_lm is None:
        raise InputError("lexicon: only --masked-lm uses it; give both or leave it out")
    report = make_attacks(
        AttackFiles(seeds, attractors, training, corpus),
        output,
        parser=noun_parser(spacy_model),
        seed_rules=SeedRules(min_tokens, dropped_share),
        rules=GenerationRules(
            tuple(kind or ()), min_bigram, max_replaced, drop_er_est, smoothing, log
        ),
        checks=Checks(
            _language_model(masked_lm, "masked_lm", device),
            read_lexicon(lexicon, data_dir=data_dir, tgt_lang=tgt_lang) if masked_lm else None,
            _language_model(fluency_lm, "causal_lm", device),
            max_ratio,
        ),
        sources=sources,
    )
    print_result(
        as_json,
        json_text({"signature": report.signature, "counts": dict(report.counts)}),
        lambda: [generation_table(report.counts), Text(f"signature: {report.signature}")],
        output=None,
    )
    if not quiet:
        say_written(output, f" (summary: {summary_path(output)})")
        say_written(sources)


def _language_model(name: str | None, kind: str, device: str | None) -> Evaluator | None:
    if name is None:
        return None
    from cc_hf.evaluators.loading import load_evaluator

    return load_evaluator(name, kind=kind, prompt="", device=device, mode="exact", cache=True)
