"""Minimum accuracy against BLEU as SVG, as in Figure 5 of Vamvas & Sennrich (2021). Texts are escaped; no script, no style from outside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from cc_hf.reports.tables import percent

__all__ = ["scatter_svg"]

_WIDTH, _HEIGHT = 720, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 20, 52
_MAX_TICKS = 6
_LABEL_HEIGHT = 15


def scatter_svg(points: Sequence[tuple[str, float, float]], *, title: str = "minimum accuracy against BLEU") -> str:
    """A chart with one labelled point each.

    Args:
        points: (label, BLEU, minimum accuracy), both in [0, 1]; at least one.
        title: for readers of the screen.

    >>> scatter_svg([("aws", 0.3, 0.4)]).count("<circle")
    1
    """
    low_x, high_x, step_x = _axis([x for _, x, _ in points])
    low_y, high_y, step_y = _axis([y for _, _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - low_x) / (high_x - low_x) * (_WIDTH - _LEFT - _RIGHT)
        up = (y - low_y) / (high_y - low_y) * (_HEIGHT - _TOP - _BOTTOM)
        return round(_LEFT + across, 1), round(_HEIGHT - _BOTTOM - up, 1)

    parts = [f'<svg class="cc-scatter" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg">']
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    for value in _ticks(low_x, high_x, step_x):
        x, _ = place(value, low_y)
        parts.append(f'<line class="cc-grid" x1="{x}" x2="{x}" y1="{_TOP}" y2="{bottom}"/>')
        parts.append(f'<text class="cc-tick" x="{x}" y="{bottom + 18}" text-anchor="middle">{_label(value)}</text>')
    for value in _ticks(low_y, high_y, step_y):
        _, y = place(low_x, value)
        parts.append(f'<line class="cc-grid" x1="{_LEFT}" x2="{right}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="cc-tick" x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{_label(value)}</text>')
    parts.append(f'<text class="cc-axis" x="{(_LEFT + right) / 2}" y="{_HEIGHT - 10}" text-anchor="middle">BLEU</text>')
    middle = (_TOP + bottom) / 2
    parts.append(f'<text class="cc-axis" x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">minimum accuracy (%)</text>')
    taken: list[tuple[float, float, float]] = []
    for label, bleu, accuracy in sorted(points, key=lambda point: (-point[2], point[1])):
        x, y = place(bleu, accuracy)
        is_left = x > right - 8 * len(label) - 20
        text_x, text_y = (x - 10, y + 4) if is_left else (x + 10, y + 4)
        start = text_x - 7 * len(label) if is_left else text_x
        while any(abs(text_y - other_y) < _LABEL_HEIGHT and start < other_end and other_start < start + 7 * len(label) for other_start, other_end, other_y in taken):
            text_y += _LABEL_HEIGHT
        taken.append((start, start + 7 * len(label), text_y))
        name = f"{label}: BLEU {percent(bleu)}, minimum accuracy {percent(accuracy)} %"
        parts.append(
            f'<g><title>{escape(name)}</title><circle class="cc-point" cx="{x}" cy="{y}" r="6"/>'
            f'<text class="cc-label" x="{text_x}" y="{text_y}" text-anchor="{"end" if is_left else "start"}">{escape(label)}</text></g>'
        )
    return "".join([*parts, "</svg>"])


def _axis(values: Sequence[float]) -> tuple[float, float, float]:
    """Round ends around the values, and a round step, with at most _MAX_TICKS steps."""
    low, high = min(values), max(values)
    margin = max((high - low) * 0.15, 0.01)
    low, high = max(0.0, low - margin), min(1.0, high + margin)
    step = next(s for s in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / s <= _MAX_TICKS)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, step


def _ticks(low: float, high: float, step: float) -> list[float]:
    return [low + i * step for i in range(round((high - low) / step) + 1)]


def _label(value: float) -> str:
    return percent(value).removesuffix(".0")
