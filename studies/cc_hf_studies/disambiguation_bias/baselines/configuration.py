"""The configurations of fairseq's LSTM and convolutional models, as transformers keeps them.

A model on the Hub carries a copy of this file, so that nothing of cc_hf is imported here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from transformers import PretrainedConfig

__all__ = ["ConvS2SConfig", "LSTMConfig"]


class _TranslationConfig(PretrainedConfig):  # type: ignore[misc]
    """What both have: the sizes of two vocabularies, and the ids of fairseq's special tokens."""

    defaults: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self, vocab_size: int = 32000, src_vocab_size: int | None = None, **settings: Any
    ) -> None:
        self.vocab_size = vocab_size
        self.src_vocab_size = vocab_size if src_vocab_size is None else src_vocab_size
        for name, default in self.defaults.items():
            setattr(self, name, settings.pop(name, default))
        ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
        kind = {"is_encoder_decoder": True, "tie_word_embeddings": True}
        super().__init__(**{**kind, **ids, **settings})
        if self.share_embeddings and self.vocab_size != self.src_vocab_size:
            raise ValueError(
                f"share_embeddings: expected sides of the same size, got vocab_size={vocab_size}"
                f" and src_vocab_size={src_vocab_size}; set it to False"
            )

    def get_text_config(self, **_sides: Any) -> _TranslationConfig:
        """Return the configuration itself, whose sides transformers would rename."""
        return self


class LSTMConfig(_TranslationConfig):
    """The configuration of fairseq's LSTM (Luong et al. 2015, with input feeding).

    Args:
        src_vocab_size: number of symbols of the source side; None for that of the target side.

    Attributes:
        num_hidden_layers: number of layers of each side.
        encoder_embed_dim, decoder_embed_dim: widths of the embeddings.
        encoder_hidden_size, decoder_hidden_size: widths of the states, in one direction.
        encoder_bidirectional: whether all layers of the encoder read in both directions.
        decoder_attention: whether the decoder attends to the source.
        decoder_out_embed_dim: width of the states that are projected to the vocabulary.
        share_embeddings: whether both sides have the same embeddings.
        max_position_embeddings: length of the longest source or target, in tokens.
    """

    model_type = "lstm"
    defaults: ClassVar[Mapping[str, Any]] = {
        "num_hidden_layers": 1,
        "encoder_embed_dim": 512,
        "encoder_hidden_size": 512,
        "encoder_bidirectional": False,
        "decoder_embed_dim": 512,
        "decoder_hidden_size": 512,
        "decoder_attention": True,
        "decoder_out_embed_dim": 512,
        "share_embeddings": False,
        "max_position_embeddings": 1024,
    }

    # transformers writes a constructor for classes without one.
    def __init__(
        self, vocab_size: int = 32000, src_vocab_size: int | None = None, **settings: Any
    ) -> None:
        super().__init__(vocab_size, src_vocab_size, **settings)


class ConvS2SConfig(_TranslationConfig):
    """The configuration of fairseq's convolutional model (Gehring et al. 2017).

    Args:
        src_vocab_size: number of symbols of the source side; None for that of the target side.

    Attributes:
        d_model: width of the embeddings of both sides.
        encoder_convolutions, decoder_convolutions: for each convolution its channels, the width of
            its kernel in tokens, and how many layers back its residual connection begins, 0 for
            none.
        decoder_attention: for each layer of the decoder, whether it attends to the source.
        decoder_out_embed_dim: width of the states that are projected to the vocabulary.
        max_source_positions, max_target_positions: length of the longest text of each side, in
            tokens.
        share_embeddings: whether both sides have the same embeddings.
    """

    model_type = "convs2s"
    defaults: ClassVar[Mapping[str, Any]] = {
        "d_model": 512,
        "encoder_convolutions": ((512, 3, 1),) * 8,
        "decoder_convolutions": ((512, 3, 1),) * 8,
        "decoder_attention": (True,) * 8,
        "decoder_out_embed_dim": 512,
        "max_source_positions": 1022,
        "max_target_positions": 1022,
        "share_embeddings": False,
    }

    def __init__(
        self, vocab_size: int = 32000, src_vocab_size: int | None = None, **settings: Any
    ) -> None:
        super().__init__(vocab_size, src_vocab_size, **settings)

    @property
    def num_hidden_layers(self) -> int:
        """The number of layers of the decoder."""
        return len(self.decoder_convolutions)

    @property
    def max_position_embeddings(self) -> int:
        """Length of the longest text that both sides accept, in tokens."""
        return min(int(self.max_source_positions), int(self.max_target_positions))
