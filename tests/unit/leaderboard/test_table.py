from __future__ import annotations

import csv
import io
import json
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cc_hf.data.files.quality_scores import QualityScores
from cc_hf.leaderboard.html import (
    board_html,
    message,
    notes_html,
    plot_html,
    result_html,
    system_order,
)
from cc_hf.leaderboard.store import Store, StoredResult, read_folder
from cc_hf.leaderboard.table import (
    Choice,
    Figure,
    LeaderboardRow,
    columns_of,
    default_columns,
    first_choice,
    leaderboard_rows,
    nearest_choice,
    ranked,
    ranking_figures,
    rows_of,
    to_csv,
    to_json,
)
from cc_hf.reports.figure_text import figure_name
from cc_hf.results import EvaluationResult
from tests.helpers.cases import cases
from tests.helpers.results import small_result, write_result

if TYPE_CHECKING:
    from playwright.sync_api import Page

EVIL = "<script>alert(1)</script>&\"'"


@pytest.fixture
def rows(tmp_path: Path) -> list[LeaderboardRow]:
    other = {"dataset": "mucow", "config": "en-cs", "tgt_lang": "cs"}
    mucow = small_result((0.2, 0.3), metric="mucow_pattern_matching", **other)
    quality = QualityScores({("aws", "", ""): 0.4, ("google", "", ""): 0.3})
    results = {"aws": small_result((0.4, 0.9)), "google": small_result((0.5, 0.7)), "other": mucow}
    return rows_in(tmp_path, results, quality)


def rows_in(
    folder: Path, results: Mapping[str, EvaluationResult], quality: QualityScores | None = None
) -> list[LeaderboardRow]:
    """Return the rows of a folder with these results."""
    for name, result in results.items():
        write_result(folder, name, result)
    return leaderboard_rows(read_folder(folder), quality)


def test_rows_hold_the_figures_of_the_results(rows: list[LeaderboardRow]) -> None:
    aws = rows[0]
    named = (aws.system, aws.dataset, aws.language, aws.n, aws.bleu, aws.evaluator)
    assert named == ("aws", "winomt", "en-de", 20, 0.4, "")
    assert aws.choice == (("winomt", "default"), "en-de", "contrastive_conditioning")
    assert aws.figures["min_accuracy"] == (0.4, None, None)
    assert aws.figures["accuracy"] == (0.65, 0.55, 0.75)
    assert aws.figures["delta_x"] == (-0.5, None, None)


_BASIC = "|prompt:basic.1a2b.logprob|shots:0"


@cases(
    ("", "", ""),
    ("|eval:cc-tiny@0a1b", "cc-tiny", ""),
    ("|eval:a@1+b@2", "a+b", ""),
    ("|eval:function own", "function own", ""),
    ("|prompt:cota.1a2b|shots:4|orders:given", "", "cota, 4 demonstrations"),
    (f"{_BASIC}|orders:both", "", "basic, 0 demonstrations, both orders, by log-probability"),
)
def test_rows_name_the_evaluator_and_how_a_language_model_was_asked(
    fields: str, evaluator: str, prompt: str, tmp_path: Path
) -> None:
    rows = rows_in(tmp_path, {"aws": small_result((0.4, 0.9), fields=fields)})
    assert (rows[0].evaluator, rows[0].prompt) == (evaluator, prompt)
    assert ("prompt" in default_columns(rows)) == bool(prompt)


def test_the_table_begins_with_the_choice_of_most_systems(rows: list[LeaderboardRow]) -> None:
    winomt = Choice(("winomt", "default"), "en-de", "contrastive_conditioning")
    assert first_choice(rows) == winomt
    assert first_choice(rows[1:]) == rows[2].choice  # one system each: the first by name
    assert first_choice(rows[1:], "en-de") == winomt
    assert first_choice([]) is None


def test_a_choice_is_kept_as_far_as_results_allow(rows: list[LeaderboardRow]) -> None:
    mucow = rows[2].choice
    assert nearest_choice(rows, mucow.data, "en-de", "contrastive_conditioning") == mucow
    assert nearest_choice(rows, ("x", "y"), "en-cs") == mucow
    assert nearest_choice([], mucow.data) is None


def test_only_rows_of_the_choice_with_the_words_are_shown(rows: list[LeaderboardRow]) -> None:
    choice = rows[0].choice
    assert [row.system for row in rows_of(rows, choice)] == ["aws", "google"]
    assert [row.system for row in rows_of(rows, choice, "GOOGLE Json")] == ["google"]
    assert rows_of(rows, choice, "nobody") == []


def test_systems_are_ranked_and_equal_ones_share_a_rank(rows: list[LeaderboardRow]) -> None:
    aws, google, _ = rows
    several = [replace(aws, system="a", figures={}), replace(aws, system="Zebra"), aws, google]
    found = [(rank, row.system) for rank, row in ranked(several, "accuracy")]
    assert found == [(1, "aws"), (1, "Zebra"), (3, "google"), (None, "a")]
    assert [row.system for _, row in ranked(rows[:2], "min_accuracy")] == ["google", "aws"]


@cases(
    ("gender_quality_gap", "bleu_gap", (-0.2, 0.1, 0.2), [(1, 1), (2, 0), (2, 2)]),
    ("winomt_pattern_matching", "delta_g", (0.3, -0.1, 0), [(1, 2), (2, 1), (3, 0)]),
    ("homograph_accuracy", "flip_rate", (0.3, 0.1, 0.2), [(1, 1), (2, 2), (3, 0)]),
    ("contrastive_conditioning", "mean_confidence", (0.3, 0.1), [(None, 0), (None, 1)]),
)
def test_ranks_follow_the_best_value_that_the_metric_declares(
    metric: str,
    name: str,
    values: tuple[float, ...],
    expected: list[tuple[int | None, int]],
    rows: list[LeaderboardRow],
) -> None:
    row = replace(rows[0], metric=metric)
    of_metric = [
        replace(row, system=str(i), figures={name: Figure(value), "n_x": Figure(i)})
        for i, value in enumerate(values)
    ]
    by = "" if name == "mean_confidence" else name
    assert ranking_figures(of_metric) == [by] * bool(by)
    assert [(rank, int(row.system)) for rank, row in ranked(of_metric, by)] == expected
    header = f'data-column="{name}" data-best="{figure_name(metric, name).best}"'
    assert header in board_html(of_metric, by, [name], system_order(of_metric))


@pytest.mark.browser
def test_a_click_puts_the_best_first_and_unfit_last(rows: list[LeaderboardRow], page: Page) -> None:
    names = ["delta_g", "accuracy"]
    values = {"a": (-0.3, 0.5), "b": (0.01, 0.6), "c": (0.2, 0.7), "itself": (0.0, 0.9)}
    row = replace(rows[0], metric="winomt_pattern_matching")
    shown = [
        replace(row, system=system, figures=dict(zip(names, map(Figure, pair), strict=True)))
        for system, pair in values.items()
    ]
    shown[3] = replace(shown[3], unfit=dict.fromkeys(names, "why"))
    script = files("cc_hf.leaderboard").joinpath("page.js").read_text(encoding="utf-8")
    html = board_html(shown, "accuracy", names, system_order(shown))
    page.set_content(f"{html}<script>{script}</script>")

    def order(header: str) -> str:
        page.locator("thead button").get_by_text(header).click()
        return "".join(text[0] for text in page.locator("tbody th").all_inner_texts())

    assert order("gender gap") == "bcai"
    assert order("gender gap") == "acbi"
    assert order("accuracy") == "cbai"
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    assert order("system") == "abci"


def test_the_quality_gap_is_ranked_by_the_gap(rows: list[LeaderboardRow]) -> None:
    names = [f"{score}_{part}" for score in ("bleu", "chrf") for part in ("male", "female", "gap")]
    figures = {name: Figure(0.1) for name in names}
    found = ranking_figures([replace(rows[0], metric="gender_quality_gap", figures=figures)])
    assert found[:2] == ["bleu_gap", "chrf_gap"]
    assert set(found) == set(names)


def test_systems_named_like_models_of_the_hub_link_to_them(rows: list[LeaderboardRow]) -> None:
    names = {"org/model-1.b": True, "aws": False, "a/b/c": False, "<i>/x": False}
    shown = [replace(rows[0], system=name) for name in names]
    html = board_html(shown, "accuracy", [], system_order(shown))
    assert html.count("<a href") == sum(names.values()) == 1
    assert '<a href="https://huggingface.co/org/model-1.b" rel="noopener">' in html


def test_a_system_that_judged_itself_is_marked_in_csv_and_chart(tmp_path: Path) -> None:
    judged = small_result((0.9, 0.9), fields="|sys:judge@1/beam5|eval:judge@2")
    rows = rows_in(tmp_path, {"judge": judged})
    assert "judged by itself" in to_csv(rows)
    assert "(not fit to cite)" in plot_html([replace(rows[0], bleu=0.3)], system_order(rows))


def test_rows_are_ranked_by_a_minimum_accuracy_if_any(rows: list[LeaderboardRow]) -> None:
    assert ranking_figures(rows[:2]) == ["min_accuracy", "accuracy"]
    # a corrected figure ranks first where all rows have it
    corrected = {"corrected_min_accuracy": Figure(0.4)}
    fully = [replace(row, figures={**row.figures, **corrected}) for row in rows[:2]]
    assert ranking_figures(fully)[0] == "corrected_min_accuracy"
    assert ranking_figures([fully[0], rows[1]])[0] == "min_accuracy"
    # the scores that the metric names are not in this result
    assert ranking_figures(rows[2:])[0] == "min_accuracy"
    unknown = replace(rows[0], metric="own", figures={"f1": Figure(0.6)})
    assert ranking_figures([unknown]) == []  # nobody says whether a high f1 is good
    assert "ranked by" not in board_html([unknown], "", ["f1"], [unknown.system])
    assert ranking_figures([]) == []


def test_columns_are_those_that_rows_can_fill(rows: list[LeaderboardRow]) -> None:
    figures = ["accuracy", "min_accuracy", "accuracy_male", "accuracy_female", "delta_x"]
    assert columns_of(rows[:2]) == [*figures, "bleu", "date", "n", "signature", "file"]
    assert default_columns(rows[:2]) == ["min_accuracy", "accuracy", "bleu", "date"]
    assert "bleu" not in columns_of(rows[2:])


def cells(html: str) -> list[list[str]]:
    """Return the texts of the table's cells, row by row, without the bar."""
    table = next(ET.fromstring(f"<div>{html}</div>").iter("table"))
    return [
        ["/".join(text.strip() for text in cell.itertext() if text.strip()) for cell in line]
        for line in table.iter("tr")
    ]


def test_the_ranking_shows_intervals_in_the_cell_of_the_figure(rows: list[LeaderboardRow]) -> None:
    columns = ["bleu", "accuracy", "delta_x", "f1"]
    html = board_html(rows[:2], "accuracy", columns, ["aws", "google"])
    assert cells(html) == [
        ["#/rank", "system", "accuracy", "delta x", "BLEU"],
        ["1", "aws", "65.0/55.0 – 75.0", "-50.0", "40.0"],
        ["2", "google", "60.0/50.0 – 70.0", "-20.0", "30.0"],
    ]
    assert "WinoMT, English → German" in html
    assert "No result matches" in board_html([], "accuracy", [], [])


def test_more_systems_than_colours_have_different_marks(rows: list[LeaderboardRow]) -> None:
    many = [replace(rows[0], system=f"system {i:02}") for i in range(30)]
    html = board_html(many, "accuracy", [], system_order(many))
    spans = [
        s for s in ET.fromstring(f"<div>{html}</div>").iter("span") if not s.get("aria-hidden")
    ]
    assert len({s.get("class") for s in spans if "cc-mark " in s.get("class", "")}) == 30


def test_a_note_names_its_systems_unless_all_have_it(rows: list[LeaderboardRow]) -> None:
    notes = (("Of all.",), ("Of all.", "Of one."))
    noted = [replace(row, notes=of) for row, of in zip(rows[:2], notes, strict=True)]
    html = board_html(noted, "accuracy", [], ["aws", "google"])
    assert ">Of all.</p>" in html
    assert "<b>google</b>: Of one.</p>" in html


def test_csv_and_json_hold_all_figures(rows: list[LeaderboardRow]) -> None:
    read = list(csv.DictReader(io.StringIO(to_csv(rows))))
    assert [row["system"] for row in read] == ["aws", "google", "other"]
    assert float(read[0]["min_accuracy"]) == 0.4
    assert (float(read[0]["accuracy_low"]), float(read[0]["delta_x"])) == (0.55, -0.5)
    assert read[0]["min_accuracy_low"] == ""
    assert read[2]["bleu"] == ""
    assert json.loads(to_json(rows))[1]["min_accuracy"] == 0.5
    assert json.loads(to_json(rows))[2]["bleu"] is None


@pytest.mark.parametrize(
    "first", "=+-@＝＋－＠\t", ids=lambda first: unicodedata.name(first, "tab").lower()
)
def test_csv_cells_cannot_be_read_as_formulas(tmp_path: Path, first: str) -> None:
    rows = rows_in(tmp_path, {"a": small_result((0.4, 0.9), system=f"{first}1+1")})
    assert next(csv.DictReader(io.StringIO(to_csv(rows))))["system"] == f"'{first}1+1"
    assert json.loads(to_json(rows))[0]["system"] == f"{first}1+1"


def dots(html: str) -> list[tuple[float, float]]:
    """Return the positions of the points, in the order of the rows."""
    return [
        (float(x), float(y))
        for mark in ET.fromstring(html).iter("path")
        for x, y in [mark.get("transform", "")[len("translate(") : -1].split()]
    ]


def test_the_chart_places_systems_by_bleu_and_accuracy(rows: list[LeaderboardRow]) -> None:
    html = plot_html(rows, system_order(rows))
    aws, google = dots(html)
    assert aws[0] > google[0]  # a higher BLEU is further right
    assert aws[1] > google[1]  # a lower accuracy is further down
    labels = [text.text for text in ET.fromstring(html).iter("text")]
    assert {"aws", "google", "BLEU", "minimum accuracy, %", "40", "50"} <= set(labels)
    assert "other" not in labels  # it has no BLEU
    assert plot_html(rows[2:], system_order(rows)) == ""


def test_a_ranking_by_weighted_figures_has_a_weighted_chart(rows: list[LeaderboardRow]) -> None:
    weighted = [
        replace(row, figures={**row.figures, "weighted_min_accuracy": row.figures["min_accuracy"]})
        for row in rows[:2]
    ]
    html = plot_html(weighted, system_order(rows), "weighted_accuracy")
    assert "weighted minimum accuracy, %" in html
    assert plot_html(rows, system_order(rows), "weighted_accuracy") == ""


def test_a_system_has_one_colour_in_every_table_and_chart(rows: list[LeaderboardRow]) -> None:
    systems = system_order(rows)
    assert systems == ["aws", "google", "other"]
    for shown in (rows[:2], rows[1:2]):
        assert "fill s1" in plot_html(shown, systems)
        assert "cc-mark s1 m1" in board_html(shown, "accuracy", [], systems)


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
        limits = (max(accuracy - 0.1, 0.0), min(accuracy + 0.1, 1.0)) if has_interval else ()
        return replace(rows[0], bleu=bleu, figures={"min_accuracy": Figure(accuracy, *limits)})

    html = plot_html([row(*value) for value in values], ["aws"])
    assert len(dots(html)) == len(values)
    size = next(ET.fromstring(html).iter("svg")).get("viewBox", "").split()[2:]
    width, height = map(float, size)
    assert all(40 <= x <= width and 5 <= y <= height - 40 for x, y in dots(html))
    assert ('class="line' in html) == has_interval


def test_texts_of_results_are_escaped_in_html(rows: list[LeaderboardRow]) -> None:
    evil = replace(rows[0], system=EVIL, notes=(EVIL,), signature=EVIL, file=EVIL)
    for html in (
        message(EVIL),
        notes_html(Store((), {EVIL: EVIL})),
        result_html(small_result((0.4, 0.9), dataset=EVIL, config=EVIL)),
        plot_html([evil], [EVIL]),
        board_html([evil], "accuracy", ["signature", "file"], [EVIL]),
    ):
        assert "<script" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in html


def test_notes_report_missing_results_and_broken_files() -> None:
    assert "There are no results yet" in notes_html(Store(()))
    entries = (StoredResult("a", "a.json", small_result((0.4, 0.9))),)
    assert notes_html(Store(entries)) == ""
    broken = notes_html(Store(entries, {"a.json": "x", "b.json": "y"}))
    assert "2 files of the folder could not be read" in broken


def test_a_result_can_be_shown_as_html() -> None:
    html = result_html(small_result((0.4, 0.9)))
    assert "WinoMT, English → German: contrastive conditioning" in html
    for value in ("40.0", "65.0", "55.0 – 75.0", "-50.0", "cc|data:winomt/default@1"):
        assert value in html
    names = ["minimum accuracy", "accuracy on male", "accuracy on female", "delta x"]
    assert sorted(names, key=html.index) == names
