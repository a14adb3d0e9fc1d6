"""The Python code of the project, parsed."""

import ast
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


@cache
def modules() -> list[tuple[Path, ast.Module]]:
    """Return the path and the tree of each module."""
    paths = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths]
