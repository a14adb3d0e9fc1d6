"""Explanations as coloured words and a table for the terminal, and as HTML. Figures are in
percent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from rich.console import Group
from rich.table import Table
from rich.text import Text

from cc_hf.comparing.explanation import ExplainedWord, Explanation
from cc_hf.fit_to_cite import reasons_not_to_cite
from cc_hf.reports.numbers import percent, signed
from cc_hf.reports.page.page import small_page
from cc_hf.reports.tables.base import heading, note_lines, plain_table
from cc_hf.reports.templates import render_piece
from cc_hf.reports.what_to_cite import UNFIT

__all__ = [
    "EXPLANATION_CSS",
    "explanation_html",
    "explanation_table",
    "explanations_page",
    "sections_page",
    "verdict_line",
]

#: The style of `explanation_html`. A page that uses it sets the colours --cc-text, --cc-soft,
#: --cc-edge, --cc-card, --cc-good and --cc-bad.
EXPLANATION_CSS = Path(__file__).parent / "explanations.css"
_BAR_WIDTH = 40
_END = "end of sentence"
_MAX_MARKED = 0.12  # shares above this have the strongest colour
# Teal and vermilion can be told apart by colour-blind readers.
_RGB = {"correct": "0, 130, 120", "incorrect": "196, 72, 20"}


def verdict_line(explanation: Explanation) -> str:
    """Return the verdict in words.

    Examples:
        >>> from cc_hf.comparing.explanation import Explanation
        >>> verdict_line(
        ...     Explanation(
        ...         "Ja.", "a", "b", "geometric", 0.3, 0.1, 0.75, 1.1, (), (), "en", "de", "m@1"
        ...     )
        ... )
        'correct: probability of the correct reading 75.0 %'
    """
    verdict = (
        "tie"
        if explanation.probability_correct == 0.5
        else "correct"
        if explanation.is_correct
        else "incorrect"
    )
    probability = percent(explanation.probability_correct)
    return f"{verdict}: probability of the correct reading {probability} %"


def explanation_table(explanation: Explanation) -> Group:
    """Return the verdict with a bar, the translation with marks, and one line per word."""
    colour = "green" if explanation.is_correct else "red"
    style = f"bold {colour}"
    filled = round(_BAR_WIDTH * explanation.probability_correct)
    bar = Text.assemble(
        ("incorrect ", "dim"),
        ("█" * filled, colour),
        ("░" * (_BAR_WIDTH - filled), "dim"),
        (" correct", "dim"),
    )
    return Group(
        Text(verdict_line(explanation), style=style),
        bar,
        Text.assemble(("best correct source:   ", "dim"), explanation.correct_source),
        Text.assemble(("best incorrect source: ", "dim"), explanation.incorrect_source),
        Text.assemble(("translation:           ", "dim"), _coloured(explanation)),
        heading(
            f"log-probability of each word under both sources ({explanation.score}; natural"
            " logarithms)"
        ),
        _words_table(explanation),
        Text(
            "* decides: the fewest words that together make up half of the evidence for the"
            " verdict; share: part of the evidence for either reading",
            style="italic",
        ),
        *[Text(f"{UNFIT}: {why}", style="grey50") for why in [_why_unfit(explanation)] if why],
        *note_lines(explanation.notes),
    )


def _words_table(explanation: Explanation) -> Table:
    table = plain_table("word", "correct", "incorrect", "difference", "share (%)", "favours", "")
    # In a narrow terminal, long words are continued on the next line, and no figure is cut.
    table.columns[0].no_wrap, table.columns[0].overflow = False, "fold"
    for word in explanation.words:
        style = "" if word.contribution == 0 else "green" if word.contribution > 0 else "red"
        side = "" if word.contribution == 0 else "correct" if word.contribution > 0 else "incorrect"
        name = _END if word.start == word.end else word.text
        figures = (
            f"{word.logprob_correct:.3f}",
            f"{word.logprob_incorrect:.3f}",
            signed(word.difference),
            percent(word.share),
        )
        table.add_row(
            Text(name, style="bold" if word.decides else ""),
            *figures,
            Text(side, style=style),
            "*" if word.decides else "",
        )
    total = explanation.words, "logprob_correct", "logprob_incorrect", "difference"
    table.add_section()
    sums = [sum(getattr(word, name) for word in total[0]) for name in total[1:]]
    table.add_row(Text("sum"), f"{sums[0]:.3f}", f"{sums[1]:.3f}", signed(sums[2]), "", "", "")
    return table


def _coloured(explanation: Explanation) -> Text:
    text = Text()
    for gap, word in _with_gaps(explanation):
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


def _with_gaps(explanation: Explanation) -> Iterator[tuple[str, ExplainedWord | None]]:
    """Yield each word with the text before it, and finally the text after the last word."""
    end = 0
    for word in explanation.words:
        if word.end > word.start:
            yield explanation.translation[end : word.start], word
            end = word.end
    yield explanation.translation[end:], None


class _Shown(NamedTuple):
    """A word as HTML shows it.

    Attributes:
        side: the side that it supports, "correct" or "incorrect".
        colour, opacity: of its background in the translation.
        width: of its bar in the table, in percent of the widest.
    """

    word: ExplainedWord
    side: str
    colour: str
    opacity: str
    width: int


def explanation_html(explanation: Explanation) -> Markup:
    """Return the explanation as an HTML fragment without scripts; all text is escaped."""
    return render_piece(
        "reports/page/explanations.html.jinja",
        "explanation_section",
        explanation=explanation,
        side="correct" if explanation.is_correct else "incorrect",
        verdict=verdict_line(explanation),
        text=[(gap, word and _shown(word)) for gap, word in _with_gaps(explanation)],
        words=[_shown(word) for word in explanation.words],
        why_unfit=_why_unfit(explanation),
    )


def _why_unfit(explanation: Explanation) -> str:
    return "; ".join(reasons_not_to_cite({"eval": explanation.evaluator}, {}, 1).values())


def explanations_page(explanations: Sequence[Explanation], *, command: str = "") -> str:
    """Return a page of explanations side by side. It loads nothing.

    Args:
        explanations: at least one.
        command: the command that made the page.
    """
    return sections_page(
        map(explanation_html, explanations),
        title="Which words decide the judgement",
        about=(
            "The same translation is scored under two sources: one with a cue for the correct"
            " reading, one with a cue for the incorrect reading. The colours show which words"
            " decide."
        ),
        command=command,
    )


def sections_page(sections: Iterable[Markup], *, title: str, about: str, command: str = "") -> str:
    """Return a page of sections of the class cc-explanation side by side. It loads nothing.

    Args:
        about: what the page shows, in one or two sentences.
        command: the command that made the page.
    """
    return small_page(
        "reports/page/explanation_page.html.jinja",
        title=title,
        about=about,
        command=command,
        css=Markup(EXPLANATION_CSS.read_text(encoding="utf-8")),  # a file of this package
        sections=list(sections),
    )


def _shown(word: ExplainedWord) -> _Shown:
    side = "correct" if word.contribution > 0 else "incorrect"
    opacity = min(1.0, word.share / _MAX_MARKED) * 0.55
    return _Shown(word, side, _RGB[side], f"{opacity:.2f}", round(100 * word.share))
