"""cc-hf rerank: choose among the translations of n-best lists."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, OutputFile
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import (
    Config,
    DataFields,
    EvaluatorFields,
    Evaluators,
    MetricOptions,
    one_or_all,
)
from cc_hf.errors import InputError, ResultWarning
from cc_hf.evaluation.material import DataOptions, Material
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.files import is_file
from cc_hf.languages import language_pair
from cc_hf.plugins.reranking.rerank_options import RerankOptions
from cc_hf.reading import pairs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["rerank"]


def rerank(
    dataset: Annotated[
        str,
        typer.Argument(
            help=(
                "A dataset, as for `cc-hf evaluate`; or a text file with one English sentence per"
                " line, with --reading pronouns."
            )
        ),
    ],
    config: Config = None,
    *,
    nbest: Annotated[
        Path,
        typer.Option(
            help=(
                "Lists of translations: lines `index ||| text ||| score`; JSONL with index, text"
                " and score; or text alone, with as many lines of each source."
            )
        ),
    ],
    best: Annotated[
        Path,
        typer.Option(help="File to write: the chosen translations, one per line."),
        OutputFile(),
    ],
    select: Annotated[RerankOptions, Fields("reading select", "Choice", settings="fallback alpha")],
    metric: Annotated[
        str | None,
        typer.Option(
            help=(
                "Metric that judges each translation. Default: contrastive_conditioning, or the"
                " only metric that fits."
            )
        ),
    ] = None,
    option: MetricOptions = None,
    evaluator: Evaluators = None,
    loading: Annotated[LoadingOptions, EvaluatorFields],
    data: Annotated[DataOptions, replace(DataFields, rare="data_dir split cues")],
    progress: bool = False,
) -> Outcome:
    """Choose from n-best lists the translations with the right reading.

    Example: cc-hf rerank simplegen en-de --nbest lists.txt --best best.txt
    """
    from cc_hf.plugins.reranking.nbest_files import read_nbest
    from cc_hf.plugins.reranking.reranking import rerank as run_rerank
    from cc_hf.plugins.reranking.reranking_table import reranking_table

    sources = _sources(dataset, config, data)
    if data.language_pair is not None and not isinstance(sources, Material):
        src_lang, tgt_lang = language_pair(data.language_pair)
        loading = replace(loading, src_lang=src_lang, tgt_lang=tgt_lang)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)  # the table has the notes
        reranking = run_rerank(
            sources,
            read_nbest(nbest, len(sources.examples if isinstance(sources, Material) else sources)),
            select=select,
            metric=metric,
            options=pairs_of(option, "option"),
            evaluator=one_or_all(evaluator),
            loading=loading,
            progress=progress,
        )
    text = "".join(f"{line}\n" for line in reranking.translations)
    return Outcome(
        reranking.to_row,
        lambda: reranking_table(reranking),
        files=[NewFile(best, text, f", {len(reranking.choices):,} translations")],
        notes=reranking.notes,
    )


def _sources(dataset: str, config: str | None, data: DataOptions) -> Material | Sequence[str]:
    from cc_hf.data.files.custom import is_custom
    from cc_hf.reading import read_lines

    if not is_file(Path(dataset)) or is_custom(dataset):
        return data.load(dataset, config)
    if config or replace(data, language_pair=None) != DataOptions():
        raise InputError(
            f"{dataset}: expected a text file without a configuration, --limit, --data-dir,"
            " --split and --cues, which belong to datasets"
        )
    return read_lines(Path(dataset), keeps_end=True)
