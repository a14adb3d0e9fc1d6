"""Imports of the package, those inside functions and for type checkers included.

Which room may import which is a contract of import-linter, in pyproject.toml.
"""

from __future__ import annotations

from graphlib import TopologicalSorter

import grimp
import pytest


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("cc_hf", cache_dir=None)


def test_no_modules_import_each_other_in_a_circle(graph: grimp.ImportGraph) -> None:
    """`prepare` raises a CycleError that names the modules of a circle."""
    TopologicalSorter(
        {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    ).prepare()


def test_no_module_imports_the_package_above_it(graph: grimp.ImportGraph) -> None:
    """`cc_hf/__init__.py` is for users; inside, `cc_hf._version` has the version."""
    assert graph.find_modules_that_directly_import("cc_hf") == set()
