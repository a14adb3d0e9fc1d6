"""Print the figures of docs/scale.md and docs/performance.md:
python docs/scale_figures.py SHARED [WHAT]

WHAT is `batches`: how many scores differ in batches of other sizes, or one pair at a time, and
how long each size takes; `second`: how many scores mode "auto" computes again; or `costs`, which
writes the table of what numbers of pairs cost. All by default. SHARED holds upstream/. Without
instructions for bf16, `second` takes a quarter of an hour.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
import typer

import cc_hf
from cc_hf.data.files.translations import read_translations
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.batching import encoded
from cc_hf.evaluators.contests import Contest, pair_scores
from cc_hf.hub.cards import with_block
from cc_hf.plugins.scale.parts import KeyedScore, PartOrigin, write_scores
from cc_hf.schema import ContrastiveSourceExample, ScoringRequest

_EVALUATOR = "cc-tiny-en-de"
_PAGE = Path(__file__).parent / "performance.md"
_AMOUNTS = (10**6, 10**8, 10**10)
_GPU_FLOPS = 100e12  # assumed, a second: about a third of the peak of an A100 in bf16
_SIZES = (1, 500, 1000, 1536, 2000, 4000, 8000, 16000)  # tokens; 1536 is the default


def requests_of(
    examples: list[ContrastiveSourceExample], translations: list[str]
) -> tuple[list[ScoringRequest], list[Contest]]:
    """Return the pairs of examples, and which of them compete."""
    requests: list[ScoringRequest] = []
    contests: list[Contest] = []
    for row, (example, text) in enumerate(zip(examples, translations, strict=True)):
        sides = []
        for sources in (example.correct_sources, example.incorrect_sources):
            sides.append(list(range(len(requests), len(requests) + len(sources))))
            requests += [ScoringRequest(source, text, row) for source in sources]
        contests.append((sides[0], sides[1]))
    return requests, contests


def compare_batches(requests: list[ScoringRequest]) -> None:
    """Print how scores differ from those of batches of the usual size."""
    evaluator = cc_hf.load_evaluator(_EVALUATOR, mode="exact")

    def sums(batch_tokens: int) -> tuple[np.ndarray, float]:
        evaluator.batch_tokens = batch_tokens
        start = time.perf_counter()
        scores = evaluator.score(requests, src_lang="en", tgt_lang="de")
        return scores.sum_logprob, time.perf_counter() - start

    usual, _ = sums(1536)
    for size in _SIZES:
        other, seconds = sums(size)
        share, largest = (other != usual).mean(), np.abs(other - usual).max()
        typer.echo(f"{size:>6} tokens: {share:.1%} differ, by up to {largest:.1e}; {seconds:.1f} s")


class _Counted:
    """Count the pairs that an evaluator scores."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.n, self._score = 0, evaluator.score

    def __call__(self, requests: list[ScoringRequest], **options: object) -> object:
        """Score the requests."""
        self.n += len(requests)
        return self._score(requests, **options)  # type: ignore[arg-type]


def count_second_look(requests: list[ScoringRequest], contests: list[Contest]) -> None:
    """Print how many scores are computed again exactly."""
    evaluator = cc_hf.load_evaluator(_EVALUATOR, mode="exact").with_mode("exact")
    evaluator.mode = "auto"  # also where bf16 is not faster
    if evaluator.fast is None:  # it is made here, since a copy would count, too
        raise SystemExit(f"{_EVALUATOR} has no pass in bf16 here")
    counted = _Counted(evaluator)
    evaluator.score = counted  # type: ignore[assignment, method-assign]
    pair_scores(requests, evaluator, contests, src_lang="en", tgt_lang="de")
    typer.echo(f"{len(contests)} examples: {counted.n} of {len(requests)} scores exactly")


def costs() -> str:
    """Return the table of what numbers of pairs cost, by the speeds in docs/performance.md."""
    text = _PAGE.read_text(encoding="utf-8")
    text = text.partition("## On a CPU\n")[2].partition("\n## ")[0]
    header = [f"{n:,} pairs" for n in _AMOUNTS]
    lines = [
        f"| evaluator | GFLOP a pair | pairs/s | {' | '.join(header)} | a GPU, assumed |",
        f"|{'---|' * (4 + len(_AMOUNTS))}",
    ]
    for model in text.split("\n### ")[1:]:
        gflop = float(re.findall(r"\(([\d.]+) GFLOP a pair", model)[0])
        (cells,) = re.findall(r"\n\| cc_hf, exact \|(.*)", model)
        speed = float(cells.split("|")[1].replace(",", ""))
        hours = [duration(n / speed) for n in _AMOUNTS]
        gpu = [duration(n * gflop * 1e9 / _GPU_FLOPS) for n in _AMOUNTS]
        name = model.partition(" (")[0]
        lines.append(f"| {name} | {gflop:g} | {speed:g} | {' | '.join(hours)} | {', '.join(gpu)} |")
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """Return a duration in the largest unit of which there is more than one."""
    units = {"years": 365 * 86400, "days": 86400, "h": 3600, "min": 60, "s": 1}
    unit = next(unit for unit, size in units.items() if seconds >= 1.5 * size or size == 1)
    return f"{seconds / units[unit]:,.0f} {unit}"


def sizes() -> str:
    """Return what a pair takes in a file of scores, and in the process that plans batches."""
    evaluator = cc_hf.load_evaluator(_EVALUATOR, mode="exact")
    tracemalloc.start()
    requests = [
        ScoringRequest(f"The [female] doctor said {' '.join(letters)}.", "Die Ärztin sagte es.", i)
        for i, letters in enumerate(itertools.product("abcdefghij", repeat=5))
    ]
    keys = [hashlib.sha256(request.source.encode()).digest() for request in requests]
    sides = encoded(evaluator, requests, "en", "de")
    plan = evaluator.sharing.plan(
        evaluator, [(tuple(s), tuple(t)) for s, t in zip(*sides, strict=True)]
    )
    in_memory = tracemalloc.get_traced_memory()[1] / len(requests)
    tracemalloc.stop()
    scores = [KeyedScore(key, key, (-i / 7, 9, 1 / (i + 1))) for i, key in enumerate(keys)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.parquet"
        write_scores(file, scores, PartOrigin(evaluator.name, "plan", len(requests)))
        in_file = file.stat().st_size / len(requests)
    n_tokens = sum(len(ids) for batch in plan for pair in batch for ids in pair) / len(requests)
    return (
        f"A pair takes {in_file:.0f} bytes in a file of scores, and at most {in_memory:,.0f} bytes"
        f" in a process that plans its batches ({len(requests):,} pairs of {n_tokens:.0f} tokens)."
    )


def main(shared: Path, what: str = typer.Argument("all")) -> None:
    """Print the figures."""
    upstream = shared / "upstream"
    material = cc_hf.load_material("winomt", "en-de", data_dir=upstream)
    file = upstream / "gabrielStanovsky/mt_gender/translations/aws/en-de.txt"
    texts = list(read_translations(file, material.examples).translations)
    if what in ("all", "batches"):
        compare_batches(requests_of(list(material.examples[:400]), texts[:400])[0])
    if what in ("all", "costs"):
        page = _PAGE.read_text(encoding="utf-8")
        table = f"{costs()}\n\n{sizes()}"
        _PAGE.write_text(with_block(page, "costs", table), encoding="utf-8", newline="\n")
        typer.echo(table)
    for n in (400, 1000) if what in ("all", "second") else ():
        rows = slice(0, n * (len(texts) // n), len(texts) // n)
        count_second_look(*requests_of(list(material.examples[rows]), texts[rows]))


if __name__ == "__main__":
    typer.run(main)
