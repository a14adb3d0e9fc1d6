"""Explanations as coloured words and a table, and as HTML. Figures are in percent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from cc_hf.comparing.explanation import ExplainedWord, Explanation
from cc_hf.fit_to_cite import reasons_not_to_cite
from cc_hf.reports.numbers import percent, signed
from cc_hf.reports.page.page import small_page
from cc_hf.reports.report_parts import Cell, Line, Piece, ReportTable
from cc_hf.reports.tables.base import note_lines
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


def verdict_line(explanation: Explanation) -> str:
    """Return the verdict in words."""
    verdict = (
        "tie"
        if explanation.probability_correct == 0.5
        else "correct"
        if explanation.is_correct
        else "incorrect"
    )
    probability = percent(explanation.probability_correct)
    return f"{verdict}: probability of the correct reading {probability} %"


def explanation_table(explanation: Explanation) -> Iterator[Piece]:
    """Yield the verdict with a bar, the translation with marks, and one line per word."""
    colour = "green" if explanation.is_correct else "red"
    filled = round(_BAR_WIDTH * explanation.probability_correct)
    bar = f"incorrect {'█' * filled}{'░' * (_BAR_WIDTH - filled)} correct"
    start = len("incorrect ")
    yield Line(verdict_line(explanation), f"bold {colour}")
    yield Line(bar, "dim", marks=((start, start + filled, f"not dim {colour}"),))
    yield Line.named("best correct source:   ", explanation.correct_source, "dim")
    yield Line.named("best incorrect source: ", explanation.incorrect_source, "dim")
    name = "translation:           "
    marks = [
        (len(name) + word.start, len(name) + word.end, style)
        for word in explanation.words
        if (style := _style(word))
    ]
    yield Line(f"{name}{explanation.translation}", marks=((0, len(name), "dim"), *marks))
    yield _words_table(explanation)
    if why := _why_unfit(explanation):
        yield Line(f"{UNFIT}: {why}", "unfit")
    yield from note_lines(explanation.notes)


def _words_table(explanation: Explanation) -> ReportTable:
    rows: list[Sequence[str | Cell]] = []
    for word in explanation.words:
        side = "" if word.contribution == 0 else "correct" if word.contribution > 0 else "incorrect"
        row = (
            _END if word.start == word.end else word.text,
            f"{word.logprob_correct:.3f}",
            f"{word.logprob_incorrect:.3f}",
            signed(word.difference),
            percent(word.share),
            Cell(side, is_better=word.contribution > 0 if side else None),
            "*" if word.decides else "",
        )
        rows.append(row)
    names = ("logprob_correct", "logprob_incorrect", "difference")
    sums = [sum(getattr(word, name) for word in explanation.words) for name in names]
    rows += [(), ("sum", f"{sums[0]:.3f}", f"{sums[1]:.3f}", signed(sums[2]), "", "", "")]
    return ReportTable.of(
        f"log-probability of each word under both sources ({explanation.score}; natural"
        " logarithms)",
        ("word", "correct", "incorrect", "difference", "share (%)", "favours", ""),
        rows,
        "* decides: the fewest words that together make up half of the evidence for the"
        " verdict; share: part of the evidence for either reading",
    )


def _style(word: ExplainedWord) -> str:
    colour = "green" if word.contribution > 0 else "red"
    if word.decides:
        return f"bold {colour} underline"
    return colour if word.share >= _MAX_MARKED / 2 else ""


def _with_gaps(explanation: Explanation) -> Iterator[tuple[str, ExplainedWord | None]]:
    """Yield each word with the text before it, and finally the text after the last word."""
    end = 0
    for word in explanation.words:
        if word.end > word.start:
            yield explanation.translation[end : word.start], word
            end = word.end
    yield explanation.translation[end:], None


def explanation_html(explanation: Explanation) -> Markup:
    """Return the explanation as an HTML fragment without scripts; all text is escaped."""
    return render_piece(
        "reports/page/explanations.html.jinja",
        "explanation_section",
        explanation=explanation,
        side="correct" if explanation.is_correct else "incorrect",
        verdict=verdict_line(explanation),
        text=list(_with_gaps(explanation)),
        most_marked=_MAX_MARKED,
        why_unfit=_why_unfit(explanation),
    )


def _why_unfit(explanation: Explanation) -> str:
    return "; ".join(reasons_not_to_cite({"eval": explanation.evaluator}, {}, 1).values())


def explanations_page(
    explanations: Sequence[Explanation], *, command: str = "", sample: Sequence[str] = ()
) -> str:
    """Return a page of explanations side by side, which loads nothing."""
    return sections_page(
        map(explanation_html, explanations),
        title="Which words decide the judgement",
        about=(
            "The same translation is scored under two sources: one with a cue for the correct"
            " reading, one with a cue for the incorrect reading. The colours show which words"
            " decide."
        ),
        command=command,
        sample=sample,
    )


def sections_page(
    sections: Iterable[Markup],
    *,
    title: str,
    about: str,
    command: str = "",
    sample: Sequence[str] = (),
) -> str:
    """Return a page of sections of the class cc-explanation side by side, which loads nothing.

    Args:
        sample: lines above the sections on what is explained, such as system, id and source.
    """
    return small_page(
        "reports/page/explanation_page.html.jinja",
        title=title,
        about=about,
        command=command,
        css=Markup(EXPLANATION_CSS.read_text(encoding="utf-8")),  # a file of this package
        sections=list(sections),
        sample=sample,
    )
