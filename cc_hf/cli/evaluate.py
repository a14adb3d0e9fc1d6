"""cc-hf evaluate: judge one system on one dataset, print the table, write the JSON."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cc_hf import registry
from cc_hf.cli.command import NewFile, Outcome, OutputFile
from cc_hf.cli.options import (
    Config,
    DataFields,
    Dataset,
    EvaluatorFields,
    Evaluators,
    MetricOptions,
    SystemFields,
    one_or_all,
)
from cc_hf.errors import InputError, ResultWarning
from cc_hf.evaluation.fitting import ALL
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators import distributed as sharding
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.files import exists, file_slug, is_file, is_folder, name_key
from cc_hf.reading import pairs_of
from cc_hf.systems.system import System
from cc_hf.writing import STANDARD

if TYPE_CHECKING:
    from cc_hf.evaluation.material import Material
    from cc_hf.results import EvaluationResult, ResultSet

__all__ = ["evaluate"]

_AUDIT_SIZE = 400
_DATA = "language_pair limit data_dir cues"
_MISTAKES = "The evaluator's mistakes"
#: Names of metrics that compare translations with references.
_AGAINST_REFERENCES = re.compile(r"(sacre)?bleu|chrf|comet|(xcomet|ter)\b", re.IGNORECASE)


def evaluate(
    dataset: Dataset,
    config: Config = None,
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    *,
    translations: Annotated[
        list[str] | None,
        typer.Option(
            "--translations",
            "-t",
            metavar="[NAME=]FILE[#COLUMN]",
            help=(
                "File of translations, or - for standard input: one per line in the order of"
                ' `cc-hf sources`, "source ||| translation" lines, a table (CSV, Excel, Parquet) or'
                " JSON with sources or ids. FILE#COLUMN names the column of the system. May be"
                " repeated, once for each system."
            ),
        ),
    ] = None,
    system: Annotated[System | None, SystemFields],
    name: Annotated[
        str | None,
        typer.Option(
            help=(
                "Name of the system in tables and reports, as --translations NAME=FILE. Default:"
                " the model that translated, or the file of translations."
            ),
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help=(
                "A metric (`cc-hf list metrics`), several with commas between, or all for every"
                " metric that fits. Default:"
                " contrastive_conditioning, or the only metric that fits."
            )
        ),
    ] = None,
    option: MetricOptions = None,
    evaluator: Evaluators = None,
    loading: Annotated[LoadingOptions, EvaluatorFields],
    data: Annotated[DataOptions, replace(DataFields, names=_DATA, rare="split counts")],
    audit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help=(
                "Larger evaluator that judges a random part again, so that the figures include the"
                " mistakes of the evaluator. May be repeated for an ensemble."
            ),
            rich_help_panel=_MISTAKES,
        ),
    ] = None,
    audit_size: Annotated[
        int | None,
        typer.Option(
            help=f"Number of translations that --audit judges. Default: {_AUDIT_SIZE}.",
            rich_help_panel=_MISTAKES,
            hidden=True,
        ),
    ] = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help=(
                "Labels of people that correct the figures likewise: JSONL with `inclusion`, the"
                " probability with which each was drawn; or the filled sheets of `cc-hf build"
                " sheets` and their key, one option each. Or a corrected result of another system,"
                " whose evaluator is assumed to err alike."
            ),
            rich_help_panel=_MISTAKES,
        ),
    ] = None,
    translated_only: Annotated[
        bool,
        typer.Option(
            "--translated-only",
            help=(
                "Judge only the examples that every file of --translations translates, by id (JSONL"
                " as `cc-hf ask --task translate` writes it). The signature says how many."
            ),
            hidden=True,
        ),
    ] = False,
    clean: Annotated[
        bool | None,
        typer.Option(
            "--clean/--as-is",
            help=(
                "Remove what stands around translations, such as code fences, prefaces, markup and"
                " thinking, or judge it, too. Default: refuse such files."
            ),
            hidden=True,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.", hidden=True)] = 0,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a page with the systems side by side, and all samples.",
            rich_help_panel="Output",
        ),
        OutputFile(),
    ] = None,
    figure_only: Annotated[
        bool,
        typer.Option(
            "--figure-only",
            help="Print nothing but the figure that ranks systems, in percent, a line for each.",
            rich_help_panel="Output",
            hidden=True,
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Of several systems, also show each with categories, counts, meanings and notes.",
            rich_help_panel="Output",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=(
                "Write the result as JSON to this file; - for standard output. In a folder, each"
                " system gets a file NAME.json."
            ),
            rich_help_panel="Output",
        ),
    ] = None,
    progress: bool = False,
) -> Outcome:
    """Judge a system by its translations, or an evaluator itself.

    Example: cc-hf evaluate simplegen --translations tiny.txt -o tiny.json
    """
    from cc_hf.reports.tables import scores as tables
    from cc_hf.reports.tables.answer import answer, figure_lines, report_of

    pages: list[NewFile] = []
    _check_words([*filter(None, [config]), *(more or ())], metric or "")
    material = data.load(dataset, config)
    if translated_only:
        material = _translated(material, translations)
    files = _named_files(translations, name, material)
    outputs = _outputs(output, [file_name for file_name, _ in files])
    for path in outputs:
        OutputFile().check("output", path)
    arguments: dict[str, Any] = {
        "system": system,
        "options": pairs_of(option, "option"),
        "evaluator": one_or_all(evaluator),
        "loading": replace(loading, distributed=sharding.is_launched()),
        "clean": clean,
        "seed": seed,
        "progress": progress,
    }
    correct = _correction(material, metric, arguments, audit, audit_size, labels)
    outcomes = _judged(material, metric, files, arguments, correct)
    if output is not None and is_folder(output) and len(files) == 1:
        system_name = tables.results_of(outcomes[0])[0].system
        outputs = [output / f"{file_slug(system_name) or 'result'}.json"]
    # Nobody reads the JSON of a result that is only shown.
    texts = [] if output is None else [outcome.to_json() for outcome in outcomes]
    results = [tables.results_of(outcome) for outcome in outcomes]
    not_run = [outcome.not_run for outcome in outcomes if hasattr(outcome, "not_run")]
    is_one_file = outputs[0] == output
    report = cache(lambda: report_of(outcomes, material.examples or None))
    if html is not None:
        from cc_hf.reports.page.page import html_page

        pages = [NewFile(html, html_page(report()))]
    return Outcome(
        outcomes[0].to_json
        if len(outcomes) == 1
        else lambda: [json.loads(outcome.to_json()) for outcome in outcomes],
        lambda: [
            *(figure_lines(report()) if figure_only else answer(report())),
            *(tables.evaluation_tables(outcomes) if verbose else ()),
        ],
        text=texts[0] if texts and is_one_file else None,
        files=pages if is_one_file else [*pages, *map(NewFile, outputs, texts)],
        warnings=[
            warning
            for of_system, (_, file) in zip(results, files, strict=True)
            for warning in tables.evaluation_warnings(
                of_system, () if file is None else material.examples
            )
        ],
        notes=[
            *(note for of_system in results for note in tables.evaluation_notes(of_system)),
            *(note for reasons in not_run for note in tables.not_run_notes(reasons)),
        ],
    )


def _judged(
    material: Material,
    metric: str | None,
    files: Sequence[tuple[str | None, str | None]],
    arguments: Mapping[str, Any],
    correct: Callable[[EvaluationResult], EvaluationResult],
) -> list[EvaluationResult | ResultSet]:
    """Return the results of each system."""
    from cc_hf.evaluation.evaluate import evaluate, evaluate_all

    outcomes: list[EvaluationResult | ResultSet] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)  # the table has the notes
        for name, file in files:
            of_system = {**arguments, "translations": file, "name": name}
            if _is_several(metric):
                named = (metric or "").split(",")
                outcomes.append(evaluate_all(material, metrics=named, **of_system))
                continue
            outcomes.append(correct(evaluate(material, metric=metric, **of_system)))
    return outcomes


def _is_several(metric: str | None) -> bool:
    return metric == ALL or "," in (metric or "")


def _check_words(words: Sequence[str], metric: str) -> None:
    """Refuse words in the wrong place: behind the dataset, only a configuration is expected."""
    if files := [word for word in words if is_file(Path(word))] or words[1:]:
        raise InputError(
            f"expected at most a dataset and a configuration, got {files[0]}, too; a file of"
            f" translations is given as --translations {files[0]}"
        )
    reason = ""
    if _AGAINST_REFERENCES.match(metric) and metric not in registry.names("metric"):
        reason = "; for BLEU and chrF use `cc-hf score FILE --references FILE`"
    if ":" in metric:
        reason = "; a class of your own gets a name by an entry point of the group cc_hf.metrics"
    if reason:
        raise InputError(f"metric: expected a name of `cc-hf list metrics`, got {metric!r}{reason}")


def _correction(
    material: Material,
    metric: str | None,
    arguments: Mapping[str, Any],
    audit: list[str] | None,
    audit_size: int | None,
    labels: list[Path] | None,
) -> Callable[[EvaluationResult], EvaluationResult]:
    """Return what corrects a result. A larger evaluator is found before anything is judged."""
    if _is_several(metric) and (audit or labels):
        raise InputError(f"metric: expected one with --audit or --labels, got {metric}")
    if audit and labels:
        raise InputError("expected either --audit or --labels, got both")
    if audit_size is not None and not audit:
        raise InputError("audit_size: expected --audit MODEL with it, got none")
    if labels:
        from cc_hf.comparing.people.labels import with_labels

        return lambda result: with_labels(result, labels)
    if not audit:
        return lambda result: result
    from cc_hf.evaluation.correction import audited, check_audit
    from cc_hf.evaluation.fitting import default_metric
    from cc_hf.evaluators.resolve import resolve_evaluator

    named = metric or default_metric(material, has_translations=True)
    check_audit(registry.resolve("metric", named))
    auditor = resolve_evaluator(
        one_or_all(audit),
        arguments["loading"],
        src_lang=material.src_lang,
        tgt_lang=material.tgt_lang,
    )
    return lambda result: audited(
        result,
        material,
        auditor,
        size=_AUDIT_SIZE if audit_size is None else audit_size,
        **{name: arguments[name] for name in ("options", "seed", "progress")},
    )


def _translated(material: Material, translations: list[str] | None) -> Material:
    """Return the material with the examples only that every file translates."""
    from cc_hf.data.files.translations import translated_ids

    if not translations:
        raise InputError("--translated-only: expected --translations FILE, got none")
    paths = [_named_file(text)[1] for text in translations]
    ids = frozenset.intersection(*map(translated_ids, paths))
    chosen = replace(material, chosen=ids)
    if not chosen.examples:
        raise InputError(
            f"--translated-only: expected ids of {material.name}, got none in {', '.join(paths)}"
        )
    return chosen


def _named_file(text: str) -> tuple[str | None, str]:
    """Return name and file of NAME=FILE, where the file may have "=" in its name or column."""
    from cc_hf.data.files.translation_rows import split_column

    given, equals, path = text.partition("=")
    is_path = exists(Path(text)) or exists(split_column(text)[0])
    return (given, path) if equals and not is_path else (None, text)


def _named_files(
    translations: list[str] | None, name: str | None, material: Material
) -> list[tuple[str | None, str | None]]:
    """Return name and file of each system; the name is None where the default will do."""
    from cc_hf.data.files.translations import name_of_file, read_translations

    if not translations:
        return [(name, None)]
    files = [_named_file(text) for text in translations]
    if len(files) == 1:
        return [(files[0][0] if name is None else name, files[0][1])]
    if name is not None:
        raise InputError("--name: give the names of several systems as --translations NAME=FILE")
    named = [
        (given or name_of_file(path, material.src_lang, material.tgt_lang), path)
        for given, path in files
    ]
    keys = [name_key(file_slug(given)) for given, _ in named]
    for (given, path), key in zip(named, keys, strict=True):
        if not given or keys.count(key) > 1:
            raise InputError(
                f"--translations {path}: expected a name of its own for each system, got"
                f" {given or 'none'}; write NAME=FILE, with names that differ not only in case"
            )
        # All files are read before the first is judged, which can take long.
        if path != str(STANDARD):
            read_translations(path, material.examples, other_lengths=material.translated_lines())
    return list(named)


def _outputs(output: Path | None, names: Sequence[str | None]) -> list[Path | None]:
    """Return the file of each system; several go to a folder, which is made."""
    if output is None or len(names) == 1:
        # That of a single system in a folder gets its name when the system is known.
        in_folder = output is not None and is_folder(output)
        return [output / "result.json" if output and in_folder else output] * len(names)
    if is_file(output) or output == STANDARD or (output.suffix and not is_folder(output)):
        raise InputError(
            f"--output: expected a folder for the results of several systems, got {output}; give"
            " the name of one, such as results, in which each system gets a file"
        )
    output.mkdir(parents=True, exist_ok=True)
    return [output / f"{file_slug(name or '')}.json" for name in names]
