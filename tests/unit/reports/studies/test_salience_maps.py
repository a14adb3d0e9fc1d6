from __future__ import annotations

import html.parser
import io

import numpy as np
import pytest
from matplotlib.image import imread

from cc_hf.errors import InputError
from cc_hf.reports.studies.salience_maps import salience_html, salience_png
from cc_hf.studies.wino_x.salience import Salience, WordSalience


def sentence(name: str, words: list[tuple[str, float]]) -> Salience:
    text = " ".join(word for word, _ in words)
    starts = [len(" ".join(word for word, _ in words[:at])) + (at > 0) for at in range(len(words))]
    rows = tuple(
        WordSalience(word, start, value, ((word, value),))
        for (word, value), start in zip(words, starts, strict=True)
    )
    return Salience(name, name[:-2], text, "<i>sie</i>", 0.25, rows, 1)


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
    assert set(reader.tags) == {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "p",
        "span",
        "br",
    }
    for one in TWINS:
        assert one.source in reader.text
        assert f'{one.example_id}: "<i>sie</i>", 25.0 % probable' in reader.text
    assert "<b>" in reader.text


def test_words_are_coloured_by_salience_and_triggers_framed() -> None:
    reader = Reader()
    reader.feed(salience_html(TWINS))
    rows = {text: (kinds, style) for text, kinds, style in reader.words}
    assert rows["it"] == ("word it", "background:rgba(255,140,0,1.000)")
    assert rows["<script>alert(1)</script>"] == ("word", "background:rgba(255,140,0,0.500)")
    assert rows["&"] == ("word", "background:rgba(255,140,0,0.000)")
    assert rows["$x^"] == ("word trigger", "background:rgba(255,140,0,0.250)")
    assert rows["\"'"] == ("word trigger", "background:rgba(255,140,0,0.000)")


def test_a_picture_shows_salience_and_triggers() -> None:
    found = salience_png(TWINS)
    assert found.startswith(b"\x89PNG")
    picture = imread(io.BytesIO(found))
    orange = (
        (abs(picture[..., 0] - 1) < 0.02)
        & (abs(picture[..., 1] - 140 / 255) < 0.02)
        & (picture[..., 2] < 0.02)
    )
    blue = (picture[..., 2] > 0.7) & (picture[..., 0] < 0.15)
    assert orange.sum() > 200  # the background of "it", the most salient word
    assert blue.sum() > 50  # the frames of triggers
    alone = imread(io.BytesIO(salience_png(TWINS[:1])))
    assert alone.shape[0] < picture.shape[0]
    assert not ((alone[..., 2] > 0.7) & (alone[..., 0] < 0.15)).any()  # no twin, no trigger


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
