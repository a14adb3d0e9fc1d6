"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cc_hf.cli.command import OutputFile
from cc_hf.cli.fields import Fields
from cc_hf.languages import language_pair, pair_in

if TYPE_CHECKING:
    from cc_hf.data.declaration import DatasetDeclaration

__all__ = [
    "AsJson",
    "Bleu",
    "Config",
    "DataDir",
    "DataFields",
    "Dataset",
    "EvaluatorFields",
    "Evaluators",
    "LanguagePair",
    "Limit",
    "MetricOptions",
    "NewFolder",
    "OneMetric",
    "PairOfRows",
    "Resampling",
    "Results",
    "Score",
    "Seed",
    "SystemFields",
    "TextOutput",
    "chosen_data",
    "one_or_all",
]

#: Fields of `cc_hf.statistics.bootstrap.Bootstrap`.
Resampling = Fields("n_resamples seed", "Statistics")
#: Fields of `cc_hf.evaluation.material.DataOptions`.
DataFields = Fields("language_pair limit", "Data", rare="data_dir split")
#: Fields of `cc_hf.evaluators.options.LoadingOptions`, for evaluators.
EvaluatorFields = Fields(
    "",
    "Evaluator",
    rare="device cache",
    settings="mode kind prompt revision dtype batch_tokens on_too_long",
    defaults={"cache": True},
    helps={
        "cache": (
            "File in which scores are stored, so that an interrupted run continues where it"
            " stopped. Default: HF_HOME/cc_hf/scores.sqlite."
        )
    },
)
#: Fields of `cc_hf.systems.system.System`.
SystemFields = Fields("model", "System", rare="num_beams", settings="separator precision backend")


def _expanded(paths: Any) -> list[Path]:  # typer refuses list[Path] on Python 3.10
    from cc_hf.data.files.result_files import result_paths

    return result_paths(paths)


#: Files of results; a folder is replaced by its files before a command gets it.
Results = Annotated[
    list[Path],
    typer.Argument(
        help="Results of `cc-hf evaluate --output`: JSON files, or folders of them.",
        callback=_expanded,
    ),
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
PairOfRows = Annotated[
    str | None,
    typer.Option(
        "--language-pair",
        "-l",
        help=(
            "Source and target language, such as en-de: of the configuration, and of the rows of a"
            " file that name none."
        ),
        rich_help_panel="Data",
    ),
]
Dataset = Annotated[
    str,
    typer.Argument(
        help=(
            "A dataset (`cc-hf list datasets`); a .csv, .tsv or .jsonl file of your own; or a"
            " folder that `cc-hf build` wrote."
        )
    ),
]
TextOutput = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="File to write; - for standard output. One that ends in .jsonl holds ids, too.",
        rich_help_panel="Output",
    ),
    OutputFile(),
]
Config = Annotated[
    str | None,
    typer.Argument(
        help=(
            "Configuration (`cc-hf list datasets NAME`), or a language pair. Default: the dataset's"
            " own default."
        )
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        help=(
            "Folder with a local copy of the upstream repositories (DIR/owner/repository/...), in"
            " place of downloads. Default: the environment variable CC_HF_DATA_DIR."
        ),
        rich_help_panel="Data",
    ),
]
Evaluators = Annotated[
    list[str] | None,
    typer.Option(
        "--evaluator",
        help=(
            "Evaluator model: a name (`cc-hf list evaluators`), a folder, a model on the Hub, or"
            " server:URL#MODEL; several make an ensemble. Default: the one that ships for the pair."
        ),
    ),
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
MetricOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="Option of the metric (`cc-hf list metrics NAME` has them). May be repeated.",
    ),
]
OneMetric = Annotated[
    str | None,
    typer.Option("--metric", help="Metric to use, if a file holds the results of several metrics."),
]
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
Seed = Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")]
Bleu = Annotated[
    list[str] | None,
    typer.Option(
        help=(
            "BLEU of a system, from 0 to 100; or a .tsv or .json file with that of each system,"
            " such as `cc-hf score --output` writes. May be repeated."
        ),
        metavar="NAME=POINTS|FILE",
        rich_help_panel="Systems",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        min=1,
        help=(
            "Use so many examples only, for a first look: the first, or those of every category in"
            " turn. Results say so in their notes and their signature."
        ),
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in place of tables.")]


def chosen_data(
    dataset: str, configs: list[str] | None, pair: str | None = None
) -> tuple[DatasetDeclaration, list[str] | None]:
    """Return a dataset and the names of its chosen configurations; None for all.

    Args:
        configs: the names that were given, or "all". Without any, the configuration of the language
            pair, or else the default one.
        pair: language pair that the configurations must have, and of the rows of a file that name
            none; None for any.

    Raises:
        UnknownNameError: for a dataset or configuration that does not exist.
        InputError: for a text that is no language pair, or a configuration of another pair.
    """
    from cc_hf.data.loading import check_source_language, check_target_language, declaration

    languages = language_pair(pair) if pair else None
    of_rows = languages or pair_in(configs[0] if configs and len(configs) == 1 else None)
    src_lang, tgt_lang = of_rows or (None, None)
    declared = declaration(dataset, src_lang=src_lang, tgt_lang=tgt_lang)
    if configs == ["all"]:
        return declared, None
    names = configs or [declared.default_config if languages is None else "-".join(languages)]
    chosen = [declared.config(name) for name in names]
    if languages is not None:
        for config in chosen:
            check_target_language(declared, config.name, languages[1])
            check_source_language(declared, config.name, languages[0])
    return declared, [config.name for config in chosen]


def one_or_all(values: list[str] | None) -> str | list[str] | None:
    """Return the value of a repeatable option: None, a single value, or a list."""
    return values[0] if values and len(values) == 1 else values or None
