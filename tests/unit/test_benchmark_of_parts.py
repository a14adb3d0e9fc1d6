"""The benchmark of the parts of scoring runs. Times are not tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import parts


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
