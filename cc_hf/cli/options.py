"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.errors import InputError

__all__ = [
    "BatchTokens",
    "Cache",
    "Config",
    "Configs",
    "DataDir",
    "Dataset",
    "Device",
    "Evaluators",
    "Every",
    "FamilyName",
    "MetricOptions",
    "Mode",
    "NoCache",
    "Prompt",
    "Quiet",
    "Revisions",
    "Split",
    "TgtLang",
    "chosen_cache",
    "chosen_configs",
    "metric_options",
    "one_or_all",
]

Dataset = Annotated[
    str,
    typer.Argument(
        help=(
            "Dataset, see `cc-hf list datasets`, or a .csv, .tsv or .jsonl file of your own sources"
            " and cues."
        )
    ),
]
Config = Annotated[
    str | None, typer.Argument(help="Configuration; default: the dataset's own default.")
]
Configs = Annotated[
    list[str] | None, typer.Argument(help="Configurations; default: the dataset's own default.")
]
Every = Annotated[bool, typer.Option("--all", help="All configurations.")]
TgtLang = Annotated[
    str | None,
    typer.Option(help="Target language, ISO 639-1; needed where the configuration has several."),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        help=(
            "Local copy of the upstream repositories (DIR/owner/repository/...), instead of a"
            " download. Also CC_HF_DATA_DIR."
        )
    ),
]
BatchTokens = Annotated[
    int | None, typer.Option(min=1, help="Padded source plus target tokens of a batch.")
]
Device = Annotated[
    str | None,
    typer.Option(
        help="cpu, cuda or cuda:N; default: CUDA where there is one; auto: spread over all GPUs."
    ),
]
Evaluators = Annotated[
    list[str] | None,
    typer.Option(
        "--evaluator",
        help=(
            "Evaluator model (name, folder or Hub); repeated, an ensemble. Default: the one that"
            " ships for the language pair."
        ),
    ),
]
FamilyName = Annotated[
    str | None,
    typer.Option(
        "--kind",
        help="Family of the model, see `cc-hf list evaluators`; default: by its configuration.",
    ),
]
Prompt = Annotated[
    str | None,
    typer.Option(
        help=(
            "Template that puts a source into words, for models that take one (T5, language"
            " models): text with {source}, {src_name}, {tgt_name}, {src_lang}, {tgt_lang}."
        )
    ),
]
Revisions = Annotated[
    list[str] | None,
    typer.Option(
        "--revision",
        help="Commit, tag or branch of the evaluator on the Hub; of an ensemble one for each.",
    ),
]
MetricOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="An option of the metric's own (its card lists them); may be repeated.",
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        help=(
            "File to keep scores in; default: HF_HOME/cc_hf/scores.sqlite. A run that was stopped"
            " goes on from it."
        )
    ),
]
Mode = Annotated[
    str,
    typer.Option(
        help=(
            "exact, bf16, int8, or auto: bf16 where the machine is good at it, and close decisions"
            " again exactly."
        )
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor keep scores.")]
Split = Annotated[str, typer.Option(help="Split of the dataset, where it has several.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars, no notes.")]


def chosen_cache(cache: Path | None, *, no_cache: bool) -> bool | Path:
    """Return the option `cache` of `cc_hf.load_evaluator`; the command line uses the cache by
    default.

    Args:
        cache: the file of --cache; None for the default.
        no_cache: whether --no-cache was given.

    Returns:
        The file, or whether to use the default cache.

    Raises:
        InputError: for --cache and --no-cache together.
    """
    if cache is not None and no_cache:
        raise InputError(f"expected --cache or --no-cache, got both --cache {cache} and --no-cache")
    return cache or not no_cache


def chosen_configs(dataset: str, configs: list[str] | None, *, every: bool) -> list[str] | None:
    """Return the names of the chosen configurations; None for all.

    Args:
        dataset: a dataset name, or the file of a custom dataset.
        configs: the names that were given; the default configuration if there are none.
        every: whether --all was given.

    Raises:
        InputError: for names and --all together.
        UnknownNameError: for a dataset or configuration that does not exist.
    """
    from cc_hf.data.loading import declaration

    if every and configs:
        raise InputError(
            f"expected configurations or --all, got both {', '.join(configs)} and --all"
        )
    declared = declaration(dataset)
    return (
        None
        if every
        else (
            [declared.config(name).name for name in configs]
            if configs
            else [declared.default_config]
        )
    )


def metric_options(values: list[str] | None, *, score: str | None = None) -> dict[str, str]:
    """Parse the pairs of --option, and add --score.

    Args:
        values: texts of the form KEY=VALUE.
        score: the value of --score, if given.

    Returns:
        Name -> value, as text.

    Raises:
        InputError: for a text without a name or "=", or a name that occurs twice.

    >>> metric_options(["dictionary=own.tsv", "note=a=b"])
    {'dictionary': 'own.tsv', 'note': 'a=b'}
    """
    found: dict[str, str] = {}
    for text in values or []:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InputError(f"--option: expected key=value, got {text!r}")
        if name in found:
            raise InputError(f"--option: expected {name} once, got {found[name]!r} and {value!r}")
        found[name] = value
    if score is not None:
        if "score" in found:
            raise InputError(
                f"--score: expected one value, got {score!r} and, by --option, {found['score']!r}"
            )
        found["score"] = score
    return found


def one_or_all(values: list[str] | None) -> str | list[str] | None:
    """Return the value of a repeatable option: None, a single value, or a list.

    Args:
        values: all values that were given.

    >>> one_or_all([]), one_or_all(["a"]), one_or_all(["a", "b"])
    (None, 'a', ['a', 'b'])
    """
    return values[0] if values and len(values) == 1 else values or None
