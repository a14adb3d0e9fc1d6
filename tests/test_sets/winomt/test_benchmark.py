import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from benchmarks import pattern_matching
from benchmarks.children import call
from benchmarks.pattern_matching import Stages, Whole
from cc_hf.errors import MissingDependencyError
from cc_hf.test_sets.winomt.pattern_matching import WinomtPatternMatching


def test_the_table_has_a_row_for_each_system(shared: Path) -> None:
    table = pattern_matching.table(["aws/en-de"], shared / "upstream", 1, call)
    header, rule, row = table.splitlines()
    assert header.count("|") == rule.count("|") == row.count("|") == 11
    assert row.startswith("| aws/en-de | 3,888 | ")


def test_the_table_has_medians_over_the_rounds() -> None:
    wholes = (1, Whole(9, 3, 8)), (2, Whole(9, 4, 9)), (9, Whole(9, 9, 10))
    rounds = iter([part for n, whole in wholes for part in (Stages(n, 0, 0, 0, 0, 0), whole)])
    row = pattern_matching.table(["a/en-de"], Path(), 3, lambda *_: next(rounds)).splitlines()[-1]
    assert row == "| a/en-de | 9 | 2.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 4.00 | 9.00 |"


def test_a_missing_package_is_said_below_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(lang: str) -> None:
        raise MissingDependencyError("spacy", install=f"pip install spacy for {lang}")

    monkeypatch.setattr(WinomtPatternMatching, "check_available", check)
    *_, line = pattern_matching.table(["a/en-es"], Path(), 1).splitlines()
    assert line.startswith("- a/en-es: not measured, ")
    assert line.endswith("pip install spacy for es")


def test_main_writes(tmp_path: Path, root: Path) -> None:
    path = Path(shutil.copy(root / "docs/performance.md", tmp_path))
    with patch.object(pattern_matching, "table", return_value="| the table |"):
        pattern_matching.main(tmp_path, systems="aws/en-de", rounds=1, output=path)
    text = path.read_text(encoding="utf-8").partition("<!-- pattern-matching: generated -->")[2]
    assert text.partition("<!-- end -->")[0].rstrip().endswith("| the table |")
