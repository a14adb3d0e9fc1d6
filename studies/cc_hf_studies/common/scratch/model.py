"""Translation models with random weights: Marian, or Marian with average attention."""

from __future__ import annotations

from typing import Any

from cc_hf import registry
from cc_hf.errors import MissingDependencyError, check_choice
from cc_hf_studies.common.scratch.options import ATTENTIONS, ModelSizes
from cc_hf_studies.common.scratch.pieces import EOS, PAD_OF_TWO

try:
    import torch
    from transformers import AutoModelForSeq2SeqLM, MarianConfig
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = ["config_fields", "count_parameters", "make_model"]


def config_fields(
    sizes: ModelSizes,
    n_pieces: int,
    *,
    is_joint: bool = True,
    dropout: float = 0.1,
    max_positions: int = 256,
) -> dict[str, Any]:
    """Return the fields that all configurations of these transformers share."""
    return {
        "vocab_size": n_pieces,
        "d_model": sizes.width,
        "encoder_layers": sizes.encoder_layers,
        "decoder_layers": sizes.decoder_layers,
        "encoder_attention_heads": sizes.heads,
        "decoder_attention_heads": sizes.heads,
        "encoder_ffn_dim": sizes.encoder_ffn,
        "decoder_ffn_dim": sizes.decoder_ffn,
        "dropout": dropout,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
        "activation_function": "relu",
        "max_position_embeddings": max_positions,
        "scale_embedding": True,
        "pad_token_id": n_pieces - 1 if is_joint else PAD_OF_TWO,
        "eos_token_id": EOS,
    }


def make_model(
    sizes: ModelSizes,
    n_pieces: int,
    *,
    n_target_pieces: int | None = None,
    attention: str = "ordinary",
    dropout: float = 0.1,
    max_positions: int = 256,
    seed: int = 1,
) -> Any:
    """Return a model with random weights, whose output projection is the decoder's embeddings.

    Args:
        n_pieces: size of the vocabulary of the sources, padding included.
        n_target_pieces: size of the vocabulary of the targets; None if it is that of the sources,
            and both sides have one matrix of embeddings.
        attention: self-attention of the decoder: "ordinary" for Marian, or "average".
        dropout: share of values that are dropped in training, in [0, 1).
        max_positions: largest number of pieces of a sentence.
    """
    check_choice("attention", attention, ATTENTIONS)
    config_class: Any = MarianConfig
    if attention == "average":
        # An UnknownNameError, if the study that has this model is not there.
        config_class = registry.resolve("model type", "average_attention")
    fields = config_fields(
        sizes,
        n_pieces,
        is_joint=n_target_pieces is None,
        dropout=dropout,
        max_positions=max_positions,
    )
    if n_target_pieces is not None:
        fields |= {"decoder_vocab_size": n_target_pieces, "share_encoder_decoder_embeddings": False}
    torch.manual_seed(seed)
    config = config_class(
        **fields,
        # The decoder starts with padding, as in Marian.
        decoder_start_token_id=fields["pad_token_id"],
        forced_eos_token_id=EOS,
        init_std=sizes.width**-0.5,
    )
    model = AutoModelForSeq2SeqLM.from_config(config)
    # A post-norm encoder of several layers collapses (all positions become equal) unless its
    # branches start small.
    with torch.no_grad():
        for stack in (model.model.encoder, model.model.decoder):
            for name, weight in stack.named_parameters():
                if name.endswith(("out_proj.weight", "fc2.weight")):
                    weight.mul_((2 * len(stack.layers)) ** -0.5)
    # In training on CPU, this is 1.7 times as fast as sdpa, whose backward pass is slow.
    model.set_attn_implementation("eager")
    return model


def count_parameters(sizes: ModelSizes, n_pieces: int, *, attention: str = "ordinary") -> int:
    """Return the number of parameters that are trained, without memory for their values."""
    with torch.device("meta"):
        model = make_model(sizes, n_pieces, attention=attention)
    # Positions are computed, not trained, and are not counted.
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
