"""The configuration of a transformer with an average attention network, as transformers keeps it.

A model on the Hub carries a copy of this file, so that nothing of cc_hf is imported here.
"""

from __future__ import annotations

from typing import Any

from transformers import MarianConfig

__all__ = ["AverageAttentionConfig"]


class AverageAttentionConfig(MarianConfig):  # type: ignore[misc]
    """The configuration of a Marian model whose decoder averages in place of self-attention (Zhang
    et al. 2018, "Accelerating Neural Transformer via an Average Attention Network").

    Args:
        average_ffn_dim: inner width of that feed-forward part; None for `decoder_ffn_dim`, as in
            the paper.
    """

    model_type = "average_attention"

    def __init__(
        self,
        average_ffn: bool = True,
        average_gate: bool = True,
        average_ffn_dim: int | None = None,
        **settings: Any,
    ) -> None:
        self.average_ffn = average_ffn
        self.average_gate = average_gate
        self.average_ffn_dim = average_ffn_dim
        super().__init__(**settings)
        if self.inner_width < 1:
            raise ValueError(f"average_ffn_dim: expected at least 1, got {average_ffn_dim}")

    @property
    def inner_width(self) -> int:
        """The inner width of the feed-forward part after the average."""
        width = self.decoder_ffn_dim if self.average_ffn_dim is None else self.average_ffn_dim
        return int(width)
