"""The command line in this process: as `cc-hf` runs, without the seconds that a new process needs
to import torch.
"""

import json
import re
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cc_hf.cli import main


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
        arguments: the words behind `cc-hf`; the first may hold several, divided by spaces.
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
        patches.setattr(sys, "argv", ["cc-hf", *_words(*arguments)])
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


#: runs a command whose lines have 100 columns
cc_hf = partial(run_command, environment={"COLUMNS": "100"})


def invoke(*arguments: object, columns: int | None = None) -> Result:
    """Run a command below `main.run`, so that a result holds the error that it raised.

    Args:
        arguments: the words behind `cc-hf`; the first may hold several, divided by spaces.
        columns: width of the terminal.
    """
    environment = None if columns is None else {"COLUMNS": str(columns)}
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(sys, "argv", ["cc-hf", *_words(*arguments)])
        return CliRunner(env=environment).invoke(main.app, _words(*arguments))


def printed_by(*arguments: object, status: int = 0, columns: int = 80) -> str:
    """Return what a command prints in a terminal of the usual width, which must not truncate
    figures. Errors are raised, and warnings are errors.

    Args:
        arguments: the words behind `cc-hf`; the first may hold several, divided by spaces.
        status: the exit status that is expected.
        columns: width of the terminal.
    """
    result = invoke(*arguments, columns=columns)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    assert "…" not in result.stdout
    return result.stdout


def overriding(line: str, more: object = "", *others: object) -> list[str]:
    """Return the words of a command without the options that are given anew, and the new ones.

    Args:
        line: positional arguments, then options, which one value or several follow.
        more: the new options, with spaces between.
        others: more words of them, which may hold spaces.
    """
    new = _words(more, *others)
    kept: list[str] = []
    flag = ""
    for word in line.split():
        flag = word if re.match("--?[a-z]", word) else flag
        if flag not in new:
            kept.append(word)
    return [*kept, *new]


def _words(line: object = "", *others: object) -> list[str]:
    return [*str(line).split(), *map(str, others)]


def read_json(path: Path) -> Any:
    """Return what a JSON file holds."""
    return json.loads(path.read_text(encoding="utf-8"))
