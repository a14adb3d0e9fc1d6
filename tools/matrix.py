"""The wheel in clean environments of several Pythons: `python -m tools.matrix python3.10` installs
it with the newest and with the oldest versions that pyproject.toml promises, alone and with
`[models]`, runs `tools/matrix_smoke.py` in each, and prints a table in Markdown.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

_ROOT = Path(__file__).parent.parent
_SMOKE = _ROOT / "tools/matrix_smoke.py"
_TORCH = "torch==2.13.0"  # a newer one would bring gigabytes of CUDA packages
_OF_TORCH = re.compile(r"(torch|nvidia|triton|cuda)\b")
_WORDS = 12  # of the last line of an error, in the table


class Cell(NamedTuple):
    """What ran in one environment; `error` is "" if all of it did."""

    python: str
    versions: str
    extra: str
    seconds: float
    error: str


def oldest(python: str, extra: str) -> list[str]:
    """Return the lowest versions of direct dependencies that fit each other, by uv, as constraints.

    torch is that of `_TORCH`: its lowest versions would bring gigabytes of CUDA packages.
    """
    version = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    asked = subprocess.run([python, "-c", version], check=True, capture_output=True, text=True)
    words = ["pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    words += ["--resolution", "lowest-direct", "--python-version", asked.stdout.strip()]
    words += ["--extra", extra] if extra != "core" else []
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8", newline="\n") as pinned:
        pinned.write(_TORCH)
        pinned.flush()
        words += ["--constraint", pinned.name]
        command = [sys.executable, "-m", "uv", *words, "pyproject.toml"]
        done = subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if not _OF_TORCH.match(line)]


def ran(python: str, versions: str, extra: str, wheel: Path, folder: Path) -> Cell:
    """Install the wheel into a new environment and run the smoke test there."""
    start = time.perf_counter()
    environment, work = folder / "venv", folder / "work"
    work.mkdir(parents=True)
    constraints = folder / "constraints.txt"
    lines = [_TORCH, *(oldest(python, extra) if versions == "oldest" else ())]
    constraints.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    target = f"{wheel}[models]" if extra == "models" else str(wheel)
    program = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--constraint")
    clean = {"HOME": str(work), "HF_HOME": str(work / "hf"), "HF_HUB_OFFLINE": "1"}
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CC_HF"))}
    for command in (
        [python, "-m", "venv", str(environment)],
        [str(program), *pip, str(constraints), target],
        [str(program), str(_SMOKE), extra],
    ):
        done = subprocess.run(
            command, cwd=work, env=variables | clean, capture_output=True, text=True
        )
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
            typer.echo("\n".join(lines[-30:]), err=True)
            error = next((line for line in lines[::-1] if "rror" in line), lines[-1])
            return Cell(python, versions, extra, time.perf_counter() - start, error.strip())
    return Cell(python, versions, extra, time.perf_counter() - start, "")


def main(pythons: list[str], versions: Annotated[list[str] | None, typer.Option()] = None) -> None:
    """Run all environments one after the other; the exit status is 1 if any failed."""
    cells = []
    with tempfile.TemporaryDirectory() as temporary:
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", temporary]
        subprocess.run(build, cwd=_ROOT, check=True, capture_output=True)
        (wheel,) = Path(temporary).glob("*.whl")
        for python in pythons:
            for which in versions or ["newest", "oldest"]:
                for extra in ("core", "models"):
                    folder = Path(temporary) / f"{Path(python).name}-{which}-{extra}"
                    cells.append(ran(python, which, extra, wheel, folder))
                    typer.echo(f"{cells[-1]}", err=True)
                    shutil.rmtree(folder)
    typer.echo("| Python | versions | installed | outcome |\n|---|---|---|---|")
    for cell in cells:
        outcome = f"failed: {' '.join(cell.error.split()[:_WORDS])}" if cell.error else "passed"
        installed = "cc_hf" if cell.extra == "core" else "cc_hf[models]"
        name = Path(cell.python).name.removeprefix("python")
        typer.echo(f"| {name} | {cell.versions} | `{installed}` | {outcome} |")
    if any(cell.error for cell in cells):
        raise SystemExit(1)


if __name__ == "__main__":
    typer.run(main)
