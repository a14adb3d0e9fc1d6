from __future__ import annotations

import html
import html.parser
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.image import imread

from cc_hf.studies.wino_x.salience import Salience, WordSalience
from cc_hf.studies.wino_x.salience_maps import salience_html, salience_png
from tests.helpers.axe import check_legible
from tests.helpers.refusals import refuses

if TYPE_CHECKING:
    from playwright.sync_api import Page


def sentence(name: str, words: list[tuple[str, float]]) -> Salience:
    text, rows = "", []
    for word, value in words:
        text += " " * bool(text)
        rows.append(WordSalience(word, len(text), value, ((word, value),)))
        text += word
    referents = ("<b>key", "lamp")
    said = ("<i>sie</i>", 0.25, tuple(rows), 1, (), referents, "<Sie> fiel.")
    return Salience(name, name[:-2], text, *said)


_START = [("<script>alert(1)</script>", 0.2), ("it", 0.4), ("&", -0.3)]
TWINS = [sentence("<a>-1", [*_START, ("$x^", 0.1)]), sentence("<a>-2", [*_START, ("\"'", 0.0)])]


def shown_words(page: str) -> list[tuple[str, str, str]]:
    """Return text, classes and style of each word of the page."""
    found = re.findall(r'class="(word[^"]*)" style="([^"]*)"[^>]*>([^<]*)<', page)
    return [(html.unescape(text), kinds, style) for kinds, style, text in found]


def test_texts_are_not_read_as_html() -> None:
    page = salience_html(TWINS, title="<b>")
    main = page[page.index("<main") : page.index("</main>")]
    assert not {"script", "i", "b", "sie"} & set(re.findall(r"<(\w+)", main.lower()))
    text = html.unescape(re.sub("<[^>]*>", "", page))
    for one in TWINS:
        assert one.source in text
        assert f'{one.example_id}: "<i>sie</i>", 25.0 % probable' in text
    assert "<b>" in text
    for part in ("translation: <Sie> fiel.", "correct referent: <b>key", "incorrect referent: lam"):
        assert text.count(part) == 2
    assert "referent" not in salience_html([replace(TWINS[0], referents=("", ""))])


def test_words_of_all_sentences_are_coloured_on_one_scale() -> None:
    twin = sentence("<a>-2", [("The", 0.2), ("it", 0.4), ("&", -0.8), ("small", 0.0)])
    words = shown_words(salience_html([TWINS[0], twin]))
    legend, rows = words[:5], words[5:]
    values = {"-80.0": 1, "-40.0": 0.5, "0": 0, "+40.0": 0.5, "+80.0": 1}
    expected = [(text, f"--depth:{depth:.3f}") for text, depth in values.items()]
    assert [(text, style) for text, _, style in legend] == expected
    assert [kinds for _, kinds, _ in legend][::4] == ["word less", "word more"]
    assert rows == [
        ("<script>alert(1)</script>", "word more trigger", "--depth:0.250"),
        ("it", "word more it", "--depth:0.500"),
        ("&", "word less", "--depth:0.375"),
        ("$x^", "word more trigger", "--depth:0.125"),
        ("The", "word more trigger", "--depth:0.250"),
        ("it", "word more it", "--depth:0.500"),
        ("&", "word less", "--depth:1.000"),
        ("small", "word less trigger", "--depth:0.000"),
    ]


def test_sentences_without_any_effect_are_drawn() -> None:
    still = [sentence("a-1", [("The", 0.0), ("it", 0.0)])]
    assert "--depth:0.000" in salience_html(still)
    assert salience_png(still).startswith(b"\x89PNG")


@pytest.mark.browser
def test_a_map_is_legible_in_light_and_dark(page: Page) -> None:
    check_legible(page, salience_html(TWINS))


def test_a_picture_shows_salience_and_triggers() -> None:
    picture, alone = (imread(io.BytesIO(salience_png(twins))) for twins in (TWINS, TWINS[:1]))
    red, green, blue = (picture[..., channel] for channel in range(3))
    orange = (abs(red - 1) < 0.02) & (abs(green - 140 / 255) < 0.02) & (blue < 0.02)
    assert orange.sum() > 200  # the background of "it", the most salient word
    # the end of the legend
    assert ((abs(red - 77 / 255) < 0.02) & (blue > 0.98)).sum() > 200
    assert alone.shape[0] < picture.shape[0]
    assert framed(picture) > framed(alone) + 50  # no twin, no trigger


def framed(picture: Any) -> int:
    """Return the number of pixels in the colour of frames, relative to the number of sentences."""
    return int((abs(picture[..., :3] - 0x22 / 255) < 0.01).all(axis=-1).sum())


def test_the_height_of_a_picture_follows_its_lines() -> None:
    """Wide words need more lines than estimated, narrow ones fewer."""
    for word in ("W" * 24, "i"):
        picture = imread(io.BytesIO(salience_png([sentence("a-1", [(word, 0.1)] * 40)])))
        ink = np.flatnonzero((picture[..., :3] < 0.95).any(axis=(1, 2)))
        assert 0 < ink[0] < 60
        assert 0 < len(picture) - ink[-1] < 60


def test_empty_input_is_refused() -> None:
    for draw in (salience_html, salience_png):
        refuses("at least one sentence to draw", draw, [])
