"""Accessibility of a page by axe-core, whose script the package axe-playwright-python carries."""

from functools import cache
from importlib.resources import files

from tests.helpers.browser import Page

#: Runs axe, but checks the contrast only where texts have new colours, each with the backgrounds
#: that it stands on, and of many texts of the same colours only some: it takes most of the time.
_RUN = """async known => {
  const groups = new Map();
  const known_layers = new Map([[null, ""]]);
  const layers = element => {
    if (!known_layers.has(element)) {
      const {backgroundColor, opacity} = getComputedStyle(element);
      known_layers.set(element, backgroundColor + opacity + layers(element.parentElement));
    }
    return known_layers.get(element);
  };
  for (const element of document.querySelectorAll("body *")) {
    const isText = node => node.nodeType === Node.TEXT_NODE && node.data.trim();
    if (![...element.childNodes].some(isText) && !element.matches("input, textarea")) continue;
    if (!element.checkVisibility({visibilityProperty: true})) continue;
    const {color, fill, fontSize, fontWeight} = getComputedStyle(element);
    const under = layers(element).replaceAll("rgba(0, 0, 0, 0)1", "");
    const colours = [color, fill, fontSize, fontWeight, under].join(" ");
    groups.set(colours, [...(groups.get(colours) ?? []), element]);
  }
  known.forEach(colours => groups.delete(colours));
  const some = all => all.filter((_, i) => i % Math.ceil(all.length / 20) === 0);
  const include = [...groups.values()].flatMap(some);
  // serious rules that are on read no style sheets, which would be loaded before
  const common = {resultTypes: ["violations"], preload: false, selectors: false};
  const off = {"color-contrast": {enabled: false}, "region": {enabled: false}};  // one is moderate
  const found = [await axe.run(document, {...common, rules: off})];
  const contrast = {...common, runOnly: ["color-contrast"]};
  if (include.length) found.push(await axe.run({include}, contrast));
  return [found.flatMap(f => f.violations), found[1]?.violations.length ? [] : [...groups.keys()]];
}"""
_KNOWN = set[str]()


def serious_violations(page: Page) -> list[str]:
    """Return the violations that axe-core calls serious or critical, each with its first elements;
    a text whose contrast is below 4.5 is one of them, unless its colours passed on a page before.

    While an answer is awaited or fades in, its texts are pale: a violation must last.
    """
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(_script())
    for _ in range(20):
        violations, passed = page.evaluate(_RUN, [*_KNOWN])
        _KNOWN.update(passed)
        serious = [v for v in violations if v["impact"] in ("serious", "critical")]
        if not serious:
            break
        page.wait_for_timeout(500)
    return [f"{v['id']}: {[node['html'][:200] for node in v['nodes'][:3]]}" for v in serious]


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
