"""cc-hf cues: build disambiguation cues for word senses, and compare wordings of cues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from cc_hf.cli.calibrate import calibrate
from cc_hf.cli.options import (
    AsJson,
    BatchTokens,
    Cache,
    Config,
    DataDir,
    Device,
    EvaluatorName,
    FamilyName,
    NoCache,
    OnTooLong,
    Prompt,
    Quiet,
    Revision,
    Score,
    TgtLang,
    chosen_cache,
)
from cc_hf.cli.output import (
    Console,
    RenderableType,
    check_output,
    json_text,
    print_result,
    shows_progress,
    write_atomically,
)
from cc_hf.errors import InputError
from cc_hf.reports.numbers import percent

if TYPE_CHECKING:
    from cc_hf.cues.cue_set import CueSet
    from cc_hf.cues.selection import Overlap

__all__ = ["app"]

_N_SHOWN = 6

app = typer.Typer(
    help="Build disambiguation cues for word senses, and compare wordings of cues.",
    no_args_is_help=True,
)


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
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find words that mark the sense of an ambiguous word.

    The method is that of Vamvas & Sennrich (2021), appendix D.
    """
    import json

    from cc_hf.cue_building.build import CueChoice, build_cues
    from cc_hf.cues.mlm_insertions import candidates_json
    from cc_hf.evaluators.options import LoadingOptions
    from cc_hf.reading import read_lines

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
    _print_cues(cue_set, published, compare, as_json=as_json)
    if not quiet:
        _print_notes(cue_set, [path for path in (output, candidates_output) if path is not None])


app.command("calibrate")(calibrate)


def _print_cues(
    cue_set: CueSet, published: list[str] | None, path: Path | None, *, as_json: bool
) -> None:
    from cc_hf.cues.cue_set import compare_cues

    compared = {} if published is None else compare_cues(cue_set, published, name=str(path))
    print_result(
        as_json,
        json_text(_row(cue_set, compared)),
        lambda: [
            *_table(cue_set),
            *_comparison(compared, path or Path()),
            Text(f"signature: {cue_set.signature}"),
        ],
        output=None,
    )


def _row(cue_set: CueSet, compared: Mapping[str, Overlap]) -> dict[str, Any]:
    """Return what --json prints: the cues, the senses without cues, and the comparison."""
    return {
        "senses": [
            {
                "word": s.ambiguous_word,
                "sense": s.sense,
                "n_examples": s.n_examples,
                "correct_cues": list(s.correct.cues),
                "incorrect_cues": list(s.incorrect.cues),
            }
            for s in cue_set.senses
        ],
        "left_out": [
            {
                "word": s.ambiguous_word,
                "sense": s.sense,
                "n_examples": s.n_examples,
                "reason": s.reason,
            }
            for s in cue_set.left_out
        ],
        "counts": dict(cue_set.counts),
        "compared": {side: asdict(shared) for side, shared in compared.items()},
        "signature": cue_set.signature,
    }


def _table(cue_set: CueSet) -> list[RenderableType]:
    """Return the first senses with their cues, in columns that fit into 80 characters."""
    from cc_hf.reports.tables.base import heading

    table = Table(box=box.SIMPLE_HEAD)
    for name, width in (("word", 14), ("sense", 16), ("correct cues", 20), ("incorrect cues", 18)):
        table.add_column(name, max_width=width, overflow="fold")
    for s in cue_set.senses[:_N_SHOWN]:
        texts = (s.ambiguous_word, s.sense, " ".join(s.correct.cues), " ".join(s.incorrect.cues))
        table.add_row(*map(Text, texts))
    n = len(cue_set.senses)
    first = f"; the first {_N_SHOWN}" if n > _N_SHOWN else ""
    examples = f"{cue_set.counts['n_examples']:,} examples"
    return [heading(f"{n:,} senses with cues, {examples}{first}"), table]


def _comparison(compared: Mapping[str, Overlap], path: Path) -> list[Text]:
    lines = []
    for side, shared in compared.items():
        chosen, chance = (
            percent(n / shared.n_expected) for n in (shared.n_chosen, shared.n_by_chance)
        )
        lines.append(
            Text(
                f"{side}: {shared.n_chosen} of {shared.n_expected} cues of {path.name} chosen,"
                f" {chosen} %; by chance {chance} %"
            )
        )
    return lines


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
