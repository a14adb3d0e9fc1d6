"""The command line in this process: as `cc-hf` runs, without the seconds that a new process needs
to import torch.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest
from typer.testing import CliRunner

from cc_hf.cli import main

__all__ = ["Shown", "run_command"]


@dataclass(frozen=True)
class Shown:
    """What a command printed."""

    stdout: str
    stderr: str


def run_command(
    *arguments: str | Path,
    text: str | None = None,
    cwd: str | Path = ".",
    status: int = 0,
    environment: Mapping[str, str | None] = MappingProxyType({"COLUMNS": None}),
) -> Shown:
    """Run a command whose output is no terminal, and check its exit status.

    Args:
        arguments: the words behind `cc-hf`.
        text: its standard input.
        cwd: the folder that it runs in.
        status: the exit status that is expected.
        environment: variables to set, or to delete with None.
    """
    with (
        pytest.MonkeyPatch.context() as patches,
        warnings.catch_warnings(),
        CliRunner().isolation(input=text, env=environment) as (stdout, stderr, _),
    ):
        warnings.simplefilter("default")
        patches.chdir(cwd)
        patches.setattr(sys, "argv", ["cc-hf", *map(str, arguments)])
        code = 0
        try:
            main.run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        sys.stdout.flush()
        sys.stderr.flush()
        shown = Shown(stdout.getvalue().decode(), stderr.getvalue().decode() if stderr else "")
    assert code == status, shown.stderr
    return shown
