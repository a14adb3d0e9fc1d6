"""Figures are in [0, 1]; `cc_hf.reports` alone writes them in percent, apart from known modules."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import cc_hf

_PACKAGE = Path(cc_hf.__file__).parent
_SENTENCE = "a sentence that a result keeps, or an error, written where it is raised"
_FILE = "a file of BLEU in points, the unit of sacreBLEU"
#: Module -> why it multiplies by 100.
_KNOWN = {
    "cue_building/calibration_file.py": _SENTENCE,
    "data/files/quality_scores.py": _FILE,
    "metrics/homograph_accuracy.py": _SENTENCE,
    "models/location.py": _SENTENCE,
    "statistics/bootstrap.py": _SENTENCE,
    "statistics/corpus_quality.py": _FILE,
    "statistics/gender_figures.py": "rounds as the original program rounds its percentages",
}


def _is_100(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (100, 100.0)


def _makes_percentages(node: ast.AST) -> bool:
    """Return whether a node multiplies by 100, or is a format of percentages."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult) and (_is_100(node.left) or _is_100(node.right))
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Mult) and _is_100(node.value)
    if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
        return ast.unparse(node.format_spec).rstrip("'\"").endswith("%")
    return False


def _in_percent(code: str) -> bool:
    return any(map(_makes_percentages, ast.walk(ast.parse(code))))


def test_reports_alone_multiply_by_100_apart_from_known_modules() -> None:
    texts = {
        p.relative_to(_PACKAGE).as_posix(): p.read_text("utf-8") for p in _PACKAGE.rglob("*.py")
    }
    modules = {n for n, text in texts.items() if not n.startswith("reports/") and _in_percent(text)}
    assert modules == set(_KNOWN)


@pytest.mark.parametrize(
    "code", ["100 * share", "share * 100.0", "share *= 100", 'f"{share:.1%}"', 'f"{share:{n}%}"']
)
def test_percentages_are_recognised(code: str) -> None:
    assert _in_percent(code)


@pytest.mark.parametrize("code", ["100 + n", "n * 1000", 'f"{n:,} %"', 'f"{name} 5 %"'])
def test_other_numbers_are_no_percentages(code: str) -> None:
    assert not _in_percent(code)
