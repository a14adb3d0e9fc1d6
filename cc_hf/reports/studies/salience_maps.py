"""Salience maps: the words of sentences on orange ground, the deeper the more they matter to the
pronoun; triggers in a blue frame (thesis, Figure 4.2).
"""

from __future__ import annotations

import html
import io
import warnings
from collections.abc import Sequence

from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.studies.wino_x.salience import Salience, trigger_words

__all__ = ["salience_html", "salience_png"]

_RED, _GREEN, _BLUE = 255, 140, 0  # orange
_FRAME = "#1f4fbf"
_STYLE = """
body { font: 16px/2.2 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }
.word { padding: 2px 4px; border-radius: 3px; border: 2px solid transparent; }
.trigger { border-color: #1f4fbf; } .it { text-decoration: underline; }
.name { color: #555; font-size: 13px; }
"""


def salience_html(
    saliences: Sequence[Salience], *, title: str = "Salience for the translation of «it»"
) -> str:
    """One page with a line for each sentence; the depth of the colour is the share of the greatest
    salience of the sentence, 0 for negative ones.

    All text is escaped; the page loads nothing. The salience of a word is its tooltip.

    Raises:
        InputError: for no sentences.
    """
    _check(saliences)
    triggers = _triggers(saliences)
    lines = [_line(one, triggers[at]) for at, one in enumerate(saliences)]
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{_STYLE}</style>'
    legend = (
        "Orange: words that matter to the pronoun. Blue frame: triggers, words that the twin of the"
        " sentence lacks. Underlined: the pronoun."
    )
    return (
        "<!DOCTYPE html>\n<html"
        f' lang="en"><head>{head}</head><body>\n<h1>{html.escape(title)}</h1>\n<p>{legend}</p>\n'
        + "\n".join(lines)
        + "\n</body></html>\n"
    )


def salience_png(
    saliences: Sequence[Salience], *, title: str = "Salience for the translation of «it»"
) -> bytes:
    """The same as a picture.

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
        figsize=(12, 0.8 + 0.9 * sum(1 + len(one.source) // 100 for one in saliences)), dpi=150
    )
    FigureCanvasAgg(figure)  # becomes the figure's canvas
    width, height = figure.bbox.width, figure.bbox.height
    line_height = 150 * 0.42
    with warnings.catch_warnings():
        # a box stands for a letter that the font lacks
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        y = height - line_height
        figure.text(0.02, y / height, title, fontsize=12, parse_math=False)
        for at, one in enumerate(saliences):
            y -= line_height
            figure.text(0.02, y / height, _name(one), fontsize=8, color="#555555", parse_math=False)
            x, y = 0.02 * width, y - 0.8 * line_height
            for number, word in enumerate(one.words):
                depth = _depth(one, word.salience)
                face = tuple(1 - depth * (1 - colour / 255) for colour in (_RED, _GREEN, _BLUE))
                frame = _FRAME if number in triggers[at] else face
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
                    fontstyle="italic" if number == one.ambiguous else "normal",
                )
                needed = text.get_window_extent().width + 18
                if x + needed > 0.98 * width:
                    x, y = 0.02 * width, y - 0.8 * line_height
                text.set_position((x / width, y / height))
                x += needed
        found = io.BytesIO()
        # however many lines the sentences took
        figure.savefig(found, format="png", bbox_inches="tight", pad_inches=0.2)
    return found.getvalue()


def _check(saliences: Sequence[Salience]) -> None:
    if not saliences:
        raise InputError("expected at least one sentence to draw, got none")


def _triggers(saliences: Sequence[Salience]) -> list[set[int]]:
    """Of the sentences whose twin is among them."""
    twins: dict[str, list[int]] = {}
    for at, one in enumerate(saliences):
        twins.setdefault(one.pair, []).append(at)
    found: list[set[int]] = [set() for _ in saliences]
    for pair, members in twins.items():
        if pair and len(members) == 2:
            left, right = members
            found[left], found[right] = trigger_words(saliences[left], saliences[right])
    return found


def _depth(one: Salience, value: float) -> float:
    greatest = max((word.salience for word in one.words), default=0.0)
    return max(value, 0.0) / greatest if greatest > 0 else 0.0


def _name(one: Salience) -> str:
    return f"{one.example_id}: «{one.pronoun}», {100 * one.probability:.1f} % probable"


def _line(one: Salience, triggers: set[int]) -> str:
    words = []
    end = 0
    for number, word in enumerate(one.words):
        kinds = "".join([" trigger"] * (number in triggers) + [" it"] * (number == one.ambiguous))
        colour = f"rgba({_RED},{_GREEN},{_BLUE},{_depth(one, word.salience):.3f})"
        gap = html.escape(one.source[end : word.start])
        words.append(
            f'{gap}<span class="word{kinds}" style="background:{colour}"'
            f' title="{100 * word.salience:+.2f}">{html.escape(word.text)}</span>'
        )
        end = word.start + len(word.text)
    return (
        f'<p><span class="name">{html.escape(_name(one))}</span><br>'
        f"{''.join(words)}{html.escape(one.source[end:])}</p>"
    )
