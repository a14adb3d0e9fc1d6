"""cc-hf study disambiguation_bias attack build: adversarial sentences from sentences with a known
sense.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, OutputFile
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import EvaluatorFields
from cc_hf.errors import InputError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf_studies.disambiguation_bias.attacks.generate import GenerationRules
from cc_hf_studies.disambiguation_bias.attacks.seeds import SeedRules
from cc_hf_studies.disambiguation_bias.command_options import LexiconFields, LexiconOptions, Log

if TYPE_CHECKING:
    from cc_hf.evaluators.base import Evaluator

__all__ = ["build"]

_CHECKS = "Checks by language models"


def build(
    seeds: Annotated[
        Path,
        typer.Argument(
            help=(
                "Tagged pairs to attack (.jsonl), held out from the corpus:"
                " `cc-hf study disambiguation_bias tag --held-out-pairs` writes them."
            )
        ),
    ],
    *,
    attractors: Annotated[
        Path,
        typer.Option(
            help=(
                "Table of attractors of the training corpus, by `cc-hf study disambiguation_bias"
                " attractors --table`."
            )
        ),
    ],
    training: Annotated[
        Path,
        typer.Option(
            help="Tagged pairs of the training corpus (.jsonl), in which adjectives are looked up."
        ),
    ],
    samples: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Write the samples to this .jsonl, with a summary beside it."
        ),
        OutputFile((".jsonl",)),
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
        OutputFile(),
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
                "spaCy pipeline that finds adjectives by its parser, such as en_core_web_sm,"
                " de_core_news_sm or pt_core_news_sm. Default: the English dictionary of"
                " lemminflect, without a parser."
            )
        ),
    ] = None,
    masked_lm: Annotated[
        str | None,
        typer.Option(
            help=(
                "Masked language model of the target language: seeds whose right sense it does not"
                " prefer are dropped. Default: no such check."
            ),
            rich_help_panel=_CHECKS,
        ),
    ] = None,
    lexicon: Annotated[
        LexiconOptions,
        replace(LexiconFields, panel="Lexicon of --masked-lm"),
    ],
    fluency_lm: Annotated[
        str | None,
        typer.Option(
            help=(
                "Causal language model of the source language, such as openai-community/gpt2:"
                " samples that read much worse than their seed are dropped. Default: no such check."
            ),
            rich_help_panel=_CHECKS,
        ),
    ] = None,
    max_ratio: Annotated[
        float,
        typer.Option(
            help="With --fluency-lm: largest perplexity of a sample, divided by that of its seed.",
            rich_help_panel=_CHECKS,
        ),
    ] = 1.2,
    seed_rules: Annotated[SeedRules, Fields("min_tokens dropped_share", "Rules")],
    rules: Annotated[
        GenerationRules,
        Fields(
            "kinds min_bigram max_replaced drops_er_est smoothing",
            "Rules",
            flags={"kinds": "--kind", "drops_er_est": "--drop-er-est"},
        ),
    ],
    log: Log = True,
    loading: Annotated[LoadingOptions, replace(EvaluatorFields, rare="device", settings="")],
) -> Outcome:
    """Build adversarial sentences: one changed adjective in a sentence with a known sense.

    The method is that of Emelin (2023), section 3.3.1.

    Example: cc-hf study disambiguation_bias attack build test.jsonl --attractors table.json --training pairs.jsonl --samples samples.jsonl
    """  # noqa: E501
    from cc_hf_studies.common.nouns import noun_parser
    from cc_hf_studies.disambiguation_bias.attacks.make import AttackFiles, Checks, make_attacks
    from cc_hf_studies.disambiguation_bias.attacks.tables import generation_table
    from cc_hf_studies.disambiguation_bias.attractors import read_table
    from cc_hf_studies.disambiguation_bias.tagging_summary import summary_path

    if lexicon.lexicon is not None and masked_lm is None:
        raise InputError("lexicon: only --masked-lm uses it; give both or leave it out")
    report = make_attacks(
        AttackFiles(seeds, attractors, training, corpus),
        samples,
        parser=noun_parser(spacy_model, read_table(attractors).src_lang),
        seed_rules=seed_rules,
        rules=replace(rules, log=log),
        checks=Checks(
            _language_model(masked_lm, "masked_lm", loading.device),
            lexicon.read() if masked_lm else None,
            _language_model(fluency_lm, "causal_lm", loading.device),
            max_ratio,
        ),
        sources=sources,
    )
    return Outcome(
        {"signature": report.signature, "counts": dict(report.counts)},
        lambda: [generation_table(report.counts), f"signature: {report.signature}"],
        files=[
            NewFile(samples, None, f" (summary: {summary_path(samples)})"),
            NewFile(sources, None),
        ],
    )


def _language_model(name: str | None, kind: str, device: str | None) -> Evaluator | None:
    if name is None:
        return None
    from cc_hf.evaluators.loading import load_with

    options = LoadingOptions(kind=kind, prompt="", device=device, mode="exact", cache=True)
    return load_with(name, options)
