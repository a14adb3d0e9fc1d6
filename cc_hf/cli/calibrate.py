"""cc-hf cues calibrate: compare wordings of cues under an evaluator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import (
    AsJson,
    BatchTokens,
    Cache,
    DataDir,
    Device,
    Evaluators,
    FamilyName,
    Mode,
    NoCache,
    OnTooLong,
    Prompt,
    Quiet,
    Revisions,
    Score,
    TgtLang,
    chosen_cache,
    one_or_all,
)
from cc_hf.cli.output import (
    check_output,
    print_result,
    say,
    say_written,
    shows_progress,
    write_atomically,
)

__all__ = ["calibrate"]


def calibrate(
    development: Annotated[
        list[str],
        typer.Argument(
            help=(
                "Translations that show a known reading: result files (.json) of a metric that"
                " says which gender it found, such as winomt_pattern_matching; or a .csv, .tsv or"
                " .jsonl file with source, focus, gold (the reading that the translation shows),"
                " reference (the translation) and tgt_lang; or a dataset with references, such as"
                " mt_geneval. They must not be what will be judged."
            )
        ),
    ],
    config: Annotated[
        str | None, typer.Option(help="Configuration of the dataset, if one is named.")
    ] = None,
    split: Annotated[str, typer.Option(help="Split of the dataset, if one is named.")] = "dev",
    tgt_lang: TgtLang = None,
    evaluator: Evaluators = None,
    kind: FamilyName = None,
    prompt: Prompt = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--wording",
            help="Compare only this wording of the package. May be repeated. Default: all.",
        ),
    ] = None,
    wordings: Annotated[
        Path | None,
        typer.Option(
            help=(
                "JSON file with wordings of your own: a list of objects with name, cues (a cue by"
                " reading; {focus} stands for the ambiguous words), and optionally placement"
                " (before, after or replace)."
            )
        ),
    ] = None,
    score: Score = "geometric",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the calibration to this JSON file, for `cc-hf evaluate --cues`.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw the differences by reading, one panel per wording, into this .svg or .png."
        ),
    ] = None,
    data_dir: DataDir = None,
    batch_tokens: BatchTokens = None,
    on_too_long: OnTooLong = "error",
    mode: Mode = "auto",
    cache: Cache = None,
    no_cache: NoCache = False,
    device: Device = None,
    revision: Revisions = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the halves and intervals.")] = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare wordings of cues under an evaluator, and choose one.

    One half of the translations chooses the wording, and the figures are those of the other half.
    """
    from cc_hf.cue_building.calibration import calibrate as run_calibrate
    from cc_hf.cue_building.development import load_development, read_wordings
    from cc_hf.cues.wordings import named_wording
    from cc_hf.evaluators.options import LoadingOptions
    from cc_hf.reports.tables.calibrations import (
        calibration_plot,
        calibration_table,
        check_plot,
    )

    check_output(output)
    check_output(plot, "plot")
    check_plot(plot)
    rows = load_development(development, config, split=split, tgt_lang=tgt_lang, data_dir=data_dir)
    compared = [
        *(named_wording(name, rows.src_lang) for name in names or ()),
        *(() if wordings is None else read_wordings(wordings)),
    ]
    run = run_calibrate(
        rows,
        evaluator=one_or_all(evaluator),
        wordings=compared or None,
        loading=LoadingOptions(
            kind=kind,
            prompt=prompt,
            revision=one_or_all(revision),
            device=device,
            batch_tokens=batch_tokens,
            on_too_long=on_too_long,
            mode=mode,
            cache=chosen_cache(cache, no_cache=no_cache),
        ),
        score=score,
        seed=seed,
        progress=shows_progress(quiet=quiet),
    )
    if plot is not None:
        write_atomically(
            plot, calibration_plot(run, file_format=plot.suffix.lower().removeprefix("."))
        )
    print_result(
        as_json,
        run.calibration.to_json(),
        lambda: [
            calibration_table(run.calibration),
            Text(f"signature: {run.calibration.signature}"),
        ],
        output=output,
    )
    if not quiet:
        if n := rows.n_left_out:
            say("note", f"{n:,} translations show neither reading and are omitted")
        say_written(output)
        say_written(plot)
