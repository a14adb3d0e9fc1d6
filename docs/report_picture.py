"""Make the README's pictures of a report anew: python docs/report_picture.py SHARED

They show the findings and charts of the page that `cc-hf evaluate winomt en-de --html` writes for
the systems of the README's finding, in light and in dark. SHARED holds upstream/. The pictures are
taken by Debian's chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Literal

import typer
from playwright.sync_api import FloatRect, Page, sync_playwright
from readme_figures import FINDING, judged_by_words

import cc_hf
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import ReportedSystem

_DOCS = Path(__file__).parent
_WIDTH, _HEIGHT, _MARGIN = 1000, 820, 12
_PICTURES: tuple[tuple[str, Literal["light", "dark"]], ...] = (
    ("report.png", "light"),
    ("report-dark.png", "dark"),
)


def page(shared: Path) -> str:
    """Return the report as a page."""
    material = cc_hf.load_material("winomt", tgt_lang="de", data_dir=shared / "upstream")
    results = {name: judged_by_words(shared, name) for name in FINDING}
    judged = [ReportedSystem(name, {r.metric: r}) for name, r in results.items()]
    return html_page(build_report(judged, examples=material.examples))


def findings_and_charts(opened: Page) -> FloatRect:
    """Return where the findings, what to cite and the first row of charts are."""
    parts = ("#summary .findings", "#summary .cite", "#summary figure >> nth=1")
    boxes = [box for part in parts if (box := opened.locator(part).first.bounding_box())]
    left = min(box["x"] for box in boxes) - _MARGIN
    top = min(box["y"] for box in boxes) - _MARGIN
    right = max(box["x"] + box["width"] for box in boxes) + _MARGIN
    bottom = max(box["y"] + box["height"] for box in boxes) + _MARGIN
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        file.write_text(page(Path(sys.argv[1])), encoding="utf-8", newline="\n")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, scheme in _PICTURES:
            opened = browser.new_page(
                viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme=scheme
            )
            opened.goto(file.as_uri())
            opened.screenshot(path=_DOCS / name, clip=findings_and_charts(opened), full_page=True)
            typer.echo(f"{name} written")
        browser.close()
