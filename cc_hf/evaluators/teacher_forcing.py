"""Log-probabilities of given target tokens under a model of transformers.

Logits are computed at real positions only and in chunks, their log-softmax in float32.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import torch

__all__ = ["embeddings_without", "label_logprobs", "pad_ids", "positions", "projection_input"]

# Logits held at a time, 128 MiB in float32: 130 positions of NLLB's vocabulary of 256,204.
_CHUNK_ELEMENTS = 2**25


def pad_ids(
    rows: Sequence[Sequence[int]],
    *,
    pad: int,
    device: torch.device,
    side: Literal["left", "right"] = "right",
) -> tuple[torch.Tensor, torch.Tensor]:
    """Pad rows of token ids.

    Args:
        side: where the padding is; on the left for rows that a model continues.

    Returns:
        Ids and attention mask, both (n, longest) int64.

    Examples:
        >>> ids, mask = pad_ids([[5, 6, 2], [7, 2]], pad=1, device=torch.device("cpu"))
        >>> ids.tolist(), mask.tolist()
        ([[5, 6, 2], [7, 2, 1]], [[1, 1, 1], [1, 1, 0]])
        >>> pad_ids([[5, 6], [7]], pad=1, device=torch.device("cpu"), side="left")[1].tolist()
        [[1, 1], [0, 1]]
    """
    width = max(len(row) for row in rows)
    padding = [[pad] * (width - len(row)) for row in rows]
    ids = torch.tensor(
        [
            [*row, *more] if side == "right" else [*more, *row]
            for row, more in zip(rows, padding, strict=True)
        ],
        device=device,
    )
    lengths = torch.tensor([len(row) for row in rows], device=device)
    mask = (torch.arange(width, device=device) < lengths[:, None]).long()
    return ids, mask if side == "right" else mask.flip(1)


@contextlib.contextmanager
def projection_input(
    projection: torch.nn.Module, select: Callable[[torch.Tensor], torch.Tensor]
) -> Iterator[None]:
    """Replace the input of the projection to the vocabulary while the context is open.

    The projection then runs at chosen positions only. What a model does around it, such as scaling
    before or a cap of the logits after, still applies.

    Examples:
        >>> projection = torch.nn.Linear(4, 100)
        >>> with projection_input(projection, lambda states: states[-1:]):
        ...     projection(torch.zeros(7, 4)).shape
        torch.Size([1, 100])
    """
    handle = projection.register_forward_pre_hook(
        lambda _module, arguments: (select(arguments[0]), *arguments[1:])
    )
    try:
        yield
    finally:
        handle.remove()


@contextlib.contextmanager
def embeddings_without(embedding: torch.nn.Module, columns: Sequence[int | None]) -> Iterator[None]:
    """Set the embedding of one token per row to 0 while the context is open.

    Examples:
        >>> embedding = torch.nn.Embedding.from_pretrained(torch.tensor([[1.0], [2.0]]))
        >>> with embeddings_without(embedding, [1, None]):
        ...     embedding(torch.tensor([[0, 1], [0, 1]])).squeeze(-1).tolist()
        [[1.0, 0.0], [1.0, 2.0]]
    """
    rows = [row for row, column in enumerate(columns) if column is not None]
    removed = [column for column in columns if column is not None]

    def remove(_module: torch.nn.Module, _arguments: object, states: torch.Tensor) -> torch.Tensor:
        # Zeros: without the token, all tokens after it would move, and a score would change by
        # their positions, too.
        states = states.clone()  # the embedding may return its own memory
        states[rows, removed] = 0
        return states

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
    """Return the log-probabilities of the labels at real positions, row by row.

    Args:
        hidden: (n, length, width) last decoder states, on any device; position t predicts
            `labels[:, t]`.
        labels: (n, length) target ids, EOS included.
        mask: (n, length), 1 at real target positions.

    Returns:
        Natural logarithms, (number of real positions,) float64, on the CPU: MPS has no float64.

    Examples:
        >>> hidden = torch.zeros(1, 2, 4)  # all logits are 0, so each of 4 tokens has 1/4
        >>> labels, mask = torch.tensor([[3, 0]]), torch.tensor([[1, 0]])
        >>> label_logprobs(hidden, labels, mask, lambda states: states, n_vocabulary=4).exp().round(
        ...     decimals=2
        ... ).tolist()
        [0.25]
    """
    real = mask.bool()
    states, real_labels = hidden[real.to(hidden.device)], labels[real]
    logprobs = torch.empty(len(real_labels), dtype=torch.float32, device=hidden.device)
    size = max(1, _CHUNK_ELEMENTS // n_vocabulary)
    # The logits of a large vocabulary need far more memory than the states, hence the chunks.
    for start in range(0, len(real_labels), size):
        chunk = slice(start, start + size)
        # A sum over a vocabulary needs more than the 8 bits of bfloat16. The projection of a model
        # that is spread over several devices may lie on another one than the states.
        logits = project(states[chunk]).float()
        label_logits = logits.gather(-1, real_labels[chunk, None].to(logits.device)).squeeze(-1)
        logprobs[chunk] = label_logits - logits.logsumexp(-1)
    return logprobs.cpu().double()


def positions(model: Any) -> int:
    """Return how many tokens a model accepts, by its positions.

    Examples:
        >>> from transformers import RobertaConfig, RobertaModel
        >>> tiny = {"vocab_size": 9, "hidden_size": 4, "num_attention_heads": 1}
        >>> positions(RobertaModel(RobertaConfig(**tiny, max_position_embeddings=514)))
        512
    """
    # A configuration without this number has relative positions, and so no limit.
    n_positions = int(getattr(model.config, "max_position_embeddings", 10**9))
    table = next(
        (
            m
            for name, m in model.named_modules()
            if name.endswith("position_embeddings") and isinstance(m, torch.nn.Embedding)
        ),
        None,
    )
    # Models like RoBERTa number positions from after the padding id, and so accept fewer tokens
    # than they have positions.
    return (
        n_positions
        if table is None or table.padding_idx is None
        else n_positions - table.padding_idx - 1
    )
