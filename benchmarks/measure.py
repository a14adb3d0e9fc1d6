"""Interleaved rounds: every way of scoring once per round, each time in a process of its own, on
the same pairs; medians over the rounds.

A process of its own each time: no library changes the threads or the memory of another, and peak
memory is that of one way alone. Loading and the first pairs are not timed. Each round has other
pairs of the data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from transformers import AutoConfig
from transformers.utils import logging

from benchmarks.alternatives import (
    ALTERNATIVES,
    BASELINE,
    Scores,
    Setting,
    UnavailableError,
    convert_for_ctranslate2,
    pair_lengths,
)
from benchmarks.children import in_child
from benchmarks.machine import pair_flops, peak_memory, peaks
from benchmarks.models import ModelSize, make_model
from benchmarks.texts import Decisions
from cc_hf.errors import CCError, EvaluatorError

__all__ = ["Figures", "Measured", "Row", "measure", "prepare"]

_WARM_UP_PAIRS = 32
_BYTES = 4  # of a weight in fp32

#: function, number of threads, arguments -> what it returns
Launch = Callable[..., Any]


@dataclass(frozen=True)
class Figures:
    """Of one way of scoring on one dataset.

    Attributes:
        pairs_per_second, ratio: medians over rounds; the ratio is to BASELINE in the same round.
        share_of_peak: operations that the model needs a second, over the machine's peak in the same
            dtype; None where that is not known.
        deviation: largest difference of a mean log-probability per token from BASELINE's; of the
            best of each side where only decisions are known.
        n_flips, n_decisions: decisions that are other than BASELINE's, of how many.
    """

    pairs_per_second: float
    ratio: float
    share_of_peak: float | None
    deviation: float
    n_flips: int
    n_decisions: int


@dataclass(frozen=True)
class Row:
    """One way of scoring.

    `memory`: peak of its process in bytes. `reason`: why there are no figures.
    """

    name: str
    title: str
    figures: Mapping[str, Figures]
    memory: int | None = None
    reason: str = ""


@dataclass(frozen=True)
class Measured:
    """All of one model.

    Attributes:
        title: of the model.
        rows: ways of scoring.
        n_pairs: dataset -> pairs of a round.
        flops: dataset -> operations that a pair needs, mean.
        peaks: dtype -> operations a second.
        n_rounds: how many.
        model_bytes: its weights in fp32.
    """

    title: str
    rows: Sequence[Row]
    n_pairs: Mapping[str, int]
    flops: Mapping[str, float]
    peaks: Mapping[str, float]
    n_rounds: int
    model_bytes: int


@dataclass(frozen=True)
class _Visit:
    """One way of scoring in one round: seconds and scores per dataset."""

    seconds: Sequence[float] = ()
    scores: Sequence[Scores] = ()
    memory: int | None = None
    reason: str = ""


def measure(
    size: ModelSize,
    data: Sequence[Decisions],
    *,
    folder: Path,
    names: Sequence[str] = tuple(ALTERNATIVES),
    n_pairs: int | None = None,
    n_rounds: int = 5,
    threads: int = 2,
    device: str = "cpu",
    peak_side: int = 2048,
    launch: Launch = in_child,
    tell: Callable[[str], None] = lambda line: None,
) -> Measured:
    """Measure ways of scoring on a model.

    Args:
        size: the model; it is made where it is not in `folder` yet.
        data: all decisions of each dataset.
        folder: of the models.
        names: of ALTERNATIVES; BASELINE is always among them.
        n_pairs: per dataset and round; None for all.
        n_rounds: how often.
        threads: where.
        device: as for `threads`.
        peak_side: of the products that measure the peak.
        launch: how a process is started; `call` for none.
        tell: takes a line for each step.
    """
    tell(f"{size.name}: the model")
    setting: Setting = launch(prepare, threads, size, folder, list(data), threads, device)
    rounds = [[decisions.limited(n_pairs, shift=i) for decisions in data] for i in range(n_rounds)]
    flops, model_bytes = launch(_needs, threads, setting, rounds[0])
    chosen = [
        name
        for name, alternative in ALTERNATIVES.items()
        if device.partition(":")[0] in alternative.devices and name in {*names, BASELINE}
    ]
    visits: dict[str, list[_Visit]] = {name: [] for name in chosen}
    rates: list[dict[str, float]] = []
    for i, sample in enumerate(rounds):
        for name in chosen[i % len(chosen) :] + chosen[: i % len(chosen)]:  # nobody is always first
            # each time: a machine may be slower for a while
            rates.append(launch(peaks, threads, device, peak_side))
            tell(f"{size.name}: round {i + 1} of {n_rounds}, {ALTERNATIVES[name].title}")
            visits[name].append(_visited(launch, threads, setting, name, sample))
    best = {dtype: max(found.get(dtype, 0.0) for found in rates) for dtype in rates[0]}
    sizes = [[len(decisions.requests) for decisions in sample] for sample in rounds]
    return Measured(
        title=size.title,
        rows=[
            _row(name, visits[name], visits[BASELINE], data, sizes, flops, best) for name in chosen
        ],
        n_pairs={decisions.name: n for decisions, n in zip(data, sizes[0], strict=True)},
        flops={decisions.name: n for decisions, n in zip(data, flops, strict=True)},
        peaks=best,
        n_rounds=n_rounds,
        model_bytes=model_bytes,
    )


def _visited(
    launch: Launch, threads: int, setting: Setting, name: str, sample: Sequence[Decisions]
) -> _Visit:
    try:
        found: _Visit = launch(_visit, threads, setting, name, list(sample))
    except EvaluatorError as error:
        found = _Visit(reason=str(error))
    if found.reason and name == BASELINE:
        raise EvaluatorError(
            f"{ALTERNATIVES[name].title}, with which all others are compared: {found.reason}"
        )
    return found


def prepare(
    size: ModelSize, folder: Path, data: Sequence[Decisions], threads: int, device: str
) -> Setting:
    """Make the model where it is not there yet, also as CTranslate2 has it."""
    logging.disable_progress_bar()
    setting = Setting(
        size.place(folder), size.family, folder / f"{size.name}.ctranslate2", threads, device
    )
    make_model(size, folder, sorted({text for decisions in data for text in decisions.texts}))
    convert_for_ctranslate2(setting)
    return setting


def _needs(setting: Setting, sample: Sequence[Decisions]) -> tuple[list[float], int]:
    """Operations that a pair of each dataset needs, and bytes of the weights in fp32."""
    config = AutoConfig.from_pretrained(setting.folder)
    flops = [
        pair_flops(config, lengths) / len(lengths)
        for lengths in (pair_lengths(setting, decisions) for decisions in sample)
    ]
    with safe_open(setting.folder / "model.safetensors", "pt") as weights:
        names = weights.keys()  # of safetensors, which is no mapping
        n_weights = sum(int(np.prod(weights.get_slice(name).get_shape())) for name in names)
    return flops, n_weights * _BYTES


def _visit(setting: Setting, name: str, sample: Sequence[Decisions]) -> _Visit:
    torch.set_num_threads(setting.threads)
    logging.disable_progress_bar()
    try:
        run = ALTERNATIVES[name].load(setting)
        for decisions in sample:
            run(decisions.limited(_WARM_UP_PAIRS))
        seconds, scores = [], []
        for decisions in sample:
            start = time.perf_counter()
            scores.append(run(decisions))
            seconds.append(time.perf_counter() - start)
    except (UnavailableError, CCError) as error:
        return _Visit(reason=str(error))
    return _Visit(seconds, scores, peak_memory(setting.device))


def _row(
    name: str,
    visits: Sequence[_Visit],
    baseline: Sequence[_Visit],
    data: Sequence[Decisions],
    sizes: Sequence[Sequence[int]],
    flops: Sequence[float],
    best: Mapping[str, float],
) -> Row:
    title = ALTERNATIVES[name].title
    if reasons := [visit.reason for visit in visits if visit.reason]:
        return Row(name, title, {}, reason=reasons[0])
    figures = {}
    for place, decisions in enumerate(data):
        rates = [
            size[place] / visit.seconds[place] for size, visit in zip(sizes, visits, strict=True)
        ]
        ratios = [
            other.seconds[place] / visit.seconds[place]
            for visit, other in zip(visits, baseline, strict=True)
        ]
        pairs = [
            (visit.scores[place], other.scores[place])
            for visit, other in zip(visits, baseline, strict=True)
        ]
        peak = best.get(ALTERNATIVES[name].dtype)
        figures[decisions.name] = Figures(
            pairs_per_second=float(np.median(rates)),
            ratio=float(np.median(ratios)),
            share_of_peak=float(np.median(rates)) * flops[place] / peak if peak else None,
            deviation=max(_deviation(found, plain) for found, plain in pairs),
            n_flips=sum(
                int((found.is_correct != plain.is_correct).sum()) for found, plain in pairs
            ),
            n_decisions=sum(len(found.best) for found, _ in pairs),
        )
    memory = [visit.memory for visit in visits if visit.memory is not None]
    return Row(name, title, figures, memory=max(memory) if memory else None)


def _deviation(found: Scores, plain: Scores) -> float:
    if found.logprobs is None or plain.logprobs is None:
        return float(np.abs(found.best - plain.best).max())
    return float(np.abs(found.logprobs - plain.logprobs).max())
