"""The README's examples run as they stand."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

_README = Path(__file__).parent.parent / "README.md"
_TEXT = _README.read_text(encoding="utf-8")
_PYTHON = re.findall(r"```python\n(.*?)```", _TEXT, re.DOTALL)
_COMMANDS = [
    line[2:]
    for block in re.findall(r"```console\n(.*?)```", _TEXT, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]


@pytest.mark.parametrize("code", _PYTHON)
def test_python(code: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    expected = [
        line.split("  # ")[1].split(":")[0]
        for line in code.splitlines()
        if line.startswith("print") and "  # " in line
    ]
    assert expected
    assert printed.getvalue().splitlines()[: len(expected)] == expected


def test_make_targets_exist(root: Path) -> None:
    targets = re.findall(r"^(\w+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = [command.split()[1] for command in _COMMANDS if command.startswith("make ")]
    assert set(named) == {"demo", "test"} <= set(targets)


@pytest.mark.shared
def test_commands(tmp_path: Path, shared: Path) -> None:
    rows = [
        line
        for line in (
            (shared / "upstream/gabrielStanovsky/mt_gender/translations/aws/en-de.txt")
            .read_text(encoding="utf-8")
            .splitlines()
        )
        if line
    ]
    (tmp_path / "winomt.de.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    annotations = shared / "gold/human_validation/winomt_annotations.en-de.jsonl"
    (tmp_path / "annotations.jsonl").write_bytes(annotations.read_bytes())
    shown = re.search(r"^\$ cat bats.csv\n(.*?)^\$", _TEXT, re.DOTALL | re.MULTILINE)
    assert shown is not None
    (tmp_path / "bats.csv").write_text(shown.group(1), encoding="utf-8")
    (tmp_path / "bats.de.txt").write_text(
        "Der Schläger war alt.\nEine Fledermaus schlief auf dem Dachboden.\n", encoding="utf-8"
    )
    environment = {**os.environ, "CC_HF_DATA_DIR": str(shared / "upstream")}
    commands = [
        shlex.split(command, comments=True) for command in _COMMANDS if command.startswith("cc-hf ")
    ]
    assert len(commands) == 13
    for command in commands:
        found = subprocess.run(
            [sys.executable, "-m", "cc_hf.cli", *command[1:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert found.returncode == 0, f"{' '.join(command)}: {found.stderr}"
    assert {"simplegen.json", "winomt.json", "translations.de.txt"} <= {
        p.name for p in tmp_path.iterdir()
    }


def test_links_lead_somewhere(root: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", _TEXT):
        if not target.startswith("http"):
            assert (root / target).is_file(), target
