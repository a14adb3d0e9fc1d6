from __future__ import annotations

import html.parser
import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.image import imread

from cc_hf.errors import InputError
from cc_hf.studies.wino_x.salience import Salience, WordSalience
from cc_hf.studies.wino_x.salience_maps import salience_html, salience_png
from tests.helpers.axe import serious_violations

if TYPE_CHECKING:
    from playwright.sync_api import Page


def sentence(name: str, words: list[tuple[str, float]]) -> Salience:
    text = " ".join(word for word, _ in words)
    starts = [len(" ".join(word for word, _ in words[:at])) + (at > 0) for at in range(len(words))]
    rows = tuple(
        WordSalience(word, start, value, ((word, value),))
        for (word, value), start in zip(words, starts, strict=True)
    )
    referents = ("<b>key", "lamp")
    return Salience(
        name, name[:-2], text, "<i>sie</i>", 0.25, rows, 1, (), referents, "<Sie> fiel."
    )


TWINS = [
    sentence("<a>-1", [("<script>alert(1)</script>", 0.2), ("it", 0.4), ("&", -0.3), ("$x^", 0.1)]),
    sentence("<a>-2", [("<script>alert(1)</script>", 0.2), ("it", 0.4), ("&", -0.3), ("\"'", 0.0)]),
]


class Reader(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[tuple[str, str, str]] = []
        self.text = ""
        self.open: tuple[str, str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        found = dict(attrs)
        if str(found.get("class", "")).startswith("word"):
            self.open = str(found["class"]), str(found["style"])

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open:
            self.words.append((data, *self.open))
            self.open = None


def test_texts_are_not_read_as_html() -> None:
    reader = Reader()
    reader.feed(salience_html(TWINS, title="<b>"))
    assert not {"script", "i", "b", "sie"} & set(reader.tags)
    for one in TWINS:
        assert one.source in reader.text
        assert f'{one.example_id}: "<i>sie</i>", 25.0 % probable' in reader.text
    assert "<b>" in reader.text


def test_words_of_all_sentences_are_coloured_on_one_scale() -> None:
    reader = Reader()
    twin = sentence("<a>-2", [("The", 0.2), ("it", 0.4), ("&", -0.8), ("small", 0.0)])
    reader.feed(salience_html([TWINS[0], twin]))
    legend, rows = reader.words[:5], reader.words[5:]
    assert [(text, style) for text, _, style in legend] == [
        ("-80.0", "--depth:1.000"),
        ("-40.0", "--depth:0.500"),
        ("0", "--depth:0.000"),
        ("+40.0", "--depth:0.500"),
        ("+80.0", "--depth:1.000"),
    ]
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


def test_translation_and_referents_stand_below_a_sentence() -> None:
    reader = Reader()
    reader.feed(salience_html(TWINS))
    for text in (
        "translation: <Sie> fiel.",
        "correct referent: <b>key",
        "incorrect referent: lamp",
    ):
        assert reader.text.count(text) == 2
    assert "referent" not in salience_html([replace(TWINS[0], referents=("", ""))])


def test_sentences_without_any_effect_are_drawn() -> None:
    still = [sentence("a-1", [("The", 0.0), ("it", 0.0)])]
    assert "--depth:0.000" in salience_html(still)
    assert salience_png(still).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_map_is_legible_in_light_and_dark(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 844})
    page.set_content(salience_html(TWINS))
    assert serious_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_picture_shows_salience_and_triggers() -> None:
    found = salience_png(TWINS)
    assert found.startswith(b"\x89PNG")
    picture = imread(io.BytesIO(found))
    orange = (
        (abs(picture[..., 0] - 1) < 0.02)
        & (abs(picture[..., 1] - 140 / 255) < 0.02)
        & (picture[..., 2] < 0.02)
    )
    blue = (abs(picture[..., 0] - 77 / 255) < 0.02) & (picture[..., 2] > 0.98)
    assert orange.sum() > 200  # the background of "it", the most salient word
    assert blue.sum() > 200  # the end of the legend
    alone = imread(io.BytesIO(salience_png(TWINS[:1])))
    assert alone.shape[0] < picture.shape[0]
    assert framed(picture) > framed(alone) + 50  # no twin, no trigger


def framed(picture: Any) -> int:
    """Return the number of pixels in the colour of frames, relative to the number of sentences."""
    dark = (abs(picture[..., :3] - 0x22 / 255) < 0.01).all(axis=-1)
    return int(dark.sum())


def test_the_height_of_a_picture_follows_its_lines() -> None:
    """Wide words need more lines than estimated, narrow ones fewer."""
    for word in ("W" * 24, "i"):
        picture = imread(io.BytesIO(salience_png([sentence("a-1", [(word, 0.1)] * 40)])))
        ink = np.flatnonzero((picture[..., :3] < 0.95).any(axis=(1, 2)))
        assert 0 < ink[0] < 60
        assert 0 < len(picture) - ink[-1] < 60


def test_empty_input_is_refused() -> None:
    for draw in (salience_html, salience_png):
        with pytest.raises(InputError, match="at least one sentence to draw"):
            draw([])
