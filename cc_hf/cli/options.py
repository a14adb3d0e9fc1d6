"""Arguments and options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["BatchTokens", "Config", "DataDir", "Dataset", "Device", "Quiet", "Split", "TgtLang"]

Dataset = Annotated[str, typer.Argument(help="Dataset, see `cc-hf list datasets`.")]
Config = Annotated[str | None, typer.Argument(help="Configuration; default: the dataset's own default.")]
TgtLang = Annotated[str | None, typer.Option(help="Target language, ISO 639-1; needed where the configuration has several.")]
DataDir = Annotated[Path | None, typer.Option(help="Local copy of the upstream repositories (DIR/owner/repository/...), instead of a download. Also CC_HF_DATA_DIR.")]
BatchTokens = Annotated[int | None, typer.Option(min=1, help="Padded source plus target tokens of a batch.")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda or cuda:N; default: CUDA where there is one.")]
Split = Annotated[str, typer.Option(help="Split of the dataset, where it has several.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars, no notes.")]
