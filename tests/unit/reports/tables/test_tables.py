"""Tables of studies on a terminal of 80 columns: no cell is cut, and no line is wider."""

from __future__ import annotations

import re

import pytest
from rich.text import Text

from cc_hf.comparing.metrics import evaluator_agreement
from cc_hf.reports.tables.base import plain_table
from cc_hf.reports.tables.metrics import evaluator_agreement_tables
from tests.helpers.results import agreement_results
from tests.helpers.terminal import printed

LONG = [f"opus-mt-tc-big-en-de-finetune-on-the-same-data-with-seed-{i:03d}" for i in range(4)]


def test_long_names_are_continued_on_further_lines() -> None:
    table = plain_table("", *(f"{i}0.0 (10.0 – 20.0)" for i in range(3)))
    for name in LONG:
        table.add_row(Text(name), *["50.0 (45.1 – 54.9)"] * 3)
    shown = printed(table)
    first_column = "".join(line[:22] for line in shown.splitlines()[2:])
    joined = re.sub(r"\s", "", first_column)
    assert shown.count("50.0 (45.1 – 54.9)") == 12
    assert all(len(name) == 60 for name in LONG)
    assert all(name[-3:] in joined for name in LONG)


@pytest.mark.parametrize(
    "names",
    [["a", "b", "c"], LONG, [f"facebook/wmt19-{i}" for i in range(4)]],
    ids=["short", "long", "many"],
)
def test_evaluator_agreement_fits_and_names_every_evaluator(names: list[str]) -> None:
    values = (0.1, 0.2, 0.3, 0.4)
    agreement = evaluator_agreement(agreement_results(**dict.fromkeys(names, values)))
    shown = printed(evaluator_agreement_tables(agreement))
    joined = re.sub(r"\s", "", shown)
    assert all(name in joined for name in names)
