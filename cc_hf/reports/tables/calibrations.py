"""Calibrations of cues as a table for the terminal and as a picture."""

from __future__ import annotations

import numpy as np
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cc_hf.cue_building.calibration import CalibrationRun
from cc_hf.cue_building.calibration_file import Calibration
from cc_hf.reports.formats.plots import empty_figure, literal_text, saved_figure
from cc_hf.reports.numbers import decimal, percent, signed

__all__ = ["calibration_plot", "calibration_table"]

_COLOURS = ("#b8327a", "#1f6fc4")
_N_BINS = 40
_N_COLUMNS = 3
_SHOWN = 0.99  # share of the differences that the axis spans; the rest is in the outer bars


def calibration_table(calibration: Calibration) -> Group:
    """Return the figures of every wording on the reported half."""
    first, second = calibration.readings
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("wording", overflow="fold")
    for name in ("AUC (95 %)", "right, %", first, second, "shift"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in calibration.wordings:
        figures, limits = result.report, result.intervals.get("auc")
        interval = f" ({limits[0]:.3f}–{limits[1]:.3f})" if limits else ""
        is_chosen = result.name == calibration.chosen
        table.add_row(
            Text(f"{result.name} *" if is_chosen else result.name),
            f"{decimal(figures.auc, digits=3)}{interval}",
            percent(figures.accuracy),
            *map(percent, figures.accuracies),
            signed(figures.shift).replace("-", "−"),
            style="bold" if is_chosen else None,
        )
    n = calibration.choice.report.n
    parts: list[RenderableType] = [
        Text(
            f"Wordings of cues, {calibration.src_lang} → {calibration.tgt_lang}, on {n:,}"
            " translations that did not choose",
            style="bold",
        ),
        table,
        Text(
            f"* chosen on {calibration.choice.choice.n:,} other translations. AUC: does the"
            f" evaluator rank {first} above {second}? 0.5 is chance. Right: decisions without a"
            f" threshold. Shift: bias of the difference, above 0 towards {first}.",
            style="italic",
        ),
    ]
    parts += [
        Text(f"not compared: {name}: {reason}") for name, reason in calibration.left_out.items()
    ]
    return Group(*parts)


def calibration_plot(run: CalibrationRun, *, file_format: str = "svg") -> bytes:
    """Return a picture of the differences by reading, one panel per wording, on the reported half.

    Args:
        file_format: "svg" or "png".

    Raises:
        MissingDependencyError: without matplotlib.
    """
    results = run.calibration.wordings
    n_columns = min(_N_COLUMNS, len(results))
    n_rows = -(-len(results) // n_columns)
    figure, panels = empty_figure(
        len(results), width=3.2 * n_columns, height=2.1 * n_rows + 0.8, n_columns=n_columns
    )
    readings = np.array(run.readings)[run.is_reported]
    for number, (axes, result) in enumerate(zip(panels, results, strict=True)):
        difference = run.differences[result.name][run.is_reported]
        limit = max(float(np.quantile(np.abs(difference), _SHOWN)), 1e-6)
        edges = np.linspace(-limit, limit, _N_BINS + 1).tolist()
        for reading, colour in zip(run.calibration.readings, _COLOURS, strict=True):
            values = np.clip(difference[readings == reading], -limit, limit)
            axes.hist(
                values,
                edges,
                weights=np.full(len(values), 100 / len(values)),
                color=colour,
                alpha=0.55,
                label=literal_text(f"translation shows {reading}") if number == 0 else None,
            )
        axes.axvline(0, color="#535c68", linewidth=1, linestyle=":")
        is_chosen = result.name == run.calibration.chosen
        axes.set_title(
            literal_text(f"{result.name}{' (chosen)' if is_chosen else ''}")
            + f"\nAUC {decimal(result.report.auc, digits=3)}",
            loc="left",
            fontsize=9,
            fontweight="bold" if is_chosen else "normal",
        )
        axes.tick_params(labelsize=8)
        if number % n_columns == 0:
            axes.set_ylabel("% of its reading", fontsize=8)
    first, second = run.calibration.readings
    figure.supxlabel(
        literal_text(f"log score under the source for {first} minus that for {second}"), fontsize=9
    )
    figure.legend(loc="outside upper right", ncols=2, frameon=False, fontsize=8)
    return saved_figure(figure, file_format)
