"""Decoding time of systems, measured so that it can be compared.

All systems are loaded first and warmed up by a batch. Then each translates the same file once in
each round, so that drifts of the machine hit all alike. Time includes tokenisation; the sources are
sorted by length and batched by tokens, as `translate_with` does it. Loading is not timed.
"""

from __future__ import annotations

import hashlib
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.loading import load_with  # before torch: its error names the extra
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.plugins.timing.machine import (
    CpuMeter,
    cpu_count,
    load_average,
    package_versions,
    processor_name,
)
from cc_hf.plugins.timing.options import N_ROUNDS, TimingOptions
from cc_hf.progress import Progress
from cc_hf.systems.system import System

# isort: split
import torch

from cc_hf.systems.backends import prepare
from cc_hf.systems.ensemble_generation import translating_members
from cc_hf.systems.translate import translate_with

__all__ = ["N_ROUNDS", "SystemTiming", "TimingOptions", "TimingReport", "time_systems"]

_WARM_UP = 32  # sources
_LOOK = 1.0  # seconds for which the machine is watched before anything is loaded
_TOLERANCE = 0.1  # cores that the system itself may use
_PACKAGES = ("cc_hf", "torch", "transformers", "tokenizers", "sentencepiece", "ctranslate2")


@dataclass(frozen=True)
class SystemTiming:
    """How long a system took."""

    system: str
    model: str
    rounds: tuple[float, ...]  # seconds on the clock
    # Seconds that processors worked for this process, over all threads. With one thread on the CPU
    # they say what a busy machine hides.
    cpu_rounds: tuple[float, ...]
    # Mean number of cores that other processes used in each round; None where it is not reported.
    other_cores: tuple[float | None, ...]
    sentences: int
    tokens: int  # of the last round, with the end of sentence
    precision: str
    backend: str
    beams: int
    busy: bool  # whether other processes shared the cores in any round

    @property
    def seconds(self) -> float:
        """The median over rounds."""
        return statistics.median(self.rounds)

    @property
    def cpu_seconds(self) -> float:
        """The median over rounds of the time of the processors."""
        return statistics.median(self.cpu_rounds)

    @property
    def tokens_per_second(self) -> float:
        """Tokens of the translations by the median time."""
        return self.tokens / self.seconds


@dataclass(frozen=True)
class TimingReport:
    """The times of systems, with what they depend on."""

    machine: dict[str, Any]  # processor, cores, versions, load average before and after
    options: dict[str, Any]  # threads, rounds, batch tokens, hash of the sources
    timings: tuple[SystemTiming, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        rows = [
            {
                **asdict(row),
                "seconds": row.seconds,
                "cpu_seconds": row.cpu_seconds,
                "tokens_per_second": row.tokens_per_second,
            }
            for row in self.timings
        ]
        return {"machine": self.machine, "options": self.options, "timings": rows}

    def to_json(self) -> str:
        """Return the report as JSON, which tables of systems read."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


@dataclass(frozen=True)
class _Loaded:
    name: str
    setting: System
    model: Evaluator
    version: str


def time_systems(
    systems: dict[str, System],
    sources: Sequence[str],
    *,
    options: TimingOptions | None = None,
    loading: LoadingOptions | None = None,
    progress: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> TimingReport:
    """Time systems in interleaved rounds.

    The times are in the order of `systems`. `clock` returns seconds.

    Examples:
        >>> report = time_systems(
        ...     {"greedy": System("cc-tiny-en-de", 1), "beam": System("cc-tiny-en-de", 5)},
        ...     ["The doctor is here.", "The nurse is here."],
        ...     options=TimingOptions(rounds=1, allow_busy=True),
        ... )
        >>> [(row.system, row.beams, row.sentences, row.seconds > 0) for row in report.timings]
        [('greedy', 1, 2, True), ('beam', 5, 2, True)]
    """
    options = options or TimingOptions()
    for name, values in (("systems", systems), ("sources", sources)):
        if not values:
            raise InputError(f"{name}: expected at least one, got none")
    if context := next((name for name, s in systems.items() if s.separator is not None), None):
        raise InputError(f"{context}: separator: a file of sources has no sentences before them")
    threads = options.threads or cpu_count()
    load_before, were_shared = load_average(), _are_shared(_watched(), threads)
    if were_shared and not options.allow_busy:
        raise InputError(
            f"allow_busy: other processes use the cores (load average {load_before:.1f},"
            f" {cpu_count()} cores, {threads} threads), so that times would say little; wait, use"
            " fewer threads, or allow it, which marks the times"
        )
    threads_before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        loaded = [
            _load(name, system, loading or LoadingOptions()) for name, system in systems.items()
        ]
        timings = _timed(loaded, sources, options, threads, clock, progress=progress)
    finally:
        torch.set_num_threads(threads_before)
    digest = hashlib.sha256("\n".join(sources).encode()).hexdigest()
    return TimingReport(
        {
            "processor": processor_name(),
            "cores": cpu_count(),
            "device": str(loaded[0].model.device),
            "system": platform.system(),
            "versions": {"python": platform.python_version(), **package_versions(_PACKAGES)},
            "load_before": load_before,
            "load_after": load_average(),
        },
        {
            "threads": threads,
            "rounds": options.rounds,
            "batch_tokens": options.batch_tokens,
            "sentences": len(sources),
            "source": digest[:12],
        },
        tuple(timings),
    )


def _load(name: str, setting: System, loading: LoadingOptions) -> _Loaded:
    model = load_with(setting.model, loading)
    return _Loaded(
        name,
        setting,
        prepare(model, precision=setting.precision, backend=setting.backend),
        str(model.signature_fields()["eval"]),
    )


def _timed(
    loaded: Sequence[_Loaded],
    sources: Sequence[str],
    options: TimingOptions,
    threads: int,
    clock: Callable[[], float],
    *,
    progress: bool,
) -> list[SystemTiming]:
    names = [system.name for system in loaded]
    seconds: dict[str, list[float]] = {name: [] for name in names}
    cpu_seconds: dict[str, list[float]] = {name: [] for name in names}
    others: dict[str, list[float | None]] = {name: [] for name in names}
    last: dict[str, list[str]] = {}

    def translations(system: _Loaded, texts: Sequence[str]) -> list[str]:
        return translate_with(
            system.model,
            texts,
            num_beams=system.setting.num_beams,
            batch_tokens=options.batch_tokens,
        )

    with Progress(
        total=len(loaded) * (options.rounds + 1),
        desc="timing",
        disable=not progress,
        leave=False,
    ) as bar:
        for system in loaded:
            translations(system, sources[:_WARM_UP])
            bar.update()
        for number in range(options.rounds):
            # The order rotates, so that no system is always the first.
            shift = number % len(loaded)
            for system in [*loaded[shift:], *loaded[:shift]]:
                meter, cpu_start, start = CpuMeter(), time.process_time(), clock()
                last[system.name] = translations(system, sources)
                seconds[system.name].append(clock() - start)
                cpu_seconds[system.name].append(time.process_time() - cpu_start)
                others[system.name].append(meter.others())
                bar.update()
    return [
        SystemTiming(
            system.name,
            system.version,
            tuple(seconds[system.name]),
            tuple(cpu_seconds[system.name]),
            tuple(others[system.name]),
            len(sources),
            _n_tokens(system.model, last[system.name]),
            system.setting.precision,
            system.setting.backend,
            system.setting.num_beams,
            any(_are_shared(cores, threads) for cores in others[system.name]),
        )
        for system in loaded
    ]


def _n_tokens(model: Evaluator, translations: Sequence[str]) -> int:
    """Return the number of tokens of translations, counted by the tokenizer of the first model."""
    member = translating_members(model)[0]
    rows = member.encode_targets(translations, member.src_lang, member.tgt_lang)
    return sum(len(row) - member.n_forced for row in rows)


def _watched() -> float | None:
    """Return how many cores other processes use just now; None if not known."""
    meter = CpuMeter()
    time.sleep(_LOOK)
    return meter.others()


def _are_shared(other_cores: float | None, threads: int) -> bool:
    """Return whether other processes need cores that the threads use, too."""
    # Where the system does not report them, the load average decides.
    if other_cores is None:
        return load_average() > threads + _TOLERANCE
    return other_cores > cpu_count() - threads + _TOLERANCE
