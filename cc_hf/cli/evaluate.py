"""cc-hf evaluate: judge one system on one dataset, print the table, write the JSON."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cc_hf.cli.options import (
    AsJson,
    Backend,
    BatchTokens,
    Beams,
    Cache,
    Config,
    Cues,
    DataDir,
    Dataset,
    Device,
    Evaluators,
    FamilyName,
    Limit,
    MetricOptions,
    Mode,
    NoCache,
    OnBlank,
    OnTooLong,
    Precision,
    Prompt,
    Quiet,
    Revisions,
    Seed,
    SenseCounts,
    Separator,
    Split,
    TgtLang,
    chosen_cache,
    metric_options,
    one_or_all,
)
from cc_hf.cli.output import (
    STANDARD,
    Console,
    check_output,
    json_text,
    say,
    say_written,
    shows_progress,
    write_atomically,
)
from cc_hf.errors import InputError, ResultWarning
from cc_hf.files import exists, file_slug, is_file
from cc_hf.systems.system import DEFAULT_BEAMS, System

if TYPE_CHECKING:
    from cc_hf.evaluation.material import Material
    from cc_hf.results import EvaluationResult, ResultSet

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
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE",
            help=(
                "File of translations, or - for standard input: one translation per line in the"
                ' order of the dataset, lines of the form "source ||| translation", or JSONL. It'
                " may also have one line for each line of the upstream test set. May be repeated,"
                " once for each system."
            ),
        ),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Model that translates the sources, in place of --translations: a name, a"
                " folder, or a model on the Hub. Repeat the option to use an ensemble."
            )
        ),
    ] = None,
    num_beams: Beams = DEFAULT_BEAMS,
    precision: Precision = "fp32",
    backend: Backend = "torch",
    separator: Separator = None,
    name: Annotated[
        str | None,
        typer.Option(
            help=(
                "Name of the system in tables and reports, as --translations NAME=FILE. Default:"
                " the model that translated, or the file of translations."
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
    counts: SenseCounts = None,
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
    limit: Limit = None,
    on_blank: OnBlank = None,
    translated_only: Annotated[
        bool,
        typer.Option(
            "--translated-only",
            help=(
                "Judge only the examples that every file of --translations translates, by id (JSONL"
                " as `cc-hf prompt translate` writes it). The signature says how many."
            ),
        ),
    ] = False,
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
            "--output",
            "-o",
            help=(
                "Write the result with all judgements to this JSON file; - for standard output. For"
                " several systems: folder in which each gets a file NAME.json."
            ),
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge a system by its translations, or an evaluator by what it prefers."""
    from cc_hf.evaluation.evaluate import evaluate as run_evaluate
    from cc_hf.evaluation.evaluate import evaluate_all
    from cc_hf.evaluation.material import load_material
    from cc_hf.evaluators import distributed as sharding
    from cc_hf.evaluators.options import LoadingOptions

    is_main = sharding.is_main_process()
    material = load_material(
        dataset,
        config,
        split=split,
        tgt_lang=tgt_lang,
        data_dir=data_dir,
        limit=limit,
        cues=cues,
        counts=counts,
    )
    if translated_only:
        material = _translated(material, translations)
    files = _named_files(translations, name, material)
    outputs = _outputs(output, [file_name for file_name, _ in files])
    for path in outputs if is_main else []:
        check_output(path)
    arguments: dict[str, Any] = {
        "system": _system(system, num_beams, separator, precision, backend),
        "options": metric_options(option, score=score, on_blank=on_blank),
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
    outcomes: list[EvaluationResult | ResultSet] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)  # the table has the notes
        for file_name, file in files:
            of_system = {**arguments, "translations": file, "name": file_name}
            outcomes.append(
                evaluate_all(material, **of_system)
                if metric == _ALL
                else run_evaluate(material, metric=metric, **of_system)
            )
    sharding.leave()  # all processes computed the same result; the main one writes and prints it
    if not is_main:
        return
    _write(outcomes, outputs)
    if as_json and output != STANDARD:
        rows = [json.loads(outcome.to_json()) for outcome in outcomes]
        write_atomically(STANDARD, json_text(rows if len(rows) > 1 else rows[0]))
    for outcome, path in zip(outcomes, outputs, strict=True):
        _show(outcome, path, with_tables=not as_json, quiet=quiet)


def _write(
    outcomes: Sequence[EvaluationResult | ResultSet], outputs: Sequence[Path | None]
) -> None:
    for outcome, path in zip(outcomes, outputs, strict=True):
        if path is not None:
            write_atomically(path, outcome.to_json())


def _system(
    models: list[str] | None, num_beams: int, separator: str | None, precision: str, backend: str
) -> System | None:
    system = System(
        models[0] if models and len(models) == 1 else tuple(models or ()),
        num_beams,
        separator,
        precision,
        backend,
    )
    if models:
        return system
    if system != System(()):
        raise InputError(
            "--num-beams, --precision, --backend and --context say how --system translates; give a"
            " --system"
        )
    return None


def _translated(material: Material, translations: list[str] | None) -> Material:
    """Return the material with the examples only that every file translates."""
    from cc_hf.data.files.translations import translated_ids

    if not translations:
        raise InputError("--translated-only: expected --translations FILE, got none")
    paths = [
        text if exists(Path(text)) or "=" not in text else text.partition("=")[2]
        for text in translations
    ]
    ids = frozenset.intersection(*map(translated_ids, paths))
    chosen = replace(material, chosen=ids)
    if not chosen.examples:
        raise InputError(
            f"--translated-only: expected ids of {material.name}, got none in {', '.join(paths)}"
        )
    return chosen


def _named_files(
    translations: list[str] | None, name: str | None, material: Material
) -> list[tuple[str | None, str | None]]:
    """Return name and file of each system; the name is None where the default will do.

    Several files are all read before the first is judged, which can take long.
    """
    from cc_hf.data.files.translations import name_of_file, read_translations

    if not translations:
        return [(name, None)]
    files: list[tuple[str | None, str]] = []
    for text in translations:
        given, equals, path = text.partition("=")
        files.append((given, path) if equals and not exists(Path(text)) else (None, text))
    if len(files) == 1:
        return [(files[0][0] if name is None else name, files[0][1])]
    if name is not None:
        raise InputError("--name: give the names of several systems as --translations NAME=FILE")
    named = [
        (given or name_of_file(path, material.src_lang, material.tgt_lang), path)
        for given, path in files
    ]
    slugs = [file_slug(given) for given, _ in named]
    for (given, path), slug in zip(named, slugs, strict=True):
        if not given or slugs.count(slug) > 1:
            raise InputError(
                f"--translations {path}: expected a name of its own for each system, got"
                f" {given or 'none'}; write NAME=FILE"
            )
        if path != str(STANDARD):
            read_translations(path, material.examples, other_lengths=material.translated_lines())
    return list(named)


def _outputs(output: Path | None, names: Sequence[str | None]) -> list[Path | None]:
    """Return the file of each system; several go to a folder, which is made."""
    if output is None or len(names) == 1:
        return [output] * len(names)
    if is_file(output) or output == STANDARD:
        raise InputError(f"--output: expected a folder for several systems, got {output}")
    output.mkdir(parents=True, exist_ok=True)
    return [output / f"{file_slug(name or '')}.json" for name in names]


def _show(
    outcome: EvaluationResult | ResultSet, output: Path | None, *, with_tables: bool, quiet: bool
) -> None:
    from cc_hf.reports.tables.base import result_table, results_table
    from cc_hf.results import ResultSet

    results = outcome.results if isinstance(outcome, ResultSet) else (outcome,)
    if with_tables:
        console = Console(stderr=output == STANDARD)
        console.print(
            results_table(outcome) if isinstance(outcome, ResultSet) else result_table(outcome)
        )
        for result in results:
            console.print(Text(f"signature: {result.signature}"), soft_wrap=True)
    for warning in _warnings(results):
        say("warning", warning)
    if not quiet:
        for note in _notes(results):
            say("note", note)
        for note in _not_run(outcome.not_run if isinstance(outcome, ResultSet) else {}):
            say("note", note)
        say_written(output)


def _warnings(results: Sequence[EvaluationResult]) -> Iterator[str]:
    """Yield what may be wrong with the translations or the evaluator."""
    from cc_hf import signature
    from cc_hf.reports.figure_text import metric_name
    from cc_hf.text.unusable import unusable_texts

    result = results[0]  # the translations are the same for all metrics
    n_blank = max(result.counts.get("n_blank", 0) for result in results)
    is_from_file = "sys" not in signature.parse(result.signature)[1]
    for unusable in unusable_texts({**result.counts, "n_blank": n_blank}, result.n):
        yield f"{unusable}; is this the right file?" if is_from_file else unusable
    if without := result.counts.get("n_without_separator"):
        yield (
            f"{without:,} of {result.n:,} translations do not contain the separator, and were"
            " judged as a whole"
        )
    if n_too_long := max(result.counts.get("n_too_long", 0) for result in results):
        yield (
            f"{n_too_long:,} of {result.n:,} translations are too long for the evaluator and count"
            " as incorrect"
        )
    for result in results:
        if ties := result.tie_note():
            question = _TIES.get(result.ties or "")
            yield "; ".join(filter(None, (f"{metric_name(result.metric)}: {ties}", question)))


def _notes(results: Sequence[EvaluationResult]) -> Iterator[str]:
    """Yield what is as it should be, but may surprise."""
    counts = results[0].counts
    if unused := counts.get("n_unused_lines"):
        yield (
            f"{unused:,} of {counts['n_lines']:,} lines do not belong to the examples that were"
            " judged and were not used"
        )


def _not_run(not_run: Mapping[str, str]) -> Iterator[str]:
    """Yield what metrics lacked, once for all that lacked the same."""
    from cc_hf.reports.figure_text import metric_name

    lacking: dict[str, list[str]] = {}
    for metric, reason in not_run.items():
        lacking.setdefault(reason.removeprefix(f"{metric}: "), []).append(metric_name(metric))
    for reason, names in lacking.items():
        yield f"not run: {', '.join(names)}: {reason}"
