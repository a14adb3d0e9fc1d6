from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

from rich.console import Console

from cc_hf.reports.studies.explanations import explanation_html, explanation_table, verdict_line
from cc_hf.studies.explanation import Explanation, explain
from tests.unit.studies.test_explanation import CORRECT, INCORRECT, SpelledEvaluator

EVIL = "Der <script>alert('1')</script> & \"Koch\" ging."


def explained(translation: str = "Die Köchin ging, froh.") -> Explanation:
    return explain(
        SpelledEvaluator(max_tokens=200),
        translation,
        CORRECT,
        INCORRECT,
        src_lang="en",
        tgt_lang="de",
    )


def printed(found: Explanation) -> str:
    out = io.StringIO()
    Console(file=out, width=120).print(explanation_table(found), soft_wrap=True)
    return out.getvalue()


def test_the_table_shows_every_word_and_marks_the_deciding_ones() -> None:
    found = explained()
    text = printed(found)
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
    assert "[bold]Koch[/bold] [/]" in printed(explained("Der [bold]Koch[/bold] [/] ging."))


def test_ties_are_named_in_the_verdict() -> None:
    assert verdict_line(replace(explained(), probability_correct=0.5)).startswith("tie: ")


def test_html_is_complete_and_escaped() -> None:
    found = replace(
        explained(EVIL),
        correct_source=f"{EVIL} a",
        incorrect_source=f"{EVIL} b",
        evaluator="<script>",
        tgt_lang='"><script>',
    )
    html = explanation_html(found)
    assert "<script" not in html
    tree = ET.fromstring(html)
    words = tree.find("p[@class='cc-words']")
    assert words is not None
    assert "".join(words.itertext()) == EVIL
    assert [mark.text for mark in words.iter("mark")] == [word.text for word in found.words[:-1]]
    decides = {mark.text for mark in words.iter("mark") if mark.get("class") == "cc-decides"}
    assert decides == {word.text for word in found.words[:-1] if word.decides}


def test_the_bar_marks_the_probability() -> None:
    for probability, place, side in ((0.25, "25.0", "incorrect"), (0.815, "81.5", "correct")):
        html = explanation_html(replace(explained(), probability_correct=probability))
        assert re.findall(r'cc-bar-mark cc-(\w+)" style="left:([0-9.]+)%"', html) == [(side, place)]


def test_word_colours_show_the_side_they_favour() -> None:
    found = explained()
    html = explanation_html(found)
    for word in found.words[:-1]:
        colour = "0, 130, 120" if word.contribution > 0 else "196, 72, 20"
        assert re.search(
            rf'<mark style="background:rgba\({colour},'
            rf' [0-9.]+\)"[^>]*>{re.escape(word.text)}</mark>',
            html,
        )
