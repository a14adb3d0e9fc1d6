"""Translations with omissions and additions that a system makes of sentences with parts cut out
(Vamvas & Sennrich 2022).
"""

from __future__ import annotations

import difflib
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from cc_hf.errors import InputError
from cc_hf.plugins.omissions.coverage.spans import Span, without

__all__ = ["Made", "synthetic_rows"]


class Made(NamedTuple):
    """Rows for the metric `coverage`, and what became of the sentences.

    Attributes:
        counts: n_unchanged (nothing was cut out; one row), n_kept (four rows), n_left_out (the
            translation of the rest does not arise from the whole one by leaving words out).
    """

    rows: list[dict[str, Any]]
    counts: dict[str, int]


def synthetic_rows(
    sources: Sequence[str],
    parts: Callable[[str], Sequence[Span]],
    translate: Callable[[Sequence[str]], Sequence[str]],
    *,
    probability: float = 0.15,
    seed: int = 0,
) -> Made:
    """Cut parts out of sentences, translate both, and keep pairs of which one lacks words only."""
    if not 0 < probability < 1:
        raise InputError(f"probability: expected a number above 0 and below 1, got {probability}")
    draw = random.Random(seed)
    partials = [_partial(source, parts(source), draw, probability) for source in sources]
    whole, rest = translate(list(sources)), translate(partials)
    rows: list[dict[str, Any]] = []
    counts = dict.fromkeys(("n_unchanged", "n_kept", "n_left_out"), 0)
    for number, (source, partial) in enumerate(zip(sources, partials, strict=True)):
        if source == partial:
            counts["n_unchanged"] += 1
            rows.append(_row(number, source, whole[number]))
        elif _is_shortened(whole[number], rest[number]):
            counts["n_kept"] += 1
            rows += _four(number, (source, partial), (whole[number], rest[number]))
        else:
            counts["n_left_out"] += 1
    return Made(rows, counts)


def _partial(source: str, spans: Sequence[Span], draw: random.Random, probability: float) -> str:
    """Return a sentence without the parts that are drawn, from the right so that places hold."""
    chosen: list[Span] = []
    # A part within another one goes with it. The program cuts overlapping parts as if they were
    # apart, which damages words.
    for span in spans:
        if draw.random() < probability and not any(_overlaps(span, other) for other in chosen):
            chosen.append(span)
    text = source
    for span in sorted(chosen, reverse=True):
        text = without(text, span, tidy=True)
    return text or source


def _overlaps(first: Span, second: Span) -> bool:
    return first.start < second.end and second.start < first.end


def _is_shortened(whole: str, rest: str) -> bool:
    """Return whether a translation is another one without some of its words."""
    matcher = difflib.SequenceMatcher(a=whole.split(), b=rest.split(), autojunk=False)
    kinds = {kind for kind, *_ in matcher.get_opcodes()}
    return "delete" in kinds and kinds <= {"delete", "equal"}


def _row(number: int, source: str, translation: str, error: str = "") -> dict[str, Any]:
    labels = {side: "true" if side == error else "false" for side in ("omission", "addition")}
    return {
        "id": f"{number}.{error or 'none'}",
        "source": source,
        "translation": translation,
        **labels,
        "category": error or "none",
    }


def _four(
    number: int, sources: tuple[str, str], translations: tuple[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the pair that lacks words, the one that adds them, and both right ones."""
    (source, partial), (whole, rest) = sources, translations
    yield _row(number, source, rest, "omission")
    yield _row(number, partial, whole, "addition")
    yield _row(number, source, whole)
    yield {**_row(number, partial, rest), "id": f"{number}.partial"}
