"""Where the time of scoring goes, by the profiler of torch, on one thread of the CPU.

python -m benchmarks.parts --data-dir DIR --output docs/performance.md
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from torch.profiler import ProfilerActivity, profile

from benchmarks.alternatives import ALTERNATIVES, LANGUAGES, pair_lengths
from benchmarks.children import in_child
from benchmarks.command import run_main
from benchmarks.documents import check_block, measured_on, write_block
from benchmarks.machine import pair_flops, peaks
from benchmarks.measure import prepare
from benchmarks.models import FOLDER, SIZES
from benchmarks.texts import Decisions, read_decisions
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.plugins.timing.machine import load_average

__all__ = ["OPERATIONS", "Parts", "main", "measure_parts", "table"]

_BLOCK = "scoring-parts"
_WARM_UP_PAIRS = 32
_PEAK_SIDE = 2048
_PRODUCTS, _TOKENISING, _PYTHON = "products with weights", "tokenising", "Python"
_OTHERS = "other operations"
#: Title of a part -> operations of torch whose own time it is.
OPERATIONS: dict[str, tuple[str, ...]] = {
    _PRODUCTS: (
        "mkldnn::_linear_pointwise",
        "onednn::qlinear_pointwise",
        "aten::mm",
        "aten::addmm",
        "aten::_int_mm",
    ),
    "products of attention": ("aten::bmm",),
    "exponentials and their sums, of attention and the vocabulary": (
        "aten::exp2",
        "aten::exp2_",
        "aten::sum",
        "aten::div_",
        "aten::log2_",
        "aten::logsumexp",
        "aten::_softmax",
    ),
    "norms": ("aten::native_layer_norm",),
    "copies and lookups": (
        "aten::copy_",
        "aten::cat",
        "aten::index",
        "aten::index_select",
        "aten::embedding",
    ),
}


@dataclass(frozen=True)
class Parts:
    """Where the time of one run goes.

    Attributes:
        shares: title of a part -> share of the time of the processor under the profiler, from 0 to
            1. Together they are 1.
        rate: pairs per second without the profiler.
        of_peak: operations per second that the pairs need, in the time of the products with
            weights, as a share of the peak; None where the peak is not known.
    """

    shares: Mapping[str, float]
    rate: float
    of_peak: float | None


def measure_parts(name: str, mode: str, data_dir: Path, folder: Path, n_pairs: int) -> Parts:
    """Score pairs of WinoMT in this process and measure the parts."""
    torch.set_num_threads(1)
    decisions = read_decisions("winomt", data_dir)
    setting = prepare(SIZES[name], folder, [decisions], 1, "cpu")
    evaluator: Any = load_evaluator(
        setting.folder, **LANGUAGES, mode=mode, cache=False, device="cpu"
    )

    def score(chosen: Decisions) -> float:
        start = time.process_time()
        evaluator.score(chosen.requests, **LANGUAGES)
        return time.process_time() - start

    score(decisions.limited(_WARM_UP_PAIRS))
    chosen = decisions.limited(n_pairs)
    seconds = score(chosen)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        total = score(chosen)
    start = time.process_time()
    evaluator.encode_sources(sorted({r.source for r in chosen.requests}), **LANGUAGES)
    evaluator.encode_targets(sorted({r.translation for r in chosen.requests}), **LANGUAGES)
    tokenising = time.process_time() - start
    seconds_of = {event.key: event.self_cpu_time_total / 1e6 for event in profiled.key_averages()}
    of_torch = sum(spent for key, spent in seconds_of.items() if "::" in key)
    parts = {
        part: sum(seconds_of.get(key, 0.0) for key in keys) for part, keys in OPERATIONS.items()
    }
    parts[_OTHERS] = of_torch - sum(parts.values())
    parts[_TOKENISING] = tokenising
    parts[_PYTHON] = total - of_torch - tokenising
    flops = pair_flops(evaluator.model.config, pair_lengths(setting, chosen))
    peak = peaks("cpu", _PEAK_SIDE).get(ALTERNATIVES[mode].dtype)
    return Parts(
        {part: spent / total for part, spent in parts.items()},
        len(chosen.requests) / seconds,
        None if peak is None else flops / parts[_PRODUCTS] / peak,
    )


def table(
    names: Sequence[str],
    modes: Sequence[str],
    data_dir: Path,
    folder: Path,
    *,
    n_pairs: int,
    launch: Callable[..., Any] = in_child,
) -> str:
    """Return a table in Markdown with a column for each model and mode."""
    columns: dict[str, Parts] = {
        f"{name}, {mode}": launch(measure_parts, 1, name, mode, data_dir, folder, n_pairs)
        for name in names
        for mode in modes
    }
    lines = [f"| part | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    rows = {
        part: [f"{100 * parts.shares[part]:.0f} %" for parts in columns.values()]
        for part in (*OPERATIONS, _OTHERS, _TOKENISING, _PYTHON)
    }
    rows["rate of the products, of peak"] = [
        "–" if parts.of_peak is None else f"{100 * parts.of_peak:.0f} %"
        for parts in columns.values()
    ]
    rows["pairs/s, one thread"] = [f"{parts.rate:,.0f}" for parts in columns.values()]
    return "\n".join([*lines, *(f"| {title} | {' | '.join(row)} |" for title, row in rows.items())])


def main(
    data_dir: Annotated[Path, typer.Option(help="Upstream repositories, DIR/owner/repository.")],
    sizes: Annotated[
        str, typer.Option(help="Models, separated by commas.")
    ] = "cc-tiny-en-de,opus-mt",
    modes: Annotated[str, typer.Option(help="Modes, separated by commas.")] = "exact,bf16,int8",
    pairs: Annotated[int, typer.Option(min=2, help="Pairs of WinoMT.")] = 512,
    folder: Annotated[Path, typer.Option(help="Folder of the models, which are kept.")] = FOLDER,
    output: Annotated[
        Path | None, typer.Option(help="docs/performance.md, whose table is replaced.")
    ] = None,
) -> None:
    """Measure, print the table, and write it to a document if one is named."""
    load = load_average()
    check_block(output, _BLOCK)
    rows = table(sizes.split(","), modes.split(","), data_dir, folder, n_pairs=pairs)
    text = (
        f"Measured on {measured_on(1, 'cpu', load=load)}. {pairs:,} pairs of WinoMT, shares of the"
        f" time of the processor under the profiler.\n\n{rows}"
    )
    typer.echo(text)
    write_block(output, _BLOCK, text)


if __name__ == "__main__":
    run_main(main)
