"""cc-hf explain: which words of a translation decide a judgement of contrastive conditioning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf import registry
from cc_hf.cli.command import NewFile, Outcome, OutputFile, shown_command
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import DataFields, EvaluatorFields, Evaluators, one_or_all
from cc_hf.data.files.own_sentence import OwnSentence
from cc_hf.errors import InputError
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.reports.report_parts import Line

if TYPE_CHECKING:
    from cc_hf.evaluators.base import Evaluator
    from cc_hf.metrics.base import ScoringMetric
    from cc_hf.reports.explained import Explained

__all__ = ["explain"]


def explain(
    dataset: Annotated[
        str | None,
        typer.Argument(
            metavar="RESULT|DATASET",
            help=(
                "Result of `cc-hf evaluate --output`, whose data, evaluator and translation are"
                " used; or a dataset, as for `cc-hf evaluate`; or nothing with --source."
            ),
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Argument(
            help=(
                "Configuration of the dataset, or a language pair; for a result on data of your"
                " own, their file."
            )
        ),
    ] = None,
    *,
    example_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            help=(
                "Id of the example, as in the field example_id of results. Rows without an id are"
                " counted from 0 (messages count the lines of a file from 1)."
            ),
        ),
    ] = None,
    translation: Annotated[
        list[str] | None, typer.Option(help="Translation to explain. May be repeated.")
    ] = None,
    evaluator: Evaluators = None,
    loading: Annotated[
        LoadingOptions, replace(EvaluatorFields, rare="device", settings="kind prompt revision")
    ],
    score: Annotated[
        str | None,
        typer.Option(
            help="Score of a text: geometric, arithmetic or reference. Default: geometric.",
            hidden=True,
        ),
    ] = None,
    sentence: Annotated[
        OwnSentence | None,
        Fields(
            "source focus gold correct_cues incorrect_cues",
            "A sentence of your own",
            flags={
                "gold": "--gender",
                "correct_cues": "--correct-cue",
                "incorrect_cues": "--incorrect-cue",
            },
        ),
    ],
    data: Annotated[
        DataOptions, replace(DataFields, names="language_pair", rare="data_dir split cues")
    ],
    html: Annotated[
        Path | None,
        typer.Option(help="Write the explanations to this HTML file.", rich_help_panel="Output"),
        OutputFile(),
    ] = None,
    progress: bool = False,
) -> Outcome:
    """Explain a judgement by what each word of a translation adds to it.

    Each word is scored under the best correct and the best incorrect source.

    Example: cc-hf explain tiny.json --id 0
    """
    from cc_hf.comparing.explanation import explain_example
    from cc_hf.progress import Progress
    from cc_hf.reports.explained import METRIC, chosen_example
    from cc_hf.reports.page.explanations import explanation_table, explanations_page

    chosen = chosen_example(dataset, config, example_id, sentence, data, evaluator)
    if chosen.metric is not None and score:
        raise InputError(f"--score: expected a result of {METRIC}, got {chosen.metric.name}")
    texts = translation or chosen.judged
    if not texts:
        raise InputError("expected at least one --translation")
    loaded, warnings = chosen.opened(one_or_all(evaluator), replace(loading, mode="exact"))
    named = ["" if translation else chosen.system, f"sample {example_id}" if example_id else ""]
    sample = [", ".join(filter(None, named))] * any(named)
    if chosen.metric is not None:
        return _changes(chosen.metric, chosen, texts, loaded, warnings, html, sample, progress)
    sample.append(chosen.example.source)
    # A run of less than a second shows nothing.
    with Progress(texts, desc="explaining", disable=not progress, delay=1, leave=False) as bar:
        explanations = [
            explain_example(
                loaded,
                chosen.example_for(loaded),
                text,
                tgt_lang=chosen.tgt_lang,
                score=score or chosen.fields.get("score", "geometric"),
            )
            for text in bar
        ]
    page = (
        ""
        if html is None
        else explanations_page(explanations, command=shown_command(), sample=sample)
    )
    return Outcome(
        [json.loads(explanation.to_json()) for explanation in explanations],
        lambda: [
            *(Line(text, "bold") for text in sample),
            *chain.from_iterable(map(explanation_table, explanations)),
            f"evaluator: {explanations[0].evaluator}",
        ],
        files=[NewFile(html, page)],
        warnings=[*chosen.warnings, *warnings],
    )


def _changes(
    metric: ScoringMetric,
    chosen: Explained,
    translations: Sequence[str],
    evaluator: Evaluator,
    warnings: Sequence[str],
    html: Path | None,
    sample: Sequence[str],
    progress: bool,
) -> Outcome:
    """Explain a verdict of a metric that changes texts, such as coverage."""
    from cc_hf.reports.page.explanations import sections_page

    explain_changes = registry.resolve("public name", "explain_changes")
    explained = [
        explain_changes(
            metric, evaluator, chosen.example, text, tgt_lang=chosen.tgt_lang, progress=progress
        )
        for text in translations
    ]
    page = (
        ""
        if html is None
        else sections_page(
            (explanation.html() for explanation in explained),
            title="Which changes are errors",
            about=(
                "The metric changes a text, one part at a time, and the evaluator scores the other"
                " text under it. Where that text becomes more probable, the change shows an error"
                " of the translation."
            ),
            command=shown_command(),
            sample=sample,
        )
    )
    return Outcome(
        [asdict(explanation) for explanation in explained],
        lambda: [
            *(Line(text, "bold") for text in sample),
            *chain.from_iterable(explanation.pieces() for explanation in explained),
            f"evaluator: {explained[0].evaluator}",
        ],
        files=[NewFile(html, page)],
        warnings=[*chosen.warnings, *warnings],
    )
