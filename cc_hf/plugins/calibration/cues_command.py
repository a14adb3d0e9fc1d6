"""cc-hf cues: build disambiguation cues for word senses, and compare wordings of cues."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import CommandGroup, NewFile, Outcome, OutputFile, add_command
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import Config, DataFields
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.plugins.calibration.build import CueChoice
from cc_hf.plugins.calibration.calibrate_command import CueEvaluatorFields, calibrate

__all__ = ["app"]

app = typer.Typer(cls=CommandGroup, help="Build disambiguation cues, and compare their wordings.")


def build(
    dataset: Annotated[
        str,
        typer.Argument(
            help=(
                "Dataset of word senses, such as mucow, or a .csv, .tsv or .jsonl file with the"
                " columns source, focus, gold (the sense), reference and tgt_lang."
            )
        ),
    ],
    config: Config = None,
    *,
    masked_lm: Annotated[
        str | None,
        typer.Option(
            "--masked-lm",
            help="Masked language model that predicts candidates: a folder, or one on the Hub.",
        ),
    ] = None,
    candidates: Annotated[
        Path | None,
        typer.Option(
            help=(
                "In place of --masked-lm: JSON file of the most probable words of each ambiguous"
                " word and sense."
            )
        ),
    ] = None,
    evaluator: Annotated[
        str | None,
        typer.Option(
            help=(
                "Evaluator model: a name, a folder, a model on the Hub, or server:URL#MODEL."
                " Default: the model that ships with cc_hf for the language pair."
            )
        ),
    ] = None,
    choice: Annotated[
        CueChoice,
        Fields("words n_cues", "Cues", settings="n_candidates score", flags={"words": "--word"}),
    ],
    examples: Annotated[
        Path | None,
        typer.Option(help="Write the examples with their cues to this .jsonl, a dataset."),
        OutputFile((".jsonl",)),
    ] = None,
    candidates_output: Annotated[
        Path | None,
        typer.Option(help="Write the candidates to this file, for --candidates."),
        OutputFile(),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            help="JSONL file of cues, such as those of MuCoW: say how many of them were chosen."
        ),
    ] = None,
    loading: Annotated[LoadingOptions, CueEvaluatorFields],
    data: Annotated[DataOptions, replace(DataFields, names="language_pair data_dir", rare="")],
    progress: bool = False,
) -> Outcome:
    """Find words that mark the sense of an ambiguous word.

    The method is that of Vamvas & Sennrich (2021), appendix D.

    Example: cc-hf cues build mucow en-de --masked-lm roberta-large --word bank
    """
    from cc_hf.plugins.calibration.build import build_cues
    from cc_hf.plugins.calibration.cue_set import compare_cues
    from cc_hf.plugins.calibration.mlm_insertions import candidates_json
    from cc_hf.plugins.calibration.table import (
        comparison_lines,
        cue_set_json,
        cue_set_notes,
        cue_set_table,
    )
    from cc_hf.reading import read_lines

    published = None if compare is None else read_lines(compare)
    cue_set = build_cues(
        dataset,
        config,
        masked_lm=masked_lm,
        candidates=candidates,
        evaluator=evaluator,
        loading=loading,
        tgt_lang=data.languages[1],
        choice=choice,
        data_dir=data.data_dir,
        progress=progress,
    )
    compared = {} if published is None else compare_cues(cue_set, published, name=str(compare))
    rows = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in cue_set.rows())
    return Outcome(
        cue_set_json(cue_set, compared),
        lambda: [
            cue_set_table(cue_set),
            *comparison_lines(compared, compare or Path()),
            f"signature: {cue_set.signature}",
        ],
        files=[
            NewFile(examples, rows, f"; judge translations on it: cc-hf evaluate {examples}"),
            NewFile(candidates_output, candidates_json(cue_set.candidates)),
        ],
        notes=list(cue_set_notes(cue_set)),
    )


add_command(app, "build", build)
add_command(app, "calibrate", calibrate)
