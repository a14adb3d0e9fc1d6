"""Accessibility of a page by axe-core, whose script the package axe-playwright-python carries."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def serious_violations(page: Page) -> list[str]:
    """Return the violations that axe-core calls serious or critical, each with its first elements;
    a text whose contrast is below 4.5 is one of them.
    """
    page.evaluate(_script())
    violations = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        f"{violation['id']}: {[node['html'][:200] for node in violation['nodes'][:3]]}"
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]


def check_legible(page: Page, html: str) -> None:
    """Show a page of one command in light and dark, wide and narrow, by its own button."""
    page.set_content(html)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for _ in range(2):
            page.click("#theme")
            assert serious_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@cache
def _script() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
