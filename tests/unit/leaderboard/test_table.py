from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cc_hf.errors import InputError
from cc_hf.leaderboard.html import message, notes_html, result_html
from cc_hf.leaderboard.scatter import scatter_svg
from cc_hf.leaderboard.store import Quality, Store, read_folder
from cc_hf.leaderboard.table import HEADERS, SORT_KEYS, Row, choices, display_cells, filtered, points, sorted_rows, table_rows, to_csv, to_json
from tests.helpers.results import small_result, write_result

EVIL = "<script>alert(1)</script>&\"'"


@pytest.fixture
def rows(tmp_path: Path) -> list[Row]:
    write_result(tmp_path, "aws", small_result((0.4, 0.9)))
    write_result(tmp_path, "google", small_result((0.5, 0.7)))
    write_result(tmp_path, "other", small_result((0.2, 0.3), dataset="mucow", config="en-cs", tgt_lang="cs", metric="mucow_pattern_matching"))
    return table_rows(read_folder(tmp_path), Quality({("aws", "", ""): 0.4, ("google", "", ""): 0.3}))


def test_rows(rows: list[Row]) -> None:
    aws = rows[0]
    assert (aws.system, aws.dataset, aws.language, aws.n, aws.bleu) == ("aws", "winomt", "en-de", 20, 0.4)
    assert (aws.min_accuracy, aws.accuracy, aws.weighted_accuracy) == (0.4, 0.65, None)
    assert (aws.accuracy_low, aws.accuracy_high, aws.min_accuracy_low) == (0.55, 0.75, None)
    assert aws.other_figures == {"delta_x": -0.5}
    cells = dict(zip(HEADERS, display_cells(aws), strict=True))
    assert (cells["min. accuracy"], cells["accuracy"], cells["weighted"], cells["BLEU"], cells["other figures"]) == (40.0, 65.0, None, 40.0, "delta x -50.0")
    assert len(set(HEADERS)) == len(HEADERS)
    assert cells["acc. 95 %"] == "55.0 – 75.0"
    assert display_cells(rows[2])[1] == "mucow en-cs"


def test_filters(rows: list[Row]) -> None:
    assert choices(rows, "language") == ["en-cs", "en-de"]
    assert [row.system for row in filtered(rows, dataset="winomt")] == ["aws", "google"]
    assert [row.system for row in filtered(rows, language="en-cs", metric="mucow_pattern_matching")] == ["other"]
    assert filtered(rows, dataset="winomt", language="en-cs") == []
    assert [row.system for row in filtered(rows, text="GOOGLE wino")] == ["google"]
    assert filtered(rows) == rows


def test_sorting(rows: list[Row]) -> None:
    assert [row.system for row in sorted_rows(rows, "minimum accuracy")] == ["google", "aws", "other"]
    assert [row.system for row in sorted_rows(rows, "accuracy", descending=False)] == ["other", "google", "aws"]
    assert [row.system for row in sorted_rows(rows, "BLEU", descending=False)] == ["google", "aws", "other"]  # without BLEU last
    assert [row.system for row in sorted_rows(rows, "BLEU")] == ["aws", "google", "other"]
    assert {len(sorted_rows(rows, by)) for by in SORT_KEYS} == {3}
    with pytest.raises(InputError, match="sort: expected one of"):
        sorted_rows(rows, "beauty")


def test_files_to_fetch(rows: list[Row]) -> None:
    read = list(csv.DictReader(io.StringIO(to_csv(rows))))
    assert [row["system"] for row in read] == ["aws", "google", "other"]
    assert float(read[0]["min_accuracy"]) == 0.4
    assert json.loads(read[0]["other_figures"]) == {"delta_x": -0.5}
    assert read[2]["bleu"] == ""
    assert json.loads(to_json(rows))[1]["min_accuracy"] == 0.5
    assert json.loads(to_json(rows))[2]["bleu"] is None


@pytest.mark.parametrize("first", "=+-@＝＋－＠\t")
def test_a_spreadsheet_sees_no_formula(tmp_path: Path, first: str) -> None:
    write_result(tmp_path, "a", small_result((0.4, 0.9), system=f"{first}1+1"))
    rows = table_rows(read_folder(tmp_path))
    assert next(csv.DictReader(io.StringIO(to_csv(rows))))["system"] == f"'{first}1+1"
    assert json.loads(to_json(rows))[0]["system"] == f"{first}1+1"


def test_the_chart(rows: list[Row]) -> None:
    assert points(rows) == [("aws", 0.4, 0.4), ("google", 0.3, 0.5)]
    tree = ET.fromstring(scatter_svg(points(rows)))
    space = "{http://www.w3.org/2000/svg}"
    circles = {group[0].text: (float(group[1].get("cx", "")), float(group[1].get("cy", ""))) for group in tree.iter(f"{space}g")}
    aws, google = (next(place for name, place in circles.items() if name and name.startswith(system)) for system in ("aws", "google"))
    assert aws[0] > google[0]  # a higher BLEU is further right
    assert aws[1] > google[1]  # a lower accuracy is further down
    labels = [text.text for text in tree.iter(f"{space}text")]
    assert {"aws", "google", "BLEU", "minimum accuracy (%)", "40", "50"} <= set(labels)


@pytest.mark.parametrize("values", [[(0.0, 0.0)], [(1.0, 1.0)], [(0.3, 0.5), (0.3, 0.5)], [(0.0, 1.0), (1.0, 0.0)], [(0.311, 0.4), (0.312, 0.401)]])
def test_points_stay_on_the_chart(values: list[tuple[float, float]]) -> None:
    tree = ET.fromstring(scatter_svg([(f"s{i}", x, y) for i, (x, y) in enumerate(values)]))
    places = [(float(c.get("cx", "nan")), float(c.get("cy", "nan"))) for c in tree.iter("{http://www.w3.org/2000/svg}circle")]
    assert len(places) == len(values)
    assert all(60 <= x <= 700 and 15 <= y <= 335 for x, y in places)


def test_texts_from_outside_are_escaped() -> None:
    result = small_result((0.4, 0.9), dataset=EVIL, config=EVIL)
    store = Store((), {EVIL: EVIL}, {EVIL: {EVIL: EVIL}})
    for html in (message(EVIL), notes_html(store), result_html(result), scatter_svg([(EVIL, 0.3, 0.4)], title=EVIL)):
        assert "<script" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in html


def test_notes() -> None:
    assert "No results yet" in notes_html(Store(()))
    full = read_folder_of_one()
    assert notes_html(full) == ""
    assert "2 files of the folder could not be read" in notes_html(Store(full.entries, {"a.json": "x", "b.json": "y"}))


def read_folder_of_one() -> Store:
    from cc_hf.leaderboard.store import Entry

    return Store((Entry("a", "a.json", small_result((0.4, 0.9))),))


def test_a_result_as_html() -> None:
    html = result_html(small_result((0.4, 0.9)))
    for text in ("winomt default de: contrastive conditioning", "40.0", "65.0", "55.0 – 75.0", "delta x", "-50.0", "cc|data:winomt/default@1"):
        assert text in html
    assert html.index("min accuracy") < html.index("accuracy male") < html.index("accuracy female") < html.index("delta x")
