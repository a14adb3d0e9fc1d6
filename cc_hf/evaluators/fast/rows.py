"""Rows of token ids, concatenated without padding, or padded where attention needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch.nn import functional

__all__ = ["PackedRows", "joined_ids", "real_positions", "slots_of"]


class PackedRows:
    """Rows of token ids in both forms.

    Attributes:
        ids: all ids, (tokens,).
        columns: position of each token in its row, (tokens,).
        real: mask of the tokens in padded rows, (rows, longest), always on the CPU.

    Args:
        rows: at least one row of ids.
        put: moves a tensor to the device.

    Examples:
        >>> rows = PackedRows([[5, 6, 2], [7, 2]], lambda tensor: tensor)
        >>> rows.ids.tolist(), rows.columns.tolist()
        ([5, 6, 2, 7, 2], [0, 1, 2, 0, 1])
        >>> rows.padded(torch.arange(5.0)[:, None]).shape
        torch.Size([2, 3, 1])
    """

    def __init__(
        self, rows: Sequence[Sequence[int]], put: Callable[[torch.Tensor], torch.Tensor]
    ) -> None:
        lengths = torch.tensor([len(row) for row in rows])
        self.real = real_positions(lengths)
        self._put, self._columns = put, self.real.nonzero()[:, 1]
        self.ids, self.columns = put(joined_ids(rows)), put(self._columns)
        self._is_full = bool(self.real.all())
        if not self._is_full:
            # Indices in both directions: of the token at each slot, and of the slot of each token.
            self._slots, self._token_slots = (
                put(slots_of(lengths.cumsum(0) - lengths, self.real)),
                put(self.real.flatten().nonzero().squeeze(-1)),
            )

    def padded(self, states: torch.Tensor) -> torch.Tensor:
        """Pad states.

        Args:
            states: (tokens, width).

        Returns:
            States of shape (rows, longest, width); those at padding are arbitrary.
        """
        return (
            states.view(*self.real.shape, -1)
            if self._is_full
            else functional.embedding(self._slots, states)
        )

    def unpadded(self, states: torch.Tensor) -> torch.Tensor:
        """Remove the padding of states.

        Args:
            states: (rows, longest, width).

        Returns:
            States of shape (tokens, width).
        """
        flat = states.flatten(0, 1)
        return flat if self._is_full else flat.index_select(0, self._token_slots)

    def without_first(self, n: int, states: torch.Tensor) -> torch.Tensor:
        """Return the states of all tokens except the first `n` of each row.

        Args:
            n: number of tokens to drop at the start of each row.
            states: (tokens, width).

        Returns:
            States of shape (remaining tokens, width).
        """
        return (
            states.index_select(0, self._put((self._columns >= n).nonzero().squeeze(-1)))
            if n
            else states
        )


def joined_ids(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """Return the ids of all rows, (tokens,).

    Args:
        rows: rows of ids.

    Examples:
        >>> joined_ids([[5, 6, 2], [7, 2]])
        tensor([5, 6, 2, 7, 2])
    """
    return torch.tensor([i for row in rows for i in row], dtype=torch.long)


def real_positions(lengths: torch.Tensor) -> torch.Tensor:
    """Return the mask of the tokens in padded rows, (rows, longest).

    Args:
        lengths: number of tokens of each row, (rows,).

    Examples:
        >>> real_positions(torch.tensor([3, 2]))
        tensor([[ True,  True,  True],
                [ True,  True, False]])
    """
    real: torch.Tensor = torch.arange(int(lengths.max())) < lengths[:, None]
    return real


def slots_of(starts: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Return the index of the token at each position of padded rows, (rows, longest).

    It is 0 at padding, which attention masks.

    Args:
        starts: index of the first token of each row, (rows,).
        real: mask of the tokens in padded rows, (rows, longest).

    Examples:
        >>> slots_of(torch.tensor([0, 3]), real_positions(torch.tensor([3, 2])))
        tensor([[0, 1, 2],
                [3, 4, 0]])
    """
    return torch.where(real, starts[:, None] + torch.arange(real.shape[1]), 0)
