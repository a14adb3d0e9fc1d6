"""One pass over a parallel corpus, block by block, in one process or several."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from cc_hf.data.corpora.parallel import Corpus, CorpusBlock, StreamCorpus
from cc_hf.data.loading import no_progress_bar
from cc_hf.errors import InputError
from cc_hf.rules import Kind

__all__ = ["DAMAGED", "MOST_NAMED", "BlockCounter", "BlockCounts", "count_blocks", "map_blocks"]

#: Damaged pairs that a summary names; all are counted.
MOST_NAMED = 1000
#: A damaged pair in a file: its line, and what is wrong with it.
DAMAGED = Kind(
    "a line and a reason",
    lambda value: isinstance(value, list) and list(map(type, value)) == [int, str] and value[0] > 0,
)


def map_blocks(
    corpus: Corpus | StreamCorpus,
    function: Callable[[CorpusBlock], str],
    *,
    n_processes: int = 1,
    progress: bool = False,
    label: str = "read",
) -> list[str]:
    """Call a picklable function with every block, and return its results in their order."""
    check_processes(corpus, n_processes)
    if isinstance(corpus, StreamCorpus):
        return [function(block) for block in corpus.blocks()]
    import datasets

    n_blocks = -(-corpus.n_pairs // corpus.block_pairs)
    # One row per block: blocks are the same for any number of processes, and so are the results.
    blocks = datasets.Dataset.from_dict({"block": list(range(n_blocks))})
    with nullcontext() if progress and sys.stderr.isatty() else no_progress_bar():
        done = blocks.map(
            _BlockReader(corpus, function),
            batched=True,
            batch_size=1,
            num_proc=min(n_processes, n_blocks) if n_processes > 1 else None,
            load_from_cache_file=False,
            new_fingerprint=hashlib.sha256(os.urandom(16)).hexdigest()[:16],
            remove_columns=["block"],
            desc=label,
        )
    return list(done["result"])


def check_processes(corpus: Corpus | StreamCorpus, n_processes: int) -> None:
    """Check that a corpus can be read by so many processes."""
    if n_processes < 1:
        raise InputError(f"n_processes: expected 1 or more, got {n_processes}")
    if isinstance(corpus, StreamCorpus) and n_processes > 1:
        raise InputError(
            f"n_processes: expected 1 for the streamed dataset {corpus.name}, got {n_processes};"
            " load the dataset without streaming, or use one process"
        )


@dataclass(frozen=True)
class _BlockReader:
    corpus: Corpus
    function: Callable[[CorpusBlock], str]
    main_process: int = field(default_factory=os.getpid)

    def __call__(self, batch: Mapping[str, Sequence[int]]) -> dict[str, list[str]]:
        # A process whose main process was killed would otherwise go on to its last block, beside
        # those of the run that continues.
        if os.getpid() != self.main_process and os.getppid() != _first_parent(os.getpid()):
            raise InputError("the main process ended; give the same command again to go on")
        return {"result": [self.function(self.corpus.read(number)) for number in batch["block"]]}


@cache
def _first_parent(pid: int) -> int:
    """Return the parent that this process, `pid`, had at the first call."""
    return os.getppid()


class BlockCounter(Protocol):
    """What `count_blocks` calls; it must be picklable if there are several processes."""

    def count(self, block: CorpusBlock) -> Counter[str]:
        """Return what occurs how often in a block. Damaged pairs must be ignored."""


@dataclass(frozen=True)
class BlockCounts:
    """What was counted in a corpus.

    Attributes:
        corpus: hash of all texts, block by block.
        n_damaged: number of pairs that cannot be read or lack text on a side; they are not counted.
        damaged: line (1-based) and fault of the first `MOST_NAMED` damaged pairs.
    """

    corpus: str
    n_pairs: int
    n_damaged: int
    damaged: tuple[tuple[int, str], ...]
    numbers: Counter[str]


def count_blocks(
    corpus: Corpus | StreamCorpus,
    counter: BlockCounter,
    *,
    n_processes: int = 1,
    progress: bool = False,
) -> BlockCounts:
    """Count in every block and add up."""
    parts = map_blocks(
        corpus,
        _CountedBlock(counter),
        n_processes=n_processes,
        progress=progress,
        label="count",
    )
    digest, numbers = hashlib.sha256(), Counter[str]()
    n_pairs = n_damaged = 0
    damaged: list[tuple[int, str]] = []
    for text in parts:
        part: dict[str, Any] = json.loads(text)
        digest.update(part["digest"].encode())
        n_pairs += part["n_pairs"]
        n_damaged += part["n_damaged"]
        damaged += [(line, reason) for line, reason in part["damaged"]]
        del damaged[MOST_NAMED:]
        numbers.update(part["numbers"])
    return BlockCounts(digest.hexdigest(), n_pairs, n_damaged, tuple(damaged), numbers)


@dataclass(frozen=True)
class _CountedBlock:
    counter: BlockCounter

    def __call__(self, block: CorpusBlock) -> str:
        damaged = [(block.first + row + 1, reason) for row, reason in block.damaged.items()]
        return json.dumps(
            {
                "digest": block.digest,
                "n_pairs": len(block.sources),
                "n_damaged": len(damaged),
                "damaged": damaged[:MOST_NAMED],
                "numbers": self.counter.count(block),
            }
        )
