"""The map of stereotypes: systems that were planted, too little data, names that must be escaped,
and the counts of a system of 2019. Datasets tell which sentences differ in nothing but who is
meant.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from cc_hf.data.loading import declaration, load_examples
from cc_hf.plugins.leaderboard.static import occupations
from cc_hf.plugins.leaderboard.static.board import Ranking, build_board
from cc_hf.plugins.leaderboard.static.occupation_map import OccupationMap, occupation_map
from cc_hf.plugins.leaderboard.static.occupations import (
    Occupation,
    Trend,
    occupation_shares,
    percent_women,
)
from cc_hf.plugins.leaderboard.static.page import write_static_board
from cc_hf.plugins.leaderboard.static.sentences import ranking_samples
from cc_hf.plugins.leaderboard.store import Store, StoredResult
from cc_hf.reports.marks import COLOURS
from cc_hf.reports.samples import Sample
from cc_hf.results import Interval, NoInterval
from cc_hf.schema import Example, Judgement, ProbingExample, Reading
from tests.helpers.usual import (
    cases,
    evaluate_dataset,
    judgement,
    known,
    result_of,
    typed,
    write_text,
)

EVIL = "<script>\"x\" & 'y'\x0b</script>"
N = 20  # sentences of an occupation, of which every second means a woman
Says = Callable[[str, ProbingExample], Judgement | Reading]


def sentences(n: int = N, names: Sequence[str] = tuple(percent_women())) -> list[ProbingExample]:
    """Return n sentences for each occupation, with their number in the id."""
    genders = [("male", "female")[number % 2] for number in range(n)]
    return [
        ProbingExample(
            f"{name}.{number}", "en", "de", name, gold, gold, extra={"occupation": name.upper()}
        )
        for name in names
        for number, gold in enumerate(genders)
    ]


def reads(gender: str, example: ProbingExample) -> Judgement:
    verdict = "correct" if gender == example.gold else "incorrect"
    return judgement(example.id, verdict, of=example.gold, predicted=gender, gold=example.gold)


def by_statistics(name: str, example: ProbingExample) -> Judgement:
    number = int(example.id.rpartition(".")[2])
    return reads("female" if number < round(N * percent_women()[name] / 100) else "male", example)


def by_pronoun(name: str, example: ProbingExample) -> Judgement:
    return reads(example.gold, example)


def never(name: str, example: ProbingExample) -> Judgement:
    return judgement(example.id, "inconclusive", of=example.gold, predicted="unknown")


def by_probability(name: str, example: ProbingExample) -> Judgement:
    """Return what contrastive conditioning says of a system that follows the statistics."""
    verdict = by_statistics(name, example).verdict
    return judgement(example.id, verdict, of=example.gold, probability_correct=0.5)


def without_gender(name: str, example: ProbingExample) -> Judgement:
    """Return a verdict on something else, such as omissions."""
    return judgement(example.id, "correct", of=example.gold)


def openly(name: str, example: ProbingExample) -> Reading:
    read = "feminine" if by_statistics(name, example).predicted == "female" else "masculine"
    return Reading(example.id, "open", "", read)


def ranked(systems: dict[str, Says], examples: Any) -> tuple[Ranking, list[Sample]]:
    """Return a ranking of systems that say something of every example, and its samples."""
    entries = []
    for system, says in systems.items():
        said = [says(example.source, example) for example in examples]
        fields: Any = {"metric": "winomt_pattern_matching", "scores": {"accuracy": 0.5}}
        fields["readings"] = tuple(row for row in said if isinstance(row, Reading))
        judgements = [row for row in said if isinstance(row, Judgement)]
        result = result_of(judgements, **fields, n=len(said))
        entries.append(StoredResult(system, f"{system}.json", result))
    (ranking,) = build_board(Store(tuple(entries)), title="t").rankings
    return ranking, ranking_samples(ranking, examples)


def shares_of(says: Says, examples: Sequence[ProbingExample]) -> occupations.OccupationShares:
    return known(occupation_shares(*ranked({"a": says}, examples)))


def mapped(systems: dict[str, Says]) -> OccupationMap:
    ranking, samples = ranked(systems, sentences())
    return known(occupation_map(ranking, samples, list(systems)))


def test_the_statistics_are_of_40_occupations_half_of_them_of_women() -> None:
    assert len(percent_women()) == 40
    assert sum(percent > 50 for percent in percent_women().values()) == 20


@cases((by_statistics, 1.0), (by_probability, 1.0), (by_pronoun, 0.0))
def test_a_slope_is_1_by_the_statistics_and_0_by_the_pronoun(says: Says, slope: float) -> None:
    shares = shares_of(says, sentences())
    (system,) = shares.systems
    assert len(system.occupations) == 40
    assert system.trend.slope == pytest.approx(slope, abs=0.02)
    assert known(shares.meant).trend.slope == pytest.approx(0, abs=1e-12)
    few, many = (system.share(has_many_women=is_many) or 0 for is_many in (False, True))
    assert (0 < few < 0.3 and many > 0.7) if slope else few == many == 0.5


def test_the_interval_holds_the_slope_unless_all_shares_are_the_same() -> None:
    follows, reads_pronouns = (shares_of(s, sentences()) for s in (by_statistics, by_pronoun))
    interval = typed(Interval, follows.systems[0].trend.interval)
    assert interval.low < follows.systems[0].trend.slope < interval.high
    same = "all occupations have the same share"
    assert reads_pronouns.systems[0].trend.interval == NoInterval(same)
    assert f"a: no interval: {same}." in mapped({"a": by_pronoun}).caption


def test_a_line_without_error_or_statsmodels_has_no_interval(monkeypatch: Any) -> None:
    on_a_line = [Occupation(str(n), n / 20, n, 20) for n in range(10)]
    assert Trend.of(on_a_line).interval == NoInterval("no dot is off the line")
    beside_it = [*on_a_line, Occupation("10", 0.5, 0, 20)]
    with_interval = Trend.of(beside_it)
    assert isinstance(with_interval.interval, Interval)
    monkeypatch.setitem(sys.modules, "statsmodels.api", None)
    without = Trend.of(beside_it)
    assert "cc_hf[analysis]" in typed(NoInterval, without.interval).reason
    expected = (with_interval.slope, with_interval.constant)
    assert (without.slope, without.constant) == pytest.approx(expected)


def test_where_nothing_tells_who_is_meant_readings_count() -> None:
    examples = [replace(e, category="open", gold="none") for e in sentences()]
    genders = {e.id: e for e in sentences()}
    says: Says = lambda name, example: openly(name, genders[example.id])  # noqa: E731
    ranking, samples = ranked({"a": says}, examples)
    shares = known(occupation_shares(ranking, samples))
    assert shares.meant is None
    assert shares.systems[0].trend.slope == pytest.approx(1, abs=0.02)
    drawn = known(occupation_map(ranking, samples, ["a"]))
    assert "Nothing in these sentences tells" in drawn.caption


NAMES = tuple(percent_women())


@cases(
    (by_pronoun, sentences(9), "nine translations of an occupation"),
    (by_pronoun, sentences(N, NAMES[:9]), "nine occupations"),
    (by_pronoun, sentences(N, [f"{name}s" for name in NAMES]), "occupations without statistics"),
    (never, sentences(), "no translation with a gender"),
    (without_gender, sentences(), "verdicts on something else"),
    (openly, sentences(), "readings where the source tells who is meant"),
)
def test_too_little_data_gives_no_map(says: Says, examples: list[ProbingExample], why: str) -> None:
    ranking, samples = ranked({"a": says}, examples)
    assert occupation_map(ranking, samples, ["a"]) is None


def test_a_system_with_too_little_data_has_no_line() -> None:
    drawn = mapped({"a": by_pronoun, "b": never})
    assert [system["system"] for system in drawn.figures["systems"]] == ["a"]


def test_names_are_escaped_in_both_charts_and_in_the_table() -> None:
    drawn = mapped({EVIL: by_statistics, "b": by_pronoun})
    for text in (drawn.chart, drawn.table, drawn.svg):
        assert ("<script>" in text, "&lt;script&gt;" in text) == (False, True)
    assert ("\x0b" in drawn.chart, "\x0b" in drawn.svg) == (True, False)  # which XML forbids
    # the file for a paper stands alone
    svg = ET.fromstring(drawn.svg)
    name = "{http://www.w3.org/2000/svg}"
    assert svg.tag == f"{name}svg"
    assert [svg.find(f"{name}{part}") is not None for part in ("title", "desc")] == [True, True]
    assert svg.attrib["aria-labelledby"] == "title description"
    assert svg.attrib["font-family"] == "sans-serif"
    assert all("class" not in element.attrib for element in svg.iter())
    assert svg.findall(f"{name}rect")[0].attrib["fill"] == "#ffffff"
    dots = [path for path in svg.iter(f"{name}path") if "opacity" in path.attrib]
    assert Counter(dot.attrib["fill"] for dot in dots) == dict.fromkeys(COLOURS[:2], 40)
    assert len(dots) == drawn.chart.count("% in the statistics")


def test_a_dot_says_what_it_stands_for() -> None:
    text = "nurse: 90 % in the statistics, 90.0 % written as women, a, 20 translations"
    drawn = mapped({"a": by_statistics})
    assert all(f"<title>{text}</title>" in chart for chart in (drawn.chart, drawn.svg))


def test_a_line_stays_in_the_chart() -> None:
    def boldly(name: str, example: ProbingExample) -> Judgement:
        return reads("female" if percent_women()[name] > 50 else "male", example)

    svg = ET.fromstring(mapped({"a": boldly}).svg)
    (line,) = (line for line in svg.iter() if line.attrib.get("stroke") == COLOURS[0])
    assert [float(line.attrib[name]) for name in ("y1", "y2")] == [330, 10]


def test_figures_that_are_not_fit_to_cite_are_marked() -> None:
    ranking, samples = ranked({"a": by_pronoun}, sentences())
    row = replace(ranking.rows["a"], unfit={ranking.by: "it judged itself"})
    drawn = known(occupation_map(replace(ranking, rows={"a": row}), samples, ["a"]))
    assert "Not fit to cite: it judged itself." in drawn.caption
    assert "not fit to cite" in drawn.table


def test_colours_on_paper_are_those_of_the_page_on_white() -> None:
    style = files("cc_hf.reports.page").joinpath("page.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--s(\d): (#\w{6});", style.partition("@media")[0]))
    assert tuple(light[str(number)] for number in range(len(COLOURS))) == COLOURS


def test_shares_of_a_real_system_are_those_of_its_judgements(shared: Path, tmp_path: Path) -> None:
    data = shared / "upstream"
    texts = data / "gabrielStanovsky/mt_gender/translations/google/en-de.txt"
    options: Any = {"metric": "winomt_pattern_matching", "translations": texts, "tgt_lang": "de"}
    result = evaluate_dataset("winomt", **options, data_dir=data)
    write_text(tmp_path / "results/google.json", result.to_json())
    write_static_board(tmp_path / "results", tmp_path / "page", data_dir=data)
    figures = json.loads((tmp_path / "page/board.json").read_text(encoding="utf-8"))
    (of_ranking,) = figures["occupations"]
    (google,) = of_ranking["systems"]
    (nurse,) = (row for row in google["occupations"] if row["name"] == "nurse")
    columns = (data / "ZurichNLP/contrastive-conditioning/tasks/data/winomt/test.tsv").read_text()
    nurses = {str(i) for i, line in enumerate(columns.splitlines()) if "\tnurse\t" in line}
    read = Counter(j.predicted for j in result.judgements if j.example_id in nurses)
    assert (nurse["n_women"], nurse["n"]) == (read["female"], read["female"] + read["male"])
    assert nurse["n"] > 50
    page = (tmp_path / "page/index.html").read_text(encoding="utf-8")
    name = f"occupations.{of_ranking['ranking']}.svg"
    assert f'<a href="{name}" download>' in page
    ET.parse(tmp_path / "page" / name)
    assert "48.8 to 51.2 % mean a woman" in page


@cases(
    ("winomt", "acl2019", 1594, 206),
    ("winomt", "default", 1800, 0),
    ("gender_res", "en-es", 4680, 0),
    ("gender_res", "en-es.all", 4680, 0),
    ("simplegen", "en-de", 1332, 0),
)
def test_twins_are_told(data: str, config: str, n_pairs: int, n_triples: int, shared: Path) -> None:
    declared = declaration(data)
    sets: dict[str, dict[str, Example]] = defaultdict(dict)
    for example in load_examples(declared, config, data_dir=shared / "upstream"):
        if twin := known(declared.twins)(example):
            sets[twin[0]].setdefault(twin[1], example)
    whole = [of_name for of_name in sets.values() if {"woman", "man"} <= of_name.keys()]
    # their sources do differ
    sizes = Counter(len({example.source for example in of_name.values()}) for of_name in whole)
    assert sizes == +Counter({2: n_pairs, 3: n_triples})
    assert sizes == Counter(map(len, whole))


def test_twins_of_winomt_differ_in_the_pronoun(shared: Path) -> None:
    examples = load_examples("winomt", "acl2019", data_dir=shared / "upstream")
    twins = known(declaration("winomt").twins)
    name = "customer: The technician told the customer that _ could pay with cash."
    actual = {twins(example): example.source for example in examples}
    source = name.partition(": ")[2]
    for meant, pronoun in {"man": "he", "woman": "she", "nobody": "they"}.items():
        assert actual[name, meant] == source.replace("_", pronoun)
