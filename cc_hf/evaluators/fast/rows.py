"""Rows of token ids that lie one after the other, and as rows of one length where attention wants
them so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch.nn import functional

__all__ = ["Rows", "joined_ids", "real_positions", "slots_of"]


class Rows:
    """Rows of ids in both forms.

    Attributes:
        ids: (tokens,).
        columns: of each token in its row, (tokens,).
        real: where tokens are among the places of rows of one length, (rows, longest), never on a
            device.
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
            self._slots, self._places = (
                put(slots_of(lengths.cumsum(0) - lengths, self.real)),
                put(self.real.flatten().nonzero().squeeze(-1)),
            )

    def padded(self, states: torch.Tensor) -> torch.Tensor:
        """(tokens, width) -> (rows, longest, width)."""
        return (
            states.view(*self.real.shape, -1)
            if self._is_full
            else functional.embedding(self._slots, states)
        )

    def unpadded(self, states: torch.Tensor) -> torch.Tensor:
        """(rows, longest, width) -> (tokens, width)."""
        flat = states.flatten(0, 1)
        return flat if self._is_full else flat.index_select(0, self._places)

    def behind(self, n: int, states: torch.Tensor) -> torch.Tensor:
        """Those of tokens that are not among the first n of their row, (tokens, width)."""
        return (
            states.index_select(0, self._put((self._columns >= n).nonzero().squeeze(-1)))
            if n
            else states
        )


def joined_ids(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """Return the ids of all rows, (tokens,)."""
    return torch.tensor([i for row in rows for i in row], dtype=torch.long)


def real_positions(lengths: torch.Tensor) -> torch.Tensor:
    """Return, (rows, longest), where tokens are among the places of rows of one length."""
    found: torch.Tensor = torch.arange(int(lengths.max())) < lengths[:, None]
    return found


def slots_of(starts: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Return, (rows, longest), which token stands at each place, where those of a row begin at its
    start; 0 where there is none, which attention masks.
    """
    return torch.where(real, starts[:, None] + torch.arange(real.shape[1]), 0)
