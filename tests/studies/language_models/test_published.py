"""The printed figures of the thesis, and the command that prints them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cc_hf.asking.plans import plan_choices
from cc_hf.studies.language_models.published import PUBLISHED_CHOICES, PUBLISHED_TRANSLATIONS
from tests.helpers.command_line import run_command
from tests.helpers.respondents import right, run_choices, schemas
from tests.helpers.results import write_result


def test_printed_differences_add_up() -> None:
    table = {(row.config, row.strategy): row.accuracy for row in PUBLISHED_CHOICES}
    printed = {"de": (-3.39, 5.09, 8.48), "fr": (0.37, 8.12, 7.75), "ru": (0.17, 5.21, 5.04)}
    for lang, expected in printed.items():
        basic, cot, cota = (
            100 * table[f"mt_en_{lang}.translations", name] for name in ("basic", "cot", "cota")
        )
        assert (cot - basic, cota - basic, cota - cot) == pytest.approx(expected, abs=1e-9)
    changes = [100 * (row.cot - row.basic) for row in PUBLISHED_TRANSLATIONS]
    assert changes == pytest.approx([0.55, -1.52, 1.26, 0.19], abs=1e-9)
    totals = [row.n_failed + row.n_invalid + row.n_valid for row in PUBLISHED_TRANSLATIONS]
    assert totals == [3000, 10_000, 3000, 10_000]


def test_the_command_prints_them_alone_or_beside_a_result(tmp_path: Path) -> None:
    assert "OS18 adversarial" in run_command("study", "language_models", "published").stdout
    rows = schemas(4)
    asked = run_choices(plan_choices(rows, n_shots=0), rows, right, tmp_path / "replies.jsonl")
    result = replace(asked, dataset="wino_x", config="mt_en_de.translations")
    write_result(tmp_path, "choices", result)
    printed = run_command("study", "language_models", "published", "choices.json", cwd=tmp_path)
    assert "gpt-3.5-turbo (2023), cota" in printed.stdout
    assert "OS18 adversarial" not in printed.stdout
