"""Time and memory of merging files of scores, and of the figures of many judgements, by number of
rows. The rows are made, with the keys and the sizes of real ones.

python -m benchmarks.merging --output docs/performance.md
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow
import pyarrow.parquet
import typer

from benchmarks.children import in_child, most_memory
from benchmarks.command import run_main
from cc_hf.evaluators.base import SCORING_VERSION, library_versions
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.metrics.contrastive_conditioning import ContrastiveConditioning
from cc_hf.plugins.scale.merging import merge
from cc_hf.plugins.scale.parts import FORMAT, KeyedScore, PartOrigin, scores_schema
from cc_hf.plugins.scale.streaming import JudgedStream
from cc_hf.plugins.scale.tally import FLAGS, ROW, Tally
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["Measured", "figures_of_judgements", "main", "merging_of_scores", "table"]

_BLOCK = "merging"
_N_PARTS = 4
_ROWS_AT_ONCE = 65_536
_CHUNK_ROWS = 10_000
_CATEGORIES = ("female", "male", "neutral")
_NAMES = ("sum_logprob", "n_tokens", "mean_probability")


@dataclass(frozen=True)
class Measured:
    """What one run took.

    Attributes:
        processor: seconds of the processor, without waiting for the disk.
        memory: most bytes that the process held, libraries included; None if that is not known.
    """

    seconds: float
    processor: float
    memory: int | None


def made_scores(n: int, part: int, origin: PartOrigin) -> Iterator[list[KeyedScore]]:
    """Yield scores of a part in the order of their keys, many at once, of n in all parts."""
    for start in range(part, n, _N_PARTS * _ROWS_AT_ONCE):
        rows = []
        for number in range(start, min(n, start + _N_PARTS * _ROWS_AT_ONCE), _N_PARTS):
            # As hashes are, keys of texts are spread evenly, and those of token ids in no order.
            digest = hashlib.sha512(number.to_bytes(8, "big")).digest()
            key = (number * 2**64 // n).to_bytes(8, "big") + digest[:24]
            score = (-1.0 - number % 97 / 10, 5 + number % 23, 0.25 + number % 89 / 200)
            rows.append(KeyedScore(key, digest[32:], score))
        yield rows


def write_scores(path: Path, n: int, part: int) -> None:
    """Write the file of a part, as `cc-hf evaluate --part` does."""
    fields = {"eval": "made@1", "dtype": "float32", "scoring": str(SCORING_VERSION)}
    evaluator = json.dumps(sorted({**fields, **library_versions()}.items()), separators=(",", ":"))
    origin = PartOrigin(evaluator, "made", n)
    constants = {"evaluator": evaluator, "plan": "made", "n_pairs": n, "format": FORMAT}
    with pyarrow.parquet.ParquetWriter(path, scores_schema()) as writer:
        for rows in made_scores(n, part, origin):
            columns: dict[str, Any] = dict(
                zip(_NAMES, zip(*(row.score for row in rows), strict=True), strict=True)
            )
            columns |= {name: [value] * len(rows) for name, value in constants.items()}
            columns |= {"key": [row.key for row in rows], "token_ids": [r.ids_key for r in rows]}
            columns["check"] = list(origin.checks(rows))
            writer.write_table(pyarrow.table(columns, schema=scores_schema()))


def merging_of_scores(n: int, folder: Path) -> Measured:
    """Merge the files of four parts into a new cache."""
    paths = _files(folder, "scores", n)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        start, processor = time.perf_counter(), time.process_time()
        merged = merge(ScoreCache(Path(name, "scores.sqlite")), paths)
        seconds, processor = time.perf_counter() - start, time.process_time() - processor
    if merged.n_new != n:
        raise SystemExit(f"expected {n} new scores, got {merged.n_new}")
    return Measured(seconds, processor, most_memory())


def write_judgements(path: Path, n: int, part: int) -> None:
    """Write verdicts on every fourth chunk of a stream, as a job of `judge_stream` keeps them."""
    tallies = []
    for start in range(part * _CHUNK_ROWS, n, _N_PARTS * _CHUNK_ROWS):
        random = np.random.default_rng([n, start])
        rows = np.zeros(min(_CHUNK_ROWS, n - start), dtype=ROW)
        rows["row"] = np.arange(start, start + len(rows))
        for name in ("id_hash", "reference_hash", "source_hash", "translation_hash"):
            rows[name] = random.integers(0, 2**64, len(rows), dtype=np.uint64)
        rows["probability_correct"] = random.beta(5, 2, len(rows))
        rows["flags"] = FLAGS["correct"] * (rows["probability_correct"] >= 0.5)
        categories = random.integers(0, len(_CATEGORIES), len(rows))
        tallies.append(Tally.of(rows, [_CATEGORIES[code] for code in categories]))
    about = {
        **{"format": 2, "version": ContrastiveConditioning.version},
        **{"metric": "contrastive_conditioning", "options": {}, "tgt_lang": "de", "embedded": ""},
        **{"model": {"langs": "en-de", "eval": "made@1", "dtype": "float32", "score": "geometric"}},
        **{"has_revision": True, "chunk_rows": _CHUNK_ROWS},
    }
    JudgedStream(about, Tally.merged(tallies), n).save(path)


def figures_of_judgements(n: int, folder: Path, n_resamples: int = 0) -> Measured:
    """Merge the verdicts of four parts, and compute all figures and intervals.

    Args:
        n_resamples: of the Poisson bootstrap; 0 for intervals in closed form.
    """
    start, processor = time.perf_counter(), time.process_time()
    judged = JudgedStream.merged(map(JudgedStream.load, _files(folder, "judgements", n)))
    bootstrap = Bootstrap(n_resamples=n_resamples) if n_resamples else None
    result = judged.result(bootstrap=bootstrap)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    if result.n != n:
        raise SystemExit(f"expected {n} judgements, got {result.n}")
    return Measured(seconds, processor, most_memory())


def _files(folder: Path, kind: str, n: int) -> list[Path]:
    return [folder / f"{kind}-{n}-{part}.parquet" for part in range(_N_PARTS)]


def table(
    sizes: Sequence[int],
    folder: Path,
    *,
    n_resamples: int,
    launch: Callable[..., Any] = in_child,
) -> str:
    """Return a table in Markdown with a line for each size of each task."""
    lines = [
        "| | rows | seconds | of the processor | rows per second | memory, GB |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    tasks: dict[str, tuple[str, Callable[..., None], Callable[..., Measured], tuple[int, ...]]] = {
        "scores merged into a cache": ("scores", write_scores, merging_of_scores, ()),
        "figures of judgements": ("judgements", write_judgements, figures_of_judgements, ()),
        f"with {n_resamples:,} resamples": (
            *("judgements", write_judgements, figures_of_judgements),
            (n_resamples,),
        ),
    }
    for what, (kind, write, measured, options) in tasks.items():
        for n in sizes:
            files = _files(folder, kind, n)
            for part, path in enumerate(files):
                launch(write, 1, path, n, part)
            run = launch(measured, 1, n, folder, *options)
            for path in files:
                path.unlink()
            memory = "-" if run.memory is None else f"{run.memory / 1e9:.2f}"
            seconds = f"{run.seconds:,.1f} | {run.processor:,.1f}"
            cells = f"{n:,} | {seconds} | {n / run.seconds:,.0f} | {memory}"
            lines.append(f"| {what} | {cells} |")
            typer.echo(lines[-1], err=True)
    return "\n".join(lines)


def main(
    sizes: Annotated[
        str, typer.Option(help="Numbers of rows, separated by commas.")
    ] = "100000,1000000,10000000",
    resamples: Annotated[int, typer.Option(min=1, help="Of the Poisson bootstrap.")] = 1000,
    output: Annotated[
        Path | None, typer.Option(help="docs/performance.md, whose table is replaced.")
    ] = None,
) -> None:
    """Measure, print the table, and write it to a document if one is named."""
    # Imported here, since torch comes with them, whose memory would count in the runs.
    from benchmarks.documents import check_block, measured_on, write_block
    from cc_hf.plugins.timing.machine import load_average

    load = load_average()
    check_block(output, _BLOCK)
    with tempfile.TemporaryDirectory() as folder:
        rows = table(list(map(int, sizes.split(","))), Path(folder), n_resamples=resamples)
    text = f"Measured on {measured_on(1, 'cpu', load=load)}.\n\n{rows}"
    typer.echo(text)
    write_block(output, _BLOCK, text)


if __name__ == "__main__":
    run_main(main)
