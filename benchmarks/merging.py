"""Time and memory of merging files of scores, and of the figures of many judgements, by number of
rows. The rows are made, with the keys and the sizes of real ones.

python -m benchmarks.merging --output docs/scale.md
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
from cc_hf.evaluation.streaming import JudgedStream
from cc_hf.evaluation.tally import ROW, Tally
from cc_hf.evaluators.base import SCORING_VERSION, library_versions
from cc_hf.evaluators.merging import merge
from cc_hf.evaluators.parts import FORMAT, KeyedScore, Origin, scores_schema
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.metrics.contrastive_conditioning import ContrastiveConditioning
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["Measured", "figures_of_judgements", "main", "merging_of_scores", "table"]

_BLOCK = "merging"
_N_PARTS = 4
_ROWS_AT_ONCE = 65_536
_CATEGORIES = ("female", "male", "neutral")
_NAMES = ("sum_logprob", "n_tokens", "mean_probability")


@dataclass(frozen=True)
class Measured:
    """What one run took.

    Attributes:
        seconds: from the files to the end.
        memory: most bytes that the process held, libraries included; None if that is not known.
    """

    seconds: float
    memory: int | None


def made_scores(n: int, part: int, origin: Origin) -> Iterator[list[KeyedScore]]:
    """Yield scores of a part in the order of their keys, many at once.

    Args:
        n: number of the scores of all parts.
        part: number of the part, from 0.
    """
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
    origin = Origin(evaluator, "made", n)
    constants = {"evaluator": evaluator, "plan": "made", "n_pairs": n, "format": FORMAT}
    with pyarrow.parquet.ParquetWriter(path, scores_schema()) as writer:
        for rows in made_scores(n, part, origin):
            columns = dict(zip(_NAMES, zip(*(row.score for row in rows), strict=True), strict=True))
            columns |= {name: [value] * len(rows) for name, value in constants.items()}
            columns |= {"key": [row.key for row in rows], "token_ids": [r.ids_key for r in rows]}
            columns["check"] = list(origin.checks(rows))
            writer.write_table(pyarrow.table(columns, schema=scores_schema()))


def merging_of_scores(n: int, folder: Path) -> Measured:
    """Merge the files of four parts into a new cache.

    Args:
        n: number of scores.
        folder: gets the files of the parts, unless it has them.
    """
    paths = [folder / f"{n}-{part}.parquet" for part in range(_N_PARTS)]
    with tempfile.TemporaryDirectory(dir=folder) as name:
        start = time.perf_counter()
        merged = merge(ScoreCache(Path(name, "scores.sqlite")), paths)
        seconds = time.perf_counter() - start
    if merged.n_new != n:
        raise SystemExit(f"expected {n} new scores, got {merged.n_new}")
    return Measured(seconds, most_memory())


def main(n: int, folder: Path = Path("/tmp/merging")) -> None:
    folder.mkdir(exist_ok=True)
    t = time.time()
    for part in range(_N_PARTS):
        path = folder / f"{n}-{part}.parquet"
        if not path.exists():
            write_scores(path, n, part)
    print("made", time.time() - t)
    print(in_child(merging_of_scores, 1, n, folder))


if __name__ == "__main__":
    run_main(main)
