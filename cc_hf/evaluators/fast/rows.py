"""Rows of token ids, concatenated, or padded where attention needs it.

Libraries prepare each product for its shape, which can take longer than the product itself. Numbers
of tokens and lengths are therefore rounded up to a few sizes, which recur from batch to batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch.nn import functional

__all__ = ["PackedRows", "joined_ids", "real_positions", "rounded_up", "slots_of"]

_TOKEN_STEP = 32  # of the number of concatenated tokens


class PackedRows:
    """Rows of token ids in both forms.

    The concatenated tokens are followed by copies of the first up to a multiple of 32; states at
    these are arbitrary.

    Attributes:
        ids: all ids, (tokens,).
        columns: position of each token in its row, (tokens,).
        real: mask of the tokens in padded rows, (rows, longest), always on the CPU.

    Examples:
        >>> rows = PackedRows([[5, 6, 2], [7, 2]], lambda tensor: tensor)
        >>> rows.ids.shape, rows.ids[:6].tolist(), rows.columns[:6].tolist()
        (torch.Size([32]), [5, 6, 2, 7, 2, 5], [0, 1, 2, 0, 1, 0])
    """

    def __init__(
        self,
        rows: Sequence[Sequence[int]],
        put: Callable[[torch.Tensor], torch.Tensor],
        *,
        step: int = 1,
    ) -> None:
        lengths = torch.tensor([len(row) for row in rows])
        self.real = real_positions(lengths, step=step)
        self._put, self._columns = put, self.real.nonzero()[:, 1]
        ids = joined_ids(rows)
        every = _with_copies(torch.arange(len(ids)))
        self.ids, self.columns = put(ids[every]), put(self._columns[every])
        self._n_tokens, self._is_full = len(ids), bool(self.real.all())
        # Indices in both directions: of the token at each slot, and of the slot of each token.
        self._token_slots = put(self.real.flatten().nonzero().squeeze(-1)[every])
        if not self._is_full:
            self._slots = put(slots_of(lengths.cumsum(0) - lengths, self.real))

    def padded(self, states: torch.Tensor) -> torch.Tensor:
        """Pad states (tokens, width) to (rows, longest, width); those at padding are arbitrary."""
        return (
            states[: self._n_tokens].view(*self.real.shape, -1)
            if self._is_full
            else functional.embedding(self._slots, states)
        )

    def unpadded(self, states: torch.Tensor) -> torch.Tensor:
        """Remove the padding of states, which become (tokens, width)."""
        flat = states.flatten(0, 1)
        if self._is_full and len(self._token_slots) == self._n_tokens:
            return flat
        return flat.index_select(0, self._token_slots)

    def without_first(self, n: int, states: torch.Tensor) -> torch.Tensor:
        """Return states (tokens, width) without the first `n` of each row, copies as in `ids`."""
        if not n:
            return states
        remaining = (self._columns >= n).nonzero().squeeze(-1)
        return states.index_select(0, self._put(_with_copies(remaining)))


def rounded_up(n: int, step: int) -> int:
    """Return the smallest multiple of `step` that is not below `n`.

    Examples:
        >>> rounded_up(33, 32), rounded_up(32, 32)
        (64, 32)
    """
    return -(-n // step) * step


def _with_copies(values: torch.Tensor) -> torch.Tensor:
    """Return values followed by copies of the first, up to a multiple of the step of tokens."""
    n_more = rounded_up(len(values), _TOKEN_STEP) - len(values)
    return torch.cat([values, values[:1].expand(n_more)])


def joined_ids(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """Return the ids of all rows, (tokens,).

    Examples:
        >>> joined_ids([[5, 6, 2], [7, 2]])
        tensor([5, 6, 2, 7, 2])
    """
    return torch.tensor([i for row in rows for i in row], dtype=torch.long)


def real_positions(lengths: torch.Tensor, *, step: int = 1) -> torch.Tensor:
    """Return the mask of the tokens in padded rows, (rows, longest), from the rows' lengths.

    Examples:
        >>> real_positions(torch.tensor([3, 2]))
        tensor([[ True,  True,  True],
                [ True,  True, False]])
    """
    longest = rounded_up(int(lengths.max()), step)
    real: torch.Tensor = torch.arange(longest) < lengths[:, None]
    return real


def slots_of(starts: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Return the index of the token at each position of padded rows, (rows, longest); 0 at padding.

    Args:
        starts: index of the first token of each row, (rows,).

    Examples:
        >>> slots_of(torch.tensor([0, 3]), real_positions(torch.tensor([3, 2])))
        tensor([[0, 1, 2],
                [3, 4, 0]])
    """
    return torch.where(real, starts[:, None] + torch.arange(real.shape[1]), 0)
