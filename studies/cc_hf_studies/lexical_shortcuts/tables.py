"""Lexical probes as tables and as a chart: accuracy (in percent) and similarity to
the embeddings by layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.formats.plots import (
    empty_figure,
    literal_text,
    mark_of,
    saved_figure,
)
from cc_hf.reports.numbers import count, decimal, in_points, limits, p_text, percent, signed
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.reports.tables.base import names_by_note
from cc_hf.results import Interval
from cc_hf_studies.lexical_shortcuts.results import (
    SIDES,
    GateActivation,
    LayerDifference,
    LexicalProbe,
    ProbedLayer,
    ProbedModel,
    ProbedSide,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["lexical_probe_chart", "lexical_probe_tables"]

_NOTE = (
    "accuracy: how often a classifier names the sub-word at a position by the state there; cosine:"
    " similarity of the state to that of layer 0, the embeddings with their positions; intervals by"
    " bootstrap over sentences, p by paired approximate randomisation of sentences"
)


def lexical_probe_tables(probe: LexicalProbe) -> list[Piece]:
    """Return the figures of each model, and the differences from the first."""
    parts: list[Piece] = []
    for model in probe.models:
        for side in model.sides:
            layers = model.layers_of(side.side)
            parts += [Line(_title(model, side), "heading"), _layers_table(layers)]
            parts += _groups_tables(layers)
        if model.gates:
            parts += [Line(f"{model.name}: gates", "heading"), _gates_table(model.gates)]
    for model in probe.models[1:]:
        rows = [row for row in probe.differences if row.model == model.name]
        if rows:
            parts += [
                Line(f"{model.name} against {probe.models[0].name}, percentage points", "heading"),
                _differences_table(rows),
            ]
            notes = {f"{row.side} {row.layer}": row.accuracy.interval.note for row in rows}
            parts += [
                f"difference in {names}: {note}" for note, names in names_by_note(notes).items()
            ]
        elif reason := probe.not_compared.get(model.name):
            parts.append(f"not compared: {model.name}: {reason}")
    return [*parts, Line(_NOTE, "about"), f"signature: {probe.signature}"]


def _title(model: ProbedModel, side: ProbedSide) -> str:
    unknown = (
        f", {side.n_unknown:,} of types that the classifiers have not seen"
        if side.n_unknown
        else ""
    )
    return (
        f"{model.name}: {side.side}, {side.n_test:,} sub-words{unknown}; learned from"
        f" {side.n_train:,} of {side.n_types:,} types"
    )


def _layers_table(layers: Sequence[ProbedLayer]) -> ReportTable:
    table: list[tuple[str, ...]] = [
        (
            _layer_name(layer.layer),
            with_interval(layer.accuracy, layer.interval),
            decimal(layer.cosine, layer.cosine_interval, digits=3),
            str(layer.n_epochs),
        )
        for layer in layers
    ]
    return ReportTable.of("", ("layer", "accuracy, % (95 %)", "cosine (95 %)", "epochs"), table)


def _layer_name(layer: int) -> str:
    return str(layer) if layer else "0 (embeddings)"


def _groups_tables(layers: Sequence[ProbedLayer]) -> list[Piece]:
    """Return accuracies by frequency, and by part of speech if they are known."""
    table: list[tuple[str, ...]] = [
        (str(layer.layer), *(percent(share.value) for share in layer.by_frequency.values()))
        for layer in layers
    ]
    sizes = ", ".join(count(share.n) for share in layers[0].by_frequency.values())
    parts: list[Piece] = [
        ReportTable.of(
            "accuracy, %, by frequency: tenths of the types, the rarest first",
            ("layer", *layers[0].by_frequency),
            table,
            f"sub-words: {sizes}",
        ),
    ]
    if layers[0].by_pos:
        rows = [
            (name, count(share.n), *(percent(layer.by_pos[name].value) for layer in layers))
            for name, share in layers[0].by_pos.items()
        ]
        columns = ("", "n", *(f"layer {layer.layer}" for layer in layers))
        parts.append(ReportTable.of("accuracy, %, by part of speech", columns, rows))
    return parts


def _gates_table(gates: Sequence[GateActivation]) -> ReportTable:
    table: list[tuple[str, ...]] = []
    for gate in gates:
        side = "source attention" if gate.side == "cross" else gate.side
        table.append(
            (side, str(gate.layer), f"{gate.kind}s", f"{gate.mean:.3f}", f"{gate.spread:.3f}")
        )
    return ReportTable.of("", ("", "layer", "gate of", "mean", "spread"), table)


def _differences_table(rows: Sequence[LayerDifference]) -> ReportTable:
    table: list[tuple[str, ...]] = []
    for row in rows:
        cosine = ["", ""]
        if row.cosine is not None:
            interval = limits(row.cosine.interval, digits=3)
            cosine = [
                signed(row.cosine.difference) + (f" ({interval})" if interval else ""),
                p_text(row.cosine.p_value),
            ]
        table.append(
            (
                f"{row.side} {row.layer}",
                with_interval(row.accuracy.difference, row.accuracy.interval),
                p_text(row.accuracy.p_value),
                *cosine,
            )
        )
    return ReportTable.of("", ("", "accuracy (95 %)", "p", "cosine (95 %)", "p"), table)


def lexical_probe_chart(probe: LexicalProbe, *, file_format: str = "png") -> bytes:
    """Draw accuracy and cosine similarity by layer, as in Figures 5.3 and 5.5, a line per model."""
    n_names = len(probe.models)
    figure, panels = empty_figure(4, width=9, height=6 + 0.2 * n_names, n_columns=2)
    for axes, (figure_name, side) in zip(
        panels, [(name, side) for name in ("accuracy", "cosine") for side in SIDES], strict=True
    ):
        for index, model in enumerate(probe.models):
            _draw_line(axes, model, side, figure_name, index)
        axes.set_title(side, loc="left")
        axes.set_xlabel("layer")
        axes.set_ylabel("accuracy, %" if figure_name == "accuracy" else "cosine to the embeddings")
        axes.locator_params(axis="x", integer=True)
    lines = panels[0].get_legend_handles_labels()
    figure.legend(
        *lines, loc="outside lower left", ncols=min(3, n_names), frameon=False, fontsize="small"
    )
    return saved_figure(figure, file_format)


def _draw_line(axes: Axes, model: ProbedModel, side: str, figure_name: str, index: int) -> None:
    layers = model.layers_of(side)
    if figure_name == "accuracy":
        rows = [(in_points(layer.accuracy), layer.interval, 100) for layer in layers]
    else:
        rows = [(layer.cosine, layer.cosine_interval, 1) for layer in layers]
    low, high = [], []
    for value, interval, scale in rows:
        limits_of = (interval.low, interval.high) if isinstance(interval, Interval) else None
        low.append(max(0.0, value - scale * limits_of[0]) if limits_of else 0.0)
        high.append(max(0.0, scale * limits_of[1] - value) if limits_of else 0.0)
    colour, marker = mark_of(index)
    axes.errorbar(
        [layer.layer for layer in layers],
        [value for value, _, _ in rows],
        yerr=[low, high],
        fmt=f"{marker}-",
        color=colour,
        capsize=2,
        label=literal_text(model.name),
    )
