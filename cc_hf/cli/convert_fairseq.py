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
                "Folder with checkpoints (*.pt), dict.XX.txt of both languages, and BPE codes"
                " (bpecodes, or bpecodes.XX)."
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
                "New folder to write: one folder of transformers per checkpoint, OUTPUT/model1 for"
                " model1.pt."
            ),
        ),
    ],
    checkpoints: Annotated[
        list[str] | None,
        typer.Option(
            "--checkpoint",
            help=(
                "Checkpoint of the folder to convert, such as model1; can be repeated. Default:"
                " all."
            ),
        ),
    ] = None,
    codes: Annotated[
        Path | None, typer.Option(help="BPE codes of both languages, of fastBPE or subword-nmt.")
    ] = None,
    source_codes: Annotated[
        Path | None, typer.Option(help="BPE codes of the source language, before --codes.")
    ] = None,
    target_codes: Annotated[
        Path | None, typer.Option(help="BPE codes of the target language, before --codes.")
    ] = None,
    tokenizer: Annotated[
        str, typer.Option(help="moses, or space for texts that are tokenised already.")
    ] = "moses",
    check: Annotated[
        Path | None,
        typer.Option(
            help=(
                'Scores that fairseq gave, to compare with: JSON {"pairs": [{"source_ids",'
                ' "target_ids", "scores": {"model1": {"positional_log_probs": [...]}}}]}.'
            )
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Convert checkpoints of fairseq, with their tokenisation; nothing in a checkpoint is run."""
    from cc_hf.conversion.check import TOLERANCE
    from cc_hf.conversion.convert import convert

    found = convert(
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
        f"{folder}  {family}, {found.settings.source_lang}-{found.settings.target_lang}"
        for folder, family in zip(found.folders, found.families, strict=True)
    ]
    lines += [f"note: {note}" for note in found.notes]
    if found.check is None:
        lines.append("scores were not checked: give scores of fairseq with --check to compare")
    else:
        lines += [
            f"{name}: largest deviation of {found.check.n_tokens} log-probabilities {value:.2g}"
            f" (allowed {TOLERANCE:g})"
            for name, value in found.check.deviations.items()
        ]
        lines.append(
            f"ids equal for all {found.check.n_texts} texts"
            if found.check.n_texts
            else "ids were not checked: the file holds no texts"
        )
    console = Console()
    for line in lines:
        console.print(Text(line), soft_wrap=True)
