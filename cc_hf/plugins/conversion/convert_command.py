"""cc-hf convert: convert checkpoints of fairseq, a student of Bergamot, or GGUF to transformers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cc_hf.cli.command import NewFile, Outcome
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import NewFolder
from cc_hf.errors import InputError
from cc_hf.files import is_file, is_folder
from cc_hf.registry import load_all

__all__ = ["convert"]

_PANEL = "Fairseq"
_CHECKPOINTS = "a folder with checkpoints of fairseq (*.pt)"
_GGUF = ".gguf"


@dataclass(frozen=True)
class FairseqOptions:
    """How checkpoints of fairseq are converted.

    Attributes:
        checkpoint: name of a checkpoint to convert, such as model1; may be repeated. None for all
            checkpoints in the folder.
        codes: file with the BPE codes of both languages, from fastBPE or subword-nmt; or two files,
            the key repeated, of the source and of the target language. None for bpecodes or
            bpecodes.XX in the folder.
        tokenizer: tokenisation before BPE: moses, or space for texts that are already tokenised.
            None for moses.
    """

    checkpoint: tuple[str, ...] | None = None
    codes: tuple[Path, ...] | None = None
    tokenizer: str | None = None


def convert(
    model: Annotated[
        str,
        typer.Argument(
            help=(
                "Name of a student such as bergamot:en-pt; its folder, with model*.bin (or .npz)"
                " and vocab*.spm, which may be compressed by gzip; or a folder of fairseq, with"
                " checkpoints (*.pt), dict.XX.txt of both languages, and BPE codes (bpecodes or"
                " bpecodes.XX)."
            )
        ),
    ],
    *,
    output: NewFolder,
    fairseq: Annotated[FairseqOptions, Fields("", _PANEL, settings="checkpoint codes tokenizer")],
    check: Annotated[
        Path | None,
        typer.Option(
            help=(
                "JSON file with scores by fairseq, to compare with those of the converted"
                ' models: {"pairs": [{"source_ids", "target_ids", "scores": {"model1":'
                ' {"positional_log_probs": [...]}}}]}.'
            ),
            rich_help_panel=_PANEL,
        ),
    ] = None,
) -> Outcome:
    """Convert a model to a folder of transformers.

    The command recognises what the model is. A student becomes one folder, with safetensors and
    SentencePiece, and so does a file in GGUF, in float32 (extra `gguf`). Each checkpoint of
    fairseq becomes a folder in the new folder, OUTPUT/model1 for model1.pt. No code in the files is
    run.

    Example: cc-hf convert bergamot:en-pt --output en-pt
    """
    from cc_hf.plugins.conversion.convert import convert as convert_checkpoints
    from cc_hf.plugins.conversion.table import conversion_json, conversion_lines

    options: dict[str, Any] = {**vars(fairseq), "check": check}
    given = {name: value for name, value in options.items() if value is not None}
    if is_folder(model) and any(Path(model).glob("*.pt")):
        given |= _codes(fairseq.codes or ())
        given["checkpoints"] = given.pop("checkpoint", None)
        conversion = convert_checkpoints(model, output=output, **given)
        return Outcome(
            conversion_json(conversion),
            lambda: conversion_lines(conversion),
            files=[NewFile(output, None)],
            notes=conversion.notes,
        )
    if model.endswith(_GGUF) and is_file(model):
        _refuse(given, f"the file {model}")
        # Imported here, since torch takes seconds.
        from cc_hf.plugins.conversion.gguf_file import convert_gguf

        return _one_folder(output, convert_gguf(Path(model), output=output))
    formats = load_all("model format").values()
    of_files = next((of_files for of_files in formats if of_files.fits(model)), None)
    if of_files is None:
        expected = [of_files.expected for of_files in formats]
        expected += [f"a file in GGUF (*{_GGUF})", _CHECKPOINTS]
        raise InputError(f"{model}: expected {', or '.join(expected)}")
    _refuse(given, f"the {of_files.noun} {model}")
    return _one_folder(of_files.convert(model, output=output), of_files.name)


def _refuse(given: Mapping[str, Any], got: str) -> None:
    """Refuse options of fairseq for another model."""
    if given:
        raise InputError(
            f"{', '.join(given)}: expected {_CHECKPOINTS}, got {got}; leave"
            f" {'it' if len(given) == 1 else 'them'} out"
        )


def _one_folder(folder: Path, family: str) -> Outcome:
    return Outcome(
        {"models": {str(folder): family}},
        lambda: [f"{folder}  {family}"],
        files=[NewFile(folder, None)],
    )


def _codes(files: Sequence[Path]) -> dict[str, Path | None]:
    """Return the files of BPE codes by the names that the library has for them."""
    if len(files) < 2:
        return {"codes": next(iter(files), None)}
    if len(files) > 2:
        raise InputError(
            "codes: expected one file, or one of the source and one of the target language, got"
            f" {len(files)}"
        )
    return {"codes": None, "source_codes": files[0], "target_codes": files[1]}
