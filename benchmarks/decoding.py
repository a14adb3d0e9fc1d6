"""How long a system translates with a contrast and with n-best lists, beside plain beam search.

python -m benchmarks.decoding --output docs/performance.md
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Any, NamedTuple

import typer

from benchmarks.children import in_child
from benchmarks.command import run_main
from cc_hf.plugins.timing.machine import cpu_count, load_average

__all__ = ["WAYS", "Rate", "main", "rates", "table"]

_MODEL = "cc-tiny-en-de"
_BLOCK = "decoding"
_WARM_UP = 4
#: Title -> number of beams, hypotheses, and weight of the contrast.
WAYS: dict[str, tuple[int, int, float]] = {
    "beam search, 5 beams": (5, 1, 0.0),
    "5 beams, contrast 0.3": (5, 1, 0.3),
    "4 beams, 4 hypotheses and their scores": (4, 4, 0.0),
    "8 beams, 8 hypotheses and their scores": (8, 8, 0.0),
    "16 beams, 16 hypotheses and their scores": (16, 16, 0.0),
}


class Rate(NamedTuple):
    """Sentences per second, and how many times as long as by beam search a sentence takes; medians
    over the rounds.
    """

    per_second: float
    times_as_long: float


def _rates(n_sentences: int, threads: int) -> dict[str, float]:
    """Return the sentences of SimpleGEN that are translated per second, without loading."""
    import torch

    from cc_hf.data.loading import load_examples
    from cc_hf.evaluators.loading import load_evaluator
    from cc_hf.systems.nbest import cued_sources, translate_nbest
    from cc_hf.systems.system import System

    torch.set_num_threads(threads)
    examples = load_examples("simplegen", "en-de")
    chosen = examples[:: max(1, len(examples) // n_sentences)][:n_sentences]
    cued, others = cued_sources(chosen)
    model: Any = load_evaluator(_MODEL, cache=False, device="cpu")

    def translate(way: str, n: int) -> float:
        beams, n_best, contrast = WAYS[way]
        against: Any = {"contrast": contrast, "others": others[:n]} if contrast else {}
        start = time.perf_counter()
        system = System(_MODEL, beams)
        translate_nbest(cued[:n], system, n_best=n_best, loaded=model, **against)
        return n / (time.perf_counter() - start)

    for way in WAYS:
        translate(way, min(_WARM_UP, len(chosen)))
    return {way: translate(way, len(chosen)) for way in WAYS}


def rates(
    *, n_sentences: int, n_rounds: int, threads: int, launch: Callable[..., Any] = in_child
) -> dict[str, Rate]:
    """Return the rates of all ways."""
    rounds: Sequence[dict[str, float]] = [
        launch(_rates, threads, n_sentences, threads) for _ in range(n_rounds)
    ]
    plain = next(iter(WAYS))
    return {
        way: Rate(
            median(of_round[way] for of_round in rounds),
            median(of_round[plain] / of_round[way] for of_round in rounds),
        )
        for way in WAYS
    }


def table(measured: dict[str, Rate]) -> str:
    """Return a table in Markdown."""
    lines = ["| way | sentences per second | times as long |", "|---|---:|---:|"]
    for way, (rate, ratio) in measured.items():
        lines.append(f"| {way} | {rate:,.1f} | {ratio:.1f} |")
    return "\n".join(lines)


def main(
    sentences: Annotated[int, typer.Option(min=1, help="Sentences of SimpleGEN.")] = 120,
    rounds: Annotated[int, typer.Option(min=1, help="Each way is measured so often.")] = 3,
    threads: Annotated[int, typer.Option(min=1, help="Threads of torch.")] = cpu_count(),
    output: Annotated[
        Path | None, typer.Option(help="docs/performance.md, whose table is replaced.")
    ] = None,
) -> None:
    """Measure, print the table, and write it to a document if one is named."""
    load = load_average()
    from benchmarks.documents import check_block, measured_on, write_block

    check_block(output, _BLOCK)
    rows = table(rates(n_sentences=sentences, n_rounds=rounds, threads=threads))
    text = (
        f"Measured on {measured_on(threads, 'cpu', load=load)}. {sentences} sentences of SimpleGEN,"
        f" translated by the embedded model, medians of {rounds} rounds.\n\n{rows}"
    )
    typer.echo(text)
    write_block(output, _BLOCK, text)


if __name__ == "__main__":
    run_main(main)
