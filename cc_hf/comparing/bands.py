"""Bands of systems that cannot be told apart on the same samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cc_hf.comparing.alignment import AlignedJudgements
from cc_hf.schema import Judgement
from cc_hf.statistics.bands import Standing, standings

__all__ = ["shared_units", "system_standings"]


def system_standings(
    aligned: AlignedJudgements, names: Sequence[str], *, level: float = 0.95, smallest: int = 3
) -> dict[str, dict[str, Standing]]:
    """Return how systems stand in accuracy, for each metric that has judged enough of them.

    Args:
        names: names of results with judgements.
        smallest: number of systems from which there are bands.
        level: confidence level of all statements on a metric together, in (0, 1).

    Returns:
        Metric -> name -> standing, on the samples that all systems share.
    """
    by_metric: dict[str, list[str]] = {}
    for name in names:
        by_metric.setdefault(aligned.results[name].metric, []).append(name)
    of_metrics = {}
    for metric, systems in by_metric.items():
        if len(systems) < smallest:
            continue
        table = aligned.rows(systems)
        correct = np.array([[j.is_correct for j in row] for row in table], dtype=np.bool_)
        of_systems = standings(correct, units=shared_units(table), level=level)
        of_metrics[metric] = dict(zip(systems, of_systems, strict=True))
    return of_metrics


def shared_units(table: Sequence[Sequence[Judgement]]) -> list[str]:
    """Return the unit of each sample, whose samples belong together, such as those of a pair.

    Files of older versions do not name pairs; the name of a pair is larger than "".

    Args:
        table: the judgements of each system on the same samples.
    """
    return [max(j.unit for j in of_sample) for of_sample in zip(*table, strict=True)]
