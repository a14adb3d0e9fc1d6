"""The model's probability of given target tokens: decoder hidden states at real positions only, logits in chunks, float32 log-softmax."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from cc_hf.evaluators.base import TokenScores

__all__ = ["pad_ids", "token_scores"]

_CHUNK_ELEMENTS = 2**25  # logits held at a time


def pad_ids(rows: Sequence[Sequence[int]], *, pad: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Right-padded ids and the attention mask, both (n, longest) int64."""
    width = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[pad] * (width - len(row))] for row in rows], device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids, (torch.arange(width, device=device) < lengths[:, None]).long()


def token_scores(
    hidden: torch.Tensor,
    labels: torch.Tensor,
    mask: torch.Tensor,
    project: Callable[[torch.Tensor], torch.Tensor],
    *,
    n_vocabulary: int,
) -> TokenScores:
    """Sum, count and mean probability of the labels.

    Args:
        hidden: (n, length, width) last decoder states; position t predicts labels[:, t].
        labels: (n, length) target ids, EOS included.
        mask: (n, length), 1 at real target positions.
        project: states (k, width) to logits (k, n_vocabulary).
        n_vocabulary: number of logits, for the size of the chunks.
    """
    real = mask.bool()
    states, wanted = hidden[real], labels[real]
    logprobs = torch.empty(len(wanted), dtype=torch.float64, device=hidden.device)
    size = max(1, _CHUNK_ELEMENTS // n_vocabulary)
    for start in range(0, len(wanted), size):
        chunk = slice(start, start + size)
        logits = project(states[chunk]).float()
        chosen = logits.gather(-1, wanted[chunk, None]).squeeze(-1)
        logprobs[chunk] = (chosen - logits.logsumexp(-1)).double()
    rows = torch.arange(len(labels), device=hidden.device).repeat_interleave(mask.sum(1))
    sums = torch.zeros(len(labels), dtype=torch.float64, device=hidden.device).index_add_(0, rows, logprobs)
    probabilities = torch.zeros_like(sums).index_add_(0, rows, logprobs.exp())
    counts = mask.sum(1)
    return TokenScores(sums.cpu().numpy(), counts.cpu().numpy().astype(np.int64), (probabilities / counts).cpu().numpy())
