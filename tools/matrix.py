"""Sdist and wheel in clean environments of several Pythons: `python -m tools.matrix python3.10`
installs them with the newest and with the oldest versions that pyproject.toml promises, and prints
a table in Markdown of what ran: `tools/matrix_smoke.py` with the sdist alone and with the wheel and
`[models]`, unit and contract tests in the unpacked sdist with `[dev]`.
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
from packaging.requirements import Requirement

from tools.release import project

_ROOT = Path(__file__).parent.parent
_SMOKE = _ROOT / "tools/matrix_smoke.py"
_TORCH = "torch==2.13.0"  # a newer one would bring gigabytes of CUDA packages
_OF_TORCH = re.compile(r"(torch|nvidia|triton|cuda)\b")
_WORDS = 12  # of the last line of an error, in the table
_LINES = 300  # of an error, on standard error
_INSTALLED = {
    "core": "sdist, `cc_hf`",
    "models": "wheels, `cc_hf[models]`, `cc_hf_studies`",
    "dev": "tests",
}


class Cell(NamedTuple):
    """What ran in one environment; `error` is "" if all of it did."""

    python: str
    versions: str
    extra: str
    seconds: float
    error: str


def oldest(python: str, extra: str) -> list[str]:
    """Return the lowest versions of direct dependencies that fit each other, by uv, as constraints.

    torch is that of `_TORCH`: its lowest versions would bring gigabytes of CUDA packages. `[dev]`
    has the extras that users install in their lowest versions, and the newest of its own tools that
    fit them, so that pip has nothing left to try.
    """
    extras = [extra] * (extra != "core")
    if extra == "dev":
        of_dev = Requirement(project(_ROOT)["optional-dependencies"]["dev"][0]).extras
        extras = sorted(of_dev - {"docs"})
    version = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    asked = subprocess.run([python, "-c", version], check=True, capture_output=True, text=True)
    version = asked.stdout.strip()
    lines = _compiled([_TORCH], version, extras, "lowest-direct")
    return _compiled([_TORCH, *lines], version, ["dev"], "highest") if extra == "dev" else lines


def _compiled(pinned: list[str], version: str, extras: list[str], resolution: str) -> list[str]:
    words = ["pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    words += ["--resolution", resolution, "--python-version", version]
    words += [word for name in extras for word in ("--extra", name)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(pinned))
        file.flush()
        words += ["--constraint", file.name]
        command = [sys.executable, "-m", "uv", *words, "pyproject.toml"]
        done = subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if not _OF_TORCH.match(line)]


def ran(python: str, versions: str, extra: str, built: Path, folder: Path) -> Cell:
    """Install what was built into a new environment, and run there what its extra is to run."""
    start = time.perf_counter()
    environment, work = folder / "venv", folder / "work"
    work.mkdir(parents=True)
    constraints = folder / "constraints.txt"
    lines = [_TORCH, *(oldest(python, extra) if versions == "oldest" else ())]
    constraints.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    (studies,) = (built / "studies").glob("*.whl")
    target = [str(sdist)] if extra == "core" else [f"{wheel}[{extra}]", str(studies)]
    run = [str(_SMOKE), extra]
    if extra == "dev":
        shutil.unpack_archive(sdist, folder)
        work = folder / sdist.name.removesuffix(".tar.gz")
        target = ["--editable", f"{work}[dev]", "--editable", str(work / "studies")]
        run = ["-m", "pytest", "-n", "2", "--dist", "loadfile", "--disable-warnings"]
        run += ["tests/unit", "tests/contracts"]
        if versions == "oldest":  # old packages use what new ones below them gave up
            run += ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"]
    program = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--constraint")
    (home := folder / "home").mkdir()
    clean = {"HOME": str(home), "HF_HOME": str(home / "hf"), "HF_HUB_OFFLINE": "1"}
    clean |= {"OMP_NUM_THREADS": "1"}
    if (data := _ROOT.parent / "shared/upstream").is_dir():
        clean["MATRIX_DATA"] = str(data)
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CC_HF"))}
    for command in (
        [python, "-m", "venv", str(environment)],
        [str(program), *pip, str(constraints), *target],
        [str(program), *run],
    ):
        done = subprocess.run(
            command, cwd=work, env=variables | clean, capture_output=True, text=True
        )
        if done.returncode:
            lines = f"{done.stderr}\n{done.stdout}".strip().splitlines() or ["no message"]
            typer.echo("\n".join(lines[-_LINES:]), err=True)
            telling = (line for line in lines[::-1] if re.search(r"rror|\d failed", line))
            error = next(telling, lines[-1])
            return Cell(python, versions, extra, time.perf_counter() - start, error.strip())
    return Cell(python, versions, extra, time.perf_counter() - start, "")


def main(
    pythons: list[str],
    versions: Annotated[list[str] | None, typer.Option()] = None,
    extras: Annotated[list[str] | None, typer.Option()] = None,
) -> None:
    """Run all environments one after the other; the exit status is 1 if any failed."""
    cells = []
    with tempfile.TemporaryDirectory() as temporary:
        built = Path(temporary) / "built"
        for source, target in ((_ROOT, built), (_ROOT / "studies", built / "studies")):
            build = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
            subprocess.run(build, cwd=source, check=True, capture_output=True)
        for python in pythons:
            for which in versions or ["newest", "oldest"]:
                for extra in extras or _INSTALLED:
                    folder = Path(temporary) / f"{Path(python).name}-{which}-{extra}"
                    cells.append(ran(python, which, extra, built, folder))
                    typer.echo(f"{cells[-1]}", err=True)
                    shutil.rmtree(folder)
    typer.echo("| Python | versions | installed | outcome |\n|---|---|---|---|")
    for cell in cells:
        outcome = f"failed: {' '.join(cell.error.split()[:_WORDS])}" if cell.error else "passed"
        name = Path(cell.python).name.removeprefix("python")
        typer.echo(f"| {name} | {cell.versions} | {_INSTALLED[cell.extra]} | {outcome} |")
    if any(cell.error for cell in cells):
        raise SystemExit(1)


if __name__ == "__main__":
    typer.run(main)
