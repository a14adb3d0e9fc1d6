"""Batches of pairs: sorted by length, as many pairs as fit a budget of padded tokens."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["plan_batches"]


def plan_batches(
    source_lengths: Sequence[int],
    target_lengths: Sequence[int],
    *,
    batch_tokens: int,
    batch_size: int | None = None,
) -> list[list[int]]:
    """Split pairs into batches, the longest first.

    A batch that is too large for the memory therefore fails at once. A batch of n pairs costs n *
    (longest source + longest target) and stays within `batch_tokens`; a pair that alone costs more
    is a batch of its own.

    Args:
        batch_tokens: largest cost of a batch, in tokens.
        batch_size: largest number of pairs in a batch; None for any.

    Returns:
        Indices of the pairs in each batch; every index occurs exactly once.

    Examples:
        >>> plan_batches([3, 9, 4], [3, 9, 5], batch_tokens=18)
        [[1], [2, 0]]
        >>> plan_batches([3, 9, 4], [3, 9, 5], batch_tokens=1000, batch_size=2)
        [[1, 2], [0]]
    """
    order = sorted(
        range(len(source_lengths)),
        key=lambda i: (target_lengths[i], source_lengths[i]),
        reverse=True,
    )
    batches: list[list[int]] = []
    longest_source = longest_target = 0
    for i in order:
        source, target = (
            max(longest_source, source_lengths[i]),
            max(longest_target, target_lengths[i]),
        )
        if (
            batches
            and (len(batches[-1]) + 1) * (source + target) <= batch_tokens
            and len(batches[-1]) != batch_size
        ):
            batches[-1].append(i)
        else:
            batches.append([i])
            source, target = source_lengths[i], target_lengths[i]
        longest_source, longest_target = source, target
    return batches
