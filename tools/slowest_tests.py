"""Write the 30 slowest tests into docs/internals.md: `python -m tools.slowest_tests LOG`, of a run
of the tests with `--durations=30`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cc_hf.hub.cards import with_block
from cc_hf.reports.numbers import count

_PAGE = Path("docs/internals.md")
_LINE = re.compile(r"(\d+\.\d+)s (call|setup|teardown) +(?:\S+/)?(\w+\.py::\w+)", re.MULTILINE)


def table(log: str) -> str:
    """Return the table of a log; parameters of tests and folders are left out:
    pages of the core name no study.

    Examples:
        >>> print(table("12.34s call     tests/test_a.py::test_b[x y]").splitlines()[-1])
        | 12 | call | test_a.py::test_b |
    """
    rows = [f"| {count(float(s))} | {of} | {test} |" for s, of, test in _LINE.findall(log)]
    return "\n".join(["| seconds | of | test |", "|---|---|---|", *rows])


def main(path: Path) -> None:
    """Write the table of the log at a path."""
    body = table(path.read_text(encoding="utf-8"))
    page = with_block(_PAGE.read_text(encoding="utf-8"), "slowest-tests", body)
    _PAGE.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
