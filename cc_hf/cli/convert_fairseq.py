"""cc-hf convert-fairseq: convert fairseq checkpoints to evaluators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import Quiet
from cc_hf.cli.output import Console

__all__ = ["convert_fairseq"]


def convert_fairseq(
    checkpoint_dir: Annotated[
        Path,
        typer.Argument(
            help=(
                "Folder with checkpoints (*.pt), the dictionaries dict.XX.txt of both"
                " languages, and BPE codes (bpecodes or bpecodes.XX)."
            )
        ),
    ],
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help=(
                "New folder to write. It contains a folder in the format of transformers for"
                " each checkpoint: OUTPUT/model1 for model1.pt."
            ),
        ),
    ],
    checkpoints: Annotated[
        list[str] | None,
        typer.Option(
            "--checkpoint",
            help=(
                "Name of a checkpoint to convert, such as model1. May be repeated. Default: all"
                " checkpoints in the folder."
            ),
        ),
    ] = None,
    codes: Annotated[
        Path | None,
        typer.Option(
            help=(
                "File with the BPE codes of both languages, from fastBPE or subword-nmt."
                " Default: bpecodes in the folder."
            )
        ),
    ] = None,
    source_codes: Annotated[
        Path | None,
        typer.Option(
            help=(
                "File with the BPE codes of the source language, which takes precedence over"
                " --codes."
            )
        ),
    ] = None,
    target_codes: Annotated[
        Path | None,
        typer.Option(
            help=(
                "File with the BPE codes of the target language, which takes precedence over"
                " --codes."
            )
        ),
    ] = None,
    tokenizer: Annotated[
        str,
        typer.Option(
            help="Tokenisation before BPE: moses, or space for texts that are already tokenised."
        ),
    ] = "moses",
    check: Annotated[
        Path | None,
        typer.Option(
            help=(
                "JSON file with scores by fairseq, to compare with those of the converted"
                ' models: {"pairs": [{"source_ids", "target_ids", "scores": {"model1":'
                ' {"positional_log_probs": [...]}}}]}.'
            )
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Convert fairseq checkpoints with their tokenisation; no code in them is run."""
    from cc_hf.conversion.check import TOLERANCE
    from cc_hf.conversion.convert import convert

    conversion = convert(
        checkpoint_dir,
        output=output,
        checkpoints=checkpoints,
        codes=codes,
        source_codes=source_codes,
        target_codes=target_codes,
        tokenizer=tokenizer,
        check=check,
    )
    if quiet:
        return
    lines = [
        f"{folder}  {family}, {conversion.settings.source_lang}-{conversion.settings.target_lang}"
        for folder, family in zip(conversion.folders, conversion.families, strict=True)
    ]
    lines += [f"note: {note}" for note in conversion.notes]
    if conversion.check is None:
        lines.append("scores were not checked: give scores of fairseq with --check to compare")
    else:
        lines += [
            f"{name}: largest deviation of {conversion.check.n_tokens} log-probabilities"
            f" {value:.2g} (allowed {TOLERANCE:g})"
            for name, value in conversion.check.deviations.items()
        ]
        lines.append(
            f"ids equal for all {conversion.check.n_texts} texts"
            if conversion.check.n_texts
            else "ids were not checked: the file holds no texts"
        )
    console = Console()
    for line in lines:
        console.print(Text(line), soft_wrap=True)
