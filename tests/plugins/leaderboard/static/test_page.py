"""The static leaderboard as visitors open it: from disk, in a browser without a network."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.loading import load_examples
from cc_hf.evaluation.correction import corrected_estimates
from cc_hf.metrics.figures import summarize
from cc_hf.plugins.leaderboard.static.board import read_board
from cc_hf.plugins.leaderboard.static.page import write_static_board
from cc_hf.results import EvaluationResult, Interval
from cc_hf.schema import ContrastiveSourceExample, Reading
from tests.helpers.axe import serious_violations
from tests.helpers.browser import Page
from tests.helpers.evidence import ranks_only, supported
from tests.helpers.printing import assert_print_is_whole
from tests.helpers.reported import ATTACK, HOSTILE_NAME
from tests.helpers.usual import (
    cases,
    judgement,
    read_json,
    refuses,
    result_of,
    small_result,
    write_lines,
    write_result,
    write_text,
)

N = 1100  # samples, in three parts
GOOD, SAME, WEAK = "good", "as good", HOSTILE_NAME
ORIGIN = "archive of 2024, https://example.org/archive at 1a2b3c"


def judged(system: str, wrong: int, *, offset: int = 0, fields: str = "") -> EvaluationResult:
    """Return a result on sentences of SimpleGEN, of which every `wrong`-th is incorrect, and every
    97th inconclusive.
    """
    examples = load_examples("simplegen", "en-de")[::2][:N]
    judgements = []
    for i, example in enumerate(examples):
        assert isinstance(example, ContrastiveSourceExample)
        verdict = "incorrect" if (i + offset) % wrong == 0 else "correct"
        verdict = "inconclusive" if i % 97 == 5 else verdict
        person = "Eine Frau" if example.gold == "female" else "Ein Mann"
        text, p = ATTACK if i == 4 else f"{person} {i}.", 0.75 if verdict == "correct" else 0.25
        of = example.category
        judgements.append(judgement(example.id, verdict, text, of, probability_correct=p))
    summary = summarize(judgements)
    accuracy = summary.scores["accuracy"]
    signature = f"cc|data:simplegen/en-de@1.0.0|langs:en-de|eval:org/large@1a2b{fields}|n:{N}"
    named: Any = {"dataset": "simplegen", "metric": "contrastive_conditioning", "system": system}
    named["intervals"] = {"accuracy": Interval(accuracy - 0.01, accuracy + 0.01)}
    named |= {"scores": summary.scores, "categories": summary.categories, "counts": {"n_ties": 0}}
    return result_of(judgements, signature=signature, **named)


def read(system: str, share: int) -> EvaluationResult:
    """Return a result with readings in which nothing is right, on data that are not at hand."""
    names = ["feminine" if i % share == 0 else "masculine" if i % 7 else "" for i in range(40)]
    readings = tuple(Reading(str(i), "01", f"Я {i}", name) for i, name in enumerate(names))
    named: Any = {"dataset": "gest", "config": "emnlp2024", "tgt_lang": "ru", "system": system}
    named |= {"scores": {"masculine_rate": 1 - 1 / share}, "readings": readings, "n": 40}
    signature = "sr|data:gest/emnlp2024@7dd908c|langs:en-ru|n:40"
    return result_of((), metric="stereotype_rates", signature=signature, **named)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for system, wrong, offset in ((GOOD, 10, 0), (SAME, 10, 3), (WEAK, 3, 0)):
        write_result(folder, f"s{wrong}{offset}", supported(judged(system, wrong, offset=offset)))
    write_result(folder, "other", ranks_only(judged("other", 5, fields="|score:arithmetic")))
    unfit = judged("small", 4)
    signature = unfit.signature.replace("org/large@1a2b", "cc-tiny-en-de@d644c6d303e7")
    write_result(folder, "unfit", replace(unfit, signature=signature))
    write_result(folder, "open-a", read(GOOD, 2))
    write_result(folder, "open-b", read(WEAK, 3))
    write_text(folder / "damaged.json", f"{{{ATTACK}")
    origins = ["system\tyear\tsource\tlicence", f"{GOOD}\t2024\t{ORIGIN}\tMIT"]
    write_lines(folder / "systems.tsv", [*origins, f"{WEAK}\t2019\t{ATTACK}\t{HOSTILE_NAME}"])
    return folder


@pytest.fixture(scope="module")
def folder(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("board") / "page"
    write_static_board(results, output, title="<b>Systems</b> of 2024")
    return output


@pytest.fixture(params=[1440, 390], ids=lambda width: f"{width} pixels")
def board(request: pytest.FixtureRequest, folder: Path, page: Page) -> Iterator[Page]:
    asked: list[str] = []
    page.on("request", ask := lambda sent: asked.append(sent.url))
    page.set_viewport_size({"width": request.param, "height": 900})
    page.goto("about:blank")
    page.goto((folder / "index.html").as_uri())
    yield page
    page.remove_listener("request", ask)
    assert [url for url in asked if not url.startswith(("file:", "about:"))] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= request.param
    assert page.title() == "<b>Systems</b> of 2024"


def test_every_figure_of_the_page_is_that_of_the_json(board: Page, folder: Path) -> None:
    shown = board.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".ranking")].map(section => [
          section.id, [...section.querySelectorAll(".board tbody tr")].map(row => [
            row.dataset.system, Object.fromEntries([...row.querySelectorAll("td")].map(cell => [
              cell.dataset.figure,
              [...cell.querySelectorAll("span")].map(span => span.textContent),
            ]))])]))"""
    )
    rankings = read_json(folder / "board.json")["rankings"]
    assert list(shown) == [ranking["name"] for ranking in rankings]
    for ranking in rankings:
        wanted = []
        for system in ranking["systems"]:
            cells: dict[str, list[str]] = {}
            if any(other["standing"] for other in ranking["systems"]):
                cells = {"band": [], "rank": []}
            if standing := system["standing"]:
                first, last = standing["first"], standing["last"]
                ranks = str(first) if first == last else f"{first} – {last}"
                texts = (str(standing["band"]), ranks)
                cells = {name: [text] for name, text in zip(cells, texts, strict=True)}
            for name in ranking["columns"]:
                value, low, high = system["figures"].get(name, (None, None, None))
                cells[name] = [] if value is None else [f"{100 * value:.1f}"]
                cells[name] += [] if low is None else [f"{100 * low:.1f} – {100 * high:.1f}"]
            wanted.append([system["system"], cells])
        assert shown[ranking["name"]] == wanted


def test_the_overview_has_the_figures_and_bands_of_the_rankings(board: Page, folder: Path) -> None:
    shown = board.evaluate(
        """() => Object.fromEntries(
          [...document.querySelectorAll(".overview tbody tr")].map(row => [
            row.dataset.system,
            [...row.querySelectorAll("td")].map(cell => [
              cell.dataset.ranking,
              ...[...cell.querySelectorAll("span")].map(span => span.textContent),
            ])]))"""
    )
    rankings = read_json(folder / "board.json")["rankings"]
    several, single = (
        ranking
        for ranking in rankings
        if ranking["systems"][0]["level"] in ("supported", "ranks only")
    )
    figures = {
        s["system"]: f"{100 * s['figures']['min_accuracy'][0]:.1f}"
        for r in (several, single)
        for s in r["systems"]
    }
    bands = {GOOD: "band 1", SAME: "band 1", WEAK: "band 2"}
    assert shown == {
        **{s: [[several["name"], figures[s], band], [single["name"]]] for s, band in bands.items()},
        "other": [[several["name"]], [single["name"], figures["other"], "ranks only"]],
    }
    said = board.locator(".finding").all_text_contents()
    assert said == [
        "good and as good stand in the first band of the table whose figures may be cited."
    ]


def test_what_cannot_be_compared_is_never_in_one_ranking(folder: Path) -> None:
    rankings = read_json(folder / "board.json")["rankings"]
    systems = {r["name"]: {s["system"] for s in r["systems"]} for r in rankings}
    assert systems == {
        "simplegen-en-de-contrastive-conditioning-org-large-2": {GOOD, SAME, WEAK},
        "simplegen-en-de-contrastive-conditioning-org-large": {"other"},
        "gest-emnlp2024-en-ru-stereotype-rates": {GOOD, WEAK},
        "simplegen-en-de-contrastive-conditioning-cc-tiny-e-ba093736": {"small"},
    }
    assert list(systems.values())[-1] == {"small"}  # a screen: last
    first = rankings[0]
    standings = {s["system"]: s["standing"] for s in first["systems"]}
    ranks = [(standings[s]["band"], standings[s]["first"]) for s in (GOOD, SAME, WEAK)]
    assert ranks == [(1, 1), (1, 1), (2, 3)]
    assert (first["n_shared"], first["shared"], first["by"]) == (N, "all", "min_accuracy")
    assert all(s["standing"] is None for r in rankings[1:] for s in r["systems"])
    assert rankings[2]["by"] == "" or "masculine_rate" not in rankings[2]["by"]


def test_screens_are_folded_below_all_rankings_and_levels_are_shown(folder: Path) -> None:
    html = (folder / "index.html").read_text(encoding="utf-8")
    ranked, _, screens = html.partition('<details id="screens"')
    rankings = read_json(folder / "board.json")["rankings"]
    levels = ["supported", "", "ranks only", "screen"]
    assert [ranking["systems"][0]["level"] for ranking in rankings] == levels
    for ranking, level in zip(rankings, levels, strict=True):
        (shown,) = re.findall(rf'(?s)<section id="{ranking["name"]}".*?</section>', html)
        assert (shown in screens, shown in ranked) == (level == "screen", level != "screen")
        assert (f'class="level">{level.capitalize()}' in shown) == bool(level)
        assert ("ranks only</span>" in shown) == (level == "ranks only")
        assert ("not fit to cite</span>" in shown) == (level == "screen")
    assert "Nothing is ranked" in screens


def test_systems_show_their_sentences_and_what_separates_them(board: Page, folder: Path) -> None:
    section = board.locator(".ranking").first
    section.get_by_role("button", name=GOOD, exact=True).click()
    rows = [*zip(judged(GOOD, 10).judgements, judged(WEAK, 3).judgements, strict=True)]
    verdicts = {good.example_id: (good.verdict, weak.verdict) for good, weak in rows}
    n_wrong = [good for good, _ in verdicts.values()].count("incorrect")
    options = section.locator(".between option")
    assert options.first.text_content() == f"incorrect: {n_wrong}"
    section.get_by_role("button", name=WEAK, exact=True).click()
    alone = [name for name, both in verdicts.items() if both == ("correct", "incorrect")]
    choice = f"{GOOD} correct, {WEAK} incorrect: {len(alone)}"
    section.locator("h3", has_text="What separates").wait_for()
    assert options.first.text_content() == choice
    shown = section.locator(".sample")
    assert shown.count() == 10
    while section.locator(".more").is_visible():
        before = shown.count()
        section.locator(".more").click()
        board.wait_for_function("n => document.querySelectorAll('.sample').length > n", arg=before)
    ids = [str(text) for text in shown.locator(".meta > span:first-child").all_text_contents()]
    assert ids == alone
    source = load_examples("simplegen", "en-de")[int(alone[0])]
    assert shown.first.locator(".source").text_content() == source.source
    assert shown.first.locator("mark.focus").text_content() == source.focus.text
    assert shown.first.locator(".verdict").all_text_contents() == ["correct", "incorrect"]
    assert shown.first.locator(".judged").last.text_content() == "incorrect25 %"
    section.get_by_label("all systems").check()
    board.wait_for_function("document.querySelectorAll('.sample').length === 10")
    assert shown.first.locator(".translation .name").all_text_contents() == [GOOD, WEAK, SAME]
    section.get_by_label("category").select_option("MoFc")
    chips = "[...document.querySelectorAll('.sample .chip')]"
    board.wait_for_function(f"{chips}.every(chip => chip.textContent === 'MoFc')")
    assert serious_violations(board) == []
    for name in (GOOD, WEAK):
        section.get_by_role("button", name=name, exact=True).click()
    assert section.locator(".sample").count() == 0


def test_readings_without_a_right_answer_are_compared_by_name(board: Page) -> None:
    section = board.locator("#gest-emnlp2024-en-ru-stereotype-rates")
    assert "Nothing is ranked" in str(section.locator(".caption").text_content())
    assert "gest emnlp2024 is not available" in str(section.locator(".notes").text_content())
    for name in (GOOD, WEAK):
        section.get_by_role("button", name=name, exact=True).click()
    section.locator("h3", has_text="What separates").wait_for()
    choice = str(section.locator(".between option").first.text_content())
    assert re.fullmatch(rf"{GOOD} feminine, .* masculine: \d+", choice)
    assert section.locator(".sample .verdict").first.text_content() == "feminine"


def test_a_sentence_is_shown_for_a_woman_and_for_a_man(board: Page) -> None:
    board.locator("#doctors").scroll_into_view_if_needed()
    board.wait_for_selector("#twin-table td")
    heads = board.locator("#twin-table thead th").all_text_contents()
    assert heads == ["system", "for a woman", "for a man"]
    board.fill("#twin", "nurse")
    board.press("#twin", "Tab")
    board.wait_for_function("document.querySelector('#twin').value.includes('nurse')")
    marked = board.locator("#twin-table tbody tr").nth(1).locator("ins").all_text_contents()
    assert {"Eine", "Frau", "Ein", "Mann"} <= set(marked)
    assert board.locator("#twin-table tbody tr").count() == 1 + 3
    assert board.locator("#twin-table .meter").count() == 6
    board.fill("#twin", "no such word")
    board.press("#twin", "Tab")
    assert "No sentence has" in str(board.locator("#twin-note").text_content())
    assert serious_violations(board) == []


def test_occupations_are_drawn_for_each_ranking_that_has_them(board: Page, folder: Path) -> None:
    maps = board.locator("#occupations .map")
    drawn = {row["ranking"] for row in read_json(folder / "board.json")["occupations"]}
    assert maps.count() == len(drawn) == 3
    first = maps.first
    tips = first.locator(".chart [data-tip]")
    assert any("nurse: 90 %" in str(tip.get_attribute("data-tip")) for tip in tips.all())
    href = first.locator("a[download]").get_attribute("href")
    assert (folder / str(href)).read_text(encoding="utf-8").startswith(("<svg", "<?xml"))
    board.locator("#filters [name=judge]").select_option("cc-tiny-en-de")
    assert board.locator("#occupations .map:visible").count() == 1
    board.locator("#filters [name=judge]").select_option("")


def test_what_is_not_fit_to_cite_stays_below_however_a_table_is_sorted(
    page: Page, tmp_path: Path
) -> None:
    values = {"a": (0.3, 0.5), "b": (0.4, 0.45), "best": (0.9, 0.95)}
    for system, pair in values.items():
        result = small_result(pair, metric="winomt_pattern_matching")
        unproved = replace(result, judgements=())
        write_result(tmp_path, system, unproved if system == "best" else result)
    write_static_board(tmp_path, tmp_path / "board", quality=["a=30", "best=20"])
    page.goto((tmp_path / "board/index.html").as_uri())

    def order(header: str) -> list[str]:
        page.locator(".board thead button").get_by_text(header, exact=True).click()
        return [
            str(row.get_attribute("data-system")) for row in page.locator(".board tbody tr").all()
        ]

    assert order("accuracy on female") == ["b", "a", "best"]
    assert order("accuracy on female") == ["a", "b", "best"]
    assert order("accuracy on male") == ["a", "b", "best"]
    labels = page.locator(".quality text").all_text_contents()
    assert {"a", "best (not fit to cite)", "BLEU", "minimum accuracy, %"} <= {*labels}
    assert "b" not in labels  # its BLEU is not known


def test_rankings_are_filtered_and_the_choice_can_be_sent(board: Page) -> None:
    shown = board.locator(".ranking:visible")
    assert shown.count() == 3  # the screen is folded
    board.locator("#filters [name=judge]").select_option("org/large")
    assert shown.count() == 2
    assert board.locator("#shown").text_content() == "2 of 4 tables"
    assert board.locator(".overview thead [data-ranking]:visible").count() == 2
    assert board.locator(".contents li:visible").count() == 0
    assert not board.locator("#screens").is_visible()
    address = board.url
    assert address.endswith("#judge=org%2Flarge")
    board.goto("about:blank")
    board.goto(address)
    assert shown.count() == 2
    board.locator("#filters [name=judge]").select_option("")
    assert shown.count() == 3
    board.locator(".contents a").last.click()
    shown.nth(3).wait_for()


def test_origins_judges_and_hostile_texts_are_shown(board: Page) -> None:
    rows = board.locator("#systems tbody tr").all_text_contents()
    assert len(rows) == 5
    assert any(GOOD in row and "2024" in row and ORIGIN in row and "MIT" in row for row in rows)
    assert board.locator("#systems a").get_attribute("href") == "https://example.org/archive"
    assert any("small" in row and row.count("not stated") == 3 for row in rows)
    small = board.locator("#screens > .ranking .judged-by")
    assert "It is a small model" in str(small.text_content())
    assert "damaged.json is not shown" in str(board.locator("#files").text_content())


def test_systems_named_like_models_of_the_hub_link_to_them(page: Page, tmp_path: Path) -> None:
    for number, name in enumerate(("org/model-1.b", "aws", "a/b/c", "<i>/x")):
        write_result(tmp_path, str(number), small_result((0.4, 0.9), system=name))
    write_static_board(tmp_path, tmp_path / "board")
    page.goto((tmp_path / "board/index.html").as_uri())
    links = page.locator("#systems a").all()
    addresses = [link.get_attribute("href") for link in links]
    assert addresses == ["https://huggingface.co/org/model-1.b"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_is_accessible(board: Page, theme: str) -> None:
    board.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
    assert serious_violations(board) == []


def test_the_page_is_small_and_is_printed_whole(folder: Path, page: Page, tmp_path: Path) -> None:
    assert (folder / "index.html").stat().st_size < 500_000
    page.goto((folder / "index.html").as_uri())
    page.wait_for_selector("#twin-table td")  # comes from a file beside the page
    assert_print_is_whole(page, tmp_path / "page.pdf")


def test_a_page_without_its_sentences_says_so(folder: Path, page: Page, tmp_path: Path) -> None:
    copy = write_text(tmp_path / "alone.html", (folder / "index.html").read_text(encoding="utf-8"))
    page.goto(copy.as_uri())
    page.locator(".pick").first.click()
    page.wait_for_selector(".problem")
    assert "sentences" in str(page.locator(".problem").text_content())


def test_figures_that_include_the_mistakes_of_a_small_judge_come_first(tmp_path: Path) -> None:
    small = "|eval:cc-tiny-en-de@d644c6d303e7|trusted:people/n40"
    for system, accuracy in (("a", 0.5), ("b", 0.6)):
        result = small_result((accuracy, 0.9), fields=small, system=system)
        trusted = tuple(replace(j, trusted=float(j.is_correct)) for j in result.judgements)
        values = {n: e.value for n, e in corrected_estimates(result.metric, trusted).items()}
        scores = {**result.scores, **{f"corrected_{name}": v for name, v in values.items()}}
        write_result(tmp_path, system, replace(result, scores=scores, judgements=trusted))
    (ranking,) = read_board(tmp_path).rankings
    assert ranking.by == "corrected_min_accuracy"
    assert ranking.columns[0] == "corrected_accuracy_female"
    assert list(ranking.rows) == ["b", "a"]
    assert set(ranking.ranks.by_system) == {"a", "b"}  # though its verdicts are not fit to cite


@cases(("slug-dash", 3), ("slug-dot", 2))
def test_judges_with_names_alike_have_files_of_their_own(
    name: str, n_rankings: int, shared: Path, tmp_path: Path
) -> None:
    board = write_static_board(shared / "cases/attack" / name, tmp_path / "board", title="Alike")
    names = {ranking.name for ranking in board.rankings}
    assert len(names) == n_rankings
    files = [path.stem for path in (tmp_path / "board/sentences").iterdir()]
    assert sorted(files) == sorted([*names, *(f"{name}_0" for name in names)])


def test_results_that_lack_verdicts_are_refused(tmp_path: Path) -> None:
    whole = small_result((0.4, 0.9), system="a")
    write_result(tmp_path, "a", whole)
    write_result(tmp_path, "b", replace(whole, system="b", judgements=whole.judgements[:39]))
    board = read_board(tmp_path)
    assert "n: the file says 40, and has 39 judgements" in board.broken["b.json"]
    assert list(board.rankings[0].rows) == ["a"]


_NAMES = "system\tyear\tsource\tlicence"


@cases(
    ("system\tyear\n", "expected columns named system, year, source, licence"),
    (f"{_NAMES}\tnote\na\t\t\t\t\n", "got the column 'note'"),
    (f"{_NAMES}\na\t2024\n", "line 2: expected 4 cells"),
    (f"{_NAMES}\na\t\t\t\na\t\t\t\n", "line 3: system"),
    (f"{_NAMES}\nb\t\t\t\n", "expected systems of the results"),
)
def test_origins_that_cannot_be_read_are_refused(text: str, message: str, tmp_path: Path) -> None:
    write_result(tmp_path, "a", small_result((0.4, 0.9)))
    write_text(tmp_path / "systems.tsv", text)
    refuses(message, read_board, tmp_path)
