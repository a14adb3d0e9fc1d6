"""cc-hf translate: translate the sources of a dataset, or a text file, one line each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cc_hf.cli.options import (
    AsJson,
    Backend,
    Beams,
    Config,
    DataDir,
    Device,
    FamilyName,
    Limit,
    Precision,
    Prompt,
    Quiet,
    Separator,
    Split,
    TgtLang,
    one_or_all,
)
from cc_hf.cli.output import (
    STANDARD,
    check_output,
    print_result,
    say,
    say_written,
    shows_progress,
    write_atomically,
)
from cc_hf.errors import InputError
from cc_hf.evaluators import distributed as sharding
from cc_hf.systems.system import DEFAULT_BEAMS, System

if TYPE_CHECKING:
    from cc_hf.evaluators.options import LoadingOptions
    from cc_hf.schema import Example

__all__ = ["translate"]


def translate(
    dataset: Annotated[
        str | None,
        typer.Argument(
            help=(
                "Name of a dataset (see `cc-hf list datasets`), or a file of your own sources, as"
                " for `cc-hf evaluate`; or nothing with --source-file."
            )
        ),
    ] = None,
    config: Config = None,
    *,
    system: Annotated[
        list[str],
        typer.Option(
            help=(
                "Model that translates the sources: a name, a folder, or a model on the Hub. Repeat"
                " the option to use an ensemble."
            )
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help=(
                "File to write; - for standard output. If its name ends in .jsonl, it contains id,"
                " source and translation; otherwise one translation per line."
            ),
        ),
    ],
    source_file: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Text file to translate, one sentence per line, in place of a dataset. A run that"
                " is killed goes on with the same command; torchrun shares it among processes."
            )
        ),
    ] = None,
    src_lang: Annotated[
        str | None,
        typer.Option(help="With --source-file: language of the sources, ISO 639-1."),
    ] = None,
    on_too_long: Annotated[
        str,
        typer.Option(
            help=(
                "With --source-file: what to do with a line that is too long for the model: error,"
                " or blank, which leaves its translation blank and counts it."
            )
        ),
    ] = "error",
    block_lines: Annotated[
        int,
        typer.Option(
            min=1, help="With --source-file: lines that are translated and stored together."
        ),
    ] = 1000,
    batch_tokens: Annotated[
        int,
        typer.Option(
            min=1,
            help="Limit of a batch: twice its padded source tokens, for each of the beams.",
        ),
    ] = 2048,
    kind: FamilyName = None,
    prompt: Prompt = None,
    tgt_lang: TgtLang = None,
    split: Split = "test",
    limit: Limit = None,
    num_beams: Beams = DEFAULT_BEAMS,
    precision: Precision = "fp32",
    backend: Backend = "torch",
    separator: Separator = None,
    data_dir: DataDir = None,
    device: Device = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Translate the sources of a dataset, or a text file, with a system."""
    from cc_hf.evaluation.material import load_material
    from cc_hf.evaluators.options import LoadingOptions
    from cc_hf.systems.translate import translate as run_translate

    check_output(output)
    _check_one_source(dataset, source_file)
    model = one_or_all(system)
    loading = LoadingOptions(kind=kind, prompt=prompt, device=device)
    if source_file is not None:
        if config or data_dir or limit or separator:
            raise InputError(
                "--source-file: expected a text file without configuration, --data-dir, --limit and"
                " --context, which belong to datasets"
            )
        _translate_file(
            source_file,
            model,
            output,
            loading=replace(
                loading, src_lang=src_lang, tgt_lang=tgt_lang, distributed=sharding.is_launched()
            ),
            options={
                "num_beams": num_beams,
                "batch_tokens": batch_tokens,
                "block_lines": block_lines,
                "on_too_long": on_too_long,
                "precision": precision,
                "backend": backend,
            },
            as_json=as_json,
            quiet=quiet,
        )
        return
    material = load_material(
        str(dataset), config, split=split, tgt_lang=tgt_lang, data_dir=data_dir, limit=limit
    )
    chosen = System(model if isinstance(model, str) else tuple(model or ()), num_beams, separator)
    examples = material.examples
    written = run_translate(
        chosen.sources(examples),
        chosen.model,
        src_lang=material.src_lang,
        tgt_lang=material.tgt_lang,
        num_beams=num_beams,
        batch_tokens=batch_tokens,
        loading=loading,
        precision=precision,
        backend=backend,
        progress=shows_progress(quiet=quiet),
    )
    translations = [chosen.last_sentence(text) for text in written]
    lines = _json_rows(examples, translations) if output.suffix == ".jsonl" else translations
    write_atomically(output, "".join(f"{line}\n" for line in lines))
    if not quiet:
        say_written(output, f", {len(lines):,} translations")


def _json_rows(examples: Sequence[Example], translations: Sequence[str]) -> list[str]:
    """Return lines of JSON with id, source and translation of each example."""
    return [
        json.dumps({"id": e.id, "source": e.source, "translation": text}, ensure_ascii=False)
        for e, text in zip(examples, translations, strict=True)
    ]


def _check_one_source(dataset: str | None, source_file: Path | None) -> None:
    """Check that either a dataset or a text file is named."""
    if (dataset is None) == (source_file is None):
        raise InputError(
            "expected the name of a dataset or --source-file FILE, got "
            + ("neither" if dataset is None else "both")
        )


def _translate_file(
    source: Path,
    model: str | list[str] | None,
    output: Path,
    *,
    loading: LoadingOptions,
    options: dict[str, Any],
    as_json: bool,
    quiet: bool,
) -> None:
    from cc_hf.evaluators.loading import load_with
    from cc_hf.systems.text_files import summary_path, translate_file

    if output == STANDARD:
        raise InputError(
            "--output: expected a file, which a run that is killed goes on with, got -"
        )
    summary = translate_file(
        load_with(model or [], loading),
        source,
        output,
        progress=shows_progress(quiet=quiet),
        **options,
    )
    is_main = sharding.is_main_process()
    sharding.leave()
    if not is_main:
        return
    for number, what in (
        (summary.n_too_long, "are too long for the model"),
        (summary.n_empty, "were translated by nothing"),
    ):
        if number:
            say(
                "warning",
                f"{source}: {number:,} of {summary.n_lines:,} lines {what}; their"
                f" translations are blank, see {summary_path(output)}",
            )
    print_result(
        as_json,
        summary.to_json(),
        lambda: [
            Text(
                f"{summary.n_lines:,} lines: {summary.n_translated:,} translated,"
                f" {summary.n_blank:,} blank, {summary.n_too_long:,} too long, {summary.n_empty:,}"
                " without words"
            ),
            Text(f"signature: {summary.signature}"),
        ],
        output=None,
    )
    say_written(output, f" (summary: {summary_path(output)})")
