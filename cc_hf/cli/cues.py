"""cc-hf cues: build disambiguation cues for word senses, and compare wordings of cues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from cc_hf.cli.options import (
    AsJson,
    BatchTokens,
    Cache,
    Config,
    DataDir,
    Device,
    EvaluatorName,
    Evaluators,
    FamilyName,
    Mode,
    NoCache,
    OnTooLong,
    Prompt,
    Quiet,
    Revision,
    Revisions,
    Score,
    TgtLang,
    chosen_cache,
    one_or_all,
)
from cc_hf.cli.output import (
    Console,
    check_output,
    print_result,
    say,
    say_written,
    shows_progress,
    write_atomically,
)
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.cues.cue_set import CueSet

__all__ = ["app"]

_N_SHOWN = 6

app = typer.Typer(
    help="Build disambiguation cues for word senses, and compare wordings of cues.",
    no_args_is_help=True,
)


@app.callback()
def _main() -> None:
    pass


@app.command("build")
def build(
    dataset: Annotated[
        str,
        typer.Argument(
            help=(
                "Name of a dataset of word senses, such as mucow, or a .csv, .tsv or .jsonl"
                " file with the columns source, focus, gold (the sense), reference and"
                " tgt_lang."
            )
        ),
    ],
    config: Config = None,
    masked_lm: Annotated[
        str | None,
        typer.Option(
            "--masked-lm",
            help=(
                "Masked language model that predicts candidates: a folder, or a model on the Hub."
            ),
        ),
    ] = None,
    candidates: Annotated[
        Path | None,
        typer.Option(
            help=(
                "JSON file of candidates, which replaces --masked-lm: the most probable words"
                " of each ambiguous word and sense."
            )
        ),
    ] = None,
    evaluator: EvaluatorName = None,
    kind: FamilyName = None,
    prompt: Prompt = None,
    tgt_lang: TgtLang = None,
    words: Annotated[
        list[str] | None,
        typer.Option("--word", help="Use only examples of this ambiguous word. May be repeated."),
    ] = None,
    n_kept: Annotated[
        int,
        typer.Option(
            min=1,
            help=(
                "Number of the most probable words of a sense that are compared with those of"
                " other senses."
            ),
        ),
    ] = 50,
    n_candidates: Annotated[
        int,
        typer.Option(min=1, help="Number of candidates per sense and side (correct or incorrect)."),
    ] = 10,
    n_cues: Annotated[
        int, typer.Option(min=1, help="Number of cues per sense and side (correct or incorrect).")
    ] = 3,
    average: Annotated[
        str,
        typer.Option(
            help=(
                "How the predictions for the sentences of a sense are averaged: geometric or"
                " arithmetic mean."
            )
        ),
    ] = "geometric",
    score: Score = "geometric",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write the examples with their cues to this JSONL file."
        ),
    ] = None,
    candidates_output: Annotated[
        Path | None,
        typer.Option(help="Write the candidates to this JSON file, which --candidates accepts."),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            help=(
                "JSONL file of cues, such as the published insertions of MuCoW. The command"
                " prints how many of them were chosen."
            )
        ),
    ] = None,
    data_dir: DataDir = None,
    batch_tokens: BatchTokens = None,
    on_too_long: OnTooLong = "error",
    cache: Cache = None,
    no_cache: NoCache = False,
    device: Device = None,
    revision: Revision = None,
    quiet: Quiet = False,
) -> None:
    """Find words that mark the sense of an ambiguous word.

    The method is that of Vamvas & Sennrich (2021), appendix D.
    """
    import json

    from cc_hf.cue_building.build import CueChoice, build_cues
    from cc_hf.cues.mlm_insertions import candidates_json
    from cc_hf.data.text_files import read_lines
    from cc_hf.evaluators.options import LoadingOptions

    check_output(output)
    check_output(candidates_output, "candidates_output")
    if output is not None and output.suffix != ".jsonl":
        raise InputError(
            f"output: expected a file that ends in .jsonl, so that it can be used as a dataset,"
            f" got {output}"
        )
    published = None if compare is None else read_lines(compare)
    cue_set = build_cues(
        dataset,
        config,
        masked_lm=masked_lm,
        candidates=candidates,
        evaluator=evaluator,
        loading=LoadingOptions(
            kind=kind,
            prompt=prompt,
            revision=revision,
            device=device,
            batch_tokens=batch_tokens,
            on_too_long=on_too_long,
            cache=chosen_cache(cache, no_cache=no_cache),
        ),
        tgt_lang=tgt_lang,
        choice=CueChoice(
            words=words or None,
            n_kept=n_kept,
            n_candidates=n_candidates,
            n_cues=n_cues,
            average=average,
            score=score,
        ),
        data_dir=data_dir,
        progress=shows_progress(quiet=quiet),
    )
    if output is not None:
        write_atomically(
            output, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in cue_set.rows())
        )
    if candidates_output is not None:
        write_atomically(candidates_output, candidates_json(cue_set.candidates))
    console = Console()
    console.print(_table(cue_set))
    if compare is not None and published is not None:
        _print_comparison(console, cue_set, published, compare)
    console.print(f"signature: {cue_set.signature}", soft_wrap=True, highlight=False, markup=False)
    if not quiet:
        _print_notes(cue_set, [path for path in (output, candidates_output) if path is not None])


@app.command("calibrate")
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
    from cc_hf.reports.studies.calibrations import (
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


def _table(cue_set: CueSet) -> Table:
    counts = cue_set.counts
    table = Table(
        title=Text(f"{len(cue_set.senses)} senses with cues, {counts['n_examples']} examples"),
        title_justify="left",
        caption=f"the first {_N_SHOWN}" if len(cue_set.senses) > _N_SHOWN else None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for name, width in (("word", 14), ("sense", 16), ("correct cues", 20), ("incorrect cues", 20)):
        table.add_column(name, max_width=width, no_wrap=True, overflow="ellipsis")
    for s in cue_set.senses[:_N_SHOWN]:
        table.add_row(
            *map(
                Text,
                (s.ambiguous_word, s.sense, " ".join(s.correct.cues), " ".join(s.incorrect.cues)),
            )
        )
    return table


def _print_comparison(console: Console, cue_set: CueSet, published: list[str], path: Path) -> None:
    from cc_hf.cues.cue_set import compare_cues

    for side, shared in compare_cues(cue_set, published, name=str(path)).items():
        percent, chance = (
            100 * n / shared.n_expected for n in (shared.n_chosen, shared.n_by_chance)
        )
        console.print(
            f"{side}: {shared.n_chosen} of {shared.n_expected} cues of {path.name} chosen,"
            f" {percent:.1f} %; by chance {chance:.1f} %",
            soft_wrap=True,
            highlight=False,
            markup=False,
        )


def _print_notes(cue_set: CueSet, written: list[Path]) -> None:
    notes, counts = Console(stderr=True), cue_set.counts
    if n := counts["n_left_out"]:
        names = ", ".join(f"{s.ambiguous_word} ({s.reason})" for s in cue_set.left_out[:5])
        notes.print(
            Text(
                f"note: {len(cue_set.left_out)} senses with {n} examples have no cues and are"
                f" omitted: {names}{', ...' if len(cue_set.left_out) > 5 else ''}"
            ),
            soft_wrap=True,
        )
    if n := counts["n_unlocated"]:
        notes.print(
            f"note: {n} examples in which the ambiguous word does not occur as it is written are"
            " omitted",
            highlight=False,
        )
    if n := counts["n_short"]:
        notes.print(f"note: {n} senses have fewer cues than requested on one side", highlight=False)
    if n := counts["n_cut"]:
        notes.print(
            f"note: {n} sources are too long for the masked language model, which saw a window"
            " around the word",
            highlight=False,
        )
    for path in written:
        notes.print(Text(f"written: {path}"), soft_wrap=True)
        if path.suffix == ".jsonl":
            notes.print(
                Text(
                    f"judge translations on it: cc-hf evaluate {path} --translations FILE; as"
                    f" Parquet: cc-hf build custom --from {path} --output DIR"
                ),
                soft_wrap=True,
            )
