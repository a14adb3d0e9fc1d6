"""Benchmarks write the blocks of docs/performance.md, and say what is wrong. Times are not tested."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import parts, pattern_matching, waiting
from benchmarks.children import call
from benchmarks.command import run_main
from benchmarks.pattern_matching import Stages, Whole, table
from cc_hf.errors import DataError, MissingDependencyError
from cc_hf.metrics.winomt_pattern_matching import WinomtPatternMatching
from tests.helpers.cases import cases

_WAITING = {"modes": "exact", "pairs": 20, "rounds": 1, "threads": 2, "busy": 1}


@cases(
    (parts, "scoring-parts", {"sizes": "opus-mt", "modes": "exact", "pairs": 20}),
    (pattern_matching, "pattern-matching", {"systems": "aws/en-de", "rounds": 1}),
    (waiting, "waiting-threads", _WAITING),
)
def test_main_writes_the_block_of_the_document(
    module: Any,
    block: str,
    options: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    root: Path,
) -> None:
    path = Path(shutil.copy(root / "docs/performance.md", tmp_path))
    monkeypatch.setattr(module, "table", lambda *_, **__: "| the table |")
    module.main(tmp_path, **options, output=path)
    written = path.read_text(encoding="utf-8").partition(f"<!-- {block}: generated -->")[2]
    assert written.partition("<!-- end -->")[0].rstrip().endswith("| the table |")


def test_errors_of_cc_hf_end_a_benchmark_by_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def main(name: str) -> None:
        raise DataError(f"there is no {name}")

    monkeypatch.setattr(sys, "argv", ["benchmark", "file"])
    with pytest.raises(SystemExit, match=r"^there is no file$"):
        run_main(main)


@pytest.mark.shared
def test_the_parts_of_scoring_are_all_of_its_time(shared: Path, tmp_path: Path) -> None:
    measured = parts.measure_parts("cc-tiny-en-de", "exact", shared / "upstream", tmp_path, 8)
    assert sum(measured.shares.values()) == pytest.approx(1)
    assert measured.shares["products with weights"] > 0
    assert measured.rate > 0


def test_the_table_has_a_column_for_each_model_and_mode(tmp_path: Path) -> None:
    def launch(_function: object, _threads: int, name: str, mode: str, *_: object) -> parts.Parts:
        titles = [*parts.OPERATIONS, "other operations", "tokenising", "Python"]
        of_peak = None if name == "wmt19" else 0.9
        return parts.Parts(dict.fromkeys(titles, 1 / len(titles)), 1000.0 + len(mode), of_peak)

    header, _, *rows = parts.table(
        ["wmt19", "nllb"], ["exact", "bf16"], tmp_path, tmp_path, n_pairs=4, launch=launch
    ).splitlines()
    assert header == "| part | wmt19, exact | wmt19, bf16 | nllb, exact | nllb, bf16 |"
    assert [row.split("|")[1].strip() for row in rows[:2]] == [
        "products with weights",
        "products of attention",
    ]
    assert rows[0].count("| 12 %") == 4
    assert rows[-2] == "| rate of the products, of peak | – | – | 90 % | 90 % |"
    assert rows[-1] == "| pairs/s, one thread | 1,005 | 1,004 | 1,005 | 1,004 |"


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


@pytest.mark.shared
def test_the_table_has_a_row_for_each_way(shared: Path) -> None:
    header, rule, *rows = waiting.table(
        ["exact"], shared / "upstream", n_pairs=4, n_rounds=1, threads=1, n_busy=1, launch=call
    ).splitlines()
    assert header == "| threads | exact | exact, busy |"
    assert rule.count("|") == 4
    assert [row.split("|")[1].strip() for row in rows] == list(waiting.WAYS)


def test_the_table_has_medians_and_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOMP_SPINCOUNT", "5")
    seen = set()

    def launch(function: Any, threads: int, mode: str, folder: Path, n: int, *_: Any) -> float:
        seen.add((os.environ.get("GOMP_SPINCOUNT"), os.environ.get("OMP_WAIT_POLICY"), n))
        return float(n)

    *_, last = waiting.table(
        ["exact", "bf16"], Path(), n_pairs=50, n_rounds=3, threads=2, n_busy=1, launch=launch
    ).splitlines()
    assert last.endswith("`OMP_WAIT_POLICY=PASSIVE` | 50 | 50 | 12 (4.2 ×) | 12 (4.2 ×) |")
    assert {(None, None, 50), ("10000", None, 12), (None, "PASSIVE", 12)} <= seen
    assert not any(spins == "5" for spins, _, _ in seen)
    assert os.environ["GOMP_SPINCOUNT"] == "5"
