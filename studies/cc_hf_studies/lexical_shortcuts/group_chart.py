"""Accuracy of lexical probes by frequency and by part of speech as a chart (Emelin 2023, Figures
5.6 to 5.8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cc_hf.reports.formats.plots import (
    empty_figure,
    literal_text,
    mark_of,
    saved_figure,
)
from cc_hf.reports.numbers import in_points
from cc_hf.statistics.shares import Share
from cc_hf_studies.lexical_shortcuts.results import SIDES, LexicalProbe, ProbedLayer

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["probe_groups_chart"]

_LABELS = {
    "by_frequency": "tenths of the types, the rarest first",
    "by_pos": "part of speech",
}
_ROW_HEIGHT = 2.6  # inches
_LAYERS_IN_A_ROW = 9  # names of layers in the legend


def probe_groups_chart(probe: LexicalProbe, *, file_format: str = "png") -> bytes:
    """Draw the accuracy of each layer by frequency, and by part of speech where it is known."""
    rows = [
        (model, part)
        for part in _LABELS
        for model in probe.models
        if any(getattr(layer, part) for layer in model.layers)
    ]
    height = 0.6 + _ROW_HEIGHT * len(rows)
    figure, panels = empty_figure(2 * len(rows), width=9, height=height, n_columns=2)
    lines: dict[str, Artist] = {}
    for number, (model, part) in enumerate(rows):
        for axes, side in zip(panels[2 * number :], SIDES, strict=False):
            layers = model.layers_of(side)
            _draw_groups(axes, layers, [getattr(layer, part) for layer in layers])
            axes.set_title(literal_text(f"{model.name}: {side}"), loc="left")
            axes.set_xlabel(_LABELS[part])
            axes.set_ylabel("accuracy, %")
            axes.set_ylim(0, 102)
            handles, names = axes.get_legend_handles_labels()
            lines |= dict(zip(names, handles, strict=True))
    figure.legend(
        list(lines.values()),
        list(lines),
        loc="outside lower left",
        ncols=min(_LAYERS_IN_A_ROW, len(lines)),
        frameon=False,
        fontsize="small",
        title="layer",
        alignment="left",
    )
    return saved_figure(figure, file_format)


def _draw_groups(
    axes: Axes, layers: Sequence[ProbedLayer], groups: Sequence[Mapping[str, Share]]
) -> None:
    """Draw a line for each layer, from light (the embeddings) to dark."""
    from matplotlib import colormaps

    names = list(groups[0]) if groups else []
    for layer, shares in zip(layers, groups, strict=True):
        shade = 0.9 - 0.9 * layer.layer / max(1, len(layers) - 1)
        axes.plot(
            range(len(names)),
            [in_points(shares[name].value) for name in names],
            marker=mark_of(layer.layer)[1],
            markersize=4,
            linewidth=1.2,
            color=colormaps["viridis"](shade),
            label=str(layer.layer),
        )
    is_crowded = any(not name.isdigit() for name in names)
    axes.set_xticks(
        range(len(names)), [literal_text(name) for name in names], rotation=90 if is_crowded else 0
    )
