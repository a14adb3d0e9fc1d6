"""Training of translation models from random weights on `Seq2SeqTrainer`: pieces, sizes, model,
arguments and trainer. The scripts in examples/ are made of these parts.

The sizes are those of Vamvas & Sennrich (2021), section 4.2.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.errors import InputError, MissingDependencyError, check_choice
from cc_hf.training.compute_metrics import make_compute_metrics

try:
    import sentencepiece
    import torch
    from torch.utils.data import SequentialSampler
    from transformers import (
        AutoModelForSeq2SeqLM,
        DataCollatorForSeq2Seq,
        MarianConfig,
        MarianMTModel,
        MarianTokenizer,
        Seq2SeqTrainer,
        Seq2SeqTrainingArguments,
    )
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = [
    "ATTENTIONS",
    "EOS",
    "SIZES",
    "ModelSizes",
    "config_fields",
    "count_parameters",
    "encode_pairs",
    "load_pieces",
    "make_model",
    "make_trainer",
    "train_pieces",
    "training_arguments",
]

#: Kinds of self-attention of a decoder: ordinary, or the average of all words before (Zhang et al.
#: 2018).
ATTENTIONS = ("ordinary", "average")
#: Ids of the vocabularies that `train_pieces` writes. Padding has the last id.
EOS, _UNK = 0, 1
_FILES = ("source.spm", "target.spm", "vocab.json")


@dataclass(frozen=True)
class ModelSizes:
    """Sizes of a transformer for translation.

    Attributes:
        encoder_layers, decoder_layers: numbers of layers.
        width: width of states and embeddings.
        encoder_ffn, decoder_ffn: inner widths of the feed-forward layers of a side.
        heads: number of attention heads, a divisor of the width.

    Raises:
        InputError: for a size below 1, or heads that do not divide the width.

    Examples:
        >>> ModelSizes(1, 1, 6, 8, 8, heads=4)
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: heads: expected a divisor of the width 6, got 4
    """

    encoder_layers: int
    decoder_layers: int
    width: int
    encoder_ffn: int
    decoder_ffn: int
    heads: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise InputError(f"{name}: expected 1 or more, got {value}")
        if self.width % self.heads:
            raise InputError(
                f"heads: expected a divisor of the width {self.width}, got {self.heads}"
            )


#: The students and teachers of Vamvas & Sennrich (2021), section 4.2. The paper prints one inner
#: width for the big model. Its number of parameters, 269.7M, needs half of it in the decoder, which
#: is also what the WMT19 model of fairseq has, from which the paper starts.
SIZES = {
    "big": ModelSizes(6, 6, 1024, 8192, 4096, 16),
    "small": ModelSizes(4, 4, 512, 2048, 2048, 4),
    "mini": ModelSizes(4, 4, 256, 1024, 1024, 4),
}


def config_fields(
    sizes: ModelSizes, n_pieces: int, *, dropout: float = 0.1, max_positions: int = 256
) -> dict[str, Any]:
    """Return the fields that all configurations of these transformers share.

    Args:
        sizes: sizes of the model.
        n_pieces: size of the joint vocabulary, padding included, which has the last id.
        dropout: share of values that are dropped in training, in [0, 1).
        max_positions: largest number of pieces of a sentence.

    Returns:
        Fields of a configuration by name.
    """
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
        "pad_token_id": n_pieces - 1,
        "eos_token_id": EOS,
    }


def make_model(
    sizes: ModelSizes,
    n_pieces: int,
    *,
    attention: str = "ordinary",
    dropout: float = 0.1,
    max_positions: int = 256,
    seed: int = 1,
) -> Any:
    """Return a model with random weights and one matrix of embeddings for both sides.

    Args:
        sizes: sizes of the model.
        n_pieces: size of the joint vocabulary, padding included.
        attention: self-attention of the decoder, one of `ATTENTIONS`: a Marian model, or one with
            average attention, the registered model type "average_attention".
        dropout: share of values that are dropped in training, in [0, 1).
        max_positions: largest number of pieces of a sentence.
        seed: decides the weights.

    Returns:
        The model. Its decoder starts with padding, as in Marian.

    Raises:
        InputError: for another attention.

    Examples:
        >>> model = make_model(ModelSizes(1, 1, 8, 16, 16, heads=2), 50)
        >>> model.config.pad_token_id
        49
    """
    check_choice("attention", attention, ATTENTIONS)
    config_class, model_class = _classes(attention)
    torch.manual_seed(seed)
    model = model_class(
        config_class(
            **config_fields(sizes, n_pieces, dropout=dropout, max_positions=max_positions),
            decoder_start_token_id=n_pieces - 1,
            forced_eos_token_id=EOS,
            init_std=sizes.width**-0.5,
        )
    )
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


def _classes(attention: str) -> tuple[Any, Any]:
    if attention == "average":
        # An UnknownNameError, if the study that has this model is not there.
        config_class = registry.resolve("model type", "average_attention")
        return config_class, AutoModelForSeq2SeqLM._model_mapping[config_class]
    return MarianConfig, MarianMTModel


def count_parameters(sizes: ModelSizes, n_pieces: int, *, attention: str = "ordinary") -> int:
    """Return the number of parameters that are trained, without memory for their values.

    Positions are computed, not trained, and are not counted.

    Args:
        sizes: sizes of the model.
        n_pieces: size of the joint vocabulary, padding included.
        attention: self-attention of the decoder, one of `ATTENTIONS`.

    Raises:
        InputError: for another attention.

    Examples:
        >>> count_parameters(SIZES["mini"], 42_024)
        18130944
    """
    with torch.device("meta"):
        model = make_model(sizes, n_pieces, attention=attention)
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


def train_pieces(
    texts: Iterable[str], folder: Path, n_pieces: int, *, model_type: str = "unigram"
) -> None:
    """Learn one SentencePiece vocabulary for both languages.

    Args:
        texts: sentences of both languages.
        folder: folder for source.spm, target.spm (the same model) and vocab.json.
        n_pieces: number of pieces, without padding.
        model_type: unigram, bpe or word.
    """
    folder.mkdir(parents=True, exist_ok=True)
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=trained,  # not a file: the model would record the path
        vocab_size=n_pieces,
        model_type=model_type,
        character_coverage=0.9999,
        normalization_rule_name="identity",
        bos_id=-1,
        pad_id=-1,
        eos_id=EOS,
        unk_id=_UNK,
        num_threads=2,
        minloglevel=2,
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=trained.getvalue())
    vocabulary = {model.id_to_piece(i): i for i in range(model.vocab_size())}
    vocabulary["<pad>"] = len(vocabulary)
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    for name in _FILES[:2]:
        (folder / name).write_bytes(trained.getvalue())


def load_pieces(
    folder: Path, *, src_lang: str = "en", tgt_lang: str = "de", max_pieces: int = 256
) -> MarianTokenizer:
    """Load the vocabulary of `train_pieces`, or of a saved Marian model.

    Args:
        folder: folder with source.spm, target.spm and vocab.json.
        src_lang: language of the sources, ISO 639-1.
        tgt_lang: language of the translations.
        max_pieces: largest number of pieces of a sentence, EOS included.

    Returns:
        The tokenizer.

    Raises:
        InputError: for a folder without these files, or ids other than those of `config_fields`.
    """
    if missing := [name for name in _FILES if not (folder / name).is_file()]:
        raise InputError(
            f"{folder}: expected a vocabulary of {', '.join(_FILES)}, has no {missing[0]}; name the"
            " folder of a Marian model or one that train_pieces wrote"
        )
    tokenizer = MarianTokenizer(
        *(str(folder / name) for name in _FILES),
        source_lang=src_lang,
        target_lang=tgt_lang,
        model_max_length=max_pieces,
    )
    ids = (tokenizer.eos_token_id, tokenizer.pad_token_id)
    if ids != (EOS, len(tokenizer.get_vocab()) - 1):
        raise InputError(
            f"{folder}: expected a vocabulary with </s> as id {EOS} and <pad> as the last of"
            f" {len(tokenizer.get_vocab())} ids, got {ids[0]} and {ids[1]}"
        )
    return tokenizer


def encode_pairs(
    pairs: Sequence[tuple[str, str]], tokenizer: Any, *, max_pieces: int
) -> list[dict[str, list[int]]]:
    """Return pairs as rows for a trainer.

    Args:
        pairs: source and translation.
        tokenizer: tokenizer of the model.
        max_pieces: number of pieces to which a longer side is cut, EOS included; drop longer pairs
            before (`tools.training.pair_filters.filter_pairs`) to cut nothing.

    Returns:
        One dict of `input_ids` and `labels` per pair.
    """
    if not pairs:
        return []
    limits = {"truncation": True, "max_length": max_pieces}
    sources, targets = zip(*pairs, strict=True)
    ids = tokenizer(list(sources), **limits)["input_ids"]
    labels = tokenizer(text_target=list(targets), **limits)["input_ids"]
    return [
        {"input_ids": source, "labels": target} for source, target in zip(ids, labels, strict=True)
    ]


def training_arguments(
    output: Path,
    *,
    steps: int,
    eval_steps: int,
    batch_size: int,
    learning_rate: float,
    warmup: int,
    seed: int,
    cpu: bool,
    **others: Any,
) -> Seq2SeqTrainingArguments:
    """Return arguments of a trainer that keeps its best checkpoint.

    Adam has the betas .9 and .98, as in fairseq's recipes of translation.

    Args:
        output: folder of the checkpoints.
        steps: largest number of steps.
        eval_steps: number of steps between two evaluations, each with a checkpoint.
        batch_size: number of pairs of a process in a batch.
        learning_rate: learning rate at the end of the warm-up.
        warmup: number of steps in which the learning rate rises.
        seed: seed of the order of the pairs and of dropout.
        cpu: whether to use the CPU also where there is a GPU.
        others: further arguments of `Seq2SeqTrainingArguments`, such as what the best checkpoint is
            chosen by.

    Returns:
        The arguments.
    """
    return Seq2SeqTrainingArguments(
        output_dir=str(output),
        max_steps=steps,
        eval_strategy="steps",
        eval_steps=eval_steps,
        save_strategy="steps",
        save_steps=eval_steps,
        logging_steps=eval_steps,
        load_best_model_at_end=True,
        per_device_train_batch_size=batch_size,
        learning_rate=learning_rate,
        warmup_steps=warmup,
        adam_beta1=0.9,
        adam_beta2=0.98,
        weight_decay=0.0,
        seed=seed,
        report_to="none",
        disable_tqdm=True,
        use_cpu=cpu,
        dataloader_pin_memory=torch.cuda.is_available() and not cpu,
        **others,
    )


class _Trainer(Seq2SeqTrainer):  # type: ignore[misc]
    """A trainer whose evaluations keep the order of the rows, also where training groups rows by
    their length: `make_compute_metrics` compares row by row.
    """

    def _get_eval_sampler(self, eval_dataset: Any) -> SequentialSampler:
        return SequentialSampler(eval_dataset)


def make_trainer(
    model: Any,
    tokenizer: Any,
    arguments: Seq2SeqTrainingArguments,
    training: Sequence[tuple[str, str]],
    development: Sequence[tuple[str, str]],
    *,
    max_pieces: int,
    callbacks: Sequence[Any] = (),
) -> Seq2SeqTrainer:
    """Return a trainer of translation.

    Args:
        model: model to train.
        tokenizer: its tokenizer.
        arguments: with `predict_with_generate`, each evaluation translates the development pairs,
            and `bleu` (sacreBLEU, in [0, 1]) can choose the best checkpoint.
        training: pairs to learn from.
        development: pairs of the evaluations.
        max_pieces: number of pieces to which a longer side is cut.
        callbacks: further callbacks of the trainer.

    Returns:
        The trainer, before training.
    """
    # Rows of similar length in a batch need less padding.
    development = sorted(development, key=lambda pair: len(pair[0]))
    rows = encode_pairs(development, tokenizer, max_pieces=max_pieces)
    figures = None
    if arguments.predict_with_generate:
        figures = make_compute_metrics(
            tokenizer,
            labels=[row["labels"] for row in rows],
            targets=[target for _, target in development],
        )
    return _Trainer(
        model,
        arguments,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model),
        train_dataset=encode_pairs(training, tokenizer, max_pieces=max_pieces),
        eval_dataset=rows,
        processing_class=tokenizer,
        compute_metrics=figures,
        callbacks=list(callbacks),
    )
