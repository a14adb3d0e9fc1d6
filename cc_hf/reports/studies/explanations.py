"""Explanations as coloured words and a table for the terminal, and as HTML. Figures are in
percent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup
from rich.console import Group
from rich.table import Table
from rich.text import Text

from cc_hf.reports.figure_text import percent
from cc_hf.reports.tables import heading, note_lines, plain_table
from cc_hf.reports.templates import render_piece
from cc_hf.studies.explanation import ExplainedWord, Explanation

__all__ = ["explanation_html", "explanation_table", "verdict_line"]

_BAR_WIDTH = 40
_END = "end of sentence"
_MAX_MARKED = 0.12  # shares above this have the strongest colour
# Teal and vermilion can be told apart by colour-blind readers.
_RGB = {"correct": "0, 130, 120", "incorrect": "196, 72, 20"}


def verdict_line(found: Explanation) -> str:
    """Return the verdict in words.

    Args:
        found: the explanation.

    >>> from cc_hf.studies.explanation import Explanation
    >>> verdict_line(
    ...     Explanation(
    ...         "Ja.", "a", "b", "geometric", 0.3, 0.1, 0.75, 1.1, (), (), "en", "de", "m@1"
    ...     )
    ... )
    'correct: probability of the correct reading 75.0 %'
    """
    verdict = (
        "tie"
        if found.probability_correct == 0.5
        else "correct"
        if found.is_correct
        else "incorrect"
    )
    return f"{verdict}: probability of the correct reading {percent(found.probability_correct)} %"


def explanation_table(found: Explanation) -> Group:
    """Return the verdict with a bar, the translation with its deciding words marked, and one line
    per word.

    Args:
        found: the explanation.
    """
    style = "bold green" if found.is_correct else "bold red"
    filled = round(_BAR_WIDTH * found.probability_correct)
    bar = Text.assemble(
        ("incorrect ", "dim"),
        ("█" * filled, "green"),
        ("░" * (_BAR_WIDTH - filled), "red"),
        (" correct", "dim"),
    )
    return Group(
        Text(verdict_line(found), style=style),
        bar,
        Text.assemble(("best correct source:   ", "dim"), found.correct_source),
        Text.assemble(("best incorrect source: ", "dim"), found.incorrect_source),
        Text.assemble(("translation:           ", "dim"), _coloured(found)),
        heading(
            f"log-probability of each word under both sources ({found.score}; natural logarithms)"
        ),
        _words_table(found),
        Text(
            "* decides: the fewest words that make half of what speaks for the verdict; share: of"
            " all that speaks for either side",
            style="italic",
        ),
        *note_lines(found.notes),
    )


def _words_table(found: Explanation) -> Table:
    table = plain_table("word", "correct", "incorrect", "difference", "share (%)", "speaks for", "")
    for word in found.words:
        style = "" if word.contribution == 0 else "green" if word.contribution > 0 else "red"
        side = "" if word.contribution == 0 else "correct" if word.contribution > 0 else "incorrect"
        name = _END if word.start == word.end else word.text
        figures = (
            f"{word.logprob_correct:.3f}",
            f"{word.logprob_incorrect:.3f}",
            f"{word.difference:+.3f}",
            percent(word.share),
        )
        table.add_row(
            Text(name, style="bold" if word.decides else ""),
            *figures,
            Text(side, style=style),
            "*" if word.decides else "",
        )
    total = found.words, "logprob_correct", "logprob_incorrect", "difference"
    table.add_section()
    sums = [sum(getattr(word, name) for word in total[0]) for name in total[1:]]
    table.add_row(Text("sum"), f"{sums[0]:.3f}", f"{sums[1]:.3f}", f"{sums[2]:+.3f}", "", "", "")
    return table


def _coloured(found: Explanation) -> Text:
    text = Text()
    for gap, word in _with_gaps(found):
        text.append(gap)
        if word is not None:
            colour = "green" if word.contribution > 0 else "red"
            text.append(
                word.text,
                style=(
                    f"bold {colour} underline"
                    if word.decides
                    else colour
                    if word.share >= _MAX_MARKED / 2
                    else ""
                ),
            )
    return text


def _with_gaps(found: Explanation) -> Iterator[tuple[str, ExplainedWord | None]]:
    """Yield each word of the translation with the text before it, and finally the text after the
    last word.
    """
    at = 0
    for word in found.words:
        if word.end > word.start:
            yield found.translation[at : word.start], word
            at = word.end
    yield found.translation[at:], None


class _Shown(NamedTuple):
    """A word as HTML shows it.

    Attributes:
        word: the word.
        side: the side that it supports, "correct" or "incorrect".
        colour, opacity: of its background in the translation.
        width: of its bar in the table, in percent of the widest.
    """

    word: ExplainedWord
    side: str
    colour: str
    opacity: str
    width: int


def explanation_html(found: Explanation) -> Markup:
    """Return the explanation as an HTML fragment without scripts; all text is escaped.

    Args:
        found: the explanation.
    """
    greatest = max((word.share for word in found.words), default=0.0)
    return render_piece(
        "reports/studies/explanations.html.jinja",
        "explanation",
        found=found,
        side="correct" if found.is_correct else "incorrect",
        verdict=verdict_line(found),
        text=[(gap, word and _shown(word, greatest)) for gap, word in _with_gaps(found)],
        words=[_shown(word, greatest) for word in found.words],
    )


def _shown(word: ExplainedWord, greatest_share: float) -> _Shown:
    side = "correct" if word.contribution > 0 else "incorrect"
    opacity = min(1.0, word.share / _MAX_MARKED) * 0.55
    width = round(100 * word.share / greatest_share) if word.share else 0
    return _Shown(word, side, _RGB[side], f"{opacity:.2f}", width)
