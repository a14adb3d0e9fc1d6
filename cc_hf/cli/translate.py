"""cc-hf translate: translate the sources of a dataset, or a text file, one line each."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cc_hf import registry
from cc_hf.cli.command import NewFile, Outcome
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import Config, DataFields, SystemFields, TextOutput
from cc_hf.errors import InputError
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators import distributed as sharding
from cc_hf.evaluators.options import LoadingOptions, scheme_of
from cc_hf.files import is_file
from cc_hf.languages import language_pair
from cc_hf.systems.system import System
from cc_hf.writing import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cc_hf.data.files.nbest import Hypothesis
    from cc_hf.systems.text_files import FileTranslation

__all__ = ["translate"]


@dataclass(frozen=True)
class TextOptions:
    """How a text file is translated.

    Attributes:
        on_too_long: what to do with a line that is too long for the model: error, or blank, which
            leaves its translation blank and counts it.
        block_lines: lines that are translated and stored together.
    """

    on_too_long: str = "error"
    block_lines: int = 1000


def translate(
    dataset: Annotated[
        str,
        typer.Argument(
            help=(
                "A dataset, as for `cc-hf evaluate`; or a text file with one sentence per line. If"
                " a run on a text file is killed, the same command continues it; torchrun shares it"
                " among processes."
            )
        ),
    ],
    config: Config = None,
    *,
    output: TextOutput,
    system: Annotated[
        System | None,
        replace(SystemFields, names="model num_beams", rare=""),
    ],
    loading: Annotated[LoadingOptions, Fields("", "System", rare="device", settings="kind prompt")],
    data: Annotated[DataOptions, DataFields],
    n_best: Annotated[
        int,
        typer.Option(
            "--nbest",
            min=1,
            help=(
                "Translations of each source, at most --num-beams. The file has lines `index |||"
                " translation ||| log-probability`, for `cc-hf rerank`."
            ),
        ),
    ] = 1,
    contrast: Annotated[
        float,
        typer.Option(
            min=0,
            help=(
                "Translate the sources of a dataset with the correct cue, and away from those with"
                " a wrong one with this weight, such as 0.3."
            ),
            hidden=True,
        ),
    ] = 0.0,
    text: Annotated[TextOptions, Fields("", "Text files", settings="on_too_long block_lines")],
    progress: bool = False,
) -> Outcome:
    """Translate the sources of a dataset, or a text file, with a system.

    Example: cc-hf translate simplegen en-de --system cc-tiny-en-de -o tiny.txt
    """
    from cc_hf.data.files.custom import is_custom
    from cc_hf.reading import read_lines

    if system is None:
        raise InputError("--system: expected a model that translates, got none")
    scheme = scheme_of(str(system.model), "system scheme")
    translate_lists = _translator(scheme)
    searched: dict[str, Any] = {"n_best": n_best, "contrast": contrast, "progress": progress}
    if is_file(Path(dataset)) and not is_custom(dataset):
        is_of_dataset = config or contrast or system.separator
        if is_of_dataset or replace(data, language_pair=None) != DataOptions():
            raise InputError(
                f"{dataset}: expected a text file without a configuration, --limit, --data-dir,"
                " --split, --contrast and a context, which belong to datasets"
            )
        pair = language_pair(data.language_pair) if data.language_pair else (None, None)
        loading = replace(
            loading, src_lang=pair[0], tgt_lang=pair[1], distributed=sharding.is_launched()
        )
        if n_best == 1 and scheme is None:
            return _file_outcome(
                dataset, output, system, loading, {**vars(text), "progress": progress}
            )
        if text.on_too_long != "error":
            what = "--nbest, which makes lists" if n_best > 1 else "a system that is no model"
            raise InputError(f"on_too_long: expected none with {what}")
        sources = read_lines(Path(dataset), keeps_end=True)
        rows = [(str(n), source) for n, source in enumerate(sources)]
    else:
        material = data.load(dataset, config)
        sources = system.sources(material.examples)
        rows = [(example.id, example.source) for example in material.examples]
        searched |= {"src_lang": material.src_lang, "tgt_lang": material.tgt_lang}
        if contrast:
            from cc_hf.systems.nbest import cued_sources

            if system.separator is not None:
                raise InputError("contrast: expected sources with cues alone, got a context, too")
            sources, searched["others"] = cued_sources(material.examples)
    lists = translate_lists(sources, system, loading=loading, **searched)
    return _outcome(rows if n_best == 1 else [], lists, output)


def _translator(scheme: str | None) -> Callable[..., list[tuple[Hypothesis, ...]]]:
    """Return what translates: a model, or what the scheme of the system's name stands for."""
    if scheme is None:
        from cc_hf.systems.nbest import translate_nbest

        return translate_nbest
    from cc_hf.data.files.nbest import Hypothesis

    opened = registry.resolve("system scheme", scheme)
    return lambda sources, system, **options: [
        (Hypothesis(text),) for text in opened(system, sources, **options)[0]
    ]


def _outcome(
    sources: Sequence[tuple[str, str]], lists: Sequence[Sequence[Hypothesis]], output: Path
) -> Outcome:
    """Return what is written: the translation of each source with its id, or lists without them."""
    from cc_hf.data.files.nbest import nbest_text

    about = f", {sum(map(len, lists)):,} translations"
    is_jsonl = output.suffix == ".jsonl"
    if not sources:
        written = [[hypothesis._asdict() for hypothesis in of_source] for of_source in lists]
        return Outcome(written, text=nbest_text(lists, is_jsonl=is_jsonl), about=about)
    rows = [
        {"id": row_id, "source": source, "translation": of_source[0].text}
        for (row_id, source), of_source in zip(sources, lists, strict=True)
    ]
    return Outcome(
        rows,
        text="".join(
            f"{json.dumps(row, ensure_ascii=False) if is_jsonl else row['translation']}\n"
            for row in rows
        ),
        about=about,
    )


def _file_outcome(
    source: str, output: Path, system: System, loading: LoadingOptions, options: dict[str, Any]
) -> Outcome:
    """Translate a text file into `output`."""
    from cc_hf.evaluators.loading import load_with
    from cc_hf.systems.text_files import summary_path, translate_file

    if output == STANDARD:
        raise InputError("--output: expected a file, which a run that is killed continues, got -")
    options |= {name: getattr(system, name) for name in ("num_beams", "precision", "backend")}
    summary = translate_file(load_with(system.model, loading), source, output, **options)
    return Outcome(
        summary.to_json(),
        lambda: [
            f"{summary.n_lines:,} lines: {summary.n_translated:,} translated,"
            f" {summary.n_blank:,} blank, {summary.n_too_long:,} too long, {summary.n_empty:,}"
            " without words",
            f"signature: {summary.signature}",
        ],
        files=[NewFile(output, None, f" (summary: {summary_path(output)})")],
        warnings=_warnings(source, summary, summary_path(output)),
    )


def _warnings(source: str, summary: FileTranslation, path: Path) -> list[str]:
    return [
        f"{source}: {number:,} of {summary.n_lines:,} lines {what}; their translations are blank,"
        f" see {path}"
        for number, what in (
            (summary.n_too_long, "are too long for the model"),
            (summary.n_empty, "were translated by nothing"),
        )
        if number
    ]
