"""Salience maps: the words of sentences on a background that is orange if a word makes the pronoun
more probable and blue if it makes it less probable, on one scale for the whole map. Triggers have a
frame (thesis, Figure 4.2).
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.reports.numbers import in_points, percent, signed
from cc_hf.reports.page.page import small_page
from cc_hf_studies.wino_x.salience import Salience, trigger_words

__all__ = ["salience_html", "salience_png"]

_MORE, _LESS = (255, 140, 0), (77, 148, 255)  # orange and blue; on white, black text stays legible
_FRAME = "#222222"
_KEY = (
    "Change of the probability of the pronoun through a word, in percentage points: orange words"
    " make it more probable, blue words less. Frame: triggers. Italics: the pronoun."
)
_STEPS = (-1.0, -0.5, 0.0, 0.5, 1.0)  # of the legend


class _Word(NamedTuple):
    """A word of a sentence, with the text before it, and its place on the scale, in [-1, 1]."""

    gap: str
    text: str
    salience: float
    depth: float
    is_trigger: bool
    is_ambiguous: bool


class _Line(NamedTuple):
    """A sentence; `rest` is the text after its last word, and `below` says what belongs to it."""

    name: str
    words: list[_Word]
    rest: str
    below: list[tuple[str, str]]


def salience_html(
    saliences: Sequence[Salience],
    *,
    title: str = 'Salience for the translation of "it"',
    signature: str = "",
    command: str = "",
) -> str:
    """Return one page with a line for each sentence, and its translation and referents below.

    The depth of a word's colour is its salience divided by the greatest absolute salience on the
    page, which the legend names. All text is escaped, and the page loads nothing.
    """
    _check(saliences)
    triggers = _triggers(saliences)
    greatest = _greatest(saliences)
    lines = [_line(s, triggers[index], greatest) for index, s in enumerate(saliences)]
    return small_page(
        "cc_hf_studies:wino_x/salience_maps.html.jinja",
        title=title,
        about="Which words of a sentence decide how a model translates its pronoun.",
        signature=signature,
        command=command,
        lines=lines,
        steps=_legend(greatest),
    )


def salience_png(
    saliences: Sequence[Salience], *, title: str = 'Salience for the translation of "it"'
) -> bytes:
    """Return the same map as a PNG picture, on white."""
    _check(saliences)
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError("matplotlib", "analysis") from None
    triggers = _triggers(saliences)
    greatest = _greatest(saliences)
    n_lines = sum(2 + len(s.source) // 100 + len(s.translation) // 130 for s in saliences)
    figure = Figure(figsize=(12, 1.6 + 0.9 * n_lines), dpi=150)
    FigureCanvasAgg(figure)  # attaches itself as the canvas of the figure
    line_height = 150 * 0.42
    with warnings.catch_warnings():
        # The font draws a box for a letter that it lacks, so the warning is not needed.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        y = figure.bbox.height - line_height
        _write(figure, y, title, size=12)
        y -= 0.5 * line_height
        _write(figure, y, _KEY)
        y -= 0.8 * line_height
        steps = [(text, depth, False, False) for text, depth in _legend(greatest)]
        y = _boxes(figure, y, steps, line_height)
        for salience, of_sentence in zip(saliences, triggers, strict=True):
            line = _line(salience, of_sentence, greatest)
            y -= line_height
            _write(figure, y, line.name)
            boxes = [(w.text, w.depth, w.is_trigger, w.is_ambiguous) for w in line.words]
            y = _boxes(figure, y - 0.8 * line_height, boxes, line_height)
            for name, text in line.below:
                for part in textwrap.wrap(f"{name}: {text}", 150):
                    y -= 0.55 * line_height
                    _write(figure, y, part)
        png = io.BytesIO()
        # The tight bounding box adapts the height to the lines that the sentences needed.
        figure.savefig(png, format="png", bbox_inches="tight", pad_inches=0.2)
    return png.getvalue()


def _write(figure: Any, y: float, text: str, *, size: int = 8) -> None:
    colour = "#000000" if size > 8 else "#555555"
    height = y / figure.bbox.height
    figure.text(0.02, height, text, fontsize=size, color=colour, parse_math=False)


def _boxes(
    figure: Any, y: float, boxes: Sequence[tuple[str, float, bool, bool]], line_height: float
) -> float:
    """Draw words on coloured boxes from left to right, in as many lines as they need."""
    width, height = figure.bbox.width, figure.bbox.height
    x = 0.02 * width
    for word, depth, has_frame, is_italic in boxes:
        colour = _MORE if depth > 0 else _LESS
        face = tuple(1 - abs(depth) * (1 - part / 255) for part in colour)
        box = {
            "boxstyle": "round,pad=0.2",
            "facecolor": face,
            "edgecolor": _FRAME if has_frame else face,
            "linewidth": 1.5,
        }
        style = "italic" if is_italic else "normal"
        text = figure.text(0, 0, word, fontsize=11, bbox=box, parse_math=False, fontstyle=style)
        needed = text.get_window_extent().width + 18
        if x + needed > 0.98 * width:
            x, y = 0.02 * width, y - 0.8 * line_height
        text.set_position((x / width, y / height))
        x += needed
    return y


def _check(saliences: Sequence[Salience]) -> None:
    if not saliences:
        raise InputError("expected at least one sentence to draw, got none")


def _triggers(saliences: Sequence[Salience]) -> list[set[int]]:
    """Return the triggers of each sentence; the set is empty if its twin is not among them."""
    twins: dict[str, list[int]] = {}
    for index, salience in enumerate(saliences):
        twins.setdefault(salience.pair, []).append(index)
    triggers: list[set[int]] = [set() for _ in saliences]
    for pair, members in twins.items():
        if pair and len(members) == 2:
            left, right = members
            triggers[left], triggers[right] = trigger_words(saliences[left], saliences[right])
    return triggers


def _greatest(saliences: Sequence[Salience]) -> float:
    """Return the greatest absolute salience, which is the end of the scale."""
    return max((abs(word.salience) for s in saliences for word in s.words), default=0.0)


def _legend(greatest: float) -> list[tuple[str, float]]:
    """Return the steps of the legend: salience in percentage points, and place on the scale."""
    return [
        (signed(step * in_points(greatest), digits=1) if step else "0", step) for step in _STEPS
    ]


def _name(salience: Salience) -> str:
    return (
        f'{salience.example_id}: "{salience.pronoun}", {percent(salience.probability)} % probable'
    )


def _line(salience: Salience, triggers: set[int], greatest: float) -> _Line:
    words = []
    end = 0
    for number, word in enumerate(salience.words):
        words.append(
            _Word(
                gap=salience.source[end : word.start],
                text=word.text,
                salience=word.salience,
                depth=word.salience / greatest if greatest else 0.0,
                is_trigger=number in triggers,
                is_ambiguous=number == salience.ambiguous,
            )
        )
        end = word.start + len(word.text)
    names = ("translation", "correct referent", "incorrect referent")
    texts = (salience.translation, *salience.referents)
    below = [(name, text) for name, text in zip(names, texts, strict=True) if text]
    return _Line(_name(salience), words, salience.source[end:], below)
