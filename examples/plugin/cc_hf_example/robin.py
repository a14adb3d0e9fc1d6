"""The model type robin, and how checkpoints of fairseq become one. It computes as Pegasus does: a
real one has modules of its own.
"""

from __future__ import annotations

from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    PegasusConfig,
    PegasusForConditionalGeneration,
)

from cc_hf.plugins.conversion.architectures import Architecture

__all__ = ["ARCHITECTURE", "RobinConfig", "RobinForConditionalGeneration"]


class RobinConfig(PegasusConfig):  # type: ignore[misc]
    """The settings of a `RobinForConditionalGeneration`."""

    model_type = "robin"


class RobinForConditionalGeneration(PegasusForConditionalGeneration):  # type: ignore[misc]
    """A robin."""

    config_class = RobinConfig


AutoConfig.register("robin", RobinConfig)
AutoModelForSeq2SeqLM.register(RobinConfig, RobinForConditionalGeneration)

ARCHITECTURE = Architecture(
    RobinConfig,
    RobinForConditionalGeneration,
    fits=lambda checkpoint: checkpoint.architecture == "robin",
    settings=lambda checkpoint, sizes: {"vocab_size": sizes[0]},
    generation={},
    scoring="Score with it as with Pegasus.",
)
