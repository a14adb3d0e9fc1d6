"""Prints a page to PDF and checks that nothing of it is missing or cut."""

import re
import unicodedata
from pathlib import Path
from typing import Any

from tests.helpers.browser import Page

_MARGINS: Any = dict.fromkeys(("top", "bottom", "left", "right"), "1.5cm")
_WIDTH = 680  # pixels of A4 within these margins
#: What print must hold: the texts of tables and charts, titles, captions and notes.
_PRINTED = (
    "main td .value, main td .interval, main th, main td > span, figcaption, .chart text,"
    " h1, h2, h3, .evaluators li, .notes li, .signatures code"
)
# Samples are printed only if they are filtered, and buttons never.
_TEXTS = """parts => parts.filter(part => !part.closest('#samples:not(.filtered)')).map(part => {
  const copy = part.cloneNode(true);
  for (const button of copy.querySelectorAll('button.save')) button.remove();
  return copy.textContent;
})"""


def joined(text: str) -> str:
    """Return the text without spaces and ligatures, which a PDF places where it likes."""
    return re.sub(r"\s", "", unicodedata.normalize("NFKC", text))


def assert_print_is_whole(page: Page, path: Path) -> str:
    """Print on A4 and check that the file holds every text of tables and charts that nothing is
    wider than the paper, and that the page is afterwards as before.

    Returns:
        The text of the file, `joined`.
    """
    from pypdf import PdfReader

    page.pdf(path=path, format="A4", margin=_MARGINS)
    text = joined("\n".join(sheet.extract_text() for sheet in PdfReader(path).pages))
    texts = page.locator(_PRINTED).evaluate_all(_TEXTS)
    missing = [shown for shown in texts if joined(shown) not in text]
    assert missing == [], (missing, text)
    assert page.locator("main details[open]").count() == 0
    assert not page.evaluate("[...document.querySelectorAll('main table')].some(t => t.style.zoom)")
    _assert_not_wider_than_paper(page)
    return text


def _assert_not_wider_than_paper(page: Page) -> None:
    """Check the widths of everything as it is laid out for print."""
    size = page.viewport_size
    page.set_viewport_size({"width": _WIDTH, "height": 1000})
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    wide = page.evaluate(
        "width => [...document.querySelectorAll('body *')]"
        ".filter(part => part.getBoundingClientRect().right > width + 1)"
        ".map(part => part.outerHTML.slice(0, 200))",
        _WIDTH,
    )
    assert wide == []
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    if size:
        page.set_viewport_size(size)
