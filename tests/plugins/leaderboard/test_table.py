import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError

from cc_hf.plugins.leaderboard import html as site
from cc_hf.plugins.leaderboard import table
from cc_hf.plugins.leaderboard.static.board import build_board
from cc_hf.plugins.leaderboard.store import Store, StoredResult, read_folder
from cc_hf.plugins.leaderboard.table import Figure, LeaderboardRow
from cc_hf.reports.templates import render_piece
from cc_hf.results import EvaluationResult
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


def test_systems_are_in_the_order_of_a_figure_and_equal_ones_by_name(rows: Rows) -> None:
    aws, google, _ = rows
    several = [replace(aws, system="a", figures={}), replace(aws, system="Zebra"), aws, google]
    actual = [row.system for row in table.ranked(several, "accuracy")]
    assert actual == ["aws", "Zebra", "google", "a"]
    assert [row.system for row in table.ranked(rows[:2], "min_accuracy")] == ["google", "aws"]


def test_bands_rank_by_the_figure_to_cite_and_by_no_other(tmp_path: Path) -> None:
    """Women are right in 4, 5 and 9 of 10: the first two cannot be told apart, and the order by the
    total is another one.
    """
    shares = {"aws": (0.1, 1.0), "bing": (0.2, 0.7), "google": (1.0, 1.0)}
    for name, pair in shares.items():
        write_result(tmp_path, name, small_result(pair))
    rows = table.leaderboard_rows(read_folder(tmp_path, has_judgements=True))
    assert rows[0].shown[:4] == ("accuracy_female", "accuracy_male", "accuracy_gap", "min_accuracy")
    by_minimum = table.ranked(rows, "min_accuracy")
    assert [row.system for row in by_minimum] == ["google", "bing", "aws"]
    standings = [row.ranks.by_system[row.name] for row in by_minimum]
    assert [(s.band, s.first, s.last) for s in standings] == [(1, 1, 1), (2, 2, 3), (2, 2, 3)]
    assert [row.system for row in table.ranked(rows, "accuracy")] == ["google", "aws", "bing"]


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
    (ranking,) = build_board(store, title="x").rankings
    assert ranking.rows["claimed"].remark("min_accuracy") == "not fit to cite"
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
    order = [row.system for row in table.ranked(rows, "min_accuracy")]
    assert order == ["b", "a", "e", "c", "d"]
    (fair, _, _) = table.judge_levels(rows)
    assert fair[1].text.startswith("Ranks only: differences between systems count, but figures may")
    written = [*csv.DictReader(io.StringIO(table.to_csv(rows)))]
    wanted = [*["ranks only"] * 2, *["screen"] * 2, "supported"]
    assert [row["level"] for row in written] == wanted
    assert written[0]["evidence"] == "1,600 labels of people (winomt)"


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


def test_the_quality_gap_is_ranked_by_the_gap(rows: Rows) -> None:
    names = [f"{score}_{part}" for score in ("bleu", "chrf") for part in ("male", "female", "gap")]
    figures = {name: Figure(0.1) for name in names}
    actual = table.ranking_figures([replace(rows[0], metric="gender_quality_gap", figures=figures)])
    assert (actual[:2], set(actual)) == (["bleu_gap", "chrf_gap"], set(names))


def test_a_system_that_judged_itself_is_marked_in_csv(tmp_path: Path) -> None:
    judged = small_result((0.9, 0.9), fields="|sys:judge@1/beam5|eval:judge@2")
    rows = rows_in(tmp_path, {"judge": judged})
    assert "judged by itself" in table.to_csv(rows)


def test_rows_are_ranked_by_a_minimum_accuracy_if_any(rows: Rows) -> None:
    of_genders = ["accuracy_female", "accuracy_male"]
    of_all = ["accuracy_gap", "accuracy"]
    assert table.ranking_figures(rows[:2]) == ["min_accuracy", *of_genders, *of_all]
    # the scores that the metric names are not in this result
    assert table.ranking_figures(rows[2:])[0] == "min_accuracy"
    unknown = replace(rows[0], metric="own", figures={"f1": Figure(0.6)})
    assert table.ranking_figures([unknown]) == []  # nobody says whether a high f1 is good
    assert table.ranking_figures([]) == []


def test_the_csv_holds_all_figures(rows: Rows) -> None:
    read = list(csv.DictReader(io.StringIO(table.to_csv(rows))))
    assert [row["system"] for row in read] == ["aws", "google", "other"]
    assert float(read[0]["min_accuracy"]) == 0.4
    assert float(read[0]["accuracy_low"]) == pytest.approx(0.512, abs=0.0005)
    assert (float(read[0]["delta_x"]), read[0]["delta_x_low"], read[2]["bleu"]) == (-0.5, "", "")


@pytest.mark.parametrize("first", "=+-@＝＋－＠\t", ids=ord)
def test_csv_cells_cannot_be_read_as_formulas(tmp_path: Path, first: str) -> None:
    rows = rows_in(tmp_path, {"a": small_result((0.4, 0.9), system=f"{first}1+1")})
    assert next(csv.DictReader(io.StringIO(table.to_csv(rows))))["system"] == f"'{first}1+1"


def test_texts_of_results_are_escaped_in_html() -> None:
    for html in (
        site.message(EVIL),
        site.notes_html(Store((), {EVIL: EVIL})),
        site.result_html(small_result((0.4, 0.9), dataset=EVIL, config=EVIL)),
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
    assert "WinoMT, English → German · contrastive conditioning" in html
    for value in ("40.0", "65.0", "51.2 – 76.7", "−50.0", "cc|data:winomt/default@1"):
        assert value in html


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
    page = site.result_html(noted)
    assert "Made for &lt;b&gt;another&lt;/b&gt; kind" in page
    assert note not in page


def test_simplegen_shows_inconclusive_rates_beside_pro_and_anti() -> None:
    names = ("accuracy_pro", "inconclusive_rate_pro", "accuracy_anti", "inconclusive_rate_anti")
    scores = dict.fromkeys(("accuracy", "min_accuracy", *names, "delta", "incorrect_rate"), 0.5)
    simplegen = result_of((), metric="simplegen_accuracy", scores=scores)
    [row] = table.leaderboard_rows(Store((StoredResult("a", "a.json", simplegen),)))
    assert row.shown[2:6] == names
