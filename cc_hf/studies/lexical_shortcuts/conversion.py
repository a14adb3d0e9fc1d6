"""Checkpoints of the authors' fairseq with lexical shortcuts (Emelin et al. 2019): which form their
weights have.

These are the architectures `shortcut_transformer` and `shortcut_transformer_with_feature_fusion`.
"""

from __future__ import annotations

from typing import Any

from cc_hf.conversion.checkpoint import FairseqCheckpoint

__all__ = ["has_shortcuts", "shortcut_settings"]

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
    """Return whether a checkpoint has shortcuts, and check that its options say the same.

    Args:
        checkpoint: a checkpoint from `read_checkpoint`.

    Raises:
        EvaluatorError: when architecture, options and weights contradict each other.
    """
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
    return True


def shortcut_settings(checkpoint: FairseqCheckpoint) -> dict[str, Any]:
    """Return the settings of `LexicalShortcutConfig` that tell the form of the shortcuts.

    Args:
        checkpoint: a checkpoint for which `has_shortcuts` is true.
    """
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
    }
