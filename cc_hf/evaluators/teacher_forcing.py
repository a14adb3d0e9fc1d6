"""The model's probability of given target tokens: decoder hidden states at real positions only,
logits in chunks, float32 log-softmax.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

__all__ = ["embeddings_without", "label_logprobs", "pad_ids", "positions", "projection_input"]

_CHUNK_ELEMENTS = 2**25  # logits held at a time


def pad_ids(
    rows: Sequence[Sequence[int]], *, pad: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Right-padded ids and the attention mask, both (n, longest) int64."""
    width = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[pad] * (width - len(row))] for row in rows], device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids, (torch.arange(width, device=device) < lengths[:, None]).long()


@contextlib.contextmanager
def projection_input(
    projection: torch.nn.Module, select: Callable[[torch.Tensor], torch.Tensor]
) -> Iterator[None]:
    """While open, the projection to the vocabulary gets what `select` makes of its input, so that
    it need not run at every position.

    What a model does around its projection (scaling before it, a cap of the logits behind it) stays
    the model's own.
    """
    handle = projection.register_forward_pre_hook(
        lambda _module, arguments: (select(arguments[0]), *arguments[1:])
    )
    try:
        yield
    finally:
        handle.remove()


@contextlib.contextmanager
def embeddings_without(embedding: torch.nn.Module, places: Sequence[int | None]) -> Iterator[None]:
    """While open, what the embedding gives is 0 at one place of each row; None for none."""
    rows = [row for row, place in enumerate(places) if place is not None]
    columns = [place for place in places if place is not None]

    def remove(_module: torch.nn.Module, _arguments: object, found: torch.Tensor) -> torch.Tensor:
        found = found.clone()
        found[rows, columns] = 0
        return found

    handle = embedding.register_forward_hook(remove)
    try:
        yield
    finally:
        handle.remove()


def label_logprobs(
    hidden: torch.Tensor,
    labels: torch.Tensor,
    mask: torch.Tensor,
    project: Callable[[torch.Tensor], torch.Tensor],
    *,
    n_vocabulary: int,
) -> torch.Tensor:
    """(number of real positions,) float64 natural-log probabilities of the labels, row by row.

    Args:
        hidden: (n, length, width) last decoder states, on any device; position t predicts labels[:,
            t].
        labels: (n, length) target ids, EOS included.
        mask: (n, length), 1 at real target positions.
        project: states (k, width) to logits (k, n_vocabulary).
        n_vocabulary: number of logits, for the size of the chunks.
    """
    real = mask.bool()
    states, wanted = hidden[real.to(hidden.device)], labels[real]
    logprobs = torch.empty(len(wanted), dtype=torch.float64, device=hidden.device)
    size = max(1, _CHUNK_ELEMENTS // n_vocabulary)
    for start in range(0, len(wanted), size):
        chunk = slice(start, start + size)
        logits = project(states[chunk]).float()
        chosen = logits.gather(-1, wanted[chunk, None].to(logits.device)).squeeze(-1)
        logprobs[chunk] = (chosen - logits.logsumexp(-1)).double()
    return logprobs


def positions(model: Any) -> int:
    """Models of RoBERTa's kind number positions from behind the padding id, and so take fewer
    tokens than they have positions.
    """
    n_positions = int(getattr(model.config, "max_position_embeddings", 10**9))
    table = next(
        (
            m
            for name, m in model.named_modules()
            if name.endswith("position_embeddings") and isinstance(m, torch.nn.Embedding)
        ),
        None,
    )
    return (
        n_positions
        if table is None or table.padding_idx is None
        else n_positions - table.padding_idx - 1
    )
