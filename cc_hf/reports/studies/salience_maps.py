"""Salience maps: the words of sentences on an orange background, which is deeper the more a word
matters to the pronoun. Triggers have a blue frame (thesis, Figure 4.2).
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import NamedTuple

from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.reports.templates import render_page
from cc_hf.studies.wino_x.salience import Salience, trigger_words

__all__ = ["salience_html", "salience_png"]

_RED, _GREEN, _BLUE = 255, 140, 0  # orange
_FRAME = "#1f4fbf"


class _Word(NamedTuple):
    """A word of a sentence, with the text before it, and the depth of its colour in [0, 1]."""

    gap: str
    text: str
    salience: float
    depth: float
    is_trigger: bool
    is_ambiguous: bool


class _Line(NamedTuple):
    """A sentence; `rest` is the text after its last word."""

    name: str
    words: list[_Word]
    rest: str


def salience_html(
    saliences: Sequence[Salience], *, title: str = 'Salience for the translation of "it"'
) -> str:
    """Return one page with a line for each sentence.

    The depth of a word's colour is its salience divided by the greatest salience of the sentence,
    and 0 if the salience is negative. The salience itself is the tooltip of the word. All text is
    escaped, and the page loads nothing.

    Args:
        saliences: at least one sentence.
        title: the title of the page.

    Raises:
        InputError: for no sentences.
    """
    _check(saliences)
    triggers = _triggers(saliences)
    lines = [_line(salience, triggers[index]) for index, salience in enumerate(saliences)]
    return render_page(
        "reports/studies/salience_maps.html.jinja",
        title=title,
        lines=lines,
        ground=f"{_RED},{_GREEN},{_BLUE}",
        frame=_FRAME,
    )


def salience_png(
    saliences: Sequence[Salience], *, title: str = 'Salience for the translation of "it"'
) -> bytes:
    """Return the same map as a PNG picture.

    Args:
        saliences: at least one sentence.
        title: the line above the sentences.

    Raises:
        InputError: for no sentences.
        MissingDependencyError: without matplotlib.
    """
    _check(saliences)
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError("matplotlib", "analysis") from None
    triggers = _triggers(saliences)
    figure = Figure(
        figsize=(12, 0.8 + 0.9 * sum(1 + len(salience.source) // 100 for salience in saliences)),
        dpi=150,
    )
    FigureCanvasAgg(figure)  # attaches itself as the canvas of the figure
    width, height = figure.bbox.width, figure.bbox.height
    line_height = 150 * 0.42
    with warnings.catch_warnings():
        # The font draws a box for a letter that it lacks, so the warning is not needed.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        y = height - line_height
        figure.text(0.02, y / height, title, fontsize=12, parse_math=False)
        for index, salience in enumerate(saliences):
            y -= line_height
            figure.text(
                0.02, y / height, _name(salience), fontsize=8, color="#555555", parse_math=False
            )
            x, y = 0.02 * width, y - 0.8 * line_height
            for number, word in enumerate(salience.words):
                depth = _depth(salience, word.salience)
                face = tuple(1 - depth * (1 - colour / 255) for colour in (_RED, _GREEN, _BLUE))
                frame = _FRAME if number in triggers[index] else face
                box = {
                    "boxstyle": "round,pad=0.2",
                    "facecolor": face,
                    "edgecolor": frame,
                    "linewidth": 1.5,
                }
                text = figure.text(
                    0,
                    0,
                    word.text,
                    fontsize=11,
                    bbox=box,
                    parse_math=False,
                    fontstyle="italic" if number == salience.ambiguous else "normal",
                )
                needed = text.get_window_extent().width + 18
                if x + needed > 0.98 * width:
                    x, y = 0.02 * width, y - 0.8 * line_height
                text.set_position((x / width, y / height))
                x += needed
        png = io.BytesIO()
        # The tight bounding box adapts the height to the lines that the sentences needed.
        figure.savefig(png, format="png", bbox_inches="tight", pad_inches=0.2)
    return png.getvalue()


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


def _depth(salience: Salience, value: float) -> float:
    greatest = max((word.salience for word in salience.words), default=0.0)
    return max(value, 0.0) / greatest if greatest > 0 else 0.0


def _name(salience: Salience) -> str:
    return (
        f'{salience.example_id}: "{salience.pronoun}", {100 * salience.probability:.1f} % probable'
    )


def _line(salience: Salience, triggers: set[int]) -> _Line:
    words = []
    end = 0
    for number, word in enumerate(salience.words):
        words.append(
            _Word(
                gap=salience.source[end : word.start],
                text=word.text,
                salience=word.salience,
                depth=_depth(salience, word.salience),
                is_trigger=number in triggers,
                is_ambiguous=number == salience.ambiguous,
            )
        )
        end = word.start + len(word.text)
    return _Line(_name(salience), words, salience.source[end:])
