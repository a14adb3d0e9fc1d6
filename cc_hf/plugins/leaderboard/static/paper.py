"""A chart as a file for a paper: the elements of a chart of the page, with colours on white in
place of classes, which mean nothing outside the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cc_hf.reports.marks import COLOURS
from cc_hf.reports.page.drawing import WIDTH, Element
from cc_hf.reports.templates import render_piece

__all__ = ["paper_svg"]

_TEXT, _SOFT, _GRID = "#171b21", "#535c68", "#d9dde3"
#: Class of the page -> what it means on paper.
_STYLES: Mapping[str, Mapping[str, str]] = {
    "end": {"text-anchor": "end"},
    "grid": {"stroke": _GRID},
    "line": {"stroke-width": "2"},
    "middle": {"text-anchor": "middle"},
    "middle-line": {"stroke": _SOFT, "stroke-dasharray": "3 3"},
    "meant-line": {"stroke": _TEXT, "stroke-width": "2.5"},
    "muted": {"fill": _SOFT, "font-size": "11.5"},
    "pale": {"opacity": "0.45"},
    "strong": {"font-weight": "600"},
    "whisker": {"stroke": _TEXT, "stroke-width": "1.2"},
}
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def paper_svg(height: float, title: str, description: str, elements: Sequence[Element]) -> str:
    """Return a chart of the usual width as the text of an SVG file.

    Examples:
        >>> from cc_hf.reports.page.drawing import text_element
        >>> text = paper_svg(20, "a & b", "", [text_element(0, 9, "<c>", "end")])
        >>> '<title id="title">a &amp; b</title>' in text, "class=" in text
        (True, False)
    """
    svg = render_piece(
        "plugins/leaderboard/pieces.html.jinja",
        "paper_chart",
        width=WIDTH,
        height=f"{height:g}",
        text=_TEXT,
        title=title,
        description=description,
        elements=[element._replace(attributes=_on_paper(element)) for element in elements],
    )
    return _NO_XML.sub("\ufffd", f"{svg}\n")


def _on_paper(element: Element) -> dict[str, str]:
    """Return the attributes of an element with those that its classes stand for."""
    attributes = dict(element.attributes)
    classes = attributes.pop("class", "").split()
    for name in classes:
        attributes |= _STYLES.get(name, {})
        if re.fullmatch(r"s\d", name):
            attributes["stroke" if "line" in classes else "fill"] = COLOURS[int(name[1])]
    return attributes
