"""`cc-hf compare` of different data, of scores and of figures of studies."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cc_hf.reports.side_by_side import of_several_data, read_contents, side_by_side
from tests.helpers.usual import (
    judgement,
    printed_by,
    read_json,
    refuses,
    result_of,
    write_result,
    write_text,
)


def write_scores(path: Path, *rows: tuple[str, float]) -> Path:
    return write_text(path, json.dumps([{"system": s, "bleu": bleu} for s, bleu in rows]))


def judged(folder: Path, name: str, right: str, **fields: Any) -> Path:
    rows = [judgement(i, ("incorrect", "correct")[int(r)]) for i, r in enumerate(right)]
    return write_result(folder, name, result_of(rows, **fields))


def test_scores_of_several_test_sets_have_a_mean(tmp_path: Path) -> None:
    first = write_scores(tmp_path / "nt13.json", ("base", 20.0), ("big", 26.5))
    files = [first, write_scores(tmp_path / "nt14.json", ("base", 23.0))]
    shown = side_by_side(read_contents(files))
    values = {key: cell.value for key, cell in shown.tables["BLEU"].items()}
    assert values == {("nt13", "base"): 0.2, ("nt13", "big"): 0.265, ("nt14", "base"): 0.23}
    assert shown.means == {("BLEU", "base"): pytest.approx(0.215)}  # "big" lacks a set
    out = tmp_path / "out.json"
    picture = tmp_path / "bars.svg"
    printed = printed_by("compare", *files, "-o", out, "--plot", picture)
    drawn = picture.read_text(encoding="utf-8")
    assert all(f">{text}<" in drawn for text in ("BLEU", "nt13", "nt14", "base", "big"))
    bars = re.findall(r'd="M \S+ (\S+) \nL.*\nL \S+ (\S+) \nL.*\nz\n" clip-path', drawn)
    heights = [float(ground) - float(top) for ground, top in bars]
    assert [20 * height / heights[0] for height in heights] == pytest.approx([20, 23, 26.5])
    assert "mean   21.50" in printed
    assert read_json(out)["tables"][0]["means"] == {"base": pytest.approx(0.215)}


def test_results_on_different_data_stand_side_by_side(tmp_path: Path) -> None:
    systems = (("a", "0011", "de", "base"), ("b", "0111", "de", "big"), ("c", "0001", "fr", "base"))
    files = [
        judged(
            tmp_path,
            name,
            right,
            scores={"accuracy": right.count("1") / 4},
            dataset="wino_x",
            config=f"mt_en_{lang}.translations",
            system=system,
        )
        for name, right, lang, system in systems
    ]
    assert [of_several_data(read_contents(files[:n])) for n in (1, 2, 3)] == [False, False, True]
    (table,) = side_by_side(read_contents(files)).tables.values()
    shown = [(system, cell.value) for (_, system), cell in table.items()]
    assert shown == [("base", 0.5), ("big", 0.75), ("base", 0.25)]
    assert "no differences are tested" in printed_by("compare", *files)
    refuses("shared, right_alone: .* on the same data", printed_by, "compare --shared", *files)
    refuses(
        "plot: .* on different data", printed_by, f"compare --plot {tmp_path}/bars.svg", *files[:2]
    )


def test_a_figure_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    path = write_scores(tmp_path / "nt13.json", ("base", 20.0), ("base", 21.0))
    refuses("expected one value of base on nt13, got two", side_by_side, read_contents([path]))
    path.write_text('[{"system": 1, "bleu": 2}]', encoding="utf-8")
    refuses(
        r"nt13.json: item 1: system: expected a text, got 1", side_by_side, read_contents([path])
    )
