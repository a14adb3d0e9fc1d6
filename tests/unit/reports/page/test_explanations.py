import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from cc_hf.comparing.changes import ExplainedChanges
from cc_hf.comparing.explanation import Explanation, explain
from cc_hf.reports.page import explanations
from cc_hf.reports.page.changes import changes_html, changes_page
from cc_hf.schema import TextSpan
from tests.helpers.axe import check_legible
from tests.helpers.browser import Page
from tests.helpers.letter_evaluator import SpelledEvaluator
from tests.helpers.pairs import EN_DE
from tests.helpers.terminal import printed

EVIL = "Der <script>alert('1')</script> & \"Koch\" ging."


def explained(translation: str = "Die Köchin ging, froh.") -> Explanation:
    right = ("The [female] cook left.", "She, the cook, left.")
    wrong = ("The [male] cook left.", "He, the cook, left.", "It, the cook, left.")
    return explain(SpelledEvaluator(max_tokens=200), translation, right, wrong, **EN_DE)


def shown(found: Explanation, width: int = 120) -> str:
    return printed(explanations.explanation_table(found), width=width, soft_wrap=True)


def test_the_table_shows_every_word_and_marks_the_deciding_ones() -> None:
    found = explained()
    text = shown(found)
    rows = {line.split("  ")[1]: line for line in text.splitlines() if line.startswith("  ")}
    for word in found.words:
        name = word.text if word.end > word.start else "end of sentence"
        assert f"{word.difference:+.3f}" in rows[name]
        assert rows[name].rstrip().endswith("*") == word.decides
    assert found.correct_source in text
    assert found.incorrect_source in text
    assert f"{found.log_odds * len(found.tokens):+.3f}" in text  # the sum of the differences
    assert text.splitlines()[0].rstrip() == explanations.verdict_line(found)


def test_brackets_are_not_read_as_markup() -> None:
    assert "[bold]Koch[/bold] [/]" in shown(explained("Der [bold]Koch[/bold] [/] ging."))


def test_ties_are_named_in_the_verdict() -> None:
    assert explanations.verdict_line(replace(explained(), probability_correct=0.5)).startswith(
        "tie: "
    )


def test_html_is_complete_and_escaped() -> None:
    named: Any = {"evaluator": "<script>", "tgt_lang": '"><script>'}
    sources: Any = {"correct_source": f"{EVIL} a", "incorrect_source": f"{EVIL} b"}
    found = replace(explained(EVIL), **sources, **named)
    html = explanations.explanation_html(found)
    assert "<script" not in html
    words = ET.fromstring(html).find("p[@class='cc-words']")
    assert words is not None
    assert "".join(words.itertext()) == EVIL
    marks = [(mark.text, mark.get("class") == "cc-decides") for mark in words.iter("mark")]
    assert marks == [(word.text, word.decides) for word in found.words[:-1]]


def test_the_bar_marks_the_probability() -> None:
    for probability, place, side in ((0.25, "25.0", "incorrect"), (0.815, "81.5", "correct")):
        html = explanations.explanation_html(replace(explained(), probability_correct=probability))
        assert re.findall(r'cc-bar-mark cc-(\w+)" style="left:([0-9.]+)%"', html) == [(side, place)]


def test_word_colours_show_the_side_they_favour() -> None:
    found = explained()
    html = explanations.explanation_html(found)
    for word in found.words[:-1]:
        colour = "0, 130, 120" if word.contribution > 0 else "196, 72, 20"
        style = rf'style="background:rgba\({colour}, [0-9.]+\)"'
        assert re.search(rf"<mark {style}[^>]*>{re.escape(word.text)}</mark>", html)


def test_nothing_is_cut_in_a_terminal_of_80_columns() -> None:
    found = explained(f"Die {'Köchinnen' * 8} ging, froh.")
    text = shown(found, 80)
    assert "…" not in text
    for word in found.words:
        assert f"{word.logprob_incorrect:.3f}" in text
    rows = [line for line in text.splitlines() if line.startswith("  ")]
    assert max(map(len, rows)) <= 80
    assert "Köchinnen" * 8 in "".join(row.split()[0] for row in rows if row.split())


def test_the_bar_has_the_colour_of_the_verdict() -> None:
    for probability, is_correct, colour in ((0.75, True, "32m"), (0.25, False, "31m")):
        found, out = replace(explained(), probability_correct=probability), io.StringIO()
        assert found.is_correct == is_correct
        console = Console(file=out, width=80, force_terminal=True, color_system="standard")
        console.print(explanations.explanation_table(found))
        assert re.search(rf"\x1b\[{colour}█+\x1b", out.getvalue())
        assert out.getvalue().count("█") == round(40 * probability)


def test_a_page_holds_all_explanations_and_loads_nothing() -> None:
    page = explanations.explanations_page([explained(), explained(EVIL)])
    assert page.count('<section class="cc-explanation"') == 2
    assert page.count("<script") == 1  # that of the frame, which its hash allows
    assert "default-src &#39;none&#39;" in page
    assert "src=" not in page


IMAGE = "<img src=x onerror=alert(1)>"
SOURCE = f"Pay {IMAGE} 7 euros now,  or {'never ' * 9}later."


def changed(**fields: Any) -> ExplainedChanges:
    first = TextSpan("source", 4, 32, IMAGE, 0.5), TextSpan("translation", 6, 11, "heute", 0.25)
    number = TextSpan("source", 33, 34, "7", -0.125, "number", "<b>9")
    changes = (*first, TextSpan("source", 28, 34, "1)> 7 ", 0.02), number)
    errors = (True, True, True, False)
    names: Any = {"evaluator": "cc-tiny-en-de@1", "backward_evaluator": "back", "notes": (IMAGE,)}
    given = {"metric": "coverage", "src_lang": "en", "tgt_lang": '"><script>', **names, **fields}
    texts: Any = {"source": SOURCE, "translation": "Zahle heute."}
    return ExplainedChanges(changes=changes, is_error=errors, **texts, **given)


def test_every_change_is_marked_in_its_text() -> None:
    html = changes_html(changed())
    assert "<img" not in html
    assert "<script" not in html
    section = ET.fromstring(html)
    texts = {p.get("data-side"): p for p in section.iter("p") if p.get("data-side")}
    assert ["".join(p.itertext()) for p in texts.values()] == [SOURCE, "Zahle heute."]
    marks = {side: [(m.text, m.get("title")) for m in p.iter("mark")] for side, p in texts.items()}
    # of parts that overlap, only the one with the largest difference is marked in the text
    of_source, of_translation = marks.values()
    assert of_source == [(IMAGE, "left out: +0.500")]
    assert of_translation == [("heute", "added: +0.250")]
    rows = [[" ".join("".join(c.itertext()).split()) for c in row] for row in section.iter("tr")]
    shown = ["+0.500 left out", "+0.250 added", "+0.020 left out", "-0.125 no error"]
    assert [" ".join(row[1:]) for row in rows[1:]] == shown
    assert rows[1][0].startswith(f"source without Pay {IMAGE} 7 euros now, or never")
    assert rows[1][0].endswith("never…")
    assert rows[4][0].startswith(f"number Pay {IMAGE} 7<b>9 euros now, or")
    assert "not fit to cite: cc-tiny-en-de is a small evaluator" in html.striptags()
    assert "cc-tiny-en-de@1, back; nats" in html
    assert "3 of 4 changes are errors" in html


@pytest.mark.parametrize("kind", ["explanations", "changes"])
def test_a_page_is_legible_in_light_and_dark(page: Page, kind: str) -> None:
    both = [explained(), replace(explained(EVIL), probability_correct=0.2)]
    is_explanation, changes = kind == "explanations", [changed(tgt_lang="de")] * 2
    check_legible(
        page, explanations.explanations_page(both) if is_explanation else changes_page(changes)
    )
