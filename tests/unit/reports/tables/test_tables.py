"""Tables of studies on a terminal of 80 columns: no cell is cut, and no line is wider."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console, RenderableType
from rich.text import Text

from cc_hf.comparing.metrics import evaluator_agreement
from cc_hf.reports.tables.base import plain_table
from cc_hf.statistics.mean_tests import TTest
from cc_hf.studies.wino_x.bias_tables import (
    bias_tables,
    evaluator_agreement_tables,
    referent_bias_tables,
    trigger_importance_tables,
)
from cc_hf.studies.wino_x.referent_bias import referent_bias
from cc_hf.studies.wino_x.salience import Importance, SubwordImportance, TriggerImportance
from cc_hf.studies.wino_x.tables import curve_tables
from tests.studies.wino_x.test_referent_bias import always, choices
from tests.unit.comparing.test_metrics import table as agreement_results

LONG = [f"opus-mt-tc-big-en-de-finetune-on-the-same-data-with-seed-{i:03d}" for i in range(4)]


def printed(*parts: RenderableType) -> str:
    """Return what a terminal of 80 columns shows; lines of text alone are wrapped by it."""
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    for part in parts:
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    return text


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


def test_learning_curves_fit() -> None:
    row = {"n": 12345, "accuracy": 0.98765, "pair_accuracy": 0.5, "n_ties": 1234}
    point: dict[str, Any] = {
        "n_train": 100000,
        "n_epochs": 100,
        "best_epoch": 99,
        "accuracies": {"mt_en_de.dev": row, "test": {**row, "pair_accuracy": None}},
    }
    curve = {"eval": "m", "data": "d", "objective": "o", "splits": {}, "points": [point]}
    shown = printed(*curve_tables(curve))
    assert "100,000" in shown
    assert "98.8" in shown
    assert "mt_en_de.dev" in shown


def test_biases_fit() -> None:
    frequency = {"n_preferred": 12345}
    bias = {
        "tests": [
            {"feature": feature, "coding": coding, "strength": 0.123}
            for feature, coding in (("gender", "program"), ("gender", "thesis"))
        ],
        "genders": dict.fromkeys(("male", "female", "neutral"), frequency),
    }
    assert "33.3" in printed(bias_tables([("wino_x.mt_en_de", 100000, bias)], title="bias"))


def test_trigger_importance_fits() -> None:
    test = TTest(-123.456, 0.00001, 12345.6)
    importance = Importance(12345, 12345, -0.12345, 0.5, -12.345, test, test)
    program = SubwordImportance(12345, 12345, 12.345, test)
    whole = TriggerImportance(
        12345, 12345, importance, program, importance, 1234, {"an example": "a reason"}
    )
    assert "correct against incorrect referents" in printed(
        trigger_importance_tables(whole, title="wino_x mt_en_de.translations")
    )


def test_referent_biases_fit() -> None:
    shown = printed(referent_bias_tables(referent_bias(choices(always("male"))), title="wino_x"))
    assert "gender (thesis)" in shown
    assert "neutral" in shown
