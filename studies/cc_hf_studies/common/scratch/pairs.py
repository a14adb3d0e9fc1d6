"""Sentence pairs for training: read line by line from two files, filtered with counts of what is
dropped, and encoded once to a file on disk, so that memory does not grow with their number.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cc_hf.data.corpora.parallel import file_corpus
from cc_hf.errors import InputError
from cc_hf.files import file_sha256, is_folder
from cc_hf.folders import new_folder
from cc_hf.normalization import is_blank
from cc_hf.reading import stream_lines

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = ["Encode", "PairFiles", "drop_reason", "encoded_pairs", "load_pairs"]

#: Returns the ids of sources and of translations, with the end of each.
Encode = Callable[[Sequence[str], Sequence[str]], tuple[list[list[int]], list[list[int]]]]
#: Why a pair is dropped.
_REASONS = ("n_blank", "n_too_long", "n_length_ratio")
_BLOCK = 10_000  # pairs in memory
_PAIRS, _COUNTS = "pairs.arrow", "counts.json"


@dataclass(frozen=True)
class PairFiles:
    """Two line-aligned UTF-8 files, whose pairs can be read any number of times, blanks included.

    Attributes:
        n_pairs: size of a random subset, in the order of the files; None for all pairs.
    """

    source: Path
    target: Path
    n_pairs: int | None = None
    seed: int = 1

    @functools.cached_property
    def _n_lines(self) -> int:
        n_lines = file_corpus(self.source, self.target, block_pairs=1 << 40).n_pairs
        if self.n_pairs is not None and self.n_pairs > n_lines:
            raise InputError(
                f"n_pairs: expected at most the {n_lines} pairs of {self.source}, got"
                f" {self.n_pairs}"
            )
        return n_lines

    def __len__(self) -> int:
        return self._n_lines if self.n_pairs is None else self.n_pairs

    def __iter__(self) -> Iterator[tuple[str, str]]:
        n_lines = self._n_lines
        pairs = zip(stream_lines(self.source), stream_lines(self.target), strict=True)
        if self.n_pairs is None:
            return pairs
        is_chosen = np.zeros(n_lines, dtype=bool)
        is_chosen[np.random.default_rng(self.seed).choice(n_lines, self.n_pairs, False)] = True
        return compress(pairs, is_chosen)

    def whole(self) -> list[tuple[str, str]]:
        """Return the pairs without those of which a side is blank."""
        pairs = [pair for pair in self if not any(map(is_blank, pair))]
        if not pairs:
            raise InputError(
                f"{self.source}, {self.target}: expected pairs with text on both sides, got none"
            )
        return pairs


def drop_reason(
    source: str,
    target: str,
    lengths: tuple[int, int],
    *,
    max_tokens: int | None = 250,
    max_length_ratio: float | None = 1.5,
) -> str | None:
    """Return why a pair is dropped before training, or None if it is kept.

    The defaults are those of Vamvas & Sennrich (2021), section 4.2; lengths are without EOS.
    """
    shorter, longer = sorted(lengths)
    if is_blank(source) or is_blank(target) or shorter < 1:
        return "n_blank"
    if max_tokens is not None and longer > max_tokens:
        return "n_too_long"
    if max_length_ratio is not None and longer > max_length_ratio * shorter:
        return "n_length_ratio"
    return None


def encoded_pairs(
    files: PairFiles,
    encode: Encode,
    folder: Path,
    *,
    vocabulary: Sequence[Path],
    max_tokens: int | None,
    max_length_ratio: float | None,
) -> Path:
    """Write the pairs that pass the filters as token ids, unless this was done before."""
    identity: list[Any] = [
        *map(file_sha256, (files.source, files.target, *vocabulary)),
        *(files.n_pairs, files.n_pairs and files.seed, max_tokens, max_length_ratio),
    ]
    output = folder / hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:12]
    if is_folder(output):
        return output
    limits: dict[str, Any] = {"max_tokens": max_tokens, "max_length_ratio": max_length_ratio}
    with new_folder(output) as building:
        counts = _write(files, encode, building / _PAIRS, limits)
        if not counts["n_kept"]:
            raise InputError(
                f"{files.source}, {files.target}: expected pairs that pass the filters, got none:"
                f" {counts}; raise max_tokens={max_tokens} or max_length_ratio={max_length_ratio}"
            )
        (building / _COUNTS).write_text(json.dumps(counts), encoding="utf-8", newline="\n")
    return output


def _write(files: PairFiles, encode: Encode, path: Path, limits: dict[str, Any]) -> dict[str, int]:
    """Write the rows of the pairs that are kept, block by block, and return the counts."""
    import pyarrow as pa

    # Without metadata of `datasets`, whose older versions cannot read those of newer ones
    ids = pa.list_(pa.int32())
    schema = pa.schema({"input_ids": ids, "labels": ids})
    reasons: Counter[str | None] = Counter()
    pairs = iter(files)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        while block := list(islice(pairs, _BLOCK)):
            sources, targets = zip(*block, strict=True)
            kept = []
            for pair, row in zip(block, zip(*encode(sources, targets), strict=True), strict=True):
                reason = drop_reason(*pair, (len(row[0]) - 1, len(row[1]) - 1), **limits)
                reasons[reason] += 1
                if reason is None:
                    kept.append(row)
            columns = [[row[side] for row in kept] for side in (0, 1)]
            writer.write_batch(pa.record_batch(columns, schema=schema))
    n_kept = reasons.pop(None, 0)
    dropped = {name: reasons[name] for name in _REASONS}
    return {"n_pairs": n_kept + sum(dropped.values()), "n_kept": n_kept, **dropped}


def load_pairs(folder: Path) -> tuple[Dataset, dict[str, int]]:
    """Load what `encoded_pairs` wrote; the rows stay on disk and are memory-mapped."""
    from datasets import Dataset

    counts: dict[str, int] = json.loads((folder / _COUNTS).read_text(encoding="utf-8"))
    return Dataset.from_file(str(folder / _PAIRS)), counts
