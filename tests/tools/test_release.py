"""What a release needs besides code, and that its wheel can be built again to the byte."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.cases import cases
from tools.release import FILES, dependencies, problems


def test_nothing_is_missing_for_a_release() -> None:
    assert list(problems()) == []


_WORKFLOWS = ".github/workflows"


@cases(
    ("SECURITY.md", "", "", "SECURITY.md: expected a file"),
    ("docs/dependencies.md", r".*\| `typer` \|.*\n", "", "expected a row for typer"),
    ("pyproject.toml", r'.*"typer>=.*\n', "", "typer is no dependency"),
    (
        "docs/dependencies.md",
        "(`typer` .*) MIT ",
        r"\1  ",
        "typer: expected a licence that is known, got ''",
    ),
    ("cc_hf/text/frequent_words.tsv", "", "", "cc_hf/text/frequent_words.tsv fits no file"),
    (
        "studies/pyproject.toml",
        "cc_hf==[0-9.]+",
        "cc_hf==9",
        "studies/pyproject.toml: expected",
    ),
    (
        "studies/NOTICE",
        r".*snowballstem\.org.*\n",
        "",
        "studies/NOTICE: expected 'snowballstem.org'",
    ),
    (f"{_WORKFLOWS}/tests.yml", "checkout@.*", "checkout@v4", "got 'actions/checkout@v4'"),
    (f"{_WORKFLOWS}/tests.yml", "(checkout@.*) # .*", r"\1", "OWNER/NAME@COMMIT # VERSION"),
    (f"{_WORKFLOWS}/docs.yml", "(contents: read)", r"\1\n  id-token: write", "docs.yml: build"),
    (f"{_WORKFLOWS}/tests.yml", "permissions:\n.*\n", "", "tests.yml: tests: expected no command"),
    (
        f"{_WORKFLOWS}/release.yml",
        "(.*pypi-publish.*)",
        r"\1\n      - run: x",
        "release.yml: publish:",
    ),
)
def test_gaps_are_told(
    name: str, pattern: str, changed: str, message: str, root: Path, tmp_path: Path
) -> None:
    projects = [f"{folder}pyproject.toml" for folder in ("", "studies/", "judges/")]
    for file in (*FILES, *projects, "docs/dependencies.md"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / file, tmp_path / file)
    packages = [root / name for name in ("cc_hf", "studies/cc_hf_studies", "judges/cc_hf_judges")]
    for path in (path for package in packages for path in package.rglob("*")):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            (tmp_path / path.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path.relative_to(root)).touch()
    path = tmp_path / name
    text = path.read_text(encoding="utf-8")
    if pattern:
        new = re.sub(pattern, changed, text, count=1)
        assert new != text
        path.write_text(new, encoding="utf-8")
    else:
        path.unlink()
    (problem,) = problems(tmp_path)
    assert message in problem


_ALL_URLS = dict.fromkeys(("Source", "Documentation", "Issues", "Changelog"), "a")


@cases(
    ({}, "", "OWNER", True, "to have Source, Documentation, Issues, Changelog"),
    ({"Source": "a"}, "a", "a", False, "expected project.urls to have Documentation, Issues"),
    (_ALL_URLS, "b", "a", True, "CITATION.cff: expected repository-code to be a"),
    (_ALL_URLS, "a", "OWNER", True, "README.md: expected git clone a"),
    (_ALL_URLS, "a", "a", True, ""),
    ({}, "", "OWNER", False, ""),
)
def test_addresses_are_demanded_of_a_release(
    urls: dict[str, str],
    cited: str,
    cloned: str,
    is_release: bool,
    message: str,
    root: Path,
    tmp_path: Path,
) -> None:
    (tmp_path / "README.md").write_text(f"$ git clone {cloned} && pip", encoding="utf-8")
    for path in root.iterdir():
        if path.name not in ("pyproject.toml", "CITATION.cff", "README.md"):
            (tmp_path / path.name).symlink_to(path)
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    table = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    table = f"\n[project.urls]\n{table}" * bool(urls)
    (tmp_path / "pyproject.toml").write_text(f"{text}{table}", encoding="utf-8")
    (tmp_path / "CITATION.cff").write_text(f'repository-code: "{cited}"', encoding="utf-8")
    lines = list(problems(tmp_path, is_release=is_release))
    assert len(lines) == bool(message)
    assert message in "".join(lines)


def test_extras_are_read() -> None:
    names = dependencies()
    assert names["torch"] == ["models", "fairseq"]
    assert "cc_hf" not in names


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_two_builds_are_the_same_to_the_byte(kind: str, root: Path, tmp_path: Path) -> None:
    names = ("cc_hf", "metrics", "datasets_scripts", "cards", "pyproject.toml", "README.md")
    built = []
    for number, day in enumerate((0, 86_400 * 15_000)):
        copy = tmp_path / str(number)
        copy.mkdir()
        for name in (*names, "LICENSE", "NOTICE", "CHANGELOG.md"):
            if (root / name).is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.safetensors")
                shutil.copytree(root / name, copy / name, ignore=ignored)
            else:
                shutil.copy(root / name, copy / name)
        for path in copy.rglob("*"):
            os.utime(path, (day + 1e9, day + 1e9))
        command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(copy / "out")]
        subprocess.run(command, cwd=copy, check=True, capture_output=True)
        (file,) = (copy / "out").iterdir()
        built.append(file.read_bytes())
    assert built[0] == built[1]
