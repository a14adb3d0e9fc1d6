import csv
import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError

from cc_hf.plugins.leaderboard import html as site
from cc_hf.plugins.leaderboard import table
from cc_hf.plugins.leaderboard.static.board import build_board
from cc_hf.plugins.leaderboard.store import Store, StoredResult, read_folder
from cc_hf.plugins.leaderboard.table import BoardChoice, Figure, LeaderboardRow
from cc_hf.reports.figure_text import figure_name
from cc_hf.reports.templates import render_piece
from cc_hf.results import EvaluationResult
from tests.helpers.browser import Page
from tests.helpers.evidence import ranks_only, supported
from tests.helpers.usual import cases, fails, result_of, small_result, write_result

Rows = list[LeaderboardRow]
Results = Mapping[str, EvaluationResult]
EVIL = "<script>alert(1)</script>&\"'"


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    other = {"dataset": "mucow", "config": "en-cs", "tgt_lang": "cs"}
    mucow = small_result((0.2, 0.3), metric="mucow_pattern_matching", **other)
    quality = ["aws=40", "google=30"]
    results = {"aws": small_result((0.4, 0.9)), "google": small_result((0.5, 0.7)), "other": mucow}
    return rows_in(tmp_path, results, quality)


def rows_in(folder: Path, results: Results, quality: list[str] | None = None) -> Rows:
    """Return the rows of a folder with these results."""
    for name, result in results.items():
        write_result(folder, name, result)
    return table.leaderboard_rows(read_folder(folder), quality)


def test_rows_hold_the_figures_of_the_results(rows: Rows) -> None:
    aws = rows[0]
    named = (aws.system, aws.dataset, aws.language, aws.n, aws.bleu, aws.evaluator)
    assert named == ("aws", "winomt", "en-de", 40, 0.4, "")
    assert aws.choice == (("winomt", "default"), "en-de", "contrastive_conditioning")
    assert aws.figures["min_accuracy"] == pytest.approx((0.4, 0.2, 0.662), abs=0.0005)
    assert aws.figures["accuracy"] == pytest.approx((0.65, 0.512, 0.767), abs=0.0005)
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
def test_rows_name_the_evaluator(fields: str, evaluator: str, prompt: str, tmp_path: Path) -> None:
    rows = rows_in(tmp_path, {"aws": small_result((0.4, 0.9), fields=fields)})
    assert (rows[0].evaluator, rows[0].prompt) == (evaluator, prompt)
    assert ("prompt" in table.default_columns(rows)) == bool(prompt)


def test_the_table_begins_with_the_choice_of_most_systems(rows: Rows) -> None:
    winomt = BoardChoice(("winomt", "default"), "en-de", "contrastive_conditioning")
    assert table.first_choice(rows) == winomt
    assert table.first_choice(rows[1:]) == rows[2].choice  # one system each: the first by name
    assert table.first_choice(rows[1:], "en-de") == winomt
    assert table.first_choice([]) is None


def test_a_choice_is_kept_as_far_as_results_allow(rows: Rows) -> None:
    mucow = rows[2].choice
    assert table.nearest_choice(rows, mucow.data, "en-de", "contrastive_conditioning") == mucow
    assert table.nearest_choice(rows, ("x", "y"), "en-cs") == mucow
    assert table.nearest_choice([], mucow.data) is None


def test_only_rows_of_the_choice_with_the_words_are_shown(rows: Rows) -> None:
    choice = rows[0].choice
    assert [row.system for row in table.rows_of(rows, choice)] == ["aws", "google"]
    assert [row.system for row in table.rows_of(rows, choice, "GOOGLE Json")] == ["google"]
    assert table.rows_of(rows, choice, "nobody") == []


def test_systems_are_in_the_order_of_a_figure_and_equal_ones_by_name(rows: Rows) -> None:
    aws, google, _ = rows
    several = [replace(aws, system="a", figures={}), replace(aws, system="Zebra"), aws, google]
    found = [row.system for row in table.ranked(several, "accuracy")]
    assert found == ["aws", "Zebra", "google", "a"]
    assert [row.system for row in table.ranked(rows[:2], "min_accuracy")] == ["google", "aws"]


def test_bands_rank_by_the_figure_to_cite_and_by_no_other(tmp_path: Path) -> None:
    """Women are right in 4, 5 and 9 of 10: the first two cannot be told apart, and the order by the
    total is another one.
    """
    shares = {"aws": (0.1, 1.0), "bing": (0.2, 0.7), "google": (1.0, 1.0)}
    for name, pair in shares.items():
        write_result(tmp_path, name, small_result(pair))
    rows = table.leaderboard_rows(read_folder(tmp_path, has_judgements=True))
    systems = site.system_order(rows)
    columns = table.default_columns(rows)
    assert columns[:4] == ["accuracy_female", "accuracy_male", "accuracy_gap", "min_accuracy"]
    html = site.board_html(rows, "min_accuracy", columns[:3], systems)
    assert [line[:4] for line in cells(html)] == [
        ["system", "band", "rank", "accuracy on female"],
        ["google", "1", "1", "100.0/83.9 – 100.0"],
        ["bing", "2", "2 – 3", "20.0/8.1 – 41.6"],
        ["aws", "2", "2 – 3", "10.0/2.8 – 30.1"],
    ]
    assert "in bands by minimum accuracy" in html
    other = site.board_html(rows, "accuracy", columns[:3], systems)
    assert [line[0] for line in cells(other)] == ["system", "google", "aws", "bing"]
    assert "band" not in cells(other)[0]
    assert "ordered by accuracy" in other


@cases(False, True)
def test_figures_that_no_judgement_proves_are_shown_without_a_rank(
    has_judgements: bool, tmp_path: Path
) -> None:
    shares = {"aws": (0.1, 1.0), "bing": (0.2, 0.7), "claimed": (1.0, 1.0)}
    for name, pair in shares.items():
        result = small_result(pair)
        write_result(
            tmp_path, name, result if name != "claimed" else replace(result, judgements=())
        )
    store = read_folder(tmp_path, has_judgements=has_judgements)
    rows = table.leaderboard_rows(store)
    assert [row.system for row in table.ranked(rows, "min_accuracy")] == ["bing", "aws", "claimed"]
    told = {row.system: row.unfit.get("min_accuracy", "") for row in rows}
    why = "not proved: the file has no judgements from which its figures follow"
    assert told == {"aws": "", "bing": "", "claimed": why}
    assert [row.name in row.ranks.by_system for row in rows] == [
        has_judgements,
        has_judgements,
        False,
    ]
    html = site.board_html(rows, "min_accuracy", ["min_accuracy"], site.system_order(rows))
    assert (cells(html)[-1][0], why in html) == ("claimed/not fit to cite", True)
    (ranking,) = build_board(store, title="x").rankings
    assert (list(ranking.rows)[-1], ranking.by) == ("claimed", "min_accuracy")


def test_judges_that_are_screens_stand_below_the_ranking_by_name(tmp_path: Path) -> None:
    accuracies = {"a": 0.2, "b": 0.3, "c": 0.9, "d": 1.0, "e": 0.1}
    judges = {"a": "fair", "b": "fair", "c": "unknown", "d": "unknown", "e": "good"}
    levels = {"fair": ranks_only, "good": supported}
    judged = {
        name: small_result((accuracies[name], 1.0), fields=f"|eval:{judge}@1")
        for name, judge in judges.items()
    }
    known = {name: levels.get(judges[name], replace)(result) for name, result in judged.items()}
    rows = rows_in(tmp_path, known)
    html = site.board_html(rows, "min_accuracy", ["min_accuracy"], site.system_order(rows))
    assert [line[0].partition(":")[0] for line in cells(html)] == [
        *("system", "b/ranks only", "a/ranks only", "e"),
        *("Screens", "c/not fit to cite", "d/not fit to cite"),
    ]
    assert "fair: Ranks only: differences between systems count, but figures may not" in html
    wanted = [*["ranks only"] * 2, *["screen"] * 2, "supported"]
    assert [row["level"] for row in csv.DictReader(io.StringIO(table.to_csv(rows)))] == wanted
    assert [row["level"] for row in json.loads(table.to_json(rows))] == wanted
    assert json.loads(table.to_json(rows))[0]["evidence"] == "1,600 labels of people (winomt)"
    elsewhere = [replace(row, metric="a") for row in rows[2:4]]
    few = replace(rows[0], unfit=dict.fromkeys(rows[0].figures, "few"))
    assert table.first_choice([*elsewhere, few]) == few.choice


@cases(
    ("gender_quality_gap", "bleu_gap", (-0.2, 0.1, 0.2), [1, 0, 2]),
    ("winomt_pattern_matching", "delta_g", (0.3, -0.1, 0), [2, 1, 0]),
    ("homograph_accuracy", "flip_rate", (0.3, 0.1, 0.2), [1, 2, 0]),
    ("contrastive_conditioning", "mean_confidence", (0.3, 0.1), [0, 1]),
)
def test_the_best_is_first(metric: str, name: str, values: Any, expected: Any, rows: Rows) -> None:
    row = replace(rows[0], metric=metric)
    figures = [{name: Figure(value), "n_x": Figure(i)} for i, value in enumerate(values)]
    of_metric = [replace(row, system=str(i), figures=of) for i, of in enumerate(figures)]
    by = "" if name == "mean_confidence" else name
    assert table.ranking_figures(of_metric) == [by] * bool(by)
    assert [int(row.system) for row in table.ranked(of_metric, by)] == expected
    header = f'data-column="{name}" data-best="{figure_name(metric, name).best}"'
    assert header in site.board_html(of_metric, by, [name], site.system_order(of_metric))


def test_a_click_puts_the_best_first_and_unfit_last(rows: Rows, page: Page) -> None:
    names = ["delta_g", "accuracy"]
    values = {"a": (-0.3, 0.5), "b": (0.01, 0.6), "c": (0.2, 0.7), "itself": (0.0, 0.9)}
    row = replace(rows[0], metric="winomt_pattern_matching")
    figures = {s: dict(zip(names, map(Figure, pair), strict=True)) for s, pair in values.items()}
    shown = [replace(row, system=system, figures=of) for system, of in figures.items()]
    shown[3] = replace(shown[3], unfit=dict.fromkeys(names, "why"))
    script = files("cc_hf.plugins.leaderboard").joinpath("page.js").read_text(encoding="utf-8")
    html = site.board_html(shown, "accuracy", names, site.system_order(shown))
    page.set_content(f"{html}<script>{script}</script>")

    def order(header: str) -> str:
        page.locator("thead button").get_by_text(header).click()
        return "".join(text[0] for text in page.locator("tbody th").all_inner_texts())

    assert order("gender gap") == "bcai"
    assert order("gender gap") == "acbi"
    assert order("accuracy") == "cbai"
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    assert order("system") == "abci"


def test_the_quality_gap_is_ranked_by_the_gap(rows: Rows) -> None:
    names = [f"{score}_{part}" for score in ("bleu", "chrf") for part in ("male", "female", "gap")]
    figures = {name: Figure(0.1) for name in names}
    found = table.ranking_figures([replace(rows[0], metric="gender_quality_gap", figures=figures)])
    assert (found[:2], set(found)) == (["bleu_gap", "chrf_gap"], set(names))


def test_systems_named_like_models_of_the_hub_link_to_them(rows: Rows) -> None:
    names = {"org/model-1.b": True, "aws": False, "a/b/c": False, "<i>/x": False}
    shown = [replace(rows[0], system=name) for name in names]
    html = site.board_html(shown, "accuracy", [], site.system_order(shown))
    assert html.count("<a href") == sum(names.values()) == 1
    assert '<a href="https://huggingface.co/org/model-1.b" rel="noopener">' in html


def test_a_system_that_judged_itself_is_marked_in_csv_and_chart(tmp_path: Path) -> None:
    judged = small_result((0.9, 0.9), fields="|sys:judge@1/beam5|eval:judge@2")
    rows = rows_in(tmp_path, {"judge": judged})
    assert "judged by itself" in table.to_csv(rows)
    chart = site.plot_html([replace(rows[0], bleu=0.3)], site.system_order(rows))
    assert "(not fit to cite)" in chart


def test_rows_are_ranked_by_a_minimum_accuracy_if_any(rows: Rows) -> None:
    of_genders = ["accuracy_female", "accuracy_male"]
    of_all = ["accuracy_gap", "accuracy"]
    assert table.ranking_figures(rows[:2]) == ["min_accuracy", *of_genders, *of_all]
    # the scores that the metric names are not in this result
    assert table.ranking_figures(rows[2:])[0] == "min_accuracy"
    unknown = replace(rows[0], metric="own", figures={"f1": Figure(0.6)})
    assert table.ranking_figures([unknown]) == []  # nobody says whether a high f1 is good
    assert "ordered by" not in site.board_html([unknown], "", ["f1"], [unknown.system])
    assert table.ranking_figures([]) == []


def test_columns_are_those_that_rows_can_fill(rows: Rows) -> None:
    figures = ["accuracy", "min_accuracy", "accuracy_male", "accuracy_female", "delta_x"]
    facts = ["bleu", "date", "n", "signature", "file"]
    assert table.columns_of(rows[:2]) == [*figures, "accuracy_gap", *facts]
    shown = ["accuracy_female", "accuracy_male", "accuracy_gap", "min_accuracy", "accuracy"]
    assert table.default_columns(rows[:2]) == [*shown, "bleu", "date"]
    assert "bleu" not in table.columns_of(rows[2:])


def cells(html: str) -> list[list[str]]:
    """Return the texts of the table's cells, row by row, without the bar."""
    lines = ET.fromstring(f"<div>{html}</div>").iter("tr")
    texts = [[[text.strip() for text in cell.itertext()] for cell in line] for line in lines]
    return [["/".join(filter(None, cell)) for cell in line] for line in texts]


def test_the_ranking_shows_intervals_in_the_cell_of_the_figure(rows: Rows) -> None:
    columns = ["bleu", "accuracy", "delta_x", "f1"]
    html = site.board_html(rows[:2], "accuracy", columns, ["aws", "google"])
    assert cells(html) == [
        ["system", "accuracy", "delta x", "BLEU"],
        ["aws", "65.0/51.2 – 76.7", "-50.0", "40.0"],
        ["google", "60.0/44.5 – 73.7", "-20.0", "30.0"],
    ]
    assert "WinoMT, English → German" in html
    assert "No result matches" in site.board_html([], "accuracy", [], [])


def test_more_systems_than_colours_have_different_marks(rows: Rows) -> None:
    many = [replace(rows[0], system=f"system {i:02}") for i in range(30)]
    html = site.board_html(many, "accuracy", [], site.system_order(many))
    spans = ET.fromstring(f"<div>{html}</div>").iter("span")
    marks = [s.get("class", "") for s in spans if not s.get("aria-hidden")]
    assert len({name for name in marks if "cc-mark " in name}) == 30


def test_a_note_names_its_systems_unless_all_have_it(rows: Rows) -> None:
    notes = (("Of all.",), ("Of all.", "Of one."))
    noted = [replace(row, notes=of) for row, of in zip(rows[:2], notes, strict=True)]
    html = site.board_html(noted, "accuracy", [], ["aws", "google"])
    assert ">Of all.</p>" in html
    assert "<b>google</b>: Of one.</p>" in html


def test_csv_and_json_hold_all_figures(rows: Rows) -> None:
    read = list(csv.DictReader(io.StringIO(table.to_csv(rows))))
    assert [row["system"] for row in read] == ["aws", "google", "other"]
    assert float(read[0]["min_accuracy"]) == 0.4
    assert float(read[0]["accuracy_low"]) == pytest.approx(0.512, abs=0.0005)
    assert (float(read[0]["delta_x"]), read[0]["delta_x_low"], read[2]["bleu"]) == (-0.5, "", "")
    _, google, other = json.loads(table.to_json(rows))
    assert (google["min_accuracy"], other["bleu"]) == (0.5, None)


@pytest.mark.parametrize("first", "=+-@＝＋－＠\t", ids=ord)
def test_csv_cells_cannot_be_read_as_formulas(tmp_path: Path, first: str) -> None:
    rows = rows_in(tmp_path, {"a": small_result((0.4, 0.9), system=f"{first}1+1")})
    assert next(csv.DictReader(io.StringIO(table.to_csv(rows))))["system"] == f"'{first}1+1"
    assert json.loads(table.to_json(rows))[0]["system"] == f"{first}1+1"


def dots(html: str) -> list[tuple[float, float]]:
    """Return the positions of the points, in the order of the rows."""
    places = [mark.get("transform", "") for mark in ET.fromstring(html).iter("path")]
    pairs = [place.removeprefix("translate(")[:-1].split() for place in places]
    return [(float(x), float(y)) for x, y in pairs]


def test_the_chart_places_systems_by_bleu_and_accuracy(rows: Rows) -> None:
    html = site.plot_html(rows, site.system_order(rows))
    aws, google = dots(html)
    assert aws[0] > google[0]  # a higher BLEU is further right
    assert aws[1] > google[1]  # a lower accuracy is further down
    labels = [text.text for text in ET.fromstring(html).iter("text")]
    assert {"aws", "google", "BLEU", "minimum accuracy, %", "20", "40"} <= set(labels)
    assert "other" not in labels  # it has no BLEU
    assert site.plot_html(rows[2:], site.system_order(rows)) == ""


def test_a_ranking_by_weighted_figures_has_a_weighted_chart(rows: Rows) -> None:
    figures = {"weighted_min_accuracy": Figure(0.4)}
    weighted = [replace(row, figures={**row.figures, **figures}) for row in rows[:2]]
    html = site.plot_html(weighted, site.system_order(rows), "weighted_accuracy")
    assert "weighted minimum accuracy, %" in html
    assert site.plot_html(rows, site.system_order(rows), "weighted_accuracy") == ""


def test_a_system_has_one_colour_in_every_table_and_chart(rows: Rows) -> None:
    systems = site.system_order(rows)
    assert systems == ["aws", "google", "other"]
    for shown in (rows[:2], rows[1:2]):
        assert "fill s1" in site.plot_html(shown, systems)
        assert "cc-mark s1 m1" in site.board_html(shown, "accuracy", [], systems)


@pytest.mark.parametrize("has_interval", [True, False], ids=["with interval", "without interval"])
@cases(
    ([(0.0, 0.0)], "at 0"),
    ([(1.0, 1.0)], "at 1"),
    ([(0.3, 0.5), (0.3, 0.5)], "equal points"),
    ([(0.0, 1.0), (1.0, 0.0)], "corners"),
    ([(0.311, 0.4), (0.312, 0.401)], "close points"),
)
def test_points_lie_in_the_chart(values: Any, name: str, has_interval: bool, rows: Rows) -> None:
    def row(bleu: float, accuracy: float) -> LeaderboardRow:
        limits = (max(accuracy - 0.1, 0.0), min(accuracy + 0.1, 1.0)) if has_interval else ()
        return replace(rows[0], bleu=bleu, figures={"min_accuracy": Figure(accuracy, *limits)})

    html = site.plot_html([row(*value) for value in values], ["aws"])
    assert len(dots(html)) == len(values)
    width, height = map(float, next(ET.fromstring(html).iter("svg")).get("viewBox", "").split()[2:])
    assert all(40 <= x <= width and 5 <= y <= height - 40 for x, y in dots(html))
    assert ('class="line' in html) == has_interval


def test_texts_of_results_are_escaped_in_html(rows: Rows) -> None:
    evil = replace(rows[0], system=EVIL, notes=(EVIL,), signature=EVIL, file=EVIL)
    for html in (
        site.message(EVIL),
        site.notes_html(Store((), {EVIL: EVIL})),
        site.result_html(small_result((0.4, 0.9), dataset=EVIL, config=EVIL)),
        site.plot_html([evil], [EVIL]),
        site.board_html([evil], "accuracy", ["signature", "file"], [EVIL]),
    ):
        assert "<script" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in html


def test_notes_report_missing_results_and_broken_files() -> None:
    assert "There are no results yet" in site.notes_html(Store(()))
    entries = (StoredResult("a", "a.json", small_result((0.4, 0.9))),)
    assert site.notes_html(Store(entries)) == ""
    broken = site.notes_html(Store(entries, {"a.json": "x", "b.json": "y"}))
    assert "2 files of the folder could not be read" in broken


def test_a_result_can_be_shown_as_html() -> None:
    html = site.result_html(small_result((0.4, 0.9)))
    assert "WinoMT, English → German: contrastive conditioning" in html
    for value in ("40.0", "65.0", "51.2 – 76.7", "-50.0", "cc|data:winomt/default@1"):
        assert value in html
    names = ["minimum accuracy", "accuracy on male", "accuracy on female", "delta x"]
    assert sorted(names, key=html.index) == names


def test_texts_are_escaped_exactly_once() -> None:
    evil = "</div><script>alert(1)</script>&\"'{{ 7 * 7 }}"
    escaped = "&lt;/div&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;&#34;&#39;{{ 7 * 7 }}"
    piece = site.message(evil)
    assert piece == f'<div class="cc-error" role="alert">{escaped}</div>'
    assert str(piece) in site.side_by_side([piece])
    assert escaped in site.side_by_side([evil])  # type: ignore[list-item]
    fails(UndefinedError, "text", render_piece, "plugins/leaderboard/pieces.html.jinja", "message")


def test_notes_are_shown_on_the_leaderboard(tmp_path: Path) -> None:
    note = "Made for <b>another</b> kind"
    noted = replace(small_result((0.4, 0.9)), notes=(note,))
    rows = rows_in(tmp_path, {"aws": noted})
    assert rows[0].notes == (note,)
    assert note in table.to_csv(rows)
    assert note in table.to_json(rows)
    page = site.result_html(noted)
    assert "Made for &lt;b&gt;another&lt;/b&gt; kind" in page
    assert note not in page


def test_simplegen_shows_inconclusive_rates_beside_pro_and_anti() -> None:
    names = ("accuracy_pro", "inconclusive_rate_pro", "accuracy_anti", "inconclusive_rate_anti")
    scores = dict.fromkeys(("accuracy", "min_accuracy", *names, "delta", "incorrect_rate"), 0.5)
    simplegen = result_of((), metric="simplegen_accuracy", scores=scores)
    [row] = table.leaderboard_rows(Store((StoredResult("a", "a.json", simplegen),)))
    assert table.default_columns([row])[2:6] == list(names)
