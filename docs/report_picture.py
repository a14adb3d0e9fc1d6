"""Make the README's picture of a report anew: python docs/report_picture.py SHARED

It shows the archived translations of WinoMT en-de by four systems, judged by every metric that
fits. SHARED holds upstream/. The picture is taken by Debian's chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import typer
from playwright.sync_api import sync_playwright

import cc_hf
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import ReportedSystem

_WIDTH, _HEIGHT = 1100, 820


def page(shared: Path, systems: tuple[str, ...] = ("aws", "bing", "google", "systran")) -> str:
    """Return the report as a page."""
    material = cc_hf.load_material("winomt", tgt_lang="de", data_dir=shared / "upstream")
    judged = []
    for system in systems:
        path = shared / f"upstream/gabrielStanovsky/mt_gender/translations/{system}/en-de.txt"
        results = cc_hf.evaluate_all(material, translations=path, progress=True).results
        judged.append(ReportedSystem(system, {result.metric: result for result in results}))
    return html_page(build_report(judged, examples=material.examples))


if __name__ == "__main__":
    picture = Path(__file__).parent / "report.png"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        file.write_text(page(Path(sys.argv[1])), encoding="utf-8", newline="\n")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        opened = browser.new_page(
            viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light"
        )
        opened.goto(file.as_uri())
        opened.screenshot(path=picture)
        browser.close()
    typer.echo(f"{picture.name} written")
