"""The printed figures of the thesis agree with each other, and stand beside a result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cc_hf.asking.plans import plan_choices
from cc_hf.comparing.published import read_published
from cc_hf.studies import language_models
from tests.helpers.command_line import run_command
from tests.helpers.respondents import right, run_choices, schemas
from tests.helpers.results import write_result


def test_printed_differences_add_up() -> None:
    tables = read_published(Path(language_models.__path__[0]))

    def of(name: str, row: str) -> dict[str, float]:
        cells = tables[name].rows[row]
        return {column: float(cell) for column, cell in cells.items()}

    printed = {"de": (-3.39, 5.09, 8.48), "fr": (0.37, 8.12, 7.75), "ru": (0.17, 5.21, 5.04)}
    names = {"Table 4.20": "basic", "Table 4.23": "cot", "Table 4.26": "cota"}
    for lang, expected in printed.items():
        basic, cot, cota = (of(name, row)[f"MT en-{lang}"] for name, row in names.items())
        assert (cot - basic, cota - basic, cota - cot) == pytest.approx(expected, abs=1e-9)
    basic_errors, cot_errors = of("Table 3.21", "basic"), of("Table 3.23", "chain of thought")
    changes = [cot_errors[name] - basic_errors[name] for name in basic_errors]
    assert changes == pytest.approx([0.55, -1.52, 1.26, 0.19], abs=1e-9)
    table = tables["Table 3.20"]
    totals = [sum(table.value(row, name) for name in cells) for row, cells in table.rows.items()]
    assert totals == [3000, 10_000, 3000, 10_000]


def test_a_result_stands_above_the_printed_figures(tmp_path: Path) -> None:
    rows = schemas(4)
    asked = run_choices(plan_choices(rows, n_shots=0), rows, right, tmp_path / "replies.jsonl")
    result = replace(asked, dataset="wino_x", config="mt_en_de.translations")
    write_result(tmp_path, "choices", result)
    printed = run_command("study", "language_models", "published", "choices.json", cwd=tmp_path)
    assert "100.00" in printed.stdout
    assert "55.63" in printed.stdout
    assert "OS18 adversarial" not in printed.stdout
