"""fairseq's LSTM with attention and input feeding (`fairseq/models/lstm.py` of version 0.12.2) as a
model of transformers.

A model on the Hub carries a copy of this file, so that nothing of cc_hf is imported here but the
files beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers.cache_utils import EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from .configuration import LSTMConfig
from .translation import TranslationModel

__all__ = ["LSTMEncoderOutput", "LSTMForConditionalGeneration"]


@dataclass
class LSTMEncoderOutput(BaseModelOutput):  # type: ignore[misc]
    """States of the sources; those of both directions are beside each other.

    Attributes:
        last_hidden_state: (n, length, width), of the last layer, 0 at padding.
        hidden, cell: (n, n_layers, width), after the last token (backwards, the first).
    """

    hidden: Any = None
    cell: Any = None


class LSTMEncoder(nn.Module):
    """The encoder, with the names of weights that fairseq has."""

    def __init__(self, config: LSTMConfig) -> None:
        super().__init__()
        width = config.encoder_embed_dim
        self.embed_tokens = nn.Embedding(config.src_vocab_size, width, config.pad_token_id)
        self.lstm = nn.LSTM(
            width,
            config.encoder_hidden_size,
            config.num_hidden_layers,
            bidirectional=config.encoder_bidirectional,
            batch_first=True,
        )

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_options: Any
    ) -> LSTMEncoderOutput:
        """Return the states of sources (n, length) with their mask, 0 at padding."""
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        if not bool(attention_mask[:, 0].all()):
            raise ValueError("input_ids: expected sources that are padded on the right")
        packed = pack_padded_sequence(
            self.embed_tokens(input_ids),
            attention_mask.sum(1).cpu(),
            batch_first=True,
            enforce_sorted=False,
        )
        outputs, states = self.lstm(packed)
        outputs, _ = pad_packed_sequence(outputs, batch_first=True, total_length=input_ids.shape[1])
        # (layers * directions, n, width) -> (n, layers, directions * width)
        hidden, cell = (
            state.unflatten(0, (self.lstm.num_layers, -1)).permute(2, 0, 1, 3).flatten(2)
            for state in states
        )
        return LSTMEncoderOutput(last_hidden_state=outputs, hidden=hidden, cell=cell)


class LSTMAttention(nn.Module):
    """Global attention by products of state and source (Luong et al. 2015, "general")."""

    def __init__(self, width: int, source_width: int) -> None:
        super().__init__()
        self.input_proj = nn.Linear(width, source_width, bias=False)
        self.output_proj = nn.Linear(width + source_width, width, bias=False)

    def forward(
        self, hidden: torch.Tensor, source: torch.Tensor, source_mask: torch.Tensor
    ) -> torch.Tensor:
        """Return the attentional state, (n, width), of states (n, width)."""
        scores = torch.bmm(source, self.input_proj(hidden)[:, :, None])[:, :, 0]
        shares = scores.masked_fill(~source_mask, -torch.inf).softmax(dim=1)
        context = torch.bmm(shares[:, None], source)[:, 0]
        return torch.tanh(self.output_proj(torch.cat([context, hidden], dim=1)))


class LSTMDecoder(nn.Module):
    """The decoder, with the names of weights that fairseq has.

    Of every token, the cache keeps hidden states and cells as keys and values of each layer, and
    the input that is fed to the next token as keys beside them, under attention over the source.
    """

    def __init__(self, config: LSTMConfig) -> None:
        super().__init__()
        width, embedding = config.decoder_hidden_size, config.decoder_embed_dim
        source_width = config.encoder_hidden_size * (2 if config.encoder_bidirectional else 1)
        self.embed_tokens = nn.Embedding(config.vocab_size, embedding, config.pad_token_id)
        if source_width != width:
            self.encoder_hidden_proj = nn.Linear(source_width, width)
            self.encoder_cell_proj = nn.Linear(source_width, width)
        self.layers = nn.ModuleList(
            nn.LSTMCell(width if layer else width + embedding, width)
            for layer in range(config.num_hidden_layers)
        )
        if config.decoder_attention:
            self.attention = LSTMAttention(width, source_width)
        if config.decoder_out_embed_dim != width:
            self.additional_fc = nn.Linear(width, config.decoder_out_embed_dim)

    def forward(
        self,
        ids: torch.Tensor,
        encoded: LSTMEncoderOutput,
        source_mask: torch.Tensor,
        cache: EncoderDecoderCache | None = None,
    ) -> torch.Tensor:
        """Return the states that the projection reads, see `TranslationModel`."""
        states, fed = self._start(encoded, cache)
        kept, outputs = [], []
        for embedded in self.embed_tokens(ids).unbind(1):
            hidden = torch.cat([embedded, fed], dim=1)
            for number, layer in enumerate(self.layers):
                states[number] = layer(hidden, states[number])
                hidden = states[number][0]
            if hasattr(self, "attention"):
                hidden = self.attention(hidden, encoded.last_hidden_state, source_mask)
            fed = hidden
            kept.append(list(states))
            outputs.append(hidden)
        output = torch.stack(outputs, dim=1)
        if cache is not None:
            for number, steps in enumerate(zip(*kept, strict=True)):
                pairs = zip(*steps, strict=True)
                cache.self_attention_cache.update(
                    *(torch.stack(values, dim=1)[:, None] for values in pairs), number
                )
            cache.cross_attention_cache.update(output[:, None], output[:, None, :, :0], 0)
        return self.additional_fc(output) if hasattr(self, "additional_fc") else output

    def _start(
        self, encoded: LSTMEncoderOutput, cache: EncoderDecoderCache | None
    ) -> tuple[list[tuple[torch.Tensor, torch.Tensor]], torch.Tensor]:
        """Return hidden state and cell of each layer, and what is fed to the first token."""
        if cache is not None and cache.get_seq_length():
            fed = cache.cross_attention_cache.layers[0].keys[:, 0, -1]
            layers = cache.self_attention_cache.layers
            return [(layer.keys[:, 0, -1], layer.values[:, 0, -1]) for layer in layers], fed
        hidden, cell = encoded.hidden, encoded.cell
        if hasattr(self, "encoder_hidden_proj"):
            hidden, cell = self.encoder_hidden_proj(hidden), self.encoder_cell_proj(cell)
        states = list(zip(hidden.unbind(1), cell.unbind(1), strict=True))
        return states, torch.zeros_like(states[0][0])


class LSTMForConditionalGeneration(TranslationModel):
    """fairseq's LSTM with its projection to the vocabulary."""

    config_class = LSTMConfig

    def __init__(self, config: LSTMConfig) -> None:
        super().__init__(
            config,
            LSTMEncoder(config),
            LSTMDecoder(config),
            has_bias=not config.tie_word_embeddings,
        )
