"""Opens a report in a browser."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import Report
from tests.helpers.browser import Page
from tests.helpers.lines import write_text

Opened = Callable[..., Page]


@pytest.fixture
def opened(page: Page, tmp_path: Path) -> Opened:
    """Open a report from disk; a request for anything but the file fails the test."""

    def open_page(report: Report) -> Page:
        path = write_text(tmp_path / "out.html", html_page(report))
        said: list[str] = []
        page.on("request", ask := lambda request: said.append(request.url))
        page.on("console", say := lambda message: said.append(message.text))
        page.goto(path.as_uri())
        page.remove_listener("request", ask)
        page.remove_listener("console", say)
        assert said == [path.as_uri()]
        return page

    return open_page
