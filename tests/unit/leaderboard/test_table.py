from __future__ import annotations

import csv
import dataclasses
import io
import json
import unicodedata
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cc_hf.data.quality_scores import QualityScores
from cc_hf.errors import InputError
from cc_hf.leaderboard.html import message, notes_html, plot_html, result_html
from cc_hf.leaderboard.store import Store, read_folder
from cc_hf.leaderboard.table import (
    HEADERS,
    SORT_KEYS,
    LeaderboardRow,
    choices,
    display_cells,
    filtered,
    leaderboard_rows,
    sorted_rows,
    to_csv,
    to_json,
)
from tests.helpers.results import small_result, write_result

EVIL = "<script>alert(1)</script>&\"'"


@pytest.fixture
def rows(tmp_path: Path) -> list[LeaderboardRow]:
    write_result(tmp_path, "aws", small_result((0.4, 0.9)))
    write_result(tmp_path, "google", small_result((0.5, 0.7)))
    write_result(
        tmp_path,
        "other",
        small_result(
            (0.2, 0.3),
            dataset="mucow",
            config="en-cs",
            tgt_lang="cs",
            metric="mucow_pattern_matching",
        ),
    )
    return leaderboard_rows(
        read_folder(tmp_path), QualityScores({("aws", "", ""): 0.4, ("google", "", ""): 0.3})
    )


def test_rows_hold_the_figures_of_the_results(rows: list[LeaderboardRow]) -> None:
    aws = rows[0]
    assert (aws.system, aws.dataset, aws.language, aws.n, aws.bleu) == (
        "aws",
        "winomt",
        "en-de",
        20,
        0.4,
    )
    assert (aws.min_accuracy, aws.accuracy, aws.weighted_accuracy) == (0.4, 0.65, None)
    assert (aws.accuracy_low, aws.accuracy_high, aws.min_accuracy_low) == (0.55, 0.75, None)
    assert aws.other_figures == {"delta_x": -0.5}
    cells = dict(zip(HEADERS, display_cells(aws), strict=True))
    assert (
        cells["min. accuracy"],
        cells["accuracy"],
        cells["weighted"],
        cells["BLEU"],
        cells["other figures"],
    ) == (40.0, 65.0, None, 40.0, "delta x -50.0")
    assert len(set(HEADERS)) == len(HEADERS)
    assert cells["acc. 95 %"] == "55.0 – 75.0"
    assert display_cells(rows[2])[1] == "mucow en-cs"


def test_rows_can_be_filtered_by_dataset_language_and_metric(rows: list[LeaderboardRow]) -> None:
    assert choices(rows, "language") == ["en-cs", "en-de"]
    assert [row.system for row in filtered(rows, dataset="winomt")] == ["aws", "google"]
    assert [
        row.system for row in filtered(rows, language="en-cs", metric="mucow_pattern_matching")
    ] == ["other"]
    assert filtered(rows, dataset="winomt", language="en-cs") == []
    assert [row.system for row in filtered(rows, text="GOOGLE wino")] == ["google"]
    assert filtered(rows) == rows


def test_rows_can_be_sorted_by_any_column(rows: list[LeaderboardRow]) -> None:
    assert [row.system for row in sorted_rows(rows, "minimum accuracy")] == [
        "google",
        "aws",
        "other",
    ]
    assert [row.system for row in sorted_rows(rows, "accuracy", descending=False)] == [
        "other",
        "google",
        "aws",
    ]
    # rows without BLEU come last
    assert [row.system for row in sorted_rows(rows, "BLEU", descending=False)] == [
        "google",
        "aws",
        "other",
    ]
    assert [row.system for row in sorted_rows(rows, "BLEU")] == ["aws", "google", "other"]
    assert {len(sorted_rows(rows, by)) for by in SORT_KEYS} == {3}
    with pytest.raises(InputError, match="sort: expected one of"):
        sorted_rows(rows, "beauty")


def test_csv_and_json_hold_all_figures(rows: list[LeaderboardRow]) -> None:
    read = list(csv.DictReader(io.StringIO(to_csv(rows))))
    assert [row["system"] for row in read] == ["aws", "google", "other"]
    assert float(read[0]["min_accuracy"]) == 0.4
    assert json.loads(read[0]["other_figures"]) == {"delta_x": -0.5}
    assert read[2]["bleu"] == ""
    assert json.loads(to_json(rows))[1]["min_accuracy"] == 0.5
    assert json.loads(to_json(rows))[2]["bleu"] is None


@pytest.mark.parametrize(
    "first", "=+-@＝＋－＠\t", ids=lambda first: unicodedata.name(first, "tab").lower()
)
def test_csv_cells_cannot_be_read_as_formulas(tmp_path: Path, first: str) -> None:
    write_result(tmp_path, "a", small_result((0.4, 0.9), system=f"{first}1+1"))
    rows = leaderboard_rows(read_folder(tmp_path))
    assert next(csv.DictReader(io.StringIO(to_csv(rows))))["system"] == f"'{first}1+1"
    assert json.loads(to_json(rows))[0]["system"] == f"{first}1+1"


def dots(html: str) -> list[tuple[float, float]]:
    """Return the positions of the points, in the order of the rows."""
    return [
        tuple(map(float, mark.get("transform", "")[len("translate(") : -1].split()))
        for mark in ET.fromstring(html).iter("path")
    ]


def test_the_chart_places_systems_by_bleu_and_accuracy(rows: list[LeaderboardRow]) -> None:
    html = plot_html(rows)
    aws, google = dots(html)
    assert aws[0] > google[0]  # a higher BLEU is further right
    assert aws[1] > google[1]  # a lower accuracy is further down
    labels = [text.text for text in ET.fromstring(html).iter("text")]
    assert {"aws", "google", "BLEU", "minimum accuracy, %", "40", "50"} <= set(labels)
    assert "other" not in labels  # it has no BLEU
    assert plot_html(rows[2:]) == ""


def test_the_chart_notes_rows_of_several_datasets(rows: list[LeaderboardRow]) -> None:
    other = dataclasses.replace(rows[1], language="en-ru")
    assert "Several datasets" not in plot_html(rows[:2])
    assert "Several datasets" in plot_html([rows[0], other])


@pytest.mark.parametrize(
    "values",
    [
        [(0.0, 0.0)],
        [(1.0, 1.0)],
        [(0.3, 0.5), (0.3, 0.5)],
        [(0.0, 1.0), (1.0, 0.0)],
        [(0.311, 0.4), (0.312, 0.401)],
    ],
    ids=["at 0", "at 1", "equal points", "corners", "close points"],
)
@pytest.mark.parametrize("has_interval", [True, False], ids=["with interval", "without interval"])
def test_points_lie_within_the_axes_of_the_chart(
    values: list[tuple[float, float]], has_interval: bool, rows: list[LeaderboardRow]
) -> None:
    def row(bleu: float, accuracy: float) -> LeaderboardRow:
        low, high = (
            (max(accuracy - 0.1, 0.0), min(accuracy + 0.1, 1.0)) if has_interval else (None, None)
        )
        return dataclasses.replace(
            rows[0], bleu=bleu, min_accuracy=accuracy, min_accuracy_low=low, min_accuracy_high=high
        )

    html = plot_html([row(*value) for value in values])
    assert len(dots(html)) == len(values)
    width, height = (
        float(size) for size in next(ET.fromstring(html).iter("svg")).get("viewBox", "").split()[2:]
    )
    assert all(40 <= x <= width and 5 <= y <= height - 40 for x, y in dots(html))
    assert ('class="line' in html) == has_interval


def test_texts_of_results_are_escaped_in_html(rows: list[LeaderboardRow]) -> None:
    result = small_result((0.4, 0.9), dataset=EVIL, config=EVIL)
    store = Store((), {EVIL: EVIL})
    for html in (
        message(EVIL),
        notes_html(store),
        result_html(result),
        plot_html([dataclasses.replace(rows[0], system=EVIL)]),
    ):
        assert "<script" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in html


def test_notes_report_missing_results_and_broken_files() -> None:
    assert "There are no results yet" in notes_html(Store(()))
    full = read_folder_of_one()
    assert notes_html(full) == ""
    assert "2 files of the folder could not be read" in notes_html(
        Store(full.entries, {"a.json": "x", "b.json": "y"})
    )


def read_folder_of_one() -> Store:
    from cc_hf.leaderboard.store import StoredResult

    return Store((StoredResult("a", "a.json", small_result((0.4, 0.9))),))


def test_a_result_can_be_shown_as_html() -> None:
    html = result_html(small_result((0.4, 0.9)))
    for text in (
        "WinoMT, English → German: contrastive conditioning",
        "40.0",
        "65.0",
        "55.0 – 75.0",
        "delta x",
        "-50.0",
        "cc|data:winomt/default@1",
    ):
        assert text in html
    assert (
        html.index("minimum accuracy")
        < html.index("accuracy on male")
        < html.index("accuracy on female")
        < html.index("delta x")
    )
