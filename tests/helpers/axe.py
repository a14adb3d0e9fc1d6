"""Accessibility of a page by axe-core, whose script the package axe-playwright-python carries."""

from functools import cache
from importlib.resources import files
from typing import Any

from tests.helpers.browser import Page

#: The colours of all texts, each with the background that it stands on.
_COLOURS = """() => {
  const colours = new Set();
  for (const element of document.querySelectorAll("body *")) {
    if (![...element.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim())) continue;
    const style = getComputedStyle(element);
    let behind = element;
    while (behind.parentElement && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)")
      behind = behind.parentElement;
    const layers = [style.color, getComputedStyle(behind).backgroundColor, style.opacity];
    colours.add([...layers, style.fontSize, style.fontWeight].join(" "));
  }
  return [...colours];
}"""


def serious_violations(page: Page, known_colours: set[str] | None = None) -> list[str]:
    """Return the violations that axe-core calls serious or critical, each with its first elements;
    a text whose contrast is below 4.5 is one of them.

    The contrast, which takes most of the time, is left out if all colours of the page are known;
    the others are added.
    """
    page.evaluate(_script())
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if known_colours is not None:
        colours = page.evaluate(_COLOURS)
        options["rules"] = {"color-contrast": {"enabled": not known_colours.issuperset(colours)}}
        known_colours.update(colours)
    violations = page.evaluate("options => axe.run(document, options)", options)["violations"]
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
