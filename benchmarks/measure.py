"""Measurement in interleaved rounds, reported as medians over the rounds.

In each round every way of scoring runs once, on the same pairs and in a process of its own. No
library therefore changes the threads or the memory of another, and peak memory is that of one way
alone. Loading and the first pairs are not timed. Each round has other pairs of the data.
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
_WEIGHT_BYTES = 4  # of a weight in fp32

#: Calls a function, as `in_child` does: (function, number of threads, arguments) -> its result.
Launch = Callable[..., Any]


@dataclass(frozen=True)
class Figures:
    """Figures of one way of scoring on one dataset.

    Attributes:
        pairs_per_second, ratio: medians over rounds; the ratio is to BASELINE in the same round.
        share_of_peak: operations that the model needs per second, divided by the machine's peak in
            the same dtype; None where the peak is not known.
        deviation: largest difference of a mean log-probability per token from that of BASELINE; of
            the best one of each side where only decisions are known.
        n_flips, n_decisions: number of decisions that differ from those of BASELINE, and number of
            all decisions.
    """

    pairs_per_second: float
    ratio: float
    share_of_peak: float | None
    deviation: float
    n_flips: int
    n_decisions: int


@dataclass(frozen=True)
class Row:
    """One way of scoring, as a row of a table.

    Attributes:
        name, title: a name of ALTERNATIVES, and its title.
        figures: figures by dataset.
        memory: peak memory of its process in bytes; None if not known.
        reason: why there are no figures, else "".
    """

    name: str
    title: str
    figures: Mapping[str, Figures]
    memory: int | None = None
    reason: str = ""


@dataclass(frozen=True)
class Measured:
    """The measurements of one model.

    Attributes:
        n_pairs: number of pairs in a round, by dataset.
        flops: mean number of operations that a pair needs, by dataset.
        peaks: operations per second, by dtype.
        model_bytes: bytes of its weights in fp32.
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
    """Measure ways of scoring on a model, which is made if `folder` does not have it yet.

    Args:
        names: names of ALTERNATIVES; BASELINE is always measured.
        n_pairs: number of pairs per dataset and round; None for all.
        device: "cpu" or "cuda".
        peak_side: rows and columns of the products that measure the peak.
        launch: how a function is called; `call` starts no process.
        tell: prints one line for each step.

    Raises:
        EvaluatorError: when BASELINE cannot be measured.
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
        # The order rotates, so that no way of scoring is always the first.
        for name in chosen[i % len(chosen) :] + chosen[: i % len(chosen)]:
            # The peak is measured each time, because a machine may be slower for a while.
            rates.append(launch(peaks, threads, device, peak_side))
            tell(f"{size.name}: round {i + 1} of {n_rounds}, {ALTERNATIVES[name].title}")
            visits[name].append(_visited(launch, threads, setting, name, sample))
    best = {dtype: max(peak.get(dtype, 0.0) for peak in rates) for dtype in rates[0]}
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
    """Return one visit, or the reason why it failed; raise if BASELINE fails."""
    try:
        visit: _Visit = launch(_visit, threads, setting, name, list(sample))
    except EvaluatorError as error:
        visit = _Visit(reason=str(error))
    if visit.reason and name == BASELINE:
        raise EvaluatorError(
            f"{ALTERNATIVES[name].title}, with which all others are compared: {visit.reason}"
        )
    return visit


def prepare(
    size: ModelSize, folder: Path, data: Sequence[Decisions], threads: int, device: str
) -> Setting:
    """Make the model if it does not exist yet, also in the format of CTranslate2.

    Args:
        data: decisions whose texts the tokenizer is trained on.
    """
    logging.disable_progress_bar()
    setting = Setting(
        size.path(folder), size.family, folder / f"{size.name}.ctranslate2", threads, device
    )
    make_model(size, folder, sorted({text for decisions in data for text in decisions.texts}))
    convert_for_ctranslate2(setting)
    return setting


def _needs(setting: Setting, sample: Sequence[Decisions]) -> tuple[list[float], int]:
    """Return the operations for a pair of each dataset, and the bytes of the weights in fp32."""
    config = AutoConfig.from_pretrained(setting.folder)
    flops = [
        pair_flops(config, lengths) / len(lengths)
        for lengths in (pair_lengths(setting, decisions) for decisions in sample)
    ]
    with safe_open(setting.folder / "model.safetensors", "pt") as weights:
        names = weights.keys()  # the opened file is no mapping and cannot be iterated over
        n_weights = sum(int(np.prod(weights.get_slice(name).get_shape())) for name in names)
    return flops, n_weights * _WEIGHT_BYTES


def _visit(setting: Setting, name: str, sample: Sequence[Decisions]) -> _Visit:
    """Return seconds, scores and peak memory of one way of scoring in this process."""
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
    """Return the row of one way of scoring, with medians over its visits."""
    title = ALTERNATIVES[name].title
    if reasons := [visit.reason for visit in visits if visit.reason]:
        return Row(name, title, {}, reason=reasons[0])
    figures = {}
    for i, decisions in enumerate(data):
        rates = [size[i] / visit.seconds[i] for size, visit in zip(sizes, visits, strict=True)]
        ratios = [
            other.seconds[i] / visit.seconds[i]
            for visit, other in zip(visits, baseline, strict=True)
        ]
        pairs = [
            (visit.scores[i], other.scores[i])
            for visit, other in zip(visits, baseline, strict=True)
        ]
        peak = best.get(ALTERNATIVES[name].dtype)
        figures[decisions.name] = Figures(
            pairs_per_second=float(np.median(rates)),
            ratio=float(np.median(ratios)),
            share_of_peak=float(np.median(rates)) * flops[i] / peak if peak else None,
            deviation=max(_deviation(scores, plain) for scores, plain in pairs),
            n_flips=sum(
                int((scores.is_correct != plain.is_correct).sum()) for scores, plain in pairs
            ),
            n_decisions=sum(len(scores.best) for scores, _ in pairs),
        )
    memory = [visit.memory for visit in visits if visit.memory is not None]
    return Row(name, title, figures, memory=max(memory) if memory else None)


def _deviation(scores: Scores, plain: Scores) -> float:
    """Return the largest difference of two ways of scoring."""
    if scores.logprobs is None or plain.logprobs is None:
        return float(np.abs(scores.best - plain.best).max())
    return float(np.abs(scores.logprobs - plain.logprobs).max())
