"""cc-hf cues calibrate: compare wordings of cues under an evaluator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, PictureFile
from cc_hf.cli.options import DataFields, EvaluatorFields, Evaluators, one_or_all
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators.options import LoadingOptions

__all__ = ["CueEvaluatorFields", "calibrate"]

#: Fields of `cc_hf.evaluators.options.LoadingOptions`, for the commands that build and compare
#: cues.
CueEvaluatorFields = replace(EvaluatorFields, rare="device cache", settings="kind revision")


def calibrate(
    development: Annotated[
        list[str],
        typer.Argument(
            help=(
                "Translations that show a known reading: results (.json) of a metric that says"
                " which gender it found, such as gender_reading; a .csv, .tsv or .jsonl file with"
                " source, focus, gold (the reading), reference (the translation) and tgt_lang; or a"
                " dataset with references. They must not be what will be judged."
            )
        ),
    ],
    config: Annotated[
        str | None, typer.Option(help="Configuration of the dataset, if one is named.")
    ] = None,
    *,
    evaluator: Evaluators = None,
    wordings: Annotated[
        list[str] | None,
        typer.Option(
            "--wording",
            metavar="NAME|FILE",
            help=(
                "Wording of the package to compare; or a .json file of your own: a list of objects"
                " with name, cues (by reading; {focus} is the ambiguous words) and, optionally,"
                " placement (before, after, replace or phrase). May be repeated. Default: all of"
                " the package."
            ),
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the differences by reading, a panel per wording: .svg or .png."),
        PictureFile(),
    ] = None,
    loading: Annotated[LoadingOptions, CueEvaluatorFields],
    data: Annotated[
        DataOptions,
        replace(
            DataFields, names="language_pair data_dir", rare="split", defaults={"split": "dev"}
        ),
    ],
    progress: bool = False,
) -> Outcome:
    """Compare wordings of cues under an evaluator, and choose one.

    One half of the translations chooses the wording, and the figures are those of the other half.
    `cc-hf evaluate --cues` takes the file of --output.

    Example: cc-hf cues calibrate mt_geneval --config counterfactual_de
    """
    from cc_hf.cues.wordings import named_wording
    from cc_hf.plugins.calibration.calibration import calibrate as run_calibrate
    from cc_hf.plugins.calibration.development import load_development, read_wordings
    from cc_hf.plugins.calibration.table import calibration_plot, calibration_table

    rows = load_development(
        development,
        config,
        split=data.split,
        tgt_lang=data.languages[1],
        data_dir=data.data_dir,
    )
    compared = [
        wording
        for name in wordings or ()
        for wording in (
            read_wordings(name)
            if name.lower().endswith(".json")
            else [named_wording(name, rows.src_lang)]
        )
    ]
    run = run_calibrate(
        rows,
        evaluator=one_or_all(evaluator),
        wordings=compared or None,
        loading=loading,
        progress=progress,
    )
    n = rows.n_left_out
    return Outcome(
        run.calibration.to_json(),
        lambda: [
            *calibration_table(run.calibration),
            f"signature: {run.calibration.signature}",
        ],
        files=[]
        if plot is None
        else [NewFile(plot, calibration_plot(run, file_format=PictureFile.format_of(plot)))],
        notes=[f"{n:,} translations show neither reading and are omitted"] if n else [],
    )
