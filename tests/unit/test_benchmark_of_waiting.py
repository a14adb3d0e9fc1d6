"""The benchmark of waiting threads runs. Times are not tested."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks import waiting
from benchmarks.children import call


@pytest.mark.shared
def test_the_table_has_a_row_for_each_way(shared: Path) -> None:
    header, rule, *rows = waiting.table(
        ["exact"], shared / "upstream", n_pairs=4, n_rounds=1, threads=1, n_busy=1, launch=call
    ).splitlines()
    assert header == "| threads | exact | exact, busy |"
    assert rule.count("|") == 4
    assert [row.split("|")[1].strip() for row in rows] == list(waiting.WAYS)


def test_the_table_has_medians_and_each_way_its_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
