"""The benchmark of pattern matching runs on a system. Times are not tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.children import call
from benchmarks.pattern_matching import Stages, Whole, table
from cc_hf.errors import MissingDependencyError
from cc_hf.metrics.winomt_pattern_matching import WinomtPatternMatching


@pytest.mark.shared
def test_the_table_has_a_row_for_each_system(shared: Path) -> None:
    header, rule, row = table(["aws/en-de"], shared / "upstream", 1, call).splitlines()
    assert header.count("|") == rule.count("|") == row.count("|") == 11
    assert row.startswith("| aws/en-de | 3,888 | ")


def test_the_table_has_medians_over_the_rounds() -> None:
    wholes = (1, Whole(9, 3, 8)), (2, Whole(9, 4, 9)), (9, Whole(9, 9, 10))
    rounds = iter([part for n, whole in wholes for part in (Stages(n, 0, 0, 0, 0, 0), whole)])
    row = table(["a/en-de"], Path(), 3, lambda *_: next(rounds)).splitlines()[-1]
    assert row == "| a/en-de | 9 | 2.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 4.00 | 9.00 |"


def test_a_missing_package_is_said_below_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(lang: str) -> None:
        raise MissingDependencyError("spacy", install=f"pip install spacy for {lang}")

    monkeypatch.setattr(WinomtPatternMatching, "check_available", check)
    *_, line = table(["a/en-es"], Path(), 1).splitlines()
    assert line.startswith("- a/en-es: not measured, ")
    assert line.endswith("pip install spacy for es")
