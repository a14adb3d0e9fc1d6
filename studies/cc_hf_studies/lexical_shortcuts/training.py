"""Training of transformers with lexical shortcuts (Emelin 2023, section 5.3.1), and the variants of
section 5.4.3: the model, the warm-up, and the mean of the last checkpoints.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from cc_hf.errors import MissingDependencyError
from cc_hf_studies.common.scratch.model import config_fields
from cc_hf_studies.common.scratch.options import TrainingOptions
from cc_hf_studies.common.scratch.run import TrainingFiles, copy_checkpoint, train
from cc_hf_studies.lexical_shortcuts.checkpoint_averaging import (
    average_checkpoints,
    last_checkpoints,
)
from cc_hf_studies.lexical_shortcuts.variants import VARIANTS, WARMUP

try:
    from cc_hf_studies.lexical_shortcuts.model import (
        LexicalShortcutConfig,
        LexicalShortcutForConditionalGeneration,
    )
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = ["train_shortcuts"]


def train_shortcuts(
    options: TrainingOptions,
    files: TrainingFiles,
    output: Path,
    *,
    shortcut: str,
    variant: str,
    average: int,
    **others: Any,
) -> dict[str, Any]:
    """Train a transformer with lexical shortcuts, or continue a training that was broken off.

    Args:
        average: number of last checkpoints whose mean is the model, in the folder `averaged`; 1 for
            the best checkpoint, in the folder `best`.
    """

    def make(options: TrainingOptions, tokenizer: Any) -> Any:
        return _model(options, tokenizer, {"shortcut": shortcut, **VARIANTS[variant]})

    def choose(best: Path, folder: Path) -> list[str]:
        n_written = len(list(best.parent.glob("checkpoint-*")))
        if (n := min(average, n_written)) < 2:
            return copy_checkpoint(best, folder)
        last = last_checkpoints(best.parent, n)
        average_checkpoints(last, folder)
        return [path.name for path in last]

    return train(
        replace(options, warmup=options.warmup or WARMUP[shortcut]),
        files,
        output,
        make=make,
        model_folder="best" if average == 1 else "averaged",
        choose=choose,
        n_checkpoints=average + (options.patience or 0) + 1,
        identity={"shortcut": shortcut, "variant": variant, "average": average},
        **others,
    )


def _model(options: TrainingOptions, tokenizer: Any, shortcuts: dict[str, Any]) -> Any:
    """Return a model with random weights. Its decoder starts with EOS, as in fairseq."""
    is_joint = not tokenizer.separate_vocabs
    targets = tokenizer.encoder if is_joint else tokenizer.target_encoder
    fields = config_fields(
        options.sizes,
        len(tokenizer.encoder),
        is_joint=is_joint,
        dropout=options.dropout,
        max_positions=max(256, options.max_tokens + 2),
    )
    config = LexicalShortcutConfig(
        **fields,
        **shortcuts,
        tgt_vocab_size=len(targets),
        share_embeddings=is_joint,
        bos_token_id=None,
        decoder_start_token_id=tokenizer.eos_token_id,
    )
    return LexicalShortcutForConditionalGeneration(config)
