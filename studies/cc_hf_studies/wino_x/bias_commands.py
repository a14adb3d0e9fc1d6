"""Commands that ask what decides about pronouns: biases of referents, and the trigger's share."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, OutputFile, shown_command
from cc_hf.cli.options import DataFields, EvaluatorFields, OneMetric
from cc_hf.errors import InputError
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators.options import LoadingOptions

if TYPE_CHECKING:
    pass

__all__ = ["referent_bias", "trigger_importance"]

# The option is a list so that a second value is refused instead of replacing the first.
_OneEvaluator = Annotated[
    list[str] | None,
    typer.Option(
        "--evaluator",
        help=(
            "Evaluator model, which must be one sequence-to-sequence model: a name, a folder, or a"
            " model on the Hub. Default: the model that ships with cc_hf for the language pair."
        ),
    ),
]
_WinoXConfig = Annotated[
    str,
    typer.Argument(help="Configuration of wino_x with contrastive translations."),
]
_DEFAULT_CONFIG = "mt_en_de.translations"
_DATA = replace(DataFields, names="data_dir", rare="split")


def referent_bias(
    result: Annotated[
        Path | None,
        typer.Argument(help="Result of `cc-hf evaluate wino_x --output`."),
    ] = None,
    *,
    preferences: Annotated[
        Path | None,
        typer.Option(
            help=(
                "JSONL, CSV or TSV file with the columns id and preferred (1, 2 or tie), in"
                " place of a result."
            )
        ),
    ] = None,
    config: Annotated[
        str,
        typer.Option(help="With --preferences: configuration of wino_x to which the ids belong."),
    ] = _DEFAULT_CONFIG,
    metric: OneMetric = None,
    data: Annotated[DataOptions, _DATA],
) -> Outcome:
    """Test Wino-X choices for bias by gender and order of referents.

    The figures correspond to Emelin (2023), Table 4.8.

    Example: cc-hf study wino_x referent-bias wino_x.json
    """
    from cc_hf.data.loading import load_examples
    from cc_hf_studies.common.one_result import read_result
    from cc_hf_studies.wino_x.bias_tables import referent_bias_tables
    from cc_hf_studies.wino_x.referent_bias import referent_bias as bias_of
    from cc_hf_studies.wino_x.referent_choices import choices_of_result, read_choices
    from cc_hf_studies.wino_x.side_by_side import REFERENT_BIAS

    if (result is None) == (preferences is None):
        raise InputError(
            "expected either a file of results or --preferences FILE, got "
            + ("neither" if result is None else "both")
        )
    if result is not None:
        judged = read_result(result, metric=metric)
        if judged.dataset != "wino_x":
            raise InputError(
                f"{result}: expected a result on wino_x, whose examples name pronouns and"
                f" referents, got one on {judged.dataset or 'data of your own'}"
            )
        config, source = judged.config, judged.signature
        system = judged.system or result.stem
        choices = choices_of_result(
            judged, load_examples("wino_x", config, split=data.split, data_dir=data.data_dir)
        )
    elif preferences is not None:
        source, system = str(preferences), preferences.stem
        choices = read_choices(
            preferences, load_examples("wino_x", config, split=data.split, data_dir=data.data_dir)
        )
    bias = bias_of(choices)
    return Outcome(
        {
            **{"study": REFERENT_BIAS, "system": system},
            **{"config": config, "of": source, **asdict(bias)},
        },
        lambda: [*referent_bias_tables(bias, title=f"wino_x {config}"), f"of: {source}"],
    )


def trigger_importance(
    config: _WinoXConfig = _DEFAULT_CONFIG,
    *,
    evaluator: _OneEvaluator = None,
    pairs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=(
                "Number of schemas (pairs of sentences) to use, from the beginning. Default: all."
            ),
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write salience maps to this HTML file."), OutputFile()
    ] = None,
    png: Annotated[
        Path | None, typer.Option(help="Write salience maps to this PNG file."), OutputFile()
    ] = None,
    maps: Annotated[int, typer.Option(min=1, help="Number of schemas on the salience maps.")] = 10,
    data: Annotated[DataOptions, _DATA],
    loading: Annotated[
        LoadingOptions,
        replace(EvaluatorFields, rare="device", settings="kind revision batch_tokens"),
    ],
    progress: bool = False,
) -> Outcome:
    """Test whether the words that decide what "it" means matter most.

    The figures correspond to Emelin (2023), Table 4.10. The JSON holds the salience of every word,
    too.

    Example: cc-hf study wino_x trigger-importance --pairs 20 --html salience.html
    """
    from cc_hf.data.loading import load_examples, signature_fields
    from cc_hf.evaluators.loading import load_with
    from cc_hf.models.location import default_evaluator
    from cc_hf_studies.wino_x.bias_tables import trigger_importance_tables
    from cc_hf_studies.wino_x.salience import salience_rows
    from cc_hf_studies.wino_x.salience import trigger_importance as importance_of
    from cc_hf_studies.wino_x.salience_maps import salience_html, salience_png
    from cc_hf_studies.wino_x.side_by_side import IMPORTANCE
    from cc_hf_studies.wino_x.trigger_importance import importance_signature, prediction_differences

    examples = load_examples("wino_x", config, split=data.split, data_dir=data.data_dir)
    if pairs is not None:
        schemas = set(list(dict.fromkeys(example.extra["pair"] for example in examples))[:pairs])
        examples = [example for example in examples if example.extra["pair"] in schemas]
    if evaluator and len(evaluator) > 1:
        raise InputError(
            f"--evaluator: expected one sequence-to-sequence model, got {', '.join(evaluator)}"
        )
    chosen = (
        evaluator[0] if evaluator else default_evaluator(examples[0].src_lang, examples[0].tgt_lang)
    )
    model = load_with(chosen, replace(loading, mode="exact"))
    saliences, skipped = prediction_differences(model, examples, progress=progress)
    importance = importance_of(saliences, skipped=skipped)
    fields = signature_fields("wino_x", config, split=data.split, data_dir=data.data_dir)
    signature = importance_signature(model, fields, n=len(examples))
    mapped = saliences[: 2 * maps]
    files = []
    if html is not None:
        files.append(
            NewFile(html, salience_html(mapped, signature=signature, command=shown_command()))
        )
    if png is not None:
        files.append(NewFile(png, salience_png(mapped)))
    return Outcome(
        {
            **{"study": IMPORTANCE, "system": model.name.partition("@")[0], "config": config},
            **{"signature": signature, **asdict(importance)},
            "saliences": salience_rows(saliences),
        },
        lambda: [
            *trigger_importance_tables(importance, title=f"wino_x {config}, {model.name}"),
            f"signature: {signature}",
        ],
        files=files,
    )
