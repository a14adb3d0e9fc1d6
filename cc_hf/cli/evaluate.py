"""cc-hf evaluate: judge one system on one dataset, print the table, write the JSON."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cc_hf.cli.options import (
    BatchTokens,
    Cache,
    Config,
    Cues,
    DataDir,
    Dataset,
    Device,
    Evaluators,
    FamilyName,
    MetricOptions,
    Mode,
    NoCache,
    OnTooLong,
    Prompt,
    Quiet,
    Revisions,
    Seed,
    Split,
    TgtLang,
    chosen_cache,
    metric_options,
    one_or_all,
)
from cc_hf.cli.output import Console, check_output, shows_progress, write_atomically
from cc_hf.errors import ResultWarning

if TYPE_CHECKING:
    from cc_hf.results import EvaluationResult

__all__ = ["evaluate"]

_ALL = "all"
#: How the metric counts ties -> the question that many ties raise.
_TIES = {
    "correct": "does the evaluator see the cues?",
    "incorrect": "are the evaluator's scores fine enough?",
}


def evaluate(
    dataset: Dataset,
    config: Config = None,
    tgt_lang: TgtLang = None,
    split: Split = "test",
    translations: Annotated[
        Path | None,
        typer.Option(
            help=(
                "File of translations: one translation per line in the order of the dataset,"
                ' lines of the form "source ||| translation", or JSONL.'
            )
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            help=(
                "Model that translates the sources, in place of --translations: a name, a"
                " folder, or a model on the Hub."
            )
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help=(
                "Name of the system in tables and reports. Default: the model that translated, or"
                " the file of translations."
            )
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            help=(
                "Name of a metric (see `cc-hf list metrics`), or all for every metric that fits"
                " the dataset."
            )
        ),
    ] = "contrastive_conditioning",
    option: MetricOptions = None,
    evaluator: Evaluators = None,
    cues: Cues = None,
    kind: FamilyName = None,
    prompt: Prompt = None,
    score: Annotated[
        str | None,
        typer.Option(
            help=(
                "Score of a text: geometric, arithmetic or reference; for"
                " contrastive_translation_scoring, perplexity or logprob. Default: geometric or"
                " perplexity."
            )
        ),
    ] = None,
    data_dir: DataDir = None,
    batch_tokens: BatchTokens = None,
    on_too_long: OnTooLong = "error",
    mode: Mode = "auto",
    cache: Cache = None,
    no_cache: NoCache = False,
    device: Device = None,
    revision: Revisions = None,
    seed: Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write the result with all judgements to this JSON file."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Judge a system by its translations, or an evaluator by what it prefers."""
    from cc_hf.evaluation.evaluate import evaluate as run_evaluate
    from cc_hf.evaluation.evaluate import evaluate_all
    from cc_hf.evaluation.material import load_material
    from cc_hf.evaluators import distributed as sharding
    from cc_hf.evaluators.options import LoadingOptions
    from cc_hf.reports.tables import result_table, results_table
    from cc_hf.results import ResultSet

    is_main = sharding.is_main_process()
    check_output(output if is_main else None)
    material = load_material(
        dataset, config, split=split, tgt_lang=tgt_lang, data_dir=data_dir, cues=cues
    )
    arguments: dict[str, Any] = {
        "translations": translations,
        "system": system,
        "name": name,
        "options": metric_options(option, score=score),
        "evaluator": one_or_all(evaluator),
        "loading": LoadingOptions(
            kind=kind,
            prompt=prompt,
            revision=one_or_all(revision),
            device=device,
            batch_tokens=batch_tokens,
            on_too_long=on_too_long,
            mode=mode,
            cache=chosen_cache(cache, no_cache=no_cache),
            distributed=sharding.is_launched(),
        ),
        "seed": seed,
        "progress": is_main and shows_progress(quiet=quiet),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)  # the table has the notes
        outcome = (
            evaluate_all(material, **arguments)
            if metric == _ALL
            else run_evaluate(material, metric=metric, **arguments)
        )
    results = outcome.results if isinstance(outcome, ResultSet) else (outcome,)
    # All processes computed the same result; only the main one writes and prints it.
    sharding.leave()
    if not is_main:
        return
    if output is not None:
        write_atomically(output, outcome.to_json())
    console = Console()
    console.print(
        results_table(outcome) if isinstance(outcome, ResultSet) else result_table(outcome)
    )
    for result in results:
        console.print(Text(f"signature: {result.signature}"), soft_wrap=True)
    if not quiet:
        _print_notes(results, output)
        _print_not_run(outcome.not_run if isinstance(outcome, ResultSet) else {})


def _print_notes(results: Sequence[EvaluationResult], output: Path | None) -> None:
    from cc_hf.metrics.base import registered_metric
    from cc_hf.reports.tables import tie_text

    result = results[0]  # notes on the file are the same for all metrics
    notes = Console(stderr=True)
    if unused := result.counts.get("n_unused_lines"):
        notes.print(
            f"note: {unused} of {result.counts['n_lines']} lines do not belong to this"
            " configuration and were not judged",
            highlight=False,
        )
    if copies := result.counts.get("n_with_source"):
        notes.print(
            f"note: {copies} of {result.n} translations contain their whole source; is this the"
            " right file?",
            highlight=False,
        )
    for result in results:
        if ties := tie_text(result):
            declared = registered_metric(result.metric)
            question = _TIES.get(declared.ties) if declared is not None and declared.ties else None
            notes.print("note: " + "; ".join(filter(None, (ties, question))), highlight=False)
    if output is not None:
        notes.print(Text(f"written: {output}"), soft_wrap=True)


def _print_not_run(not_run: Mapping[str, str]) -> None:
    """Name the metrics that lacked something, once for all that lacked the same."""
    from cc_hf.reports.figure_text import metric_name

    lacking: dict[str, list[str]] = {}
    for metric, reason in not_run.items():
        lacking.setdefault(reason.removeprefix(f"{metric}: "), []).append(metric_name(metric))
    for reason, names in lacking.items():
        Console(stderr=True).print(
            Text(f"note: not run: {', '.join(names)}: {reason}", style="dim"), soft_wrap=True
        )
