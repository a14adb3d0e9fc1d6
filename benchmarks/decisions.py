"""How often gates and bands are wrong, by simulation: python -m benchmarks.decisions

The two tables are written into a page (`--output docs/measurements.md`). Ten minutes on a core.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
import typer

from benchmarks.command import run_main
from benchmarks.documents import write_tables
from cc_hf.comparing.gate import gate
from cc_hf.results import CategoryAccuracy, EvaluationResult
from cc_hf.schema import Judgement
from cc_hf.statistics.bands import standings

__all__ = ["bands_table", "gate_table", "main"]

_FLIPPED = 0.1  # share of the wrong verdicts that are right by the other system
_SHARED = 0.6  # share of samples that are as difficult for every system


class _Gated(NamedTuple):
    """A system that loses a share of the verdicts of another one, and a margin."""

    n: int
    accuracy: float
    lost: float
    margin: float
    categories: tuple[str, ...]


_PEOPLE = ("female", "male")
_GATED = (
    _Gated(3600, 0.6, 0, 0.02, _PEOPLE),
    _Gated(3600, 0.6, 0.02, 0.02, _PEOPLE),
    _Gated(3600, 0.6, 0.02, 0.02, ("all",)),
    _Gated(1200, 0.8, 0.05, 0.05, _PEOPLE),
    _Gated(2000, 0.7, 0.03, 0.03, tuple("abcd")),
    _Gated(20_000, 0.6, 0.002, 0.02, _PEOPLE),
    _Gated(3600, 0.6, 0.05, 0.02, _PEOPLE),
)
#: Accuracies of two categories, samples of each, and number of systems that are equal.
_BANDED = (((0.5, 0.9), 300, 2), ((0.5, 0.9), 300, 5), ((0.7, 0.7), 300, 2))


def gate_table(runs: int) -> str:
    """Return how often the gate passes, fails and cannot tell."""
    random = np.random.default_rng(1)
    lines = [
        "| samples | categories | lost | tolerated | pass | fail | cannot tell |",
        "|--:|---|--:|--:|--:|--:|--:|",
    ]
    for case in _GATED:
        verdicts = [_gated(case, random) for _ in range(runs)]
        shares = [verdicts.count(v) / runs for v in ("pass", "fail", "cannot tell")]
        points = (f"{100 * value:g}" for value in (case.lost, case.margin))
        cells = [f"{case.n:,}", ", ".join(case.categories), *points]
        cells += [f"{100 * share:.1f} %" for share in shares]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _gated(case: _Gated, random: np.random.Generator) -> str:
    categories = [case.categories[i % len(case.categories)] for i in range(case.n)]
    old = random.random(case.n) < case.accuracy
    lost = (case.lost + _FLIPPED * (1 - case.accuracy)) / case.accuracy
    draws = random.random(case.n)
    new = np.where(old, draws >= lost, draws < _FLIPPED)
    results = {name: _result(right, categories) for name, right in (("old", old), ("new", new))}
    return gate(results, margin=case.margin).verdict


def _result(right: npt.NDArray[np.bool_], categories: Sequence[str]) -> EvaluationResult:
    said = ("incorrect", "correct")
    judgements = tuple(
        Judgement(str(i), category, bool(is_right), "", said[int(is_right)])
        for i, (category, is_right) in enumerate(zip(categories, right, strict=True))
    )
    names, n = np.array(categories), len(categories)
    kinds = tuple(
        CategoryAccuracy(name, int(of.sum()), int(right[of].sum()), float(right[of].mean()))
        for name in sorted({*categories})
        for of in [names == name]
    )
    scores = {"accuracy": float(right.mean()), "min_accuracy": min(c.accuracy for c in kinds)}
    scores |= {f"accuracy_{c.category}": c.accuracy for c in kinds}
    named = ("d", "c", "de", "contrastive_conditioning", f"cc|data:d/c|n:{n}", n)
    return EvaluationResult(*named, scores, {}, kinds, judgements)


def bands_table(runs: int) -> str:
    """Return how often equal systems are told apart by the lower accuracy of two categories."""
    random = np.random.default_rng(0)
    lines = ["| accuracies | samples of each | equal systems | told apart |", "|---|--:|--:|--:|"]
    for accuracies, n, n_systems in _BANDED:
        n_told = sum(_told_apart(accuracies, n, n_systems, random) for _ in range(runs))
        shown = " and ".join(f"{accuracy:g}" for accuracy in accuracies)
        lines.append(f"| {shown} | {n} | {n_systems} | {100 * n_told / runs:.1f} % |")
    return "\n".join(lines)


def _told_apart(
    accuracies: Iterable[float], n: int, n_systems: int, random: np.random.Generator
) -> bool:
    """Draw equal systems that find the same samples difficult; return whether any two differ."""
    limits = np.repeat([*accuracies], n)
    names = np.repeat(["a", "b"], n).tolist()
    common = random.random(len(limits))
    is_common = random.random((n_systems, len(limits))) < _SHARED
    draws = np.where(is_common, common, random.random((n_systems, len(limits))))
    return any(standing.first > 1 for standing in standings(draws < limits, categories=names))


def main(
    runs: Annotated[int, typer.Option(min=1, help="Simulated comparisons of each case.")] = 400,
    output: Annotated[Path | None, typer.Option(help="Page whose tables are replaced.")] = None,
) -> None:
    """Make both tables, and print or write them."""
    tables = {"gates": gate_table, "bands": bands_table}
    write_tables(output, {name: partial(table, runs) for name, table in tables.items()})


if __name__ == "__main__":
    run_main(main)
