from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest

from cc_hf.comparing.changes import ExplainedChanges
from cc_hf.reports.page.changes import changes_html, changes_page
from cc_hf.schema import TextSpan
from tests.helpers.axe import check_legible

if TYPE_CHECKING:
    from playwright.sync_api import Page

EVIL = "<img src=x onerror=alert(1)>"
SOURCE = f"Pay {EVIL} 7 euros now,  or {'never ' * 9}later."


def explained(**fields: Any) -> ExplainedChanges:
    changes = (
        TextSpan("source", 4, 32, EVIL, 0.5),
        TextSpan("translation", 6, 11, "heute", 0.25),
        TextSpan("source", 28, 34, "1)> 7 ", 0.02),
        TextSpan("source", 33, 34, "7", -0.125, "number", "<b>9"),
    )
    errors = (True, True, True, False)
    names: Any = {"evaluator": "cc-tiny-en-de@1", "backward_evaluator": "back", "notes": (EVIL,)}
    given = {"metric": "coverage", "src_lang": "en", "tgt_lang": '"><script>', **names, **fields}
    return ExplainedChanges(
        source=SOURCE, translation="Zahle heute.", changes=changes, is_error=errors, **given
    )


def test_every_change_is_marked_in_its_text() -> None:
    html = changes_html(explained())
    assert "<img" not in html
    assert "<script" not in html
    section = ET.fromstring(html)
    texts = {p.get("data-side"): p for p in section.iter("p") if p.get("data-side")}
    assert ["".join(p.itertext()) for p in texts.values()] == [SOURCE, "Zahle heute."]
    marks = {side: [(m.text, m.get("title")) for m in p.iter("mark")] for side, p in texts.items()}
    # of parts that overlap, only the one with the largest difference is marked in the text
    assert marks == {
        "source": [(EVIL, "left out: +0.500")],
        "translation": [("heute", "added: +0.250")],
    }
    rows = [
        [" ".join("".join(cell.itertext()).split()) for cell in row] for row in section.iter("tr")
    ]
    assert [row[1:] for row in rows[1:]] == [
        ["+0.500", "left out"],
        ["+0.250", "added"],
        ["+0.020", "left out"],
        ["-0.125", "no error"],
    ]
    assert rows[1][0].startswith(f"source without Pay {EVIL} 7 euros now, or never")
    assert rows[1][0].endswith("never…")
    assert rows[4][0].startswith(f"number Pay {EVIL} 7<b>9 euros now, or")
    assert "not fit to cite: cc-tiny-en-de is a small evaluator" in html.striptags()
    assert "cc-tiny-en-de@1, back; nats" in html
    assert "3 of 4 changes are errors" in html


@pytest.mark.browser
def test_a_page_is_legible_in_light_and_dark(page: Page) -> None:
    texts: Any = {"tgt_lang": "de"}
    check_legible(page, changes_page([explained(**texts)] * 2))
