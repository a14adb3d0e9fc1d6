"""Cues of word senses, and calibrations of cues: as tables, as JSON, as a picture, with notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from cc_hf.evaluation.calibration_file import Calibration
from cc_hf.plugins.calibration.calibration import CalibrationRun
from cc_hf.plugins.calibration.cue_set import CueSet
from cc_hf.plugins.calibration.selection import Overlap
from cc_hf.reports.formats.plots import empty_figure, literal_text, saved_figure
from cc_hf.reports.numbers import decimal, percent, signed
from cc_hf.reports.report_parts import Cell, Piece, ReportTable

__all__ = [
    "calibration_plot",
    "calibration_table",
    "comparison_lines",
    "cue_set_json",
    "cue_set_notes",
    "cue_set_table",
]

_N_SHOWN = 6


def cue_set_notes(cue_set: CueSet) -> Iterator[str]:
    """Yield notes on senses and examples that are omitted, and on sources that were cut."""
    counts = cue_set.counts
    if n := counts["n_left_out"]:
        names = ", ".join(f"{s.ambiguous_word} ({s.reason})" for s in cue_set.left_out[:5])
        yield (
            f"{len(cue_set.left_out)} senses with {n} examples have no cues and are omitted:"
            f" {names}{', ...' if len(cue_set.left_out) > 5 else ''}"
        )
    if n := counts["n_unlocated"]:
        yield (
            f"{n} examples in which the ambiguous word does not occur as it is written are omitted"
        )
    if n := counts["n_short"]:
        yield f"{n} senses have fewer cues than requested on one side"
    if n := counts["n_cut"]:
        yield (
            f"{n} sources are too long for the masked language model, which saw a window around the"
            " word"
        )


def cue_set_json(cue_set: CueSet, compared: Mapping[str, Overlap]) -> dict[str, Any]:
    """Return what --json prints: the cues, the senses without cues, and the comparison."""
    return {
        "senses": [
            {
                "word": s.ambiguous_word,
                "sense": s.sense,
                "n_examples": s.n_examples,
                "correct_cues": list(s.correct.cues),
                "incorrect_cues": list(s.incorrect.cues),
            }
            for s in cue_set.senses
        ],
        "left_out": [
            {
                "word": s.ambiguous_word,
                "sense": s.sense,
                "n_examples": s.n_examples,
                "reason": s.reason,
            }
            for s in cue_set.left_out
        ],
        "counts": dict(cue_set.counts),
        "compared": {side: asdict(shared) for side, shared in compared.items()},
        "signature": cue_set.signature,
    }


def cue_set_table(cue_set: CueSet) -> ReportTable:
    """Return the first senses with their cues."""
    n = len(cue_set.senses)
    first = f"; the first {_N_SHOWN}" if n > _N_SHOWN else ""
    columns = ("word", "sense", "correct cues", "incorrect cues")
    return ReportTable.of(
        f"{n:,} senses with cues, {cue_set.counts['n_examples']:,} examples{first}",
        columns,
        [
            (s.ambiguous_word, s.sense, " ".join(s.correct.cues), " ".join(s.incorrect.cues))
            for s in cue_set.senses[:_N_SHOWN]
        ],
        words=columns[1:],
    )


def comparison_lines(compared: Mapping[str, Overlap], path: Path) -> Iterator[str]:
    """Yield how many of the published cues in `path` were chosen, for each side.

    Examples:
        >>> list(comparison_lines({"correct": Overlap(2, 4, 1.0)}, Path("cues.jsonl")))
        ['correct: 2 of 4 cues of cues.jsonl chosen, 50.0 %; by chance 25.0 %']
    """
    for side, shared in compared.items():
        chosen, chance = (
            percent(n / shared.n_expected) for n in (shared.n_chosen, shared.n_by_chance)
        )
        yield (
            f"{side}: {shared.n_chosen} of {shared.n_expected} cues of {path.name} chosen,"
            f" {chosen} %; by chance {chance} %"
        )


_COLOURS = ("#b8327a", "#1f6fc4")
_N_BINS = 40
_N_COLUMNS = 3
_SHOWN = 0.99  # share of the differences that the axis spans; the rest is in the outer bars


def calibration_table(calibration: Calibration) -> Iterator[Piece]:
    """Yield the figures of every wording on the reported half."""
    first, second = calibration.readings
    rows: list[Sequence[str | Cell]] = []
    for result in calibration.wordings:
        figures, limits = result.report, result.intervals.get("auc")
        interval = f" ({limits[0]:.3f}–{limits[1]:.3f})" if limits else ""
        texts = (
            f"{decimal(figures.auc, digits=3)}{interval}",
            percent(figures.accuracy),
            *map(percent, figures.accuracies),
            signed(figures.shift).replace("-", "−"),
        )
        is_chosen = result.name == calibration.chosen
        cells = [Cell(text, is_best=is_chosen) for text in texts]
        rows.append((f"{result.name} *" if is_chosen else result.name, *cells))
    n = calibration.choice.report.n
    yield ReportTable.of(
        f"Wordings of cues, {calibration.src_lang} → {calibration.tgt_lang}, on {n:,}"
        " translations that did not choose",
        ("wording", "AUC (95 %)", "right, %", first, second, "shift"),
        rows,
        f"* chosen on {calibration.choice.choice.n:,} other translations. AUC: does the"
        f" evaluator rank {first} above {second}? 0.5 is chance. Right: decisions without a"
        f" threshold. Shift: bias of the difference, above 0 towards {first}.",
    )
    for name, reason in calibration.left_out.items():
        yield f"not compared: {name}: {reason}"


def calibration_plot(run: CalibrationRun, *, file_format: str = "svg") -> bytes:
    """Return a picture of the differences by reading on the reported half, a panel per wording."""
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
