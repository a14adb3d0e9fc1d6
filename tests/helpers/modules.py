"""The Python code of the project, parsed."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: The folders with code, other than the tests.
PACKAGES = (
    "cc_hf",
    "studies/benchmarks",
    "studies/cc_hf_studies",
    "studies/docs",
    "studies/examples",
    "metrics",
    "datasets_scripts",
    "tools",
    "benchmarks",
    "docs",
    "examples",
)
TESTS = ("tests", "studies/tests")


def parsed(folders: Iterable[str]) -> Iterator[tuple[Path, ast.Module]]:
    """Yield the path and the tree of each module in the folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


@cache
def modules() -> list[tuple[Path, ast.Module]]:
    """Return the path and the tree of each module other than the tests."""
    return list(parsed(PACKAGES))
