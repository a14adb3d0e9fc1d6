"""Batches of pairs of similar length, by number of pairs or of tokens, and their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import MissingDependencyError

try:
    from torch.utils.data import Dataset, Sampler
    from transformers import TrainerCallback
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

if TYPE_CHECKING:
    import datasets

__all__ = ["EpochOrder", "PairBatches", "batch_starts", "flattened"]

_Row = dict[str, list[int]]


def batch_starts(
    lengths: npt.NDArray[np.int64], *, batch_size: int, batch_tokens: int | None = None
) -> list[int]:
    """Return where batches of consecutive pairs begin, and the number of pairs.

    Args:
        lengths: lengths of sources and targets of the pairs, of shape (n, 2).
        batch_tokens: largest number of tokens in a batch, padding and both sides counted, in place
            of a number of pairs. A longer pair is a batch of its own.
    """
    n_pairs = len(lengths)
    if batch_tokens is None:
        return [*range(0, n_pairs, batch_size), n_pairs]
    starts = [0]
    while starts[-1] < n_pairs:
        # No batch can hold more pairs than one in which all are as short as its first.
        first = starts[-1]
        most = max(1, batch_tokens // max(1, int(lengths[first].sum())))
        longest = np.maximum.accumulate(lengths[first : first + most]).sum(axis=1)
        costs = longest * np.arange(1, len(longest) + 1)
        fitting = int(np.searchsorted(costs, batch_tokens, side="right"))
        starts.append(first + max(1, fitting))
    return starts


class PairBatches(Dataset[list[_Row]]):
    """The batches of encoded pairs, sorted by length; an item is a whole batch, a list of rows.

    Batches are the same in every epoch, and three numbers of each pair are in memory.
    """

    def __init__(
        self,
        pairs: datasets.Dataset,
        *,
        batch_size: int,
        batch_tokens: int | None = None,
        seed: int = 1,
    ) -> None:
        import pyarrow.compute as pc

        columns = [pairs.data.column(name) for name in ("input_ids", "labels")]
        lengths = np.stack([pc.list_value_length(c).to_numpy() for c in columns], axis=1)
        ties = np.random.default_rng(seed).permutation(len(lengths))
        self._rows = np.lexsort((ties, lengths[:, 0], lengths[:, 1], lengths.sum(axis=1)))
        self._starts = batch_starts(
            lengths[self._rows].astype(np.int64), batch_size=batch_size, batch_tokens=batch_tokens
        )
        self._pairs = pairs
        #: Number of target tokens, ends included.
        self.n_target_tokens = int(lengths[:, 1].sum())

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> list[_Row]:
        rows = self._rows[self._starts[number] : self._starts[number + 1]]
        columns = self._pairs[rows.tolist()]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


class EpochOrder(Sampler[int], TrainerCallback):  # type: ignore[misc]
    """A random order of batches that seed and epoch decide."""

    def __init__(self, n_batches: int, seed: int) -> None:
        self._n_batches, self._seed, self._epoch = n_batches, seed, 0

    def __len__(self) -> int:
        return self._n_batches

    def __iter__(self) -> Iterator[int]:
        order = np.random.default_rng((self._seed, self._epoch)).permutation(self._n_batches)
        return iter(order.tolist())

    # As a callback it hears the epoch from the trainer: accelerate does not tell a sampler of a
    # training that continues in several processes.
    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Note the epoch; a training that continues begins within one."""
        self._epoch = math.floor(state.epoch or 0)


def flattened(collate: Callable[[list[_Row]], Any]) -> Callable[[Sequence[Any]], Any]:
    """Return a collator that also takes items of `PairBatches`, whole batches."""

    def collated(items: Sequence[Any]) -> Any:
        rows = [row for item in items for row in (item if isinstance(item, list) else [item])]
        return collate(rows)

    return collated
