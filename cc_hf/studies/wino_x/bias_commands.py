"""Commands that ask what decides about pronouns: biases of referents, and the trigger's share."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import (
    AsJson,
    BatchTokens,
    DataDir,
    Device,
    FamilyName,
    FiguresOutput,
    OneMetric,
    Quiet,
    Split,
    one_or_all,
)
from cc_hf.cli.output import (
    check_output,
    json_text,
    print_result,
    shows_progress,
    write_atomically,
)
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.results import EvaluationResult

__all__ = ["referent_bias", "trigger_importance"]

# These options are lists so that a second value is refused instead of replacing the first.
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
_OneRevision = Annotated[
    list[str] | None,
    typer.Option("--revision", help="Commit, tag or branch of the model on the Hub."),
]
_WinoXConfig = Annotated[
    str,
    typer.Argument(help="Configuration of wino_x with contrastive translations."),
]
_DEFAULT_CONFIG = "mt_en_de.translations"


def referent_bias(
    result: Annotated[
        Path | None,
        typer.Argument(help="JSON file that `cc-hf evaluate wino_x --output` wrote."),
    ] = None,
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
    split: Split = "test",
    data_dir: DataDir = None,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """Test Wino-X choices for bias by gender and order of referents.

    The figures correspond to Emelin (2023), Table 4.8.
    """
    from cc_hf.comparing.systems import read_results
    from cc_hf.data.loading import load_examples
    from cc_hf.studies.wino_x.bias_tables import referent_bias_tables
    from cc_hf.studies.wino_x.referent_bias import referent_bias as bias_of
    from cc_hf.studies.wino_x.referent_choices import choices_of_result, read_choices

    if (result is None) == (preferences is None):
        raise InputError(
            "expected either a file of results or --preferences FILE, got "
            + ("neither" if result is None else "both")
        )
    check_output(output)
    if result is not None:
        judged = _only_result(read_results([result], metric=metric))
        if judged.dataset != "wino_x":
            raise InputError(
                f"{result}: expected a result on wino_x, whose examples name pronouns and"
                f" referents, got one on {judged.dataset or 'data of your own'}"
            )
        config, source = judged.config, judged.signature
        choices = choices_of_result(
            judged, load_examples("wino_x", config, split=split, data_dir=data_dir)
        )
    elif preferences is not None:
        source = str(preferences)
        choices = read_choices(
            preferences, load_examples("wino_x", config, split=split, data_dir=data_dir)
        )
    bias = bias_of(choices)
    print_result(
        as_json,
        json_text({"config": config, "of": source, **asdict(bias)}),
        lambda: [referent_bias_tables(bias, title=f"wino_x {config}"), Text(f"of: {source}")],
        output=output,
    )


def trigger_importance(
    config: _WinoXConfig = _DEFAULT_CONFIG,
    evaluator: _OneEvaluator = None,
    kind: FamilyName = None,
    revision: _OneRevision = None,
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
        Path | None, typer.Option(help="Write salience maps to this HTML file.")
    ] = None,
    png: Annotated[Path | None, typer.Option(help="Write salience maps to this PNG file.")] = None,
    maps: Annotated[int, typer.Option(min=1, help="Number of schemas on the salience maps.")] = 10,
    split: Split = "test",
    data_dir: DataDir = None,
    batch_tokens: BatchTokens = None,
    device: Device = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the figures and the salience of every word to this JSON file.",
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Test whether the words that decide what "it" means matter most.

    The figures correspond to Emelin (2023), Table 4.10.
    """
    from cc_hf.data.loading import load_examples, signature_fields
    from cc_hf.evaluators.loading import load_evaluator
    from cc_hf.models.location import default_evaluator
    from cc_hf.studies.wino_x.bias_tables import trigger_importance_tables
    from cc_hf.studies.wino_x.salience import salience_rows
    from cc_hf.studies.wino_x.salience import trigger_importance as importance_of
    from cc_hf.studies.wino_x.salience_maps import salience_html, salience_png
    from cc_hf.studies.wino_x.trigger_importance import importance_signature, prediction_differences

    for name, path in {"output": output, "html": html, "png": png}.items():
        check_output(path, name)
    examples = load_examples("wino_x", config, split=split, data_dir=data_dir)
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
    model = load_evaluator(
        chosen,
        kind=kind,
        revision=one_or_all(revision),
        batch_tokens=batch_tokens,
        device=device,
        mode="exact",
    )
    saliences, skipped = prediction_differences(
        model, examples, progress=shows_progress(quiet=quiet)
    )
    importance = importance_of(saliences, skipped=skipped)
    data = signature_fields("wino_x", config, split=split, data_dir=data_dir)
    signature = importance_signature(model, data, n=len(examples))
    mapped = saliences[: 2 * maps]
    if html is not None:
        write_atomically(html, salience_html(mapped))
    if png is not None:
        write_atomically(png, salience_png(mapped))
    print_result(
        as_json,
        json_text(
            {"signature": signature, **asdict(importance), "saliences": salience_rows(saliences)}
        ),
        lambda: [
            trigger_importance_tables(importance, title=f"wino_x {config}, {model.name}"),
            Text(f"signature: {signature}"),
        ],
        output=output,
    )


def _only_result(results: dict[str, EvaluationResult]) -> EvaluationResult:
    if len(results) != 1:
        raise InputError(
            f"expected one result, got {', '.join(results)}; name the metric with --metric"
        )
    return next(iter(results.values()))
