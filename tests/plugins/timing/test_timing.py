"""Systems take turns, the median of the rounds counts, and a busy machine is refused or marked."""

import itertools
import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch

from cc_hf.plugins.timing import machine, timing
from cc_hf.plugins.timing.table import timing_table
from cc_hf.plugins.timing.timing import SystemTiming, TimingOptions, TimingReport, time_systems
from cc_hf.systems.system import System
from tests.helpers.usual import printed, read_json, refuses, run_command, write_lines

_SOURCES = ["The doctor is here.", "The nurse is here.", "The doctor is here."]
_TINY = "cc-tiny-en-de"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "_LOOK", 0.0)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "source.en", _SOURCES)


def _refusal(*arguments: object) -> str:
    return " ".join(
        run_command("compare", "--by", "time", *map(str, arguments), status=2).stderr.split()
    )


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Record beams and sources of each call instead of translating."""
    calls: list[tuple[int, int]] = []

    def translated(_: Any, texts: Sequence[str], *, num_beams: int, **__: Any) -> list[str]:
        calls.append((num_beams, len(texts)))
        return ["Der Arzt ist hier."] * len(texts)

    monkeypatch.setattr(timing, "translate_with", translated)
    return calls


def _others(monkeypatch: pytest.MonkeyPatch, values: Iterator[float | None]) -> None:
    monkeypatch.setattr(machine.CpuMeter, "others", lambda _: next(values))


def _report(rounds: int = 3, *, allow_busy: bool = False) -> TimingReport:
    systems = {f"beam{n}": System(_TINY, n) for n in (1, 2, 3)}
    options = TimingOptions(rounds, threads=1, allow_busy=allow_busy)
    return time_systems(systems, _SOURCES, options=options, clock=itertools.count(0.0).__next__)


def test_systems_take_turns(turns: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    _others(monkeypatch, itertools.repeat(0.0))
    monkeypatch.setattr(timing, "_WARM_UP", 2)
    _report()
    assert turns[:3] == [(1, 2), (2, 2), (3, 2)]
    assert turns[3:] == [(n, 3) for n in (1, 2, 3, 2, 3, 1, 3, 1, 2)]


@pytest.mark.usefixtures("turns")
def test_the_median_of_the_rounds_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    _others(monkeypatch, itertools.repeat(0.0))
    clock = iter([0.0, 1.0, 1.0, 10.0, 10.0, 12.0]).__next__
    (row,) = time_systems(
        {"a": System(_TINY)}, _SOURCES, options=TimingOptions(threads=1), clock=clock
    ).timings
    assert (row.rounds, len(row.cpu_rounds), row.sentences) == ((1.0, 9.0, 2.0), 3, 3)
    assert (row.seconds, row.tokens_per_second, row.busy) == (2.0, row.tokens / 2, False)


@pytest.mark.usefixtures("turns")
def test_a_busy_machine_is_refused_or_its_times_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = float(machine.cpu_count())
    _others(monkeypatch, itertools.repeat(busy))
    refuses("allow_busy: other processes use the cores", _report)
    _others(monkeypatch, iter([busy, *[0.0] * 8, busy]))
    report = _report(allow_busy=True)
    assert [row.busy for row in report.timings] == [False, True, False]
    assert report.timings[1].other_cores == (0.0, 0.0, busy)


@pytest.mark.usefixtures("turns")
def test_free_cores_or_else_the_load_average_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "cpu_count", lambda: 4)
    _others(monkeypatch, itertools.repeat(2.5))
    assert not any(row.busy for row in _report(1).timings)
    _others(monkeypatch, itertools.repeat(None))
    monkeypatch.setattr(timing, "load_average", lambda: 0.4)
    assert not _report(1).timings[0].busy
    monkeypatch.setattr(timing, "load_average", lambda: 5.0)
    refuses(r"load average 5\.0", _report, 1)


def test_real_systems_are_timed_and_threads_are_restored() -> None:
    before = torch.get_num_threads()
    systems = {"int8": System(_TINY, 1, precision="int8"), "plain": System(_TINY, 1)}
    report = time_systems(systems, _SOURCES, options=TimingOptions(1, threads=1, allow_busy=True))
    assert torch.get_num_threads() == before
    row = json.loads(report.to_json())
    int8, plain = row["timings"]
    assert (int8["system"], int8["precision"]) == ("int8", "int8")
    assert (plain["system"], plain["precision"]) == ("plain", "fp32")
    assert int8["tokens"] == plain["tokens"] > len(_SOURCES)
    assert int8["model"].startswith(f"{_TINY}@")
    assert (row["options"]["threads"], row["machine"]["versions"]["torch"]) == (1, version("torch"))


def test_nothing_to_time_and_options_out_of_range_are_refused() -> None:
    for systems, sources in (({}, _SOURCES), ({"a": System(_TINY)}, [])):
        refuses("expected at least one, got none", time_systems, systems, sources)
    refuses("separator: a file of", time_systems, {"a": System(_TINY, separator="<sep>")}, _SOURCES)
    refuses("rounds: expected an integer of at least 1, got 0", TimingOptions, 0)


def test_other_processes_are_measured_without_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    usages = iter([(10.0, 100.0, 5.0), (14.0, 107.0, 9.0)])
    monkeypatch.setattr(machine, "_usage", lambda: next(usages))
    assert machine.CpuMeter().others() == pytest.approx((7 - 4) / 4)
    monkeypatch.setattr(machine, "_usage", lambda: None)
    assert machine.CpuMeter().others() is None


def test_no_such_file_reports_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "_STAT", tmp_path / "stat")
    assert machine.CpuMeter().others() is None
    write_lines(tmp_path / "stat", ["cpu  100 0 50 1000 3 0 7"])
    assert machine._usage() is not None


def test_the_command_names_each_setting_and_writes_the_file(tmp_path: Path, source: Path) -> None:
    shown = run_command(
        f"compare --by time tiny={_TINY} --source-file {source} "
        f"--num-beams 1 --num-beams 2 --rounds 1 --threads 1 --allow-busy --output {tmp_path}"
        f"/t.json"
    )
    rows = read_json(tmp_path / "t.json")["timings"]
    assert [(row["system"], row["beams"]) for row in rows] == [("tiny.beam1", 1), ("tiny.beam2", 2)]
    assert all(name in shown.stdout for name in ("tiny.beam1", "tokens/s", "fp32 torch", "threads"))
    assert {"seconds", "rounds", "tokens_per_second", "busy"} <= rows[0].keys()


def test_the_table_marks_times_that_say_little() -> None:
    rounds = (2.0, 1.0, 3.0), (0.5, 0.7, 0.6), (0.0, 2.0, 0.0)
    row = SystemTiming("a", "a@1", *rounds, 2, 8, "int8", "torch", 1, True)
    used = {
        "processor": "a processor",
        "cores": 2,
        "device": "cpu",
        "system": "Linux",
        "versions": {"torch": "2"},
        "load_before": 1.0,
        "load_after": 2.0,
    }
    options = {"threads": 1, "rounds": 3, "batch_tokens": 2048, "sentences": 2, "source": "abc"}
    report = TimingReport(used, options, (row,))
    text = printed(timing_table(report.to_dict(), title="times"), width=120)
    assert all(part in text for part in ("2.00*", "0.60", "* other processes shared the cores"))


def test_errors_of_commands_name_options(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = _TINY, "--source-file", source
    assert "two systems are named cc-tiny-en-de; give NAME=SYSTEM" in _refusal(_TINY, *given)
    _others(monkeypatch, itertools.repeat(float(machine.cpu_count())))
    assert "--allow-busy: other processes use the cores" in _refusal(*given)
    _others(monkeypatch, itertools.repeat(0.0))
    assert "--precision: expected" in _refusal(*given, "--precision", "int4")
    source.write_text("", encoding="utf-8")
    assert "--source-file:" in _refusal(*given)
