"""The command that fine-tunes on Wino-X, as in the paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cc_hf.cli.command import NewFile, Outcome, PictureFile
from cc_hf.cli.options import DataDir, EvaluatorFields, NewFolder
from cc_hf.cli.output import say
from cc_hf.errors import InputError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.files import resolved, sole_writer
from cc_hf.reading import finite_number, whole_number
from cc_hf.reports.report_parts import Piece
from cc_hf.writing import json_text, write_atomically

__all__ = ["CurvePlot", "train"]

_CURVE = "learning_curve.json"
_PANEL = "Training"
CurvePlot = Annotated[
    Path | None,
    typer.Option(help="Draw accuracy and BLEU over size in this .svg, .png or .pdf file."),
    PictureFile(),
]


def train(
    *,
    model: Annotated[
        str,
        typer.Option(
            help=(
                "Model to fine-tune: a folder, or a model on the Hub. The configurations lm_..."
                " need a masked language model, the others a translation model."
            )
        ),
    ],
    output: NewFolder,
    config: Annotated[
        str,
        typer.Option(
            help=(
                "Configuration of wino_x with contrastive translations (see `cc-hf list"
                " datasets wino_x`)."
            )
        ),
    ] = "mt_en_de.translations",
    objective: Annotated[
        str,
        typer.Option(
            help=(
                "Training objective: mle trains on the correct translations, pronoun-penalty"
                " also penalises incorrect pronouns."
            )
        ),
    ] = "mle",
    sizes: Annotated[
        str | None,
        typer.Option(
            help=(
                "Numbers of training samples, such as 500,1000; one model is trained for each."
                " Default: all multiples of 500 up to the size of the training part."
            )
        ),
    ] = None,
    transfer: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Configuration, such as lm_en_de, in which the test part is judged as well. May"
                " be repeated."
            )
        ),
    ] = None,
    dataset: Annotated[
        str,
        typer.Option(
            help=(
                "wino_x, or a folder that `cc-hf study wino_x build` wrote, of which --config is a"
                " part."
            )
        ),
    ] = "wino_x",
    train_on: Annotated[
        str,
        typer.Option(
            help=(
                "What to train on: wino_x; winogrande, which is downloaded; or a .jsonl or .parquet"
                " file in the format of WinoGrande. Samples of the development and test part are"
                " removed from WinoGrande, which needs the configuration lm_..._X.english."
            )
        ),
    ] = "wino_x",
    test_set: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="SOURCE REFERENCE",
            help=(
                "Two line-aligned files, which are translated before and after each training: BLEU,"
                " and the numbers of pronouns by gender."
            ),
        ),
    ] = None,
    num_beams: Annotated[int, typer.Option(min=1, help="With --test-set: number of beams.")] = 5,
    trigger_importance: Annotated[
        bool,
        typer.Option(
            "--trigger-importance",
            help=(
                "Also measure the importance of triggers in the test part, before and after each"
                " training. It takes a forward pass for each source token."
            ),
        ),
    ] = False,
    plot: CurvePlot = None,
    n_dev: Annotated[
        int,
        typer.Option(min=1, help="Number of samples in the development part, for early stopping."),
    ] = 200,
    n_test: Annotated[
        int, typer.Option(min=1, help="Number of samples in the test part, which are judged.")
    ] = 1000,
    split_seed: Annotated[
        int, typer.Option(min=0, help="Seed of the split into training, development and test part.")
    ] = 42,
    learning_rate: Annotated[
        str | None,
        typer.Option(
            help=(
                "Learning rate of AdamW, or several, such as 1e-5,1e-6,1e-7, the search of the"
                " thesis: the rate with the lowest loss on the development part, after training on"
                " the largest training part, is used for all. Default: 1e-5 for mBART and 1e-7"
                " otherwise."
            ),
            rich_help_panel=_PANEL,
            hidden=True,
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=(
                "Number of samples in a batch. Default: as in the thesis, 16 for mBART and"
                " masked language models, 8 otherwise."
            ),
            rich_help_panel=_PANEL,
            hidden=True,
        ),
    ] = None,
    accumulation: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of batches in a training step. Default: 1.",
            rich_help_panel=_PANEL,
            hidden=True,
        ),
    ] = None,
    max_epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Largest number of epochs. Default: 1000.",
            rich_help_panel=_PANEL,
            hidden=True,
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=(
                "Number of epochs in a row without a lower loss on the development part, after"
                " which training stops. Default: 3."
            ),
            rich_help_panel=_PANEL,
            hidden=True,
        ),
    ] = None,
    label_smoothing: Annotated[
        float | None,
        typer.Option(
            help=(
                "Label smoothing, from 0 to 1. Default: 0 for mBART and masked language models,"
                " 0.1 otherwise."
            ),
            rich_help_panel=_PANEL,
            hidden=True,
        ),
    ] = None,
    penalty_weight: Annotated[
        float | None,
        typer.Option(
            help="Weight λ of the pronoun penalty. Default: 100.",
            rich_help_panel=_PANEL,
            hidden=True,
        ),
    ] = None,
    pronouns: Annotated[
        str | None,
        typer.Option(
            help=(
                "Pronouns that are penalised: all, or ambiguous for those that differ between"
                " the translations. Default: all."
            ),
            rich_help_panel=_PANEL,
            hidden=True,
        ),
    ] = None,
    masking: Annotated[
        str | None,
        typer.Option(
            help=(
                "What is masked when a masked language model is trained: filler, filler-only"
                " (the same, with a loss on the filler alone) or random. Default: filler."
            ),
            rich_help_panel=_PANEL,
            hidden=True,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Seed of the training. Default: 42.", rich_help_panel=_PANEL, hidden=True
        ),
    ] = None,
    no_models: Annotated[
        bool,
        typer.Option("--no-models", help="Write only the figures, without the trained models."),
    ] = False,
    data_dir: DataDir = None,
    loading: Annotated[
        LoadingOptions, replace(EvaluatorFields, rare="device", settings="revision batch_tokens")
    ],
    quiet: bool = False,
) -> Outcome:
    """Fine-tune on few Wino-X examples, and judge the model before and after.

    The folder gets the trained models, and learning_curve.json with all figures. The method is that
    of Emelin (2023), chapter 4.

    Example: cc-hf study wino_x train --model my/model --sizes 500 --output debiased
    """
    from cc_hf_studies.wino_x.debias import debias
    from cc_hf_studies.wino_x.measures import Measures
    from cc_hf_studies.wino_x.splits import SplitPlan

    _check_output(output)
    settings: dict[str, Any] = {
        "learning_rate": _rates(learning_rate),
        "batch_size": batch_size,
        "accumulation": accumulation,
        "max_epochs": max_epochs,
        "patience": patience,
        "label_smoothing": label_smoothing,
        "penalty_weight": penalty_weight,
        "pronouns": pronouns,
        "masking": masking,
        "seed": seed,
    }
    output.absolute().parent.mkdir(parents=True, exist_ok=True)
    with sole_writer(output):
        curve = debias(
            model,
            config,
            objective=objective,
            split=SplitPlan(
                n_dev=n_dev,
                n_test=n_test,
                seed=split_seed,
                sizes=_sizes(sizes),
                train_on=train_on,
                dataset=dataset,
            ),
            measures=Measures(transfer or (), test_set, num_beams, trigger_importance),
            settings={name: value for name, value in settings.items() if value is not None},
            data_dir=data_dir,
            output=None if no_models else output,
            loading=loading,
            note=(
                None
                if quiet
                else lambda point: say(
                    "note", f"trained on {point.size}" if point.tuned else "judged before training"
                )
            ),
        )
        output.mkdir(exist_ok=True)
        write_atomically(output / _CURVE, json_text(curve))
    files = [NewFile(output / _CURVE, None)]
    if plot is not None:
        files.append(_drawn(curve, plot))
    return Outcome(curve, lambda: _tables(curve), files=files)


def _check_output(output: Path) -> None:
    """Refuse a folder that holds files, before training."""
    resolved(output)
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(
            f"output: expected a new or empty folder, {output} exists and is not empty"
        )


def _drawn(curve: dict[str, Any], plot: Path) -> NewFile:
    from cc_hf_studies.wino_x.tables import curve_plot

    return NewFile(
        plot, curve_plot({curve["eval"]: curve}, file_format=PictureFile.format_of(plot))
    )


def _tables(curve: dict[str, Any]) -> list[Piece]:
    from cc_hf_studies.wino_x.bias_tables import bias_tables
    from cc_hf_studies.wino_x.tables import curve_tables

    biases = [
        (name, point.get("n_train", 0), bias)
        for point in curve["points"]
        for name, bias in point["bias"].items()
    ]
    return [*curve_tables(curve), *bias_tables(biases, title="bias of the choices")]


def _rates(text: str | None) -> float | list[float] | None:
    """Return the number of --learning-rate, or its numbers."""
    if text is None:
        return None
    rates = [rate for part in text.split(",") if (rate := finite_number(part)) is not None]
    if len(rates) <= text.count(","):
        raise InputError(
            "--learning-rate: expected a number, or several with commas between them, such as"
            f" 1e-5,1e-6,1e-7, got {text!r}"
        )
    return rates[0] if len(rates) == 1 else rates


def _sizes(text: str | None) -> list[int] | None:
    """Return the numbers of --sizes, sorted."""
    if text is None:
        return None
    sizes = [whole_number(part.strip()) for part in text.split(",")]
    known = {size for size in sizes if size is not None}
    if len(known) < len(sizes):
        raise InputError(
            "--sizes: expected different whole numbers with commas between them, such as 500,1000,"
            f" got {text!r}"
        )
    return sorted(known)
