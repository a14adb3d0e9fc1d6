"""Whether scoring and decoding are as fast as they were: a few ratios, each measured in one run
beside the plain way, are compared with those that are stored for the same processor.

python -m benchmarks.check --data-dir DIR
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from benchmarks.command import run_main
from benchmarks.decoding import rates
from benchmarks.documents import IDLE
from benchmarks.measure import measure
from benchmarks.models import FOLDER, SIZES
from benchmarks.texts import read_decisions
from cc_hf.plugins.timing.machine import (
    cpu_count,
    load_average,
    package_versions,
    processor_name,
)
from cc_hf.records import WORD
from cc_hf.systems.machine import wait_briefly
from cc_hf.tables.rows import read_rows

__all__ = [
    "STORED",
    "Ratio",
    "compared",
    "main",
    "measured",
    "read_stored",
    "store",
    "this_processor",
]

#: The file of stored ratios, one row for each processor and way.
STORED = Path(__file__).with_name("ratios.tsv")
_FALL = 0.1
_MODEL, _MODES = "cc-tiny-en-de", ("exact", "bf16", "int8", "auto")
_DECODING = ("5 beams, contrast 0.3", "16 beams, 16 hypotheses and their scores")
_N_PAIRS, _N_SENTENCES, _N_ROUNDS = 1024, 60, 3
_COLUMNS = ("processor", "way", "ratio", "date", "torch")


class Ratio(NamedTuple):
    """How fast a way is beside the plain one, before and now.

    Attributes:
        before: the stored ratio; None where there is none.
        now: the measured ratio; None where this machine could not measure it.
    """

    way: str
    before: float | None
    now: float | None

    @property
    def has_fallen(self) -> bool:
        """Whether the way is slower than before by more than a tenth, or no longer works."""
        if self.before is None:
            return False
        return self.now is None or self.now < (1 - _FALL) * self.before


def measured(data_dir: Path | None, threads: int) -> dict[str, float]:
    """Return how many times as fast as the plain way each way is, as medians over rounds.

    Scoring is compared with transformers in batches of 32 on WinoMT's pairs, decoding with beam
    search; both with the embedded model.
    """
    of_model = measure(
        SIZES[_MODEL],
        [read_decisions("winomt", data_dir)],
        folder=FOLDER,
        names=_MODES,
        n_pairs=_N_PAIRS,
        n_rounds=_N_ROUNDS,
        threads=threads,
        peak_side=64,  # no share of the peak is reported
    )
    ratios = {
        f"scoring, {row.name}": row.figures["winomt"].ratio
        for row in of_model.rows
        if row.name in _MODES and not row.reason
    }
    times = rates(n_sentences=_N_SENTENCES, n_rounds=_N_ROUNDS, threads=threads)
    return ratios | {f"decoding, {way}": 1 / times[way].times_as_long for way in _DECODING}


def this_processor(threads: int) -> str:
    """Return the name under which ratios of this machine are stored."""
    return f"{processor_name()}, {threads} threads"


def read_stored(path: Path, processor: str) -> dict[str, float]:
    """Return the stored ratios of a processor by way; {} if none are stored for it."""
    rows = _rows(path)
    return {row["way"]: float(row["ratio"]) for row in rows if row["processor"] == processor}


def store(path: Path, processor: str, ratios: Mapping[str, float]) -> None:
    """Write the ratios of a processor in place of its stored ones."""
    today, torch = f"{datetime.now(timezone.utc):%Y-%m-%d}", package_versions(["torch"])["torch"]
    rows = [
        [row[name] for name in _COLUMNS] for row in _rows(path) if row["processor"] != processor
    ]
    rows += [[processor, way, f"{ratio:.2f}", today, torch] for way, ratio in ratios.items()]
    lines = ["\t".join(row) for row in [list(_COLUMNS), *sorted(rows, key=lambda row: row[0])]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _rows(path: Path) -> list[dict[str, str]]:
    form = dict.fromkeys(_COLUMNS, WORD)
    return [row for _, row in read_rows(path, form=form)] if path.exists() else []


def compared(
    before: Mapping[str, float], measure_now: Callable[[], dict[str, float]]
) -> list[Ratio]:
    """Return all ratios before and now."""
    now = measure_now()
    ratios = [Ratio(way, before.get(way), now.get(way)) for way in {**before, **now}]
    if any(ratio.has_fallen for ratio in ratios):
        # A way that seems slower is measured again with all others, and the better ratio counts:
        # the machine may have been slow for a moment.
        again = measure_now()
        best = {way: max(now.get(way, 0.0), again.get(way, 0.0)) for way in {**now, **again}}
        ratios = [ratio._replace(now=best.get(ratio.way)) for ratio in ratios]
    return ratios


def main(
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Upstream repositories, DIR/owner/repository/path. Else CC_HF_DATA_DIR."),
    ] = None,
    store_ratios: Annotated[
        bool, typer.Option("--store", help="Store what is measured as this processor's ratios.")
    ] = False,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the CPU.")] = cpu_count(),
) -> None:
    """Print the ratios before and now; the exit status is 1 if one fell by more than a tenth.

    A processor without stored ratios is named, and nothing is measured.
    """
    wait_briefly()
    if (load := load_average()) > IDLE:
        typer.echo(f"note: the machine is not idle (load {load:.1f})", err=True)
    processor = this_processor(threads)
    if store_ratios:
        new = measured(data_dir, threads)
        store(STORED, processor, new)
        typer.echo("\n".join(f"{way}: {ratio:.2f}" for way, ratio in new.items()))
        return
    stored = read_stored(STORED, processor)
    if not stored:
        typer.echo(
            f"not checked: {STORED.name} has no ratios of this processor, {processor}; measure them"
            " with --store while nothing else runs"
        )
        return
    ratios = compared(stored, lambda: measured(data_dir, threads))
    typer.echo("| way | times plain, stored | now | |\n|---|---:|---:|---|")
    for ratio in ratios:
        cells = ["not known" if n is None else f"{n:.2f}" for n in (ratio.before, ratio.now)]
        fell = "slower" if ratio.has_fallen else ""
        typer.echo(f"| {ratio.way} | {cells[0]} | {cells[1]} | {fell} |")
    if any(ratio.has_fallen for ratio in ratios):
        raise SystemExit(1)


if __name__ == "__main__":
    run_main(main)
