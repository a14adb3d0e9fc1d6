"""Explanations of metrics that change texts, as HTML."""

import xml.etree.ElementTree as ET
from typing import Any

from cc_hf.plugins.omissions.explained_changes import ExplainedChanges
from cc_hf.reports.page.explanations import sections_page
from cc_hf.schema import TextSpan
from tests.helpers.axe import check_legible
from tests.helpers.browser import Page

IMAGE = "<img src=x onerror=alert(1)>"
SOURCE = f"Pay {IMAGE} 7 euros now,  or {'never ' * 9}later."


def changed(**fields: Any) -> ExplainedChanges:
    first = TextSpan("source", 4, 32, IMAGE, 0.5), TextSpan("translation", 6, 11, "heute", 0.25)
    number = TextSpan("source", 33, 34, "7", -0.125, "number", "<b>9")
    changes = (*first, TextSpan("source", 28, 34, "1)> 7 ", 0.02), number)
    errors = (True, True, True, False)
    names: Any = {"evaluator": "cc-tiny-en-de@1", "backward_evaluator": "back", "notes": (IMAGE,)}
    given = {"metric": "coverage", "src_lang": "en", "tgt_lang": '"><script>', **names, **fields}
    return ExplainedChanges(
        changes=changes, is_error=errors, source=SOURCE, translation="Zahle heute.", **given
    )


def test_every_change_is_marked_in_its_text() -> None:
    html = changed().html()
    assert "<img" not in html
    assert "<script" not in html
    section = ET.fromstring(html)
    texts = {p.get("data-side"): p for p in section.iter("p") if p.get("data-side")}
    assert ["".join(p.itertext()) for p in texts.values()] == [SOURCE, "Zahle heute."]
    marks = {side: [(m.text, m.get("title")) for m in p.iter("mark")] for side, p in texts.items()}
    # of parts that overlap, only the one with the largest difference is marked in the text
    of_source, of_translation = marks.values()
    assert of_source == [(IMAGE, "may be left out: +0.500")]
    assert of_translation == [("heute", "may be added: +0.250")]
    rows = [[" ".join("".join(c.itertext()).split()) for c in row] for row in section.iter("tr")]
    assert [" ".join(row[1:]) for row in rows[1:]] == [
        "+0.500 may be left out",
        "+0.250 may be added",
        "+0.020 may be left out",
        "-0.125 no error",
    ]
    assert rows[1][0].startswith(f"source without Pay {IMAGE} 7 euros now, or never")
    assert rows[1][0].endswith("never…")
    assert rows[4][0].startswith(f"number Pay {IMAGE} 7<b>9 euros now, or")
    assert "not fit to cite: no labels show how far cc-tiny-en-de" in html.striptags()
    assert "cc-tiny-en-de@1, back; nats" in html
    assert "3 of 4 changes may be errors" in html


def test_a_page_is_legible_in_light_and_dark(page: Page) -> None:
    shown = [changed(tgt_lang="de").html()] * 2
    check_legible(page, sections_page(shown, title="Which changes are errors", about="Changes."))
