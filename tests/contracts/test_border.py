"""The border between the core and its studies, outside the package: whatever is about one study lies
in folders and files with its name, and nothing else imports a study. For the package itself it is a
contract of import-linter.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cc_hf import registry

_ROOT = Path(__file__).parents[2]
_FOLDERS = ("benchmarks", "docs", "examples", "tests", "tools")
#: Modules of one study: the package, and its tests, examples and benchmarks.
_OF_STUDY = re.compile(r"(?:cc_hf|tests|examples|benchmarks)\.studies\.(\w+)")
_STUDIES = sorted(path.parent.name for path in (_ROOT / "cc_hf/studies").glob("*/__init__.py"))


def modules(text: str) -> Iterator[str]:
    """Yield the absolute names that a program imports, also within functions, and modules whose
    names are in its texts, as for `importlib`.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"(?:from|import) ([\w.]+)", node.value)


def imported_studies(text: str) -> set[str]:
    return {match[1] for module in modules(text) if (match := _OF_STUDY.match(module))}


def programs() -> list[str]:
    paths = [path for folder in _FOLDERS for path in (_ROOT / folder).rglob("*.py")]
    return sorted(path.relative_to(_ROOT).as_posix() for path in paths)


def study_of(path: str) -> str:
    """Return the study whose folder a file lies in, "" for the core."""
    match = re.match(r"(?:tests|examples|benchmarks)/studies/(\w+)/", path)
    return match[1] if match else ""


def test_imports_are_found() -> None:
    assert imported_studies("import cc_hf.studies.a.b as c") == {"a"}
    assert imported_studies("def f():\n    from cc_hf.studies.a import b") == {"a"}
    assert imported_studies("from tests.studies import a") == {"a"}
    assert imported_studies('"""x\n>>> from cc_hf.studies.a import b\n"""') == {"a"}
    assert imported_studies("from cc_hf.cli import study\nimport cc_hf.studies") == set()


@pytest.mark.parametrize("path", programs())
def test_nothing_but_the_study_itself_imports_a_study(path: str) -> None:
    own = study_of(path)
    text = (_ROOT / path).read_text(encoding="utf-8")
    if path != "tests/contracts/test_border.py":
        assert imported_studies(text) <= {own}


def test_no_example_of_the_core_in_docstrings_imports_a_study() -> None:
    """import-linter does not read docstrings."""
    for path in (_ROOT / "cc_hf").rglob("*.py"):
        if "studies" not in path.relative_to(_ROOT / "cc_hf").parts:
            assert not imported_studies(path.read_text(encoding="utf-8")), path


def test_every_study_is_registered_and_has_tests_and_a_page() -> None:
    assert set(_STUDIES) == set(registry.STUDIES)
    for study in _STUDIES:
        assert list((_ROOT / "tests/studies" / study).glob("**/test_*.py")), study
        assert (_ROOT / f"docs/studies/{study}.md").is_file(), study


def test_files_about_studies_have_the_name_of_one() -> None:
    """A page or a ledger may have more behind the name, such as wino_x.figures.tsv."""
    for folder in ("tests", "examples", "benchmarks"):
        folders = {path.name for path in (_ROOT / folder / "studies").iterdir() if path.is_dir()}
        assert folders - {"__pycache__"} <= set(_STUDIES), folder
    pages = {path.name for path in (_ROOT / "docs/studies").iterdir()} - {"index.md"}
    assert not [name for name in pages if not name.startswith(tuple(_STUDIES))]


def test_pages_of_the_core_link_to_the_list_of_studies_only() -> None:
    for page in [_ROOT / "README.md", _ROOT / "CONTRIBUTING.md", *(_ROOT / "docs").glob("*.md")]:
        links = re.findall(r"\]\([^)\s]*\bstudies/([^)#\s]+)", page.read_text(encoding="utf-8"))
        assert set(links) <= {"index.md"}, page
