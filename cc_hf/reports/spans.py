"""Parts of texts that led to a verdict, as reports mark them."""

from __future__ import annotations

from collections.abc import Iterable

from cc_hf.schema import TextSpan

__all__ = ["apart", "shade"]

_SHADES = (0.02, 0.05, 0.1, 0.2)  # nats per token


def shade(span: TextSpan) -> int:
    """Return how strongly a part is marked, from 1 to 5, by its difference."""
    return 1 + sum(span.difference > least for least in _SHADES)


def apart(spans: Iterable[TextSpan]) -> tuple[TextSpan, ...]:
    """Return spans that do not overlap: of those that do, the one with the largest difference, then
    the longest, then the first; in the order of the texts.

    Examples:
        >>> spans = [TextSpan("source", 0, 5, "a cat", 0.1), TextSpan("source", 2, 5, "cat", 1)]
        >>> [span.text for span in apart(spans)]
        ['cat']
    """
    chosen: list[TextSpan] = []
    for span in sorted(spans, key=lambda s: (-s.difference, s.start - s.end, s.start)):
        if not any(
            span.side == other.side and span.start < other.end and other.start < span.end
            for other in chosen
        ):
            chosen.append(span)
    return tuple(sorted(chosen, key=lambda span: (span.side, span.start)))
