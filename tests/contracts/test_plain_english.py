"""Names, words and examples that the project's style asks for; ruff checks the sections."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PACKAGES = ("cc_hf", "metrics", "datasets_scripts", "tools", "benchmarks", "docs", "examples")
_ROOMS = (
    *("cue_building", "cues", "data", "evaluation", "evaluators", "metrics"),
    *("statistics", "training"),
)
_EMPTY_NAMES = {"found", "own", "one", "at", "place"}
_REPLACED = re.compile(
    r"\bmend(s|ed|ing)?\b|out of account|\bg[ia]ve(s|n)? (it |them )?back\b|be what they were", re.I
)
# Guillemets stay where they are data: punctuation that programs must recognise.
_DATA_WITH_GUILLEMETS = {
    *("cc_hf/data/files/cells.py", "cc_hf/metrics/gender_accuracy.py"),
    *("cc_hf/prompting/choices.py", "cc_hf/prompting/translation_replies.py"),
    *("cc_hf/reports/page/page.js", "cc_hf/reports/samples.py"),
}


@cache
def _modules() -> list[tuple[Path, ast.Module]]:
    paths = [path for name in _PACKAGES for path in sorted((_ROOT / name).rglob("*.py"))]
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def test_variables_have_names_that_say_what_they_hold() -> None:
    empty = [
        f"{path.relative_to(_ROOT)}:{node.lineno}"
        for path, module in _modules()
        for node in ast.walk(module)
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id in _EMPTY_NAMES
        )
        or (isinstance(node, ast.arg) and node.arg in _EMPTY_NAMES)
        or (isinstance(node, ast.FunctionDef) and node.name in _EMPTY_NAMES)
    ]
    assert empty == []


def _texts() -> Iterator[tuple[str, str]]:
    folders = [*_PACKAGES, "cards"]
    paths = [path for folder in folders for path in sorted((_ROOT / folder).rglob("*"))]
    for path in [*paths, *_ROOT.glob("*.md"), _ROOT / "Makefile"]:
        if path.suffix in (".py", ".md", ".jinja", ".js", ".css", ".svg", "") and path.is_file():
            name = path.relative_to(_ROOT).as_posix()
            if "/assets/" not in name:
                yield name, path.read_text(encoding="utf-8")


def test_texts_use_none_of_the_words_that_the_style_replaces() -> None:
    assert {name: m[0] for name, text in _texts() if (m := _REPLACED.search(text))} == {}


def test_guillemets_are_data_only() -> None:
    with_guillemets = {name for name, text in _texts() if re.search("[«»]", text)}
    assert with_guillemets == _DATA_WITH_GUILLEMETS


@pytest.mark.parametrize("room", _ROOMS)
def test_at_least_half_of_the_public_functions_have_an_example(room: str) -> None:
    functions = [
        node
        for path, module in _modules()
        if path.is_relative_to(_ROOT / "cc_hf" / room)
        for node in module.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    with_example = [node for node in functions if ">>>" in (ast.get_docstring(node) or "")]
    assert len(functions) > 3
    assert 2 * len(with_example) >= len(functions), f"{len(with_example)} of {len(functions)}"


def test_examples_stand_in_a_section_of_their_own() -> None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    bare = [
        f"{path.relative_to(_ROOT)}: {getattr(node, 'name', 'module')}"
        for path, module in _modules()
        for node in ast.walk(module)
        if isinstance(node, kinds)
        and ">>>" in (docstring := ast.get_docstring(node) or "")
        and "Examples:" not in docstring
    ]
    assert bare == []
