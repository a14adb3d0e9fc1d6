"""Curves of trainings: BLEU or loss of the development pairs by step (Emelin 2023, Figure 5.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError
from cc_hf.records import COUNT, NonEmpty, read_json
from cc_hf.reports.formats.plots import empty_figure, literal_text, mark_of, saved_figure
from cc_hf.reports.numbers import count, decimal, in_points, percent
from cc_hf.reports.report_parts import ReportTable

__all__ = ["curve_chart", "curve_table", "read_curves"]

_LABELS = {"bleu": "BLEU", "loss": "loss"}
_FORM = {
    "seed": COUNT,
    "shortcut?": None,
    "variant?": None,
    "evaluations": NonEmpty([{"step": COUNT, "loss": float, "bleu?": float | None}]),
}


def read_curves(
    paths: Sequence[Path], names: Sequence[str] | None = None
) -> tuple[str, dict[str, dict[int, float]]]:
    """Read the curves of trainings: their figure, and for each name step -> value.

    The figure is "bleu" (in [0, 1]) if all trainings have it, else "loss". Names default to
    shortcuts, variant and seed, or to the files where these are the same.

    Examples:
        >>> import json, tempfile
        >>> rows = [{"step": 10, "loss": 2.5}, {"step": 20, "loss": 2.25}]
        >>> text = json.dumps({"seed": 1, "shortcut": "none", "evaluations": rows})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "figures.json")
        ...     _ = path.write_text(text)
        ...     read_curves([path])
        ('loss', {'none, seed 1': {10: 2.5, 20: 2.25}})
    """
    what = "the figures of a training, as figures.json has them"
    runs = [read_json(path, what, _FORM) for path in paths]
    used = list(names or map(_name, runs))
    if not names and len(set(used)) < len(used):
        used = list(map(str, paths))
    if len(used) != len(paths) or len(set(used)) < len(used):
        raise InputError(
            f"name: expected a different name for each of {len(paths)} files, got {', '.join(used)}"
        )
    has_bleu = all(row.get("bleu") is not None for run in runs for row in run["evaluations"])
    figure = "bleu" if has_bleu else "loss"
    return figure, {
        name: {row["step"]: float(row[figure]) for row in run["evaluations"]}
        for name, run in zip(used, runs, strict=True)
    }


def _name(run: Mapping[str, Any]) -> str:
    shortcut, variant = run.get("shortcut", "training"), run.get("variant", "self")
    part = "" if shortcut in ("none", "training") or variant == "self" else f" {variant}"
    return f"{shortcut}{part}, seed {run['seed']}"


def curve_table(figure: str, curves: Mapping[str, Mapping[int, float]]) -> ReportTable:
    """Return a table with a row for each step and a column for each training."""
    table: list[tuple[str, ...]] = []
    for step in sorted({step for curve in curves.values() for step in curve}):
        values = [curve.get(step) for curve in curves.values()]
        texts = ["" if value is None else _text(figure, value) for value in values]
        table.append((count(step), *texts))
    return ReportTable.of("", ("step", *(f"{name}: {_LABELS[figure]}" for name in curves)), table)


def _text(figure: str, value: float) -> str:
    return percent(value) if figure == "bleu" else decimal(value, digits=3)


def curve_chart(
    figure: str, curves: Mapping[str, Mapping[int, float]], *, file_format: str = "svg"
) -> bytes:
    """Draw the curves, a line for each training."""
    drawing, (axes,) = empty_figure(1, width=6, height=4 + 0.1 * len(curves))
    for index, (name, curve) in enumerate(curves.items()):
        colour, marker = mark_of(index)
        values = [in_points(value) if figure == "bleu" else value for value in curve.values()]
        axes.plot(
            list(curve), values, color=colour, marker=marker, markersize=4, label=literal_text(name)
        )
    axes.set_xlabel("training step")
    axes.set_ylabel(f"{_LABELS[figure]} of the development pairs")
    drawing.legend(loc="outside lower left", ncols=2, frameon=False, fontsize="small")
    return saved_figure(drawing, file_format)
