import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cc_hf.reports.formats.latex import latex_report
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.samples import System
from cc_hf.reports.side_by_side import Cell, side_by_side
from cc_hf.results import Interval
from cc_hf.schema import Focus, Judgement, ProbingExample
from cc_hf.studies.disambiguation_bias.attractors import AttractorTable
from cc_hf.studies.disambiguation_bias.report_figures import (
    attractors_of_homographs,
    errors_by_bias,
)
from tests.helpers.browser import Page
from tests.helpers.usual import refuses, result_of, write_result, write_text

N = 20
_COUNTS = {"1": Counter(ball=9, hit=4, the=2), "2": Counter(cave=5), "3": Counter[str]()}
_SIZES = {"bat": {"1": 12, "2": 5, "3": 0}, "spring": {"1": 3}}
TABLE = AttractorTable({"bat": _COUNTS, "spring": {"1": Counter(summer=3)}}, _SIZES)


def example(number: int, *, has_bias: bool = True) -> ProbingExample:
    word = "bat" if number < 15 else "spring"
    senses = '{"1": ["Schlagholz", "Schläger"], "2": ["Fledermaus"]}'
    bias = {"freq_diff": str(number - 10), "length": "12"} if has_bias else {}
    extra = {"homograph": word, "cluster": "1", "senses": senses, **bias}
    return ProbingExample(str(number), "en", "de", f"A {word}.", "all", "1", Focus(word, 2), extra)


def system(name: str, n_errors: int, n_open: int = 0) -> System:
    verdicts = ["correct"] * (N - n_errors - n_open)
    verdicts += ["inconclusive"] * n_open + ["incorrect"] * n_errors
    rows = [Judgement(str(i), "all", v == "correct", "x", v) for i, v in enumerate(verdicts)]
    scores = {"accuracy": verdicts.count("correct") / N, "flip_rate": n_errors / N}
    origin = {"dataset": "custom", "config": "set", "signature": "homograph|data:custom/set@1"}
    metric = "homograph_accuracy"
    return System(name, {metric: result_of(rows, metric=metric, scores=scores, **origin)})


def report(*systems: System, has_bias: bool = True, has_table: bool = True) -> Report:
    rows = [example(i, has_bias=has_bias) for i in range(N)]
    inputs = {"attractors": TABLE} if has_table else {}
    return build_report(systems, examples=rows, n_resamples=20, section_inputs=inputs)


def test_errors_are_grouped_by_bias() -> None:
    (errors,) = errors_by_bias(report(system("a", 5), system("b", 4, 6), system("none", 0)))
    assert errors.metric == "homograph_accuracy"
    assert [group.errors.k for group in errors.groups["a"]] == [0] * 7 + [1, 2, 2]
    assert [group.errors.n for group in errors.groups["b"]] == [2] * 10
    assert errors.predictions["a"].tests[0].test.rank_biserial == 1
    assert set(errors.predictions) == {"a", "b"}  # there is nothing to predict without errors


def test_homographs_with_most_errors_come_first() -> None:
    first, second = attractors_of_homographs(report(system("a", 9)))
    assert (first.homograph, first.n_errors) == ("spring", 5)
    assert (second.homograph, second.n_errors) == ("bat", 4)
    assert second.senses["1"] == ("Schläger", "Schlagholz")
    assert second.words["freq"]["1"] == (("ball", 9.0), ("hit", 4.0), ("the", 2.0))


def test_bias_is_computed_from_the_table_where_examples_do_not_hold_it() -> None:
    (errors,) = errors_by_bias(report(system("a", 5), has_bias=False))
    assert sum(group.errors.n for group in errors.groups["a"]) == N
    assert [test.feature for test in errors.predictions["a"].tests][-1] == "length"


def test_other_data_have_no_bias() -> None:
    plain = report(system("a", 5), has_bias=False, has_table=False)
    assert (errors_by_bias(plain), attractors_of_homographs(plain)) == ((), ())
    assert "Error rate by bias" not in html_page(plain) + markdown_report(plain)


def test_every_format_shows_error_rates_correlations_and_attractors() -> None:
    contents = report(system("a", 5), system("<b>", 4, 6))
    page = html_page(contents)
    assert '<section id="bias"' in page
    assert "&lt;b&gt;, -10 to -9: 0.0 % (" in page
    parts = ["Schläger, Schlagholz", "ball 9, hit 4", "length (control)", "Attractors of bat"]
    parts.append("Does bias predict errors? Homograph accuracy")
    for text in (page, markdown_report(contents)):
        assert [part for part in parts if part not in text] == []
    assert "Attractors of bat" in latex_report(contents)


def test_without_bias_only_the_tables_have_attractors() -> None:
    rows = [replace(e, extra={"homograph": "bat"}) for e in map(example, range(N))]
    inputs: Any = {"section_inputs": {"attractors": TABLE}, "n_resamples": 20}
    contents = build_report([system("a", 5)], examples=rows, **inputs)
    assert "Attractors of bat" in markdown_report(contents)
    assert "Attractors of bat" not in html_page(contents)


def test_a_system_without_errors_has_no_correlations() -> None:
    text = markdown_report(report(system("a", 0)))
    assert "Error rate by bias" in text
    assert "Does bias predict errors" not in text


@pytest.mark.browser
def test_the_section_fits_on_narrow_and_wide_screens(page: Page) -> None:
    page.set_content(html_page(report(system("a", 5), system("a system with a long name", 9))))
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def shares(tables: Any, figure: str) -> dict[tuple[str, str], float]:
    return {key: round(cell.value, 4) for key, cell in tables[figure].items()}


def test_errors_on_challenge_sets_are_divided_by_those_on_the_random_one(tmp_path: Path) -> None:
    files = []
    known = {"correct": "1", "inconclusive": "unknown"}
    for name, wrong in {"most_biased": 30, "random": 5}.items():
        verdicts = ["incorrect"] * wrong + ["inconclusive"] * 10 + ["correct"] * (90 - wrong)
        rows = [(str(i), "rare", v == "correct", "t", v) for i, v in enumerate(verdicts)]
        judgements = [Judgement(*row, predicted=known.get(row[-1], "2")) for row in rows]
        fields = {"dataset": "sets", "config": name, "metric": "homograph_accuracy"}
        result = result_of(judgements, **fields, system="mt", scores={"accuracy": 0.9})
        files.append(write_result(tmp_path, name, result))
    tables = side_by_side(files).tables
    assert sorted(shares(tables, "flipped senses (homograph accuracy)").values()) == [0.05, 0.3]
    (cell,) = tables["flipped senses, times those of the random set"].values()
    assert cell.value == pytest.approx(6)  # the thesis has 6.1 for a set of 3,000
    # by hand from Wilson's limits, .2189 to .3958 and .0215 to .1118, of independent samples
    assert isinstance(cell.interval, Interval)
    assert (cell.interval.low, cell.interval.high) == pytest.approx((2.506, 14.44), abs=0.005)


def attack_file(folder: Path, data: str, k: int, n: int = 100) -> Path:
    total = {"n": n, "n_success": k, "rate": k / n, "interval": {"reason": "one seed"}}
    judge = {"total": total, "by_kind": [{"name": "insert_at_homograph", **total}]}
    row = {"study": "disambiguation_bias/attack", "system": "mt", "data": data}
    return write_text(folder / f"mt.{data}.json", json.dumps({**row, "judges": {"lexicon": judge}}))


def test_attacks_are_divided_by_those_of_the_random_set(tmp_path: Path) -> None:
    files = [attack_file(tmp_path, data, k) for data, k in (("hard", 17), ("random", 4))]
    tables = side_by_side(files).tables
    rates = shares(tables, "attacks that succeed (lexicon)")
    assert rates == {("hard", "mt"): 0.17, ("random", "mt"): 0.04}
    ratios = shares(tables, "attacks that succeed (lexicon), times those of the random set")
    assert ratios == {("hard", "mt"): 4.25}
    without = side_by_side([attack_file(tmp_path, "random", 0), files[0]]).tables
    by_kind = "attacks that succeed (lexicon) by kind of change"
    # nothing is divided by 0
    assert list(without) == ["attacks that succeed (lexicon)", by_kind]
    assert shares(tables, by_kind) == {("hard, IH", "mt"): 0.17, ("random, IH", "mt"): 0.04}


def test_correlations_are_marked(tmp_path: Path) -> None:
    row = {"feature": "freq_diff", "test": {"rank_biserial": 0.5, "p_value": 0.01}}
    content = {"study": "disambiguation_bias/correlate", "data": "wmt", "tests": [row]}
    path = write_text(tmp_path / "transformer.json", json.dumps(content))
    figure = "freq_diff and errors, RBC"
    cell = Cell("transformer", "wmt", figure, 0.5, is_share=False, mark="*")
    assert side_by_side([path]).tables == {figure: {("wmt", "transformer"): cell}}
    path.write_text(json.dumps(content | {"tests": [{}]}), encoding="utf-8")
    refuses(r"transformer.json: .*feature", side_by_side, [path])
