"""Explanations for people: words in colour and a table for the terminal, and the same as HTML.

Figures in percent.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rich.console import Group
from rich.table import Table
from rich.text import Text

from cc_hf.reports.tables import heading, note_lines, percent, plain_table
from cc_hf.studies.explanation import ExplainedWord, Explanation

__all__ = ["explanation_html", "explanation_table", "verdict_line"]

_BAR_WIDTH = 40
_END = "end of sentence"
_MAX_MARKED = 0.12  # a share above this has the strongest colour
# teal and vermilion: told apart by the colour-blind
_RGB = {"correct": "0, 130, 120", "incorrect": "196, 72, 20"}


def verdict_line(found: Explanation) -> str:
    """The verdict in words.

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
    """The verdict with a bar, the translation with its deciding words marked, and one line per
    word.
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
    """What stands before each word of the translation, and the word; last, what stands behind
    all.
    """
    at = 0
    for word in found.words:
        if word.end > word.start:
            yield found.translation[at : word.start], word
            at = word.end
    yield found.translation[at:], None


def explanation_html(found: Explanation) -> str:
    """The same as a piece of HTML that stands alone, without script; every text is escaped."""
    p = found.probability_correct
    side = "correct" if found.is_correct else "incorrect"
    verdict = escape(verdict_line(found))
    bar = (
        f'<div class="cc-bar" role="img" aria-label="{verdict}"><div'
        f' class="cc-bar-middle"></div><div class="cc-bar-mark cc-{side}"'
        f' style="left:{percent(p)}%"><span>{percent(p)} %</span></div></div><div'
        ' class="cc-bar-ends"><span>incorrect reading</span><span>correct reading</span></div>'
    )
    words = "".join(
        escape(gap) + ("" if word is None else _marked(word)) for gap, word in _with_gaps(found)
    )
    sources = "".join(
        f"<dt>best {escape(name)} source</dt><dd>{escape(source)}</dd>"
        for name, source in (
            ("correct", found.correct_source),
            ("incorrect", found.incorrect_source),
        )
    )
    notes = "".join(
        f'<p class="cc-note cc-caution" role="note">{escape(note)}</p>' for note in found.notes
    )
    return (
        f'<section class="cc-explanation" data-verdict="{side}"><p class="cc-verdict'
        f' cc-{side}">{verdict}</p>{bar}'
        f'<p class="cc-words" lang="{escape(found.tgt_lang)}" dir="auto">{words}</p>'
        '<p class="cc-key"><span class="cc-key-correct">speaks for the correct reading</span> <span'
        ' class="cc-key-incorrect">speaks for the incorrect one</span> '
        "<span><u>underlined</u>: decides</span></p>"
        f"{notes}<dl>{sources}</dl>{_html_table(found)}<p"
        f" class='cc-note'>{escape(found.evaluator)}, {escape(found.score)} score; natural"
        " logarithms</p></section>"
    )


def _marked(word: ExplainedWord) -> str:
    strength = min(1.0, word.share / _MAX_MARKED) * 0.55
    colour = _RGB["correct" if word.contribution > 0 else "incorrect"]
    title = f"{word.difference:+.3f} ({percent(word.share)} %)"
    return (
        f'<mark style="background:rgba({colour}, {strength:.2f})"'
        f' class="{"cc-decides" if word.decides else ""}"'
        f' title="{title}">{escape(word.text)}</mark>'
    )


def _html_table(found: Explanation) -> str:
    rows = []
    for word in found.words:
        name = f"<i>{_END}</i>" if word.start == word.end else escape(word.text)
        width = (
            round(100 * min(1.0, word.share / max(other.share for other in found.words)))
            if word.share
            else 0
        )
        side = "correct" if word.contribution > 0 else "incorrect"
        stripe = (
            f'<span class="cc-stripe"><span class="cc-{side}" style="width:{width}%"></span></span>'
        )
        figures = "".join(
            f"<td>{figure}</td>"
            for figure in (
                f"{word.logprob_correct:.3f}",
                f"{word.logprob_incorrect:.3f}",
                f"{word.difference:+.3f}",
            )
        )
        rows.append(
            f'<tr class="{"cc-decides" if word.decides else ""}"><th'
            f' scope="row">{name}</th>{figures}<td>{stripe} {percent(word.share)}</td></tr>'
        )
    head = "".join(
        f'<th scope="col">{name}</th>'
        for name in ("word", "log p (correct)", "log p (incorrect)", "difference", "share (%)")
    )
    return (
        f'<div class="cc-scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
