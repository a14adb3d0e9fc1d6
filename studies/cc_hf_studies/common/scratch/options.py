"""How a translation model is trained from random weights: sizes and options, with their checks."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from cc_hf.errors import InputError
from cc_hf.languages import named_language
from cc_hf.rules import ABOVE_0, PART_OF_ONE, AtLeast, OneOf, check_fields

__all__ = ["ATTENTIONS", "SIZES", "ModelSizes", "TrainingOptions"]

#: Kinds of self-attention of a decoder: ordinary, or the average of all words before (Zhang et al.
#: 2018).
ATTENTIONS = ("ordinary", "average")


@dataclass(frozen=True)
class ModelSizes:
    """Sizes of a transformer for translation.

    Attributes:
        encoder_layers, decoder_layers: numbers of layers.
        width: width of states and embeddings.
        encoder_ffn, decoder_ffn: inner widths of the feed-forward layers of a side.
        heads: number of attention heads, a divisor of the width.
    """

    encoder_layers: Annotated[int, AtLeast(1)]
    decoder_layers: Annotated[int, AtLeast(1)]
    width: Annotated[int, AtLeast(1)]
    encoder_ffn: Annotated[int, AtLeast(1)]
    decoder_ffn: Annotated[int, AtLeast(1)]
    heads: Annotated[int, AtLeast(1)]

    def __post_init__(self) -> None:
        check_fields(self)
        if self.width % self.heads:
            raise InputError(
                f"heads: expected a divisor of the width {self.width}, got {self.heads}"
            )


#: big, small and mini are the students and teachers of Vamvas & Sennrich (2021), section 4.2. The
#: paper prints one inner width for the big model. Its number of parameters, 269.7M, needs half of
#: it in the decoder, which is also what the WMT19 model of fairseq has, from which the paper
#: starts. The others are those of Vaswani et al. (2017), Table 3; Emelin (2023), section 5.4.2,
#: halves the base.
SIZES = {
    "big": ModelSizes(6, 6, 1024, 8192, 4096, 16),
    "small": ModelSizes(4, 4, 512, 2048, 2048, 4),
    "mini": ModelSizes(4, 4, 256, 1024, 1024, 4),
    "transformer-big": ModelSizes(6, 6, 1024, 4096, 4096, 16),
    "transformer-base": ModelSizes(6, 6, 512, 2048, 2048, 8),
    "transformer-half": ModelSizes(6, 6, 256, 1024, 1024, 8),
}
_SIDES = re.compile(r"([1-9]\d*)(?:,([1-9]\d*))?")


@dataclass(frozen=True)
class TrainingOptions:
    """How a translation model is trained. The schedule is by default that of fairseq's recipes; the
    commands of studies have the defaults of their papers.

    Attributes:
        size: sizes of the model: big, small or mini of Vamvas & Sennrich (2021);
            transformer-big or transformer-base of Vaswani et al. (2017), or transformer-half, half
            as wide as the base.
        layers: number of layers in place of that of the size: ENCODER,DECODER such as 6,2, or one
            number for both.
        ffn: inner width of the feed-forward layers in place of that of the size, as for layers.
        width: width of states and embeddings in place of that of the size.
        heads: number of attention heads in place of that of the size.
        attention: self-attention of the decoder: ordinary, or average (Zhang et al. 2018).
        vocabulary: folder of a model whose vocabulary is used. None for one that is learned from
            the training pairs.
        pieces: size of the vocabulary that is learned.
        segmentation: how words are cut into pieces: unigram or bpe, by SentencePiece.
        separate: whether each language has a vocabulary of its own.
        threshold: number of times that a piece must occur in the segmented training text of a
            language; rarer pieces are cut into smaller ones. 1 keeps all.
        src_lang, tgt_lang: languages of sources and translations, ISO 639-1.
        n_pairs: number of training pairs to draw at random. None for all.
        max_tokens: pairs with more pieces on a side are dropped.
        max_length_ratio: pairs with a larger ratio of the numbers of pieces are dropped. None for
            no limit.
        dropout: share of values that are dropped in training.
        label_smoothing: share of the probability that label smoothing takes from the right piece.
        learning_rate: learning rate at the end of the warm-up. None for that of Vaswani et al.
            (2017), the inverse square root of width times warm-up.
        warmup: number of steps in which the learning rate rises. None for 4000.
        schedule: how the learning rate falls: inverse_sqrt or linear.
        steps: largest number of training steps.
        eval_steps: number of steps between two evaluations, each with a checkpoint.
        patience: number of evaluations without a better one, after which training stops. None for
            no early stopping.
        choose_by: which checkpoint is the best: that with the highest bleu or the lowest loss on
            the development pairs.
        batch_size: number of pairs in a batch of a process.
        batch_tokens: largest number of tokens in a batch of a process, padding and both sides
            counted, in place of a number of pairs.
        accumulation: number of batches of a process in a training step.
        beams: number of beams, for BLEU.
        precision: precision of products in training: fp32, bf16 or fp16.
        probe: dataset to probe the model with at each evaluation, such as simplegen.
        probe_examples: number of examples of its sample.
        seed: seed of the weights, of the order of the pairs, of dropout and of the drawn pairs.
        cpu: train on the CPU, also where there is a GPU.
    """

    size: Annotated[str, OneOf(*SIZES)] = "small"
    layers: str | None = None
    ffn: str | None = None
    width: Annotated[int | None, AtLeast(1)] = None
    heads: Annotated[int | None, AtLeast(1)] = None
    attention: Annotated[str, OneOf(*ATTENTIONS)] = "ordinary"
    vocabulary: Path | None = None
    pieces: Annotated[int, AtLeast(1)] = 32_000
    segmentation: Annotated[str, OneOf("unigram", "bpe")] = "unigram"
    separate: bool = False
    threshold: Annotated[int, AtLeast(1)] = 1
    src_lang: str = "en"
    tgt_lang: str = "de"
    n_pairs: Annotated[int | None, AtLeast(1)] = None
    max_tokens: Annotated[int, AtLeast(1)] = 250
    max_length_ratio: Annotated[float | None, AtLeast(1.0)] = None
    dropout: Annotated[float, PART_OF_ONE] = 0.3
    label_smoothing: Annotated[float, PART_OF_ONE] = 0.1
    learning_rate: Annotated[float | None, ABOVE_0] = None
    warmup: Annotated[int | None, AtLeast(1)] = None
    schedule: Annotated[str, OneOf("inverse_sqrt", "linear")] = "inverse_sqrt"
    steps: Annotated[int, AtLeast(1)] = 300_000
    eval_steps: Annotated[int, AtLeast(1)] = 4000
    patience: Annotated[int | None, AtLeast(1)] = None
    choose_by: Annotated[str, OneOf("bleu", "loss")] = "bleu"
    batch_size: Annotated[int, AtLeast(1)] = 64
    batch_tokens: Annotated[int | None, AtLeast(1)] = None
    accumulation: Annotated[int, AtLeast(1)] = 1
    beams: Annotated[int, AtLeast(1)] = 5
    precision: Annotated[str, OneOf("fp32", "bf16", "fp16")] = "fp32"
    probe: str | None = None
    probe_examples: Annotated[int, AtLeast(1)] = 600
    seed: Annotated[int, AtLeast(0)] = 1
    cpu: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        for side in ("src_lang", "tgt_lang"):
            object.__setattr__(self, side, named_language(getattr(self, side), side))
        _ = self.sizes
        if self.eval_steps > self.steps:
            raise InputError(
                f"eval_steps: expected at most steps={self.steps}, since the model is chosen by an"
                f" evaluation, got {self.eval_steps}"
            )
        if self.batch_tokens is not None and self.batch_tokens < 2 * (self.max_tokens + 1):
            raise InputError(
                f"batch_tokens: expected at least {2 * (self.max_tokens + 1)}, both sides of the"
                f" longest pair by max_tokens={self.max_tokens}, got {self.batch_tokens}; raise it,"
                " or lower max_tokens"
            )
        learned = {"separate": False, "threshold": 1, "segmentation": "unigram"}
        for name, default in learned.items():
            if self.vocabulary is not None and getattr(self, name) != default:
                raise InputError(
                    f"{name}: expected no value with vocabulary={self.vocabulary}, whose pieces are"
                    f" fixed, got {getattr(self, name)}; leave out one of them"
                )

    @property
    def sizes(self) -> ModelSizes:
        """The named sizes, with those that options replace."""
        changes: dict[str, Any] = {
            name: value for name in ("width", "heads") if (value := getattr(self, name)) is not None
        }
        for name in ("layers", "ffn"):
            if (text := getattr(self, name)) is None:
                continue
            if not (match := _SIDES.fullmatch(text)):
                raise InputError(
                    f"{name}: expected a number, or those of encoder and decoder, such as 6,2, got"
                    f" {text!r}"
                )
            first, second = match.groups()
            changes[f"encoder_{name}"] = int(first)
            changes[f"decoder_{name}"] = int(second or first)
        return replace(SIZES[self.size], **changes)

    @property
    def peak_learning_rate(self) -> float:
        """The learning rate at the end of the warm-up."""
        return self.learning_rate or (self.sizes.width * self.warmup_steps) ** -0.5

    @property
    def warmup_steps(self) -> int:
        """The number of steps in which the learning rate rises."""
        return self.warmup or 4000
