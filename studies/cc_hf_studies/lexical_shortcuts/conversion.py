"""Conversion of checkpoints of the authors' fairseq with lexical shortcuts (Emelin et al. 2019):
the architectures `shortcut_transformer` and `shortcut_transformer_with_feature_fusion`.
"""

from __future__ import annotations

from typing import Any

from cc_hf.plugins.conversion.architectures import Architecture
from cc_hf.plugins.conversion.checkpoint import EMBEDDINGS, PROJECTION, FairseqCheckpoint
from cc_hf_studies.lexical_shortcuts.model import (
    LexicalShortcutConfig,
    LexicalShortcutForConditionalGeneration,
)

__all__ = ["ARCHITECTURE", "has_shortcuts", "shortcut_settings"]

_PAD = 1
_ARCHITECTURE = "shortcut_transformer"
_GATE = "key_gate_bias"
_OWN_MAP = "sc_k_proj.weight"
#: Part of the model -> where the weights of its attention are.
_PARTS = {
    "encoder": ("encoder.", ".self_attn."),
    "decoder": ("decoder.", ".self_attn."),
    "cross": ("decoder.", ".encoder_attn."),
}


def has_shortcuts(checkpoint: FairseqCheckpoint) -> bool:
    """Return whether a checkpoint has shortcuts, and check that its options say the same."""
    weights = checkpoint.weights
    has_gates = any(name.endswith(_GATE) for name in weights)
    is_named = checkpoint.architecture.startswith(_ARCHITECTURE)
    fusion = checkpoint.options.get("use_feature_fusion")
    if fusion is None and is_named:
        fusion = "feature_fusion" in checkpoint.architecture
    if not has_gates:
        if is_named or fusion:
            raise checkpoint.refusal(
                f"no weight {_GATE} is in it, as in a model without shortcuts; these are the"
                " weights of another architecture"
            )
        return False
    is_fused = not any(name.endswith(_OWN_MAP) for name in weights)
    if fusion is not None and bool(fusion) != is_fused:
        raise checkpoint.refusal(
            f"use_feature_fusion={bool(fusion)}, but its weights {'lack' if is_fused else 'have'}"
            f" {_OWN_MAP}; these are the weights of another architecture"
        )
    if checkpoint.options.get("encoder_learned_pos"):
        raise checkpoint.refusal(
            "encoder_learned_pos=True; with shortcuts, positions must be sinusoidal"
        )
    return True


def shortcut_settings(
    checkpoint: FairseqCheckpoint, vocabulary_sizes: tuple[int, int]
) -> dict[str, Any]:
    """Return the settings of `LexicalShortcutConfig` beyond the sizes of the layers."""
    weights = checkpoint.weights
    is_fused = not any(name.endswith(_OWN_MAP) for name in weights)
    return {
        "shortcut": "fusion" if is_fused else "lexical",
        **{
            f"shortcut_{part}": any(
                name.startswith(side) and attention in name and name.endswith(_GATE)
                for name in weights
            )
            for part, (side, attention) in _PARTS.items()
        },
        "vocab_size": vocabulary_sizes[0],
        "tgt_vocab_size": vocabulary_sizes[1],
        "normalize_before": bool(checkpoint.options.get("encoder_normalize_before")),
        "layernorm_embedding": bool(checkpoint.options.get("layernorm_embedding")),
        "share_embeddings": checkpoint.shares(*EMBEDDINGS),
        "tie_word_embeddings": checkpoint.shares(EMBEDDINGS[1], PROJECTION),
    }


ARCHITECTURE = Architecture(
    LexicalShortcutConfig,
    LexicalShortcutForConditionalGeneration,
    fits=has_shortcuts,
    settings=shortcut_settings,
    # fairseq-generate never produces <pad>, which for classes of transformers
    # `cc_hf.systems.translate` sees to, and no empty text (min_len 1).
    generation={"suppress_tokens": [_PAD], "min_new_tokens": 1},
    scoring=(
        "Score with `decoder_input_ids` = `</s>` (2) + target without its last token.\nThe class is"
        " one of cc_hf, with which `import cc_hf_studies.lexical_shortcuts.model` makes it known to"
        " the Auto classes;\nwithout cc_hf, this folder carries its code, for `trust_remote_code`."
        " The authors' first program, in TensorFlow, differs in norms,\npositions and biases; its"
        " checkpoints cannot be converted."
    ),
)
