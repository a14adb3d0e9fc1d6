"""The disambiguation bias of a sentence: the mean bias of its words towards a sense (Emelin et al.
2020; thesis, eq. 3.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError, UnknownNameError
from cc_hf.text.tokenization import word_texts
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable
from cc_hf_studies.disambiguation_bias.homographs import TaggedPair, read_pairs, write_rows

__all__ = ["BiasColumns", "SentenceBias", "score_file", "scored_rows", "sentence_bias"]

_BATCH = 1000
_NAMES = ("right", "wrong", "diff")


@dataclass(frozen=True, slots=True)
class SentenceBias:
    """The bias of a sentence towards the right and the strongest wrong sense.

    Attributes:
        right: mean bias of all tokens towards the right sense.
        wrong: the largest mean bias towards any other sense of the homograph; 0 if there is none.
        wrong_cluster: the id of that sense, the first of equal ones; "" if there is none.
    """

    right: float
    wrong: float
    wrong_cluster: str

    @property
    def diff(self) -> float:
        """The bias towards the wrong sense less that towards the right one."""
        return self.wrong - self.right


def sentence_bias(
    table: AttractorTable,
    source: str,
    homograph: str,
    cluster: str,
    *,
    association: str = "freq",
    smoothing: float = 0.0,
    log: bool = True,
) -> SentenceBias:
    """Return the bias of a sentence: the sum over its tokens, divided by their number.

    All tokens count in the number: punctuation, stop words, repeated words and the homograph. A
    word that is no attractor of a sense adds 0.
    """
    words = table.associations(homograph, association=association, smoothing=smoothing, log=log)
    if cluster not in words and table.lexicon:
        raise UnknownNameError(f"cluster of {homograph!r}", cluster, words)
    tokens = [token.lower() for token in word_texts(source)]
    means = {
        name: sum(values.get(token, 0.0) for token in tokens) / len(tokens) if tokens else 0.0
        for name, values in words.items()
    }
    right = means.pop(cluster, 0.0)
    wrong_cluster = max(means, key=means.__getitem__, default="")
    return SentenceBias(right, means.get(wrong_cluster, 0.0), wrong_cluster)


@dataclass(frozen=True)
class BiasColumns:
    """Columns of bias for `Dataset.map(batched=True)`.

    For each association there are the columns `freq_right`, `freq_wrong`, `freq_wrong_cluster` and
    `freq_diff`, or `ppmi_...`.
    """

    table: AttractorTable
    associations: tuple[str, ...] = ("freq", "ppmi")
    smoothing: float = 0.0
    log: bool = True

    def __call__(self, batch: Mapping[str, Sequence[str]]) -> dict[str, list[Any]]:
        """Return the columns of a batch."""
        columns: dict[str, list[Any]] = {}
        rows = list(zip(batch["source"], batch["homograph"], batch["cluster"], strict=True))
        for association in self.associations:
            biases = [
                sentence_bias(
                    self.table,
                    source,
                    homograph,
                    cluster,
                    association=association,
                    smoothing=self.smoothing,
                    log=self.log,
                )
                for source, homograph, cluster in rows
            ]
            for name in ("right", "wrong", "wrong_cluster", "diff"):
                columns[f"{association}_{name}"] = [getattr(bias, name) for bias in biases]
        return columns


def scored_rows(
    pairs: Iterable[TaggedPair], columns: BiasColumns, *, where: str = "pairs"
) -> Iterator[dict[str, Any]]:
    """Yield tagged pairs with columns of bias, as they come."""
    remaining = iter(pairs)
    while batch := list(islice(remaining, _BATCH)):
        for pair in batch:
            known = columns.table.counts.get(pair.homograph)
            if known is None or (columns.table.lexicon and pair.cluster not in known):
                raise InputError(
                    f"{where}: pair {pair.id}: expected a homograph and a cluster of the table of"
                    f" attractors, got {pair.homograph!r} with cluster {pair.cluster!r}; count the"
                    " attractors with the lexicon of these pairs"
                )
        rows = [asdict(pair) for pair in batch]
        new = columns(
            {key: [row[key] for row in rows] for key in ("source", "homograph", "cluster")}
        )
        for index, row in enumerate(rows):
            yield row | {name: values[index] for name, values in new.items()}


def score_file(
    path: str | Path, columns: BiasColumns, *, output: str | Path | None = None, top: int = 5
) -> tuple[dict[str, dict[str, float]], list[dict[str, Any]]]:
    """Score the pairs of a file, and write them to `output`; one batch of them is in memory."""
    sums: Counter[tuple[str, str]] = Counter()
    largest: list[dict[str, Any]] = []
    n = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal largest, n
        key = f"{columns.associations[0]}_diff"
        for row in scored_rows(read_pairs(path), columns, where=str(path)):
            n += 1
            for association in columns.associations:
                for name in _NAMES:
                    sums[association, name] += row[f"{association}_{name}"]
            largest.append(row)
            if len(largest) > _BATCH + top:
                largest = _largest(largest, key, top)
            yield row
        largest = _largest(largest, key, top)

    if output is None:
        for _ in rows():
            pass
    else:
        write_rows(output, rows())
    if not n:
        raise InputError(f"{path}: expected sentence pairs, got none; tag a corpus first")
    means = {
        association: {name: sums[association, name] / n for name in _NAMES}
        for association in columns.associations
    }
    return means, largest


def _largest(rows: list[dict[str, Any]], key: str, top: int) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (-row[key], -len(word_texts(row["source"]))))[:top]
