"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.fields import Fields
from cc_hf.errors import InputError

__all__ = [
    "AsJson",
    "Backend",
    "BatchTokens",
    "Beams",
    "Bleu",
    "Cache",
    "Config",
    "Configs",
    "DataDir",
    "Dataset",
    "Device",
    "EvaluatorName",
    "Evaluators",
    "Every",
    "FamilyName",
    "FiguresOutput",
    "LanguagePair",
    "Limit",
    "MetricOptions",
    "Mode",
    "NewFolder",
    "NoCache",
    "OnBlank",
    "OnTooLong",
    "OneMetric",
    "Precision",
    "Prompt",
    "Quiet",
    "Resamples",
    "ResultsFolder",
    "Revision",
    "Revisions",
    "Score",
    "Seed",
    "SenseCounts",
    "Separator",
    "Split",
    "TgtLang",
    "chosen_cache",
    "chosen_configs",
    "metric_options",
    "one_or_all",
    "pairs_of",
]

#: Fields of `cc_hf.statistics.bootstrap.Bootstrap`.
Resampling = Fields("n_resamples seed", "Statistics")
#: Fields of `cc_hf.evaluation.material.DataOptions`.
DataFields = Fields("language_pair data_dir limit", "Data", rare="split")
#: Fields of `cc_hf.evaluators.options.LoadingOptions`, for evaluators.
EvaluatorFields = Fields(
    "",
    "Evaluator",
    rare="device kind prompt revision batch_tokens on_too_long mode cache",
    defaults={"cache": True},
    helps={
        "cache": (
            "File in which scores are stored, so that an interrupted run continues where it"
            " stopped. Default: HF_HOME/cc_hf/scores.sqlite."
        )
    },
)
#: Fields of `cc_hf.systems.system.System`.
SystemFields = Fields("model", "System", rare="num_beams separator precision backend")
Results = Annotated[
    list[Path],
    typer.Argument(help="Results of `cc-hf evaluate --output`: JSON files, or folders of them."),
]
#: Folder of results, for the leaderboard.
ResultsFolder = Annotated[
    Path, typer.Argument(help="Folder with results of `cc-hf evaluate --output`.")
]
NewFolder = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="DIR", help="New folder to write.", rich_help_panel="Output"
    ),
]
LanguagePair = Annotated[
    str, typer.Option("--language-pair", "-l", help="Source and target language, such as en-de.")
]
Dataset = Annotated[
    str,
    typer.Argument(
        help=(
            "Name of a dataset (see `cc-hf list datasets`); a .csv, .tsv or .jsonl file with your"
            " own sources and cues, or homographs and senses; or a folder that `cc-hf build` or"
            " `cc-hf study disambiguation_bias build-challenge` wrote."
        )
    ),
]
Config = Annotated[
    str | None,
    typer.Argument(
        help=(
            "Configuration of the dataset (see `cc-hf list datasets NAME`). Default: the one that"
            " the dataset declares as its default."
        )
    ),
]
Configs = Annotated[
    list[str] | None,
    typer.Argument(
        help=(
            "Configurations of the dataset (see `cc-hf list datasets NAME`). Default: the one that"
            " the dataset declares as its default."
        )
    ),
]
Every = Annotated[bool, typer.Option("--all", help="Use all configurations of the dataset.")]
TgtLang = Annotated[
    str | None,
    typer.Option(
        help=(
            "Target language as an ISO 639-1 code. It is required if the configuration has several"
            " target languages."
        )
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        help=(
            "Folder with a local copy of the upstream repositories (DIR/owner/repository/...), from"
            " which data are read instead of being downloaded. Default: the environment variable"
            " CC_HF_DATA_DIR, if it is set."
        )
    ),
]
BatchTokens = Annotated[
    int | None,
    typer.Option(
        min=1,
        help=(
            "Largest number of source and target tokens in a batch, padding included. Default: 1536"
            " on a CPU (768 for models wider than 512), 16384 on a GPU."
        ),
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        help=(
            "Device that runs the model: cpu, cuda, cuda:N, or auto to spread the model over all"
            " GPUs. Default: cuda if a GPU is available, otherwise cpu."
        )
    ),
]
Evaluators = Annotated[
    list[str] | None,
    typer.Option(
        "--evaluator",
        help=(
            "Evaluator model: a name, a folder, a model on the Hub, or server:URL#MODEL. Repeat the"
            " option to use an ensemble. Default: the model that ships with cc_hf for the language"
            " pair."
        ),
    ),
]
EvaluatorName = Annotated[
    str | None,
    typer.Option(
        help=(
            "Evaluator model: a name, a folder, a model on the Hub, or server:URL#MODEL. Default:"
            " the model that ships with cc_hf for the language pair."
        )
    ),
]
FamilyName = Annotated[
    str | None,
    typer.Option(
        "--kind",
        help=(
            "Family of the model (see `cc-hf list evaluators`). Default: the family that fits the"
            " configuration of the model."
        ),
    ),
]
Prompt = Annotated[
    str | None,
    typer.Option(
        help=(
            "Template of the input, for models that need a prompt (T5 and language models). It"
            " contains {source}, and may contain {src_name}, {tgt_name}, {src_lang} and {tgt_lang}."
            " Default: the prompt of the model's family."
        )
    ),
]
Revisions = Annotated[
    list[str] | None,
    typer.Option(
        "--revision",
        help=(
            "Commit, tag or branch of the model on the Hub. For an ensemble, repeat the option once"
            " per model."
        ),
    ),
]
Revision = Annotated[
    str | None, typer.Option(help="Commit, tag or branch of the model on the Hub.")
]
Score = Annotated[
    str,
    typer.Option(
        help=(
            "How the probabilities of the target tokens become a score: geometric (their"
            " geometric mean), arithmetic (their mean), or reference (the formula of the"
            " paper's program)."
        )
    ),
]
OnTooLong = Annotated[
    str,
    typer.Option(
        help=(
            "What to do with a text that exceeds the length limit of the model: error; truncate; or"
            " incorrect: contrastive conditioning then counts such a translation as incorrect. The"
            " signature names the last two."
        )
    ),
]
MetricOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="Option of the metric; the card of the metric lists them. May be repeated.",
    ),
]
OneMetric = Annotated[
    str | None,
    typer.Option("--metric", help="Metric to use, if a file holds the results of several metrics."),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        help=(
            "File in which scores are stored, so that an interrupted run continues where it"
            " stopped. Default: HF_HOME/cc_hf/scores.sqlite."
        )
    ),
]
Mode = Annotated[
    str,
    typer.Option(
        help=(
            "Precision of the computation: exact, bf16, int8, or auto. The mode auto uses bf16 if"
            " the processor has instructions for it, and computes close decisions again exactly."
        )
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor store scores.")]
Cues = Annotated[
    str | None,
    typer.Option(
        help=(
            "Wording of the cues in place of the dataset's own: a name such as gender_nouns, or"
            " the JSON file of a calibration (see `cc-hf cues calibrate`). Only for sentences that"
            " leave the reading open, not for counterfactual pairs."
        )
    ),
]
SenseCounts = Annotated[
    Path | None,
    typer.Option(
        "--counts",
        help=(
            "How often senses occur in your training data, a file that `cc-hf study distillation"
            " senses` wrote:"
            " frequent and infrequent senses of mucow are then those of this file."
        ),
    ),
]
Split = Annotated[str, typer.Option(help="Split of the dataset.")]
Resamples = Annotated[int, typer.Option(min=1, help="Number of resamples of the bootstrap.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")]
Bleu = Annotated[
    list[str] | None,
    typer.Option(
        help=(
            "BLEU of a system, from 0 to 100, as NAME=POINTS; or a file with the BLEU of each"
            " system: .tsv with the columns system and bleu (and optionally dataset and tgt_lang),"
            " or .json with an object. May be repeated."
        ),
        metavar="NAME=POINTS|FILE",
    ),
]
FiguresOutput = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Write the figures to this JSON file; - for standard output."
    ),
]
OnBlank = Annotated[
    str | None,
    typer.Option(
        help=(
            "What contrastive conditioning does with a blank translation: error, or incorrect: it"
            " counts as incorrect (the signature then says so). Metrics that read words never count"
            " one as right. Default: error."
        )
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--context",
        metavar="SEPARATOR",
        help=(
            "Give the system the sentences before each source, too, with this text between, such as"
            " <sep>. What it writes before its last separator is cut off. For contextual_* of"
            " mt_geneval."
        ),
    ),
]
Beams = Annotated[
    int,
    typer.Option("--num-beams", min=1, help="Number of beams in the beam search of --system."),
]
Precision = Annotated[
    str,
    typer.Option(
        "--precision",
        help="How --system computes: fp32, or int8 (on the CPU). Results name it.",
    ),
]
Backend = Annotated[
    str,
    typer.Option(
        "--backend",
        help=(
            "Library that runs --system: torch, or ctranslate2 for Marian and M2M100 on the CPU."
        ),
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        min=1,
        help=(
            "Use the first examples only, so many, for a first look. Results say so in their notes"
            " and their signature."
        ),
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in place of tables.")]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Show neither progress bars nor notes. Warnings are always shown."
    ),
]


def chosen_cache(cache: Path | None, *, no_cache: bool) -> bool | Path:
    """Return the option `cache` of `cc_hf.load_evaluator`; the default is to use the cache.

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


def pairs_of(values: list[str] | None, flag: str) -> dict[str, str]:
    """Parse the pairs of a repeatable option.

    Args:
        values: texts of the form KEY=VALUE.

    Raises:
        InputError: for a text without a name or "=", or a name that occurs twice.

    Examples:
        >>> pairs_of(["size=big", "note=a=b"], "--where")
        {'size': 'big', 'note': 'a=b'}
    """
    pairs: dict[str, str] = {}
    for text in values or []:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InputError(f"{flag}: expected key=value, got {text!r}")
        if name in pairs:
            raise InputError(f"{flag}: expected {name} once, got {pairs[name]!r} and {value!r}")
        pairs[name] = value
    return pairs


def metric_options(values: list[str] | None, **named: str | None) -> dict[str, str]:
    """Parse the pairs of --option, and add options that have a flag of their own.

    Args:
        values: texts of the form KEY=VALUE.
        named: the values of --score and --on-blank, if given.

    Raises:
        InputError: for a text without a name or "=", or a name that occurs twice.

    Examples:
        >>> metric_options(["dictionary=own.tsv", "note=a=b"], score=None)
        {'dictionary': 'own.tsv', 'note': 'a=b'}
    """
    options = pairs_of(values, "--option")
    for name, given in named.items():
        if given is None:
            continue
        if name in options:
            flag = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{flag}: expected one value, got {given!r} and, by --option, {options[name]!r}"
            )
        options[name] = given
    return options


def one_or_all(values: list[str] | None) -> str | list[str] | None:
    """Return the value of a repeatable option: None, a single value, or a list.

    Examples:
        >>> one_or_all([]), one_or_all(["a"]), one_or_all(["a", "b"])
        (None, 'a', ['a', 'b'])
    """
    return values[0] if values and len(values) == 1 else values or None
