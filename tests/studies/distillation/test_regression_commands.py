from __future__ import annotations

from pathlib import Path

import pytest

from cc_hf.errors import InputError
from tests.helpers.command_line import printed_by, read_json


def test_regression_reproduces_the_published_figures(tmp_path: Path) -> None:
    printed = printed_by(
        "study", "distillation", "regression", "--published", "-o", tmp_path / "r.json"
    )
    for figure in (
        "1.78*",
        "−6.47*",
        "5.00*",
        "−7.56*",
        "1.55*",
        "−2.90*",
        "2.50*",
        "−5.15*",
        "1.39*",
        "−2.14*",
    ):
        assert figure in printed
    assert "MuCoW en-ru:" in printed
    assert "do not follow from the printed table" in printed
    rows = read_json(tmp_path / "r.json")["regressions"]
    assert [(row["published"]["task"], row["n"]) for row in rows] == [
        ("MuCoW", 30),
        ("MuCoW", 30),
        ("WinoMT", 30),
        ("WinoMT", 30),
    ]
    with pytest.raises(InputError, match="--published: expected neither files nor columns"):
        printed_by("study", "distillation", "regression", "--published", "--dependent", "x")


def test_regression_reads_a_table_of_systems(tmp_path: Path) -> None:
    path = tmp_path / "systems.csv"
    path.write_text(
        "pair,bleu,min\nde,1,1\nde,2,2.5\nde,3,2.7\nde,4,4.1\nru,1,9\n", encoding="utf-8"
    )
    printed = printed_by(
        "study",
        "distillation",
        "regression",
        path,
        "--dependent",
        "min",
        "--independent",
        "bleu",
        "--where",
        "pair=de",
        "-o",
        tmp_path / "r.json",
    )
    assert "min: least squares, n = 4" in printed
    assert read_json(tmp_path / "r.json")["coefficients"][1]["value"] == pytest.approx(0.95)
    with pytest.raises(InputError, match=r"expected FILE \.\.\. --dependent COLUMN"):
        printed_by("study", "distillation", "regression", path, "--dependent", "min")
