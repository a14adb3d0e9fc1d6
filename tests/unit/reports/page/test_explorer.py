"""Filters, addresses, downloads, sorting and print of the page, on a wide and a narrow screen."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode
from xml.etree import ElementTree

import pytest

from cc_hf.comparing.uncertain import is_uncertain
from cc_hf.reports import highlights
from cc_hf.reports.highlights import attributes, confusions, divided_samples, hard_values
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.schema import Judgement, ProbingExample, Reading, TextSpan
from tests.helpers import reported
from tests.helpers.axe import serious_violations
from tests.helpers.browser import Page
from tests.helpers.printing import assert_print_is_whole, joined
from tests.helpers.reported import ATTACK, HOSTILE_NAME, N
from tests.helpers.usual import cases, judgement, known, result_of
from tests.unit.reports.page.conftest import Opened


@pytest.fixture(autouse=True)
def few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few samples of a value and a gender say something."""
    monkeypatch.setattr(highlights, "_SMALLEST", 3)


_IDS = "items => items.map(item => item.dataset.id)"


@pytest.fixture(params=[1440, 360])
def sized(request: pytest.FixtureRequest, page: Page, opened: Opened) -> Page:
    """Return the report on a screen of this width."""
    page.emulate_media(reduced_motion="reduce")  # a page that scrolls cannot be clicked
    page.set_viewport_size({"width": request.param, "height": 900})
    return opened(reported.report())


def shown(page: Page) -> list[str]:
    page.wait_for_selector("#list[aria-busy=false]", state="attached")
    return [str(item) for item in page.locator("#list > li").evaluate_all(_IDS)]


def n_shown(page: Page) -> int:
    page.wait_for_selector("#list[aria-busy=false]", state="attached")
    return int(page.locator("#count").inner_text().split()[0].replace(",", ""))


def state(page: Page) -> dict[str, str]:
    """Return the filters that the address names."""
    _, mark, query = page.url.partition("#samples?")
    return dict(parse_qsl(query, keep_blank_values=True)) if mark else {}


def wanted(condition: Callable[[int], bool]) -> list[str]:
    return [f"id{i}" for i in range(N) if condition(i)]


def judged(report: Report, system: int, i: int) -> Judgement:
    return known(report.samples[i].judgements[system][0])


def test_samples_are_filtered_by_attributes_of_the_data(sized: Page) -> None:
    labels = sized.locator("#filters label:visible").all_inner_texts()
    assert {"Occupation", "Stereotype"} <= {label.split("\n")[0].strip() for label in labels}
    sized.locator("#filters").get_by_label("Occupation").select_option(label="<b>x</b> & 1 (11)")
    assert shown(sized) == wanted(lambda i: i % 8 == 6)
    sized.locator("#filters").get_by_label("Stereotype").select_option(label="anti (36)")
    assert shown(sized) == wanted(lambda i: i % 8 == 6 and i % 5 in (2, 3))
    assert state(sized) == {"data.occupation": "<b>x</b> & 1", "data.stereotype": "anti"}
    assert sized.locator("#filters b").count() == 0


def test_samples_that_one_system_has_right_and_another_wrong(sized: Page) -> None:
    report = reported.report()
    sized.select_option("#right", "1")
    sized.select_option("#wrong", "0")
    verdicts = [tuple(judged(report, system, i).is_correct for system in (0, 1)) for i in range(N)]
    expected = wanted(lambda i: verdicts[i] == (False, True))
    assert (shown(sized), n_shown(sized)) == (expected[:40], len(expected))
    assert state(sized) == {"right": HOSTILE_NAME, "wrong": "first"}


def test_any_number_of_readings_without_verdicts(page: Page, opened: Opened) -> None:
    names = ("feminine", "inclusive", "masculine", "neutral", "")
    p = 0.25
    results = []
    for shift in (0, 0, 1):
        rows = [Reading(f"id{i}", "all", f"t{i}", names[(i + shift) % 5], p) for i in range(10)]
        results.append(result_of((), n=10, scores={"feminine_share": p}, readings=tuple(rows)))
    systems = [
        ReportedSystem(name, {"m": result}) for name, result in zip("abc", results, strict=True)
    ]
    opened(build_report(systems[:2]))
    shown(page)
    assert " ".join(page.locator("#found option").all_inner_texts()).split() == (
        ["any", "feminine", "inclusive", "inconclusive", "masculine", "neutral"]
    )
    page.select_option("#found", "neutral")
    assert (shown(page), state(page)) == (["id3", "id8"], {"found": "neutral"})
    assert page.locator("#list .judged").first.inner_text().split() == (
        ["neutral", "25.0", "%", "feminine"]
    )
    assert page.locator("#list .correct, #list .incorrect, #right:visible").count() == 0
    page.select_option("#verdict", label="systems disagree")
    assert shown(page) == []
    opened(build_report(systems[1:]))
    page.select_option("#verdict", label="systems disagree")
    assert n_shown(page) == 10
    opened(build_report([ReportedSystem("a", {"m": results[0], "k": results[2]})]))
    page.select_option("#verdict", "differ")
    assert (n_shown(page), state(page)) == (6, {"verdict": "differ"})


def test_every_word_of_a_search_must_occur(sized: Page) -> None:
    sized.fill("#query", "COOK arzt? 9")
    texts = list(zip(*map(reported.translations, (0, 1)), strict=True))
    has = lambda i: "Arzt?" in " ".join(texts[i]) and "9" in f"id{i} {texts[i]}" and i != 4  # noqa: E731
    assert shown(sized) == wanted(has)
    # the word in focus has a mark of its own
    assert {"Arzt?", "9"} <= set(sized.locator("#list mark.hit").all_inner_texts())


def test_differences_between_two_translations_are_marked(sized: Page) -> None:
    item = sized.locator("#list > li").nth(1)
    first, second = (reported.translations(k)[1].strip() for k in (0, 1))
    for index, (text, other) in enumerate(((first, second), (second, first))):
        mark = item.locator(".translation .text").nth(index)
        assert mark.inner_text() == text
        words = zip(*(re.findall(r"\w+", part) for part in (text, other)), strict=True)
        different = [word for word, instead in words if word != instead]
        assert mark.locator("ins").all_inner_texts() == different
    assert sized.locator("#list > li").nth(7).locator("ins").count() == 0
    sized.select_option("#compared", label="nothing")
    shown(sized)
    assert sized.locator("#list ins").count() == 0
    assert state(sized) == {"compared": ""}


def test_a_click_on_a_figure_shows_its_samples(sized: Page) -> None:
    report = reported.report()
    story = sized.locator("#summary .chart").first
    story.get_by_role("link", name=re.compile("^first, female:")).click()
    # wrong samples come first, the surest first
    assert state(sized) == {"system": "first", "category": "female", "order": "wrong"}
    assert n_shown(sized) == sum(i % 3 == 1 for i in range(N))
    assert sized.locator("#samples").bounding_box() is not None
    sized.locator("#categories .chart").nth(1).locator("a").nth(1).click()
    assert state(sized) == {"system": HOSTILE_NAME, "category": "male", "metric": "words"}
    [occupation] = [a for a in attributes(report) if a.name == "occupation"]
    hardest = hard_values(report, "contrastive_conditioning", occupation, n=12)
    plot = sized.locator("#standing-out figure .chart").first
    ends = [f"{row.label} ({max(g.n for g in row.groups if g)})" for row in hardest]
    # long names take two lines
    assert " ".join(plot.locator("text.end").all_text_contents()) == " ".join(ends)
    plot.get_by_role("link", name=re.compile(f"^{hardest[0].label} [(]")).first.click()
    of_value = {"data.occupation": hardest[0].value, "category": hardest[0].gender}
    assert state(sized) == {**of_value, "order": "wrong"}
    assert n_shown(sized) == max(group.n for group in hardest[0].groups if group)


def test_counts_of_confusions_and_divided_samples_are_those_of_their_samples(sized: Page) -> None:
    report = reported.report()
    n_divided = divided_samples(report, "contrastive_conditioning")[0][1]
    cell = sized.locator("table.counts").first.get_by_role("link").first
    assert cell.inner_text() == str(n_divided)
    cell.click()
    assert state(sized) == {"right": "first", "wrong": HOSTILE_NAME, "order": "wrong"}
    assert n_shown(sized) == n_divided
    sized.locator("#standing-out > details > summary").click()
    tables = sized.locator("table.confusion").all()
    for table, confusion in zip(tables, confusions(report, "words"), strict=True):
        cells = table.locator("tbody tr").first.locator("td").all()
        for count, cell in zip(confusion.counts[0], cells, strict=True):
            assert cell.inner_text() == str(count)
            if count:
                cell.get_by_role("link").click()
                assert n_shown(sized) == count


def test_uncertain_samples_are_found_by_a_filter_and_by_their_number(sized: Page) -> None:
    report = reported.report()
    first = wanted(lambda i: is_uncertain(judged(report, 0, i)))
    second = wanted(lambda i: is_uncertain(judged(report, 1, i)))
    sized.select_option("#verdict", label="unsure, perhaps neutral")
    expected = wanted(lambda i: f"id{i}" in {*first, *second})
    assert 0 < len(expected) < N
    assert (shown(sized), n_shown(sized)) == (expected[:40], len(expected))
    assert state(sized) == {"verdict": "unsure"}
    number = sized.locator("#neutral table a").nth(1)
    n = int(number.inner_text())
    number.click()
    assert state(sized) == {"verdict": "unsure", "system": HOSTILE_NAME, "order": "unsure"}
    assert n_shown(sized) == n == len(second)


def test_the_state_of_the_filters_survives_in_the_address(sized: Page) -> None:
    for name, value in (("verdict", "1"), ("system", "1"), ("order", "wrong")):
        sized.select_option(f"#{name}", value)
    sized.fill("#low", "10")
    sized.fill("#query", "von 1")
    actual = shown(sized)
    assert len(actual) > 1
    chosen = {"query": "von 1", "verdict": "incorrect", "order": "wrong", "low": "10"}
    assert state(sized) == {**chosen, "system": HOSTILE_NAME}
    sized.reload()
    assert shown(sized) == actual
    assert sized.locator("#query").input_value() == "von 1"
    sized.click("#filters button[type=reset]")
    assert n_shown(sized) == N
    assert "#" not in sized.url
    sized.evaluate("location.hash = '#samples?category=nothing+of+the+kind&nonsense=1'")
    sized.wait_for_function("document.getElementById('said').textContent !== ''")
    assert n_shown(sized) == N


@pytest.mark.parametrize("n_systems", [1, 2])
def test_missing_and_added_parts_are_marked(n_systems: int, page: Page, opened: Opened) -> None:
    source, translation = "🎉 Do <b>not</b> pay 7 now", "Zahle 7 jetzt bitte"
    negation = TextSpan("source", 5, 15, "<b>not</b>", 0.5, "negation", "")
    added = TextSpan("translation", 14, 19, "bitte", 0.04)
    spans = (negation, TextSpan("source", 8, 11, "not", 0.01), added)
    result = result_of(
        [judgement("0", "incorrect", translation, spans=spans)], scores={"accuracy": 0.0}
    )
    examples = [ProbingExample("0", "en", "de", source, "all", "?")]
    systems = [ReportedSystem(f"s{i}", {result.metric: result}) for i in range(n_systems)]
    marked = opened(build_report(systems, examples=examples))
    shown(marked)
    parts = [(p.text_content(), p.get_attribute("class")) for p in marked.locator(".part").all()]
    of_source = [("<b>not</b>", "part shade-5")] if n_systems == 1 else []
    assert parts == [*of_source, *[("bitte", "part shade-2")] * n_systems]
    said = marked.locator(".others").first.inner_text()
    assert "negation: <b>not</b> → ∅" in said
    assert "added: bitte" in said
    assert serious_violations(marked) == []


@cases(("id=gone", "This page has no sample gone."), ("query=xyzzy", "No sample matches all"))
def test_an_empty_list_says_why_and_how_to_go_on(address: str, reason: str, sized: Page) -> None:
    sized.evaluate(f"location.hash = '#samples?{address}'")
    sized.locator("#none").wait_for()
    assert sized.locator("#none").inner_text().startswith(reason)
    assert n_shown(sized) == 0
    sized.locator("#none button").click()
    assert n_shown(sized) == N
    assert sized.locator("#none").is_hidden()


def test_a_sample_has_an_address_of_its_own(sized: Page) -> None:
    sized.get_by_role("link", name="sample id12", exact=True).click()
    assert state(sized) == {"id": "id12"}
    sized.reload()
    assert shown(sized) == ["id12"]
    assert sized.locator("#list .details").is_visible()
    sized.get_by_role("button", name="Only sample id12").click()
    assert n_shown(sized) == N


def test_filtered_samples_are_saved_as_csv(sized: Page, tmp_path: Path) -> None:
    def saved(query: str) -> list[dict[str, str]]:
        sized.fill("#query", query)
        shown(sized)
        with sized.expect_download() as download:
            sized.click("#csv")
        assert re.fullmatch(r"[\w-]+\.csv", download.value.suggested_filename)
        download.value.save_as(tmp_path / "samples.csv")
        content = (tmp_path / "samples.csv").read_bytes()
        assert content.startswith(b"\xef\xbb\xbf")
        return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))

    [row] = saved("<script>")
    names = ("id", "first: translation", "occupation")
    assert [row[name] for name in names] == ["id4", ATTACK, "nurse"]
    actual, metric = judged(reported.report(), 1, 4), f"{HOSTILE_NAME}: contrastive_conditioning"
    assert row[f"{metric}: verdict"] == actual.verdict
    probability = float(row[f"{metric}: probability_correct"])
    assert probability == pytest.approx(actual.probability_correct, abs=1e-5)
    assert len(saved("")) == N


def test_marked_translations_are_copied_and_saved_as_tsv(sized: Page, tmp_path: Path) -> None:
    """Marks stay where filters hide their sentences; keys set them, and no text is a formula."""
    buttons = [sized.locator(f"#{name}-picked") for name in ("copy", "save", "clear")]
    assert [button.is_disabled() for button in buttons] == [True] * 3
    for query, sample, name in (("", "id0", HOSTILE_NAME), ("<script>", "id4", "first")):
        sized.fill("#query", query)
        shown(sized)
        sized.get_by_label(f"Mark {name}, sample {sample}", exact=True).focus()
        sized.keyboard.press("Space")
    assert sized.locator("#n-picked").inner_text() == "2 translations marked"
    assert serious_violations(sized) == []
    assert sized.evaluate("document.documentElement.scrollWidth") <= sized.evaluate("innerWidth")
    sized.evaluate("navigator.clipboard.writeText = async text => { window.copied = text; }")
    buttons[0].click()
    with sized.expect_download() as download:
        buttons[1].click()
    assert re.fullmatch(r"[\w-]+\.tsv", download.value.suggested_filename)
    download.value.save_as(tmp_path / "marked.tsv")
    text = (tmp_path / "marked.tsv").read_text(encoding="utf-8")
    assert text == sized.evaluate("copied")
    head, *lines = [line.split("\t") for line in text.splitlines()]
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    names = ("id", "system", "translation")
    report = reported.report()
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("id0", HOSTILE_NAME, report.samples[0].translations[1]),
        ("id4", "first", ATTACK),
    ]
    actual = judged(report, 0, 4)
    assert rows[1]["contrastive_conditioning: verdict"] == actual.verdict
    probability = float(rows[1]["contrastive_conditioning: probability_correct"])
    assert probability == pytest.approx(actual.probability_correct, abs=1e-5)
    buttons[2].click()
    assert sized.locator("#list input:checked").count() == 0
    assert [button.is_disabled() for button in buttons] == [True] * 3


def test_a_chart_is_saved_as_svg_that_stands_alone(sized: Page, tmp_path: Path) -> None:
    for name in ("Accuracy by category", "Lowest accuracy by occupation"):
        with sized.expect_download() as download:
            sized.get_by_role("button", name=f"Save as SVG: {name}").first.click()
        path = tmp_path / "chart.svg"
        download.value.save_as(path)
        text = path.read_text(encoding="utf-8")
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert not re.search(r"class=|var\(|href|<a", text)
        fills = {part.get("fill") for part in root.iter() if part.tag.endswith(("path", "circle"))}
        assert {"rgb(31, 111, 196)", "rgb(208, 97, 15)"} <= fills
        assert "first" in "".join(root.itertext()) or name.startswith("Lowest")


def test_tables_are_sorted_by_their_columns(sized: Page) -> None:
    table = sized.locator("table.summary")

    def values() -> list[float]:
        return [float(v) for v in table.locator("tbody td:nth-child(4) .value").all_inner_texts()]

    before = values()
    button = table.locator("thead th").filter(has_text="BLEU").get_by_role("button")
    for order in ("descending", "ascending"):
        button.focus()
        sized.keyboard.press("Enter")
        assert table.locator(f"th[aria-sort={order}]").count() == 1
        assert values() == sorted(before, reverse=order == "descending")
    table.get_by_role("button", name="system").click()
    assert table.locator("tbody th").all_inner_texts()[0].startswith(HOSTILE_NAME)
    assert table.locator("th[aria-sort]").count() == 1


def test_marks_say_what_they_stand_for(sized: Page) -> None:
    mark = sized.locator("#summary .chart a").first
    mark.scroll_into_view_if_needed()
    mark.locator("[data-tip]").hover()
    tip = sized.locator(".tip")
    assert re.fullmatch(r"first, male: [\d.]+ % \(\d+ of 30 correct\)", tip.inner_text())
    box = known(tip.bounding_box())
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= int(sized.evaluate("innerWidth"))
    sized.mouse.move(0, 0)
    assert tip.is_hidden()
    sized.keyboard.press("Tab")
    mark.focus()
    assert tip.is_visible()


def test_the_page_is_never_wider_than_the_screen(sized: Page) -> None:
    width = sized.evaluate("innerWidth")
    assert sized.evaluate("document.documentElement.scrollWidth") <= width
    for details in sized.locator("details > summary").all():
        details.click()
    sized.locator("#list .open").first.click()
    assert sized.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_violation(sized: Page, scheme: Any) -> None:
    sized.emulate_media(color_scheme=scheme)
    for details in sized.locator("details > summary").all():
        details.click()
    sized.fill("#query", "cook 1")
    shown(sized)
    sized.locator("#list .open").first.click()
    assert serious_violations(sized) == []


def test_print_holds_every_system_and_figure(sized: Page, tmp_path: Path) -> None:
    sized.evaluate(f"location.hash = 'samples?{urlencode({'id': 'id12'})}'")
    sized.wait_for_function("document.querySelectorAll('#list > li').length === 1")
    text = assert_print_is_whole(sized, tmp_path / "report.pdf")
    for system in (0, 1):
        assert joined(reported.translations(system)[12]) in text
