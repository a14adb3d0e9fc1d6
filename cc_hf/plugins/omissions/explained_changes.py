"""Explanations of metrics that change texts, as a table and as HTML: every change in its text, with
its difference and whether it is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from cc_hf.fit_to_cite import false_alarms, reasons_not_to_cite
from cc_hf.reports.figure_text import metric_name
from cc_hf.reports.numbers import decimal, signed
from cc_hf.reports.page.page import counted
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.reports.spans import apart, shade
from cc_hf.reports.tables.base import note_lines
from cc_hf.reports.templates import render_piece
from cc_hf.schema import TextSpan

__all__ = ["ExplainedChanges"]

_NOTHING = "∅"
_CONTEXT = 40  # characters on each side of a change
_MOST_SHADE, _MAX_OPACITY = 5, 0.5


class _Part(NamedTuple):
    """A part of a text that is an error: what is wrong, and the opacity of its background."""

    text: str
    opacity: str
    title: str


class _Row(NamedTuple):
    """A change as the table shows it."""

    name: str
    lang: str
    before: str  # cut where it is long, as is `after`
    change: TextSpan
    after: str
    difference: str
    verdict: str  # "" for a change that is no error
    width: int  # of its bar, in percent of the widest


@dataclass(frozen=True)
class ExplainedChanges:
    """All changes that a metric tried on a source and its translation."""

    metric: str
    source: str
    translation: str
    changes: tuple[TextSpan, ...]  # the largest difference first
    is_error: tuple[bool, ...]
    src_lang: str
    tgt_lang: str
    evaluator: str  # name and identity
    # The same of the one that scored the source under changes of the translation.
    backward_evaluator: str = ""
    notes: tuple[str, ...] = ()  # which changes were not tried, and why

    @property
    def is_correct(self) -> bool:
        """Whether no change is an error."""
        return not any(self.is_error)

    def pieces(self) -> Iterator[Piece]:
        """Yield the texts, and a line for each change, the one that helps most first."""
        rows = []
        for change, is_error in zip(self.changes, self.is_error, strict=True):
            becomes = (
                "" if change.replacement is None else f" → {change.replacement.strip() or _NOTHING}"
            )
            rows.append(
                (
                    f"{_change_name(change)}: {change.text.strip() or _NOTHING}{becomes}",
                    decimal(change.difference, digits=3),
                    "error" if is_error else "",
                )
            )
        verdict = "correct" if self.is_correct else "incorrect"
        yield Line(f"{metric_name(self.metric)}: {verdict}", "heading")
        yield f"source: {self.source}"
        yield f"translation: {self.translation}"
        yield ReportTable.of("", ("change", "nats per token", ""), rows)
        yield "error: the other text is more probable with the change"
        yield from note_lines(self.notes)

    def html(self) -> Markup:
        """Return the explanation as an HTML fragment without scripts; all text is escaped."""
        errors = [
            change for change, is_error in zip(self.changes, self.is_error, strict=True) if is_error
        ]
        verdict = "correct" if self.is_correct else "incorrect"
        n = f"{len(errors):,} of {counted(len(self.changes), 'change')}"
        evaluators = {"eval": self.evaluator, "back": self.backward_evaluator}
        named = {key: name for key, name in evaluators.items() if name}
        return render_piece(
            "plugins/omissions/changes.html.jinja",
            "changes_section",
            side=verdict,
            verdict=f"{metric_name(self.metric)}: {verdict}",
            n_errors=f"{n} may be {'an error' if len(errors) == 1 else 'errors'}",
            texts=[
                (side, lang, list(_marked(text, (e for e in errors if e.side == side))))
                for side, (text, lang) in _texts(self).items()
            ],
            rows=list(_rows(self)),
            notes=tuple(filter(None, [false_alarms(self.evaluator, self.metric), *self.notes])),
            why_unfit="; ".join(reasons_not_to_cite(named, {}, 1).values()),
            evaluators=", ".join(dict.fromkeys(named.values())),
        )


def _texts(explained: ExplainedChanges) -> dict[str, tuple[str, str]]:
    """Return side -> its text and language."""
    return {
        "source": (explained.source, explained.src_lang),
        "translation": (explained.translation, explained.tgt_lang),
    }


def _marked(text: str, errors: Iterable[TextSpan]) -> Iterator[tuple[str, _Part | None]]:
    """Yield each part that is an error with the text before it, and finally the rest."""
    end = 0
    # Of errors that overlap, the one with the largest difference is a part.
    for span in apart(errors):
        opacity = f"{_MAX_OPACITY * shade(span) / _MOST_SHADE:.2f}"
        title = f"{_verdict(span)}: {signed(span.difference)}"
        yield text[end : span.start], _Part(text[span.start : span.end], opacity, title)
        end = span.end
    yield text[end:], None


def _verdict(change: TextSpan) -> str:
    """Return what an error is called."""
    if change.replacement is not None:
        return "may be an error"
    return "may be left out" if change.side == "source" else "may be added"


def _rows(explained: ExplainedChanges) -> Iterator[_Row]:
    widest = max(abs(change.difference) for change in explained.changes) or 1.0
    for change, is_error in zip(explained.changes, explained.is_error, strict=True):
        text, lang = _texts(explained)[change.side]
        yield _Row(
            _change_name(change),
            lang,
            _before(text[: change.start]),
            change,
            _after(text[change.end :]),
            signed(change.difference),
            _verdict(change) if is_error else "",
            round(100 * abs(change.difference) / widest),
        )


def _before(text: str) -> str:
    """Return the last characters of a text, from the beginning of a word if there is one."""
    if len(text) <= _CONTEXT:
        return text
    end = text[-_CONTEXT:]
    return f"…{end.partition(' ')[2] or end}"


def _after(text: str) -> str:
    """Return the first characters of a text, up to the end of a word if there is one."""
    if len(text) <= _CONTEXT:
        return text
    beginning = text[:_CONTEXT]
    return f"{beginning.rpartition(' ')[0] or beginning}…"


def _change_name(span: TextSpan) -> str:
    """Return what was changed, in words: the phenomenon, or the text that lacks the part."""
    return span.phenomenon.replace("_", " ") or f"{span.side} without"
