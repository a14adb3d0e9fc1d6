"""cc-hf cues: build disambiguation cues for word senses, and compare wordings of cues."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from cc_hf.cli.calibrate import calibrate
from cc_hf.cli.command import CommandGroup, NewFile, Outcome, OutputFile, add_command
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import Config, CueEvaluatorFields, DataFields, EvaluatorName
from cc_hf.cli.output import RenderableType
from cc_hf.cue_building.build import CueChoice
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.reports.numbers import percent

if TYPE_CHECKING:
    from cc_hf.cues.cue_set import CueSet
    from cc_hf.cues.selection import Overlap

__all__ = ["app"]

_N_SHOWN = 6

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
    evaluator: EvaluatorName = None,
    choice: Annotated[
        CueChoice,
        Fields("words n_cues", "Cues", rare="n_candidates score", flags={"words": "--word"}),
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
    from cc_hf.cue_building.build import build_cues
    from cc_hf.cues.cue_set import compare_cues
    from cc_hf.cues.mlm_insertions import candidates_json
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
        _row(cue_set, compared),
        lambda: [
            *_table(cue_set),
            *_comparison(compared, compare or Path()),
            Text(f"signature: {cue_set.signature}"),
        ],
        files=[
            NewFile(examples, rows, f"; judge translations on it: cc-hf evaluate {examples}"),
            NewFile(candidates_output, candidates_json(cue_set.candidates)),
        ],
        notes=list(_notes(cue_set)),
    )


add_command(app, "build", build)
add_command(app, "calibrate", calibrate)


def _notes(cue_set: CueSet) -> Iterator[str]:
    counts = cue_set.counts
    if n := counts["n_left_out"]:
        names = ", ".join(f"{s.ambiguous_word} ({s.reason})" for s in cue_set.left_out[:5])
        yield (
            f"{len(cue_set.left_out)} senses with {n} examples have no cues and are omitted:"
            f" {names}{', ...' if len(cue_set.left_out) > 5 else ''}"
        )
    if n := counts["n_unlocated"]:
        yield (
            f"{n} examples in which the ambiguous word does not occur as it is written are omitted"
        )
    if n := counts["n_short"]:
        yield f"{n} senses have fewer cues than requested on one side"
    if n := counts["n_cut"]:
        yield (
            f"{n} sources are too long for the masked language model, which saw a window around the"
            " word"
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
