from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from cc_hf.comparing.explanation import Explanation, explain
from cc_hf.reports.page.explanations import (
    explanation_html,
    explanation_table,
    explanations_page,
    verdict_line,
)
from tests.helpers.axe import check_legible
from tests.helpers.letter_evaluator import SpelledEvaluator
from tests.helpers.pairs import EN_DE
from tests.helpers.terminal import printed

if TYPE_CHECKING:
    from playwright.sync_api import Page

EVIL = "Der <script>alert('1')</script> & \"Koch\" ging."


def explained(translation: str = "Die Köchin ging, froh.") -> Explanation:
    right = ("The [female] cook left.", "She, the cook, left.")
    wrong = ("The [male] cook left.", "He, the cook, left.", "It, the cook, left.")
    return explain(SpelledEvaluator(max_tokens=200), translation, right, wrong, **EN_DE)


def shown(found: Explanation, width: int = 120) -> str:
    return printed(explanation_table(found), width=width, soft_wrap=True)


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
    assert text.splitlines()[0].rstrip() == verdict_line(found)


def test_brackets_are_not_read_as_markup() -> None:
    assert "[bold]Koch[/bold] [/]" in shown(explained("Der [bold]Koch[/bold] [/] ging."))


def test_ties_are_named_in_the_verdict() -> None:
    assert verdict_line(replace(explained(), probability_correct=0.5)).startswith("tie: ")


def test_html_is_complete_and_escaped() -> None:
    named: Any = {"evaluator": "<script>", "tgt_lang": '"><script>'}
    sources: Any = {"correct_source": f"{EVIL} a", "incorrect_source": f"{EVIL} b"}
    found = replace(explained(EVIL), **sources, **named)
    html = explanation_html(found)
    assert "<script" not in html
    words = ET.fromstring(html).find("p[@class='cc-words']")
    assert words is not None
    assert "".join(words.itertext()) == EVIL
    assert [(mark.text, mark.get("class") == "cc-decides") for mark in words.iter("mark")] == [
        (word.text, word.decides) for word in found.words[:-1]
    ]


def test_the_bar_marks_the_probability() -> None:
    for probability, place, side in ((0.25, "25.0", "incorrect"), (0.815, "81.5", "correct")):
        html = explanation_html(replace(explained(), probability_correct=probability))
        assert re.findall(r'cc-bar-mark cc-(\w+)" style="left:([0-9.]+)%"', html) == [(side, place)]


def test_word_colours_show_the_side_they_favour() -> None:
    found = explained()
    html = explanation_html(found)
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
        console.print(explanation_table(found))
        assert re.search(rf"\x1b\[{colour}█+\x1b", out.getvalue())
        assert out.getvalue().count("█") == round(40 * probability)


def test_a_page_holds_all_explanations_and_loads_nothing() -> None:
    page = explanations_page([explained(), explained(EVIL)])
    assert page.count('<section class="cc-explanation"') == 2
    assert page.count("<script") == 1  # that of the frame, which its hash allows
    assert "default-src &#39;none&#39;" in page
    assert "src=" not in page


@pytest.mark.browser
def test_a_page_is_legible_in_light_and_dark(page: Page) -> None:
    html = explanations_page([explained(), replace(explained(EVIL), probability_correct=0.2)])
    check_legible(page, html)
