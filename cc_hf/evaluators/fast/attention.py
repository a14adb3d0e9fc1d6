"""Attention of many short sequences."""

from __future__ import annotations

import torch

from cc_hf.evaluators.fast.exponentials import LOG2_E, lost_nothing

__all__ = ["attend", "heads"]


def attend(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    """Return the scaled dot-product attention, with the softmax in fp32.

    Args:
        queries: (rows, heads, tokens, width), the shape and dtype of the result.
        keys, values: (rows, heads, other tokens, width).
        mask: fp32, added to the logits, and broadcast to their shape (rows, heads, tokens, other
            tokens); None for zeros.

    Examples:
        >>> states = torch.tensor([[[[1.0], [3.0]]]])
        >>> attend(states * 0, states, states, None).flatten().tolist()
        [2.0, 2.0]
    """
    logits = (queries @ keys.transpose(-1, -2)).float()
    is_cpu = logits.device.type == "cpu"
    scale = queries.shape[-1] ** -0.5 * (LOG2_E if is_cpu else 1)
    logits = (
        logits.mul_(scale) if mask is None else torch.add(mask, logits, alpha=scale, out=logits)
    )
    weights = _softmax_of_base_2(logits) if is_cpu else logits.softmax(-1)
    attended: torch.Tensor = weights.to(values.dtype) @ values
    return attended


def heads(states: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Return states (rows, tokens, width) split into heads: a view (rows, heads, tokens, width)."""
    return states.view(*states.shape[:-1], n_heads, -1).transpose(1, 2)


def _softmax_of_base_2(logits: torch.Tensor) -> torch.Tensor:
    """Return powers of 2 that are divided by their sum."""
    # torch's softmax is slow for rows whose length is no multiple of 16, above all for shorter
    # ones. It subtracts the largest logit first, which only sums that overflow or underflow need.
    powers = logits.exp2()
    sums = powers.sum(-1, keepdim=True)
    return powers.div_(sums) if lost_nothing(sums) else logits.div_(LOG2_E).softmax(-1)
