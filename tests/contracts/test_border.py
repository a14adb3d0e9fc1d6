"""The border between the core and its studies: whatever is about one study lies in folders and
files with its name, nothing else names them, and the core runs without any study and with a new
one. That no room of the package imports a study is a contract of import-linter.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import compress, product
from pathlib import Path

import pytest

from cc_hf import registry

_ROOT = Path(__file__).parents[2]
_STUDIES = sorted({path.parent.name for path in (_ROOT / "cc_hf/studies").glob("*/*.py")})
_FOLDERS = ("benchmarks", "cards", "cc_hf", "docs", "examples", "metrics", "tests", "tools")
#: Where all studies are listed: by hand, or by `make docs`.
_LISTS = {"cc_hf/registry.py", "docs/studies/index.md"}
_LISTS |= {f"docs/{name}" for name in ("cli.md", "llms.txt", "reproduce.md")}
#: What every study has; without the first, import-linter does not see it.
_OF_STUDIES = (
    *("cc_hf/studies/{}/__init__.py", "docs/studies/{}.md", "tests/studies/{}/__init__.py"),
    *("tests/studies/{}/contract_cases.py", "tests/studies/{}/**/test_*.py"),
)
_TOY = '''"""A toy."""
import typer

app = typer.Typer()


@app.command("count")
def count() -> None:
    """Count toys."""
    typer.echo("3 toys")
'''
_USE = """
import sys
from pathlib import Path
from typer.testing import CliRunner
import cc_hf
from cc_hf import registry
from cc_hf.cli.main import app

assert Path(cc_hf.__file__).is_relative_to(Path.cwd())
for kind in ("dataset", "metric", "study"):
    registry.load_all(kind)
for name in registry.names("study"):
    registry.study_part(name, "commands")
list(registry.study_parts("report_section"))
for words in (["--help"], ["study"], sys.argv[1:]):
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, (words, done.output)
print(done.output)
"""


def study_of(path: str) -> str:
    """Return the study that a file is about, "" for the core."""
    match = re.search(r"(?:^|/)studies/(\w+)", path)
    return next((study for study in _STUDIES if match and match[1].startswith(study)), "")


def named_studies(text: str, studies: Sequence[str] = _STUDIES) -> set[str]:
    """Return the studies of which a text names modules, files, pages or lines of commands."""
    one = f"({'|'.join(studies)})"
    named = rf"\bstudies(?:[./]| import ){one}|\]\({one}\w*\.md|^(?:\$ )?cc-hf study {one}\b"
    return {name for names in re.findall(named, text, re.MULTILINE) for name in names if name}


def use(folder: Path, *command: str) -> str:
    """Load datasets, metrics and studies of a copy of the package, and return what a command
    prints. Evaluator families are left out: torch takes seconds, and they have contract tests.
    """
    variables = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"}
    command = (sys.executable, "-c", _USE, *command)
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the package."""
    return Path(shutil.copytree(_ROOT / "cc_hf", tmp_path / "cc_hf"))


@pytest.mark.parametrize("deleted", [*([study] for study in _STUDIES), _STUDIES], ids=" ".join)
def test_the_package_runs_without_studies(package: Path, deleted: list[str]) -> None:
    tree = ast.parse((package / "registry.py").read_text(encoding="utf-8"))
    for study in deleted:
        shutil.rmtree(package / "studies" / study)
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                kept = [f"cc_hf.studies.{study}." not in ast.unparse(v) for v in node.values]
                node.keys = [*compress(node.keys, kept)]
                node.values = [*compress(node.values, kept)]
    (package / "registry.py").write_text(ast.unparse(tree), encoding="utf-8")
    shown = use(package.parent, "study")
    assert {study for study in _STUDIES if f" {study} " in shown} == {*_STUDIES} - {*deleted}


def test_a_study_is_added_by_a_folder_and_an_entry(package: Path) -> None:
    path = package / "registry.py"
    entry = '"added": Study("cc_hf.studies.added.commands:app", ("Toy 2026",), "Counts toys."),'
    head = "STUDIES: dict[str, Study] = {"
    path.write_text(path.read_text(encoding="utf-8").replace(head, head + entry), encoding="utf-8")
    (package / "studies/added").mkdir()
    (package / "studies/added/commands.py").write_text(_TOY, encoding="utf-8")
    assert use(package.parent, "study", "added", "count") == "3 toys\n\n"


def test_names_of_studies_are_found() -> None:
    for text in (
        *("import cc_hf.studies.{}.b as c", "def f():\n    from cc_hf.studies.{} import b"),
        *("from tests.studies import {}", "see `tests/studies/{}/test_a.py`", "[a]({}_more.md#b)"),
        *("[a](studies/{}.md), [b](../a.md)", "```console\n$ cc-hf study {} b\n"),
    ):
        assert named_studies(text.format("toy"), ["other", "toy"]) == {"toy"}, text
        assert named_studies(text.format("toy"), ["other"]) == set()


def test_nothing_but_a_study_itself_names_its_modules_files_pages_and_commands() -> None:
    patterns = product(_FOLDERS, ("*.py", "*.md", "*.tsv"))
    paths = [path for folder, pattern in patterns for path in (_ROOT / folder).rglob(pattern)]
    others = {}
    for path in [*paths, _ROOT / "README.md", _ROOT / "CONTRIBUTING.md"]:
        name = path.relative_to(_ROOT).as_posix()
        named = named_studies(path.read_text(encoding="utf-8")) - {study_of(name)}
        if named and name not in _LISTS:
            others[name] = named
    assert others == {}


def test_every_study_is_registered_and_has_all_its_parts() -> None:
    assert sorted(registry.STUDIES) == _STUDIES, "cc_hf/studies/ and STUDIES must name the same"
    needed = [part.format(study) for study in _STUDIES for part in _OF_STUDIES]
    assert [path for path in needed if not list(_ROOT.glob(path))] == []


def test_files_about_studies_have_the_name_of_one() -> None:
    """A page or a ledger may have more behind the name, such as wino_x.figures.tsv."""
    for folder in ("tests", "examples", "benchmarks"):
        folders = {path.name for path in (_ROOT / folder / "studies").iterdir() if path.is_dir()}
        assert folders - {"__pycache__"} <= set(_STUDIES), folder
    pages = {path.name for path in (_ROOT / "docs/studies").iterdir()} - {"index.md"}
    assert not [name for name in pages if not name.startswith(tuple(_STUDIES))]
