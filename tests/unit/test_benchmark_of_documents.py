"""Benchmarks write the blocks of docs/performance.md, and say what is wrong."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import parts, pattern_matching, waiting
from benchmarks.command import run_main
from cc_hf.errors import DataError

_WAITING = {"modes": "exact", "pairs": 20, "rounds": 1, "threads": 2, "busy": 1}


@pytest.mark.parametrize(
    ("module", "block", "options"),
    [
        (parts, "scoring-parts", {"sizes": "opus-mt", "modes": "exact", "pairs": 20}),
        (pattern_matching, "pattern-matching", {"systems": "aws/en-de", "rounds": 1}),
        (waiting, "waiting-threads", _WAITING),
    ],
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
