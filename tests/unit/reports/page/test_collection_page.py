"""The page of several datasets: an overview, a section for each, in browser, print and Markdown;
and the data that a page holds for its scripts."""

import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.comparing.explanation import Explanation, explain
from cc_hf.reports.collection import Collection, build_collection, overview, pair_table
from cc_hf.reports.formats.markdown import markdown_reports
from cc_hf.reports.formats.terminal import show
from cc_hf.reports.highlights import attributes
from cc_hf.reports.page import explanations
from cc_hf.reports.page.collection_page import collection_page
from cc_hf.reports.page.island import explorer_data, island_json
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.schema import VERDICTS, ContrastiveTranslationExample
from tests.helpers import reported
from tests.helpers.axe import check_legible, serious_violations
from tests.helpers.browser import Page
from tests.helpers.letter_evaluator import SpelledEvaluator
from tests.helpers.printing import assert_print_is_whole
from tests.helpers.reported import ATTACK, N
from tests.helpers.usual import EN_DE, known, printed, refuses, small_result, write_text

NOTE = "With the cues gender_brackets, cc-tiny-en-de agrees with x on 90 % of 9"


def report(config: str, *, systems: int = 1, evaluator: str = "") -> Report:
    """Return a report on one dataset, or with the name of another evaluator."""
    made = []
    for index, name in enumerate(("aws", reported.HOSTILE_NAME)[:systems]):
        results = reported.results(index)
        for metric, result in results.items():
            signature, notes = result.signature, result.notes
            if evaluator and metric == "contrastive_conditioning":
                signature = signature.replace("function hash_scores", evaluator)
                notes = (NOTE,)
            results[metric] = replace(result, config=config, notes=notes, signature=signature)
        made.append(ReportedSystem(name, results))
    return build_report(made, examples=reported.examples(), n_resamples=10)


@pytest.fixture(scope="module")
def collection() -> Collection:
    return build_collection([report("c", evaluator="cc-tiny-en-de@1"), report("<b>", systems=2)])


def test_the_overview_has_a_row_for_each_figure_and_a_cell_for_each_system() -> None:
    both = build_collection([report("c", evaluator="cc-tiny-en-de@1"), report("e", systems=2)])
    rows = overview(both)
    shown = [(row.report, row.data, row.metric, row.figure, row.is_unfit) for row in rows]
    assert shown[:4] == [
        # words read nothing in many: the shares of the worst category
        (0, "d (c)", "words", "wrong on female", False),
        (0, "d (c)", "words", "unread on female", False),
        (0, "d (c)", "contrastive conditioning", "minimum accuracy", True),
        (1, "d (e)", "contrastive conditioning", "minimum accuracy", False),
    ]
    assert {row[:3] for row in shown[4:]} == {(1, "d (e)", "words")}
    assert [row.evaluator for row in rows[1:3]] == ["", "cc-tiny-en-de"]
    absent = [[cell is None for cell in row.cells] for row in rows]
    assert absent[:4] == [[False, True]] * 3 + [[False] * 2]
    cell: Any = rows[2].cells[0]
    assert cell.interval
    assert cell.lowest[1] <= cell.highest[1]
    assert rows[0].languages == "German"


def test_a_gap_that_a_metric_measures_has_a_row_of_its_own() -> None:
    made = small_result((0.4, 0.6), metric="winomt_pattern_matching")
    made = replace(made, scores={"min_accuracy": 0.5, "delta_g": -0.2})
    reports = [
        build_report([ReportedSystem("a", {made.metric: replace(made, config=c)})]) for c in "cd"
    ]
    rows = overview(build_collection(reports))
    names = [row.figure.partition(",")[0] for row in rows]
    assert names == ["minimum accuracy"] * 2 + ["gender gap ΔG"] * 2
    cell: Any = rows[2].cells[0]
    assert (cell.value, cell.lowest) == ("−20.0", None)


def pairs_of_two_students() -> Collection:
    """Return reports on two students by language pair, one of which has no MT-GenEval."""
    results = [
        small_result((0.4, 0.6), tgt_lang="pt", system="en-pt"),
        small_result((0.5, 0.7), tgt_lang="fr", system="en-fr", fields="|eval:cc-tiny-en-de@1"),
        small_result((0.8, 0.9), tgt_lang="pt", dataset="mt_geneval", config="counterfactual_pt"),
    ]
    named = zip(("en-pt", "en-fr", "en-pt"), results, strict=True)
    return build_collection(
        [build_report([ReportedSystem(name, {r.metric: r})]) for name, r in named]
    )


def test_figures_are_arranged_by_language_pair(collection: Collection) -> None:
    assert pair_table(collection) is None  # of one pair
    made = pairs_of_two_students()
    table = known(pair_table(made))
    columns = [(column.data, column.figure.partition(",")[0]) for column in table.columns]
    data = ("WinoMT", "MT-GenEval (counterfactual)")
    assert columns == [(name, "minimum accuracy") for name in data]
    figures = [
        (row.languages, row.system, [cell and (cell.value, cell.report) for cell in row.cells])
        for row in table.rows
    ]
    assert figures == [
        ("English → Portuguese", "en-pt", [("40.0", 0), ("80.0", 2)]),
        ("English → French", "en-fr", [("50.0", 1), None]),
    ]
    assert [[cell and cell.is_unfit for cell in row.cells] for row in table.rows][1] == [True, None]
    lines = markdown_reports(made.reports).splitlines()
    header = lines.index("## Language pairs") + 2
    assert lines[header + 2].startswith("| English → Portuguese | en-pt | 40.0 ")
    of_french = "| English → French | en-fr | 50.0 (27.9 – 74.4) (not fit to cite) |  |"
    assert lines[header + 3] == of_french
    page = collection_page(made)
    assert '<a href="#pairs">Language pairs</a>' in page
    assert page.count('class="unfit"') == 2  # in the overview, and by pair


def test_a_collection_needs_different_data() -> None:
    refuses("at least two datasets, got 1", build_collection, [report("c")])
    refuses("on different data, got d", build_collection, [report("c"), report("c")])


def test_markdown_begins_with_the_overview(collection: Collection) -> None:
    lines = markdown_reports(collection.reports).splitlines()
    assert lines[0] == "# 2 systems: 2 datasets"
    header = lines.index("## Overview") + 2
    assert lines[header].startswith("| dataset | language | metric | figure | evaluator | aws |")
    assert len({line.count(" | ") for line in lines[header : header + 6]}) == 1
    titles = [line for line in lines if line.startswith("## ")]
    assert titles == ["## Overview", "## d (c), German", r"## d (&lt;b>), German"]
    assert "- cc-tiny-en-de: Level on d: screen, without evidence." in "\n".join(lines)


@pytest.fixture
def opened(page: Page, collection: Collection, tmp_path: Path) -> Page:
    page.goto(write_text(tmp_path / "out.html", collection_page(collection)).as_uri())
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_is_accessible(opened: Page, scheme: Any) -> None:
    opened.emulate_media(color_scheme=scheme)
    for details in opened.locator("details > summary").all():
        details.click()
    for width in (1440, 1024, 390):
        opened.set_viewport_size({"width": width, "height": 900})
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        assert serious_violations(opened) == []


def test_the_table_of_language_pairs_fits_and_leads_to_sections(page: Page, tmp_path: Path) -> None:
    path = write_text(tmp_path / "pairs.html", collection_page(pairs_of_two_students()))
    page.goto(path.as_uri())
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert serious_violations(page) == []
    page.locator("#pairs td a").first.click()
    first = page.locator("section.dataset").first.get_attribute("id")
    assert page.evaluate("location.hash") == f"#{first}"


def test_the_page_begins_with_the_overview_and_links_to_sections(opened: Page) -> None:
    opened.set_viewport_size({"width": 1440, "height": 900})
    assert opened.locator("h1").inner_text() == "2 systems"
    box: Any = opened.locator("#overview table").bounding_box()
    assert box["y"] + box["height"] <= 900
    names = opened.locator("section.dataset h2").all_inner_texts()
    assert names == ["d (c), German", "d (<b>), German"]
    assert opened.locator("nav.sections li").all_inner_texts() == ["Overview", *names]
    opened.locator("#overview tbody tr").last.locator("th a").click()
    last = opened.locator("section.dataset").last.get_attribute("id")
    assert opened.evaluate("location.hash") == f"#{last}"
    # No address leads to samples, which are not on this page.
    assert opened.locator("a[href^='#samples']").count() == 0
    links = opened.locator("a[href^='#']").evaluate_all("links => links.map(a => a.hash)")
    assert opened.evaluate("names => names.every(name => document.querySelector(name))", links)


def test_caution_and_calibration_stand_above_the_figures(opened: Page) -> None:
    section = opened.locator("section.dataset").first
    facts = section.locator(".evaluators")
    assert "follows from evidence" not in facts.inner_text()  # folded
    assert NOTE.replace("cc-tiny-en-de agrees", "it agrees") in facts.inner_text()
    boxes: list[Any] = [p.bounding_box() for p in (facts, section.locator("table.summary"))]
    assert boxes[0]["y"] < boxes[1]["y"]
    assert NOTE not in "".join(section.locator(".cautions").all_inner_texts())


def test_print_holds_every_figure(opened: Page, tmp_path: Path) -> None:
    assert_print_is_whole(opened, tmp_path / "collection.pdf")


_ENDS = st.sampled_from(["</script>", "<!--", "]]>", "\u2028\u2029", "\ud800"])


@given(st.text(alphabet=st.characters(codec=None)) | _ENDS)
def test_no_text_can_end_the_script_element(text: str) -> None:
    actual = island_json([text])
    assert json.loads(actual) == [text]
    assert not set("<>&\u2028\u2029") & set(actual)
    actual.encode("utf-8")


def test_texts_are_stored_once_and_can_be_restored() -> None:
    report = reported.report()
    data: dict[str, Any] = json.loads(island_json(explorer_data(report, attributes(report))))
    strings, samples = data["strings"], data["samples"]
    assert len(strings) == len(set(strings))
    assert strings.count(ATTACK) == 1
    assert data["categories"] == list(report.categories)
    for index, (sample, example) in enumerate(
        zip(report.samples, reported.examples(), strict=True)
    ):
        assert strings[samples["id"][index]] == sample.id

        source = strings[samples["source"][index]]
        assert source == example.source
        start, length = samples["focus"][index]
        assert _slice(source, start, start + length) == "cook"

        for side in ("correct", "incorrect"):
            made = [
                _slice(source, 0, a) + strings[t] + _slice(source, b, None)
                for a, b, t in samples[side][index]
            ]
            assert made == list(getattr(example, f"{side}_sources"))

        for system in (0, 1):
            assert strings[data["translations"][system][index]] == sample.translations[system]
            judgements: Any = sample.judgements[system]
            by_probability, by_words = (data["judgements"][metric][system] for metric in (0, 1))
            for columns, judgement in zip((by_probability, by_words), judgements, strict=True):
                assert VERDICTS[columns["verdict"][index]] == judgement.verdict

            probability = judgements[0].probability_correct
            assert by_probability["p"][index] == pytest.approx(probability, abs=1e-4)
            assert by_probability["weight"][index] == judgements[0].weight
            assert by_words["p"] == 0
            assert strings[by_words["gold"][index]] == judgements[1].gold

    labels, others = data["labels"]
    assert others == {}
    actual = {index: (row[0], *(strings[k] for k in row[1:])) for index, row in labels.items()}
    expected = {"0": (0, "Male", "Male"), "1": (-1, "male", "female"), "2": (1, *["female"] * 2)}
    assert actual == expected


def test_data_without_examples_has_no_sources() -> None:
    report = reported.report(with_examples=False)
    data = explorer_data(report, attributes(report))
    assert set(data["samples"]["source"]) == {-1}
    assert data["samples"]["correct"] == [[]] * N
    assert data["tgt_lang"] == "de"


def test_contrastive_translations_are_part_of_the_data() -> None:
    result = reported.results(0)["words"]
    texts = ("en", "de", "The cook.", "Der Koch.", ("Die Köchin.",))
    kind = ContrastiveTranslationExample
    actual = [kind(j.example_id, *texts, j.category) for j in result.judgements]
    report = build_report([ReportedSystem("a", {"words": result})], examples=actual)
    data = explorer_data(report, attributes(report))
    assert data["samples"]["form"] == [1] * N
    (start, end, text), *_ = data["samples"]["incorrect"][0]
    assert (start, end, data["strings"][text]) == (0, 0, "Die Köchin.")


def _slice(text: str, start: int, end: int | None) -> str:
    """Slice text as JavaScript does."""
    units = text.encode("utf-16-le")
    return units[2 * start : None if end is None else 2 * end].decode("utf-16-le")


EVIL = "Der <script>alert('1')</script> & \"Koch\" ging."


def explained(translation: str = "Die Köchin ging, froh.") -> Explanation:
    right = ("The [female] cook left.", "She, the cook, left.")
    wrong = ("The [male] cook left.", "He, the cook, left.", "It, the cook, left.")
    return explain(SpelledEvaluator(max_tokens=200), translation, right, wrong, **EN_DE)


def shown(explanation: Explanation, width: int = 120) -> str:
    return printed(explanations.explanation_table(explanation), width=width, is_whole=True)


def test_the_table_shows_every_word_and_marks_the_deciding_ones() -> None:
    explanation = explained()
    text = shown(explanation)
    rows = {line.split("  ")[1]: line for line in text.splitlines() if line.startswith("  ")}
    for word in explanation.words:
        name = word.text if word.end > word.start else "end of sentence"
        assert f"{word.difference:+.3f}" in rows[name]
        assert rows[name].rstrip().endswith("*") == word.decides
    assert explanation.correct_source in text
    assert explanation.incorrect_source in text
    assert (
        f"{explanation.log_odds * len(explanation.tokens):+.3f}" in text
    )  # the sum of the differences
    assert text.splitlines()[0].rstrip() == explanations.verdict_line(explanation)


def test_brackets_are_not_read_as_markup() -> None:
    assert "[bold]Koch[/bold] [/]" in shown(explained("Der [bold]Koch[/bold] [/] ging."))


def test_ties_are_named_in_the_verdict() -> None:
    tie = replace(explained(), probability_correct=0.5)
    assert explanations.verdict_line(tie).startswith("tie: ")


def test_html_is_complete_and_escaped() -> None:
    actual = replace(
        explained(EVIL),
        correct_source=f"{EVIL} a",
        incorrect_source=f"{EVIL} b",
        evaluator="<script>",
        tgt_lang='"><script>',
    )
    html = explanations.explanation_html(actual)
    assert "<script" not in html
    words = known(ET.fromstring(html).find("p[@class='cc-words']"))
    assert "".join(words.itertext()) == EVIL
    marks = [(mark.text, mark.get("class") == "cc-decides") for mark in words.iter("mark")]
    assert marks == [(word.text, word.decides) for word in actual.words[:-1]]


def test_the_bar_marks_the_probability() -> None:
    for probability, left, side in ((0.25, "25.0", "incorrect"), (0.815, "81.5", "correct")):
        html = explanations.explanation_html(replace(explained(), probability_correct=probability))
        assert re.findall(r'cc-bar-mark cc-(\w+)" style="left:([0-9.]+)%"', html) == [(side, left)]


def test_word_colours_show_the_side_they_favour() -> None:
    explanation = explained()
    html = explanations.explanation_html(explanation)
    for word in explanation.words[:-1]:
        colour = "0, 130, 120" if word.contribution > 0 else "196, 72, 20"
        style = rf'style="background:rgba\({colour}, [0-9.]+\)"'
        assert re.search(rf"<mark {style}[^>]*>{re.escape(word.text)}</mark>", html)


def test_nothing_is_cut_in_a_terminal_of_80_columns() -> None:
    explanation = explained(f"Die {'Köchinnen' * 8} ging, froh.")
    text = shown(explanation, 80)
    assert all(f"{word.logprob_incorrect:.3f}" in text for word in explanation.words)
    rows = [line for line in text.splitlines() if line.startswith("  ")]
    assert max(map(len, rows)) <= 80
    assert "Köchinnen" * 8 in "".join(row.split()[0] for row in rows if row.split())


def test_the_bar_has_the_colour_of_the_verdict() -> None:
    for probability, colour in ((0.75, "32m"), (0.25, "31m")):
        actual, out = replace(explained(), probability_correct=probability), io.StringIO()
        pieces = explanations.explanation_table(actual)
        show(pieces, file=out, width=80, force_terminal=True, color_system="standard")
        assert re.search(rf"\x1b\[{colour}█+\x1b", out.getvalue())
        assert out.getvalue().count("█") == round(40 * probability)


def test_a_page_holds_all_explanations_and_loads_nothing() -> None:
    page = explanations.explanations_page([explained(), explained(EVIL)])
    assert page.count('<section class="cc-explanation"') == 2
    assert page.count("<script") == 1  # that of the frame, which its hash allows
    assert "default-src &#39;none&#39;" in page
    assert "src=" not in page


def test_a_page_is_legible_in_light_and_dark(page: Page) -> None:
    both = [explained(), replace(explained(EVIL), probability_correct=0.2)]
    check_legible(page, explanations.explanations_page(both))
