"""Train a transformer with lexical shortcuts, or without, on `Seq2SeqTrainer` (Emelin 2023,
section 5.3.1): inverse square root schedule with warm-up, Adam with .9 and .98, label smoothing of
.1, early stopping, the mean of the last checkpoints, BLEU by sacreBLEU.

    python -m examples.studies.lexical_shortcuts.train_lexical_shortcuts \\
        --train train.en train.de --dev val.en val.de --test test.en test.de --shortcut lexical \\
        --output out/lexical

The sizes are those of the base model unless options say otherwise. The last lines of the output,
and figures.json in the folder, hold BLEU, speed and number of parameters. The model is in the
folder `averaged`; every part of cc_hf takes it as a model.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import (
    EarlyStoppingCallback,
    MarianTokenizer,
    Seq2SeqTrainingArguments,
    set_seed,
)

from cc_hf.errors import CCError
from cc_hf.statistics.corpus_quality import corpus_score
from cc_hf.studies.lexical_shortcuts.checkpoint_averaging import (
    average_checkpoints,
    last_checkpoints,
)
from cc_hf.studies.lexical_shortcuts.model import (
    LexicalShortcutConfig,
    LexicalShortcutForConditionalGeneration,
)
from cc_hf.systems.translate import translate
from tools.training.pair_filters import filter_pairs, read_pairs
from tools.training.seq2seq_training import (
    ModelSizes,
    config_fields,
    load_pieces,
    make_trainer,
    train_pieces,
    training_arguments,
)

#: Steps of warm-up by form of the shortcuts (section 5.3.1).
WARMUP = {"none": 4000, "lexical": 6000, "fusion": 8000}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    pair: dict[str, Any] = {"type": Path, "nargs": 2, "metavar": ("SOURCES", "TARGETS")}
    options.add_argument("--train", required=True, help="two files, a sentence a line", **pair)
    options.add_argument("--dev", required=True, help="for early stopping", **pair)
    options.add_argument("--test", help="for BLEU", **pair)
    options.add_argument("--output", type=Path, required=True, help="new folder")
    options.add_argument("--shortcut", choices=list(WARMUP), default="lexical")
    options.add_argument("--src-lang", default="en")
    options.add_argument("--tgt-lang", default="de")
    options.add_argument("--pieces", type=int, default=32_000, help="size of the joint vocabulary")
    options.add_argument(
        "--vocabulary", type=Path, help="folder of a model whose vocabulary is used"
    )
    options.add_argument("--width", type=int, default=512)
    options.add_argument("--ffn", type=int, default=2048)
    options.add_argument("--layers", type=int, default=6, help="of each side")
    options.add_argument("--heads", type=int, default=8)
    options.add_argument("--dropout", type=float, default=0.1)
    options.add_argument("--batch-size", type=int, default=64, help="sentence pairs in a batch")
    options.add_argument(
        "--accumulation",
        type=int,
        default=1,
        help="batches in a step; the thesis has 25,000 tokens in a step",
    )
    options.add_argument("--steps", type=int, default=150_000, help="largest number of steps")
    options.add_argument("--eval-steps", type=int, default=4000, help="steps between checkpoints")
    options.add_argument(
        "--patience", type=int, default=10, help="evaluations without a lower loss before the end"
    )
    options.add_argument("--warmup", type=int, help="steps; default: 4000, 6000 or 8000")
    options.add_argument(
        "--learning-rate",
        type=float,
        help="at the end of the warm-up; default: that of Vaswani et al., (width * warmup) ** -0.5",
    )
    options.add_argument("--label-smoothing", type=float, default=0.1)
    options.add_argument("--average", type=int, default=5, help="number of last checkpoints")
    options.add_argument("--beams", type=int, default=16)
    options.add_argument("--max-pieces", type=int, default=100, help="longer sentences are cut")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--threads", type=int, help="threads of torch")
    options.add_argument("--bf16", action="store_true", help="products in bf16")
    options.add_argument("--cpu", action="store_true", help="also where there is a GPU")
    return options


def whole_pairs(paths: Sequence[Path]) -> list[tuple[str, str]]:
    """Return the pairs of two files, one per line, without pairs of which a side is blank."""
    return list(filter_pairs(read_pairs(*paths), max_tokens=None, max_length_ratio=None).pairs)


def make_tokenizer(
    pairs: Sequence[tuple[str, str]], options: argparse.Namespace
) -> MarianTokenizer:
    """Return a tokenizer with one vocabulary for both languages: learned from the pairs, or that of
    another model."""
    folder = options.vocabulary or options.output / "vocabulary"
    if options.vocabulary is None:
        train_pieces((text for pair in pairs for text in pair), folder, options.pieces)
    return load_pieces(
        folder,
        src_lang=options.src_lang,
        tgt_lang=options.tgt_lang,
        max_pieces=options.max_pieces,
    )


def make_model(
    tokenizer: MarianTokenizer, options: argparse.Namespace
) -> LexicalShortcutForConditionalGeneration:
    """Return a model with random weights. Its decoder starts with EOS, as in fairseq."""
    sizes = ModelSizes(
        options.layers, options.layers, options.width, options.ffn, options.ffn, options.heads
    )
    fields = config_fields(
        sizes,
        len(tokenizer.get_vocab()),
        dropout=options.dropout,
        max_positions=max(256, options.max_pieces + 2),
    )
    config = LexicalShortcutConfig(
        **fields,
        shortcut=options.shortcut,
        bos_token_id=None,
        decoder_start_token_id=tokenizer.eos_token_id,
    )
    return LexicalShortcutForConditionalGeneration(config)


def settings(options: argparse.Namespace) -> Seq2SeqTrainingArguments:
    """Return the schedule of the thesis as arguments of the trainer."""
    warmup = options.warmup or WARMUP[options.shortcut]
    return training_arguments(
        options.output / "training",
        steps=options.steps,
        eval_steps=options.eval_steps,
        batch_size=options.batch_size,
        learning_rate=options.learning_rate or (options.width * warmup) ** -0.5,
        warmup=warmup,
        seed=options.seed,
        cpu=options.cpu,
        per_device_eval_batch_size=2 * options.batch_size,
        gradient_accumulation_steps=options.accumulation,
        train_sampling_strategy="group_by_length",
        lr_scheduler_type="inverse_sqrt",
        adam_epsilon=1e-9,
        label_smoothing_factor=options.label_smoothing,
        save_total_limit=options.average + options.patience + 1,
        save_only_model=True,
        prediction_loss_only=True,
        metric_for_best_model="loss",
        greater_is_better=False,
        bf16=options.bf16,
    )


def bleu(
    model: Path, pairs: Sequence[tuple[str, str]], options: argparse.Namespace
) -> dict[str, Any]:
    """Translate the sources of pairs, and compare with their targets.

    Returns:
        BLEU in [0, 1], with the signature of sacreBLEU.
    """
    translations = translate([source for source, _ in pairs], model, num_beams=options.beams)
    (model.parent / "test.translations.txt").write_text(
        "\n".join(translations) + "\n", encoding="utf-8"
    )
    score, signature = corpus_score("bleu", translations, [target for _, target in pairs])
    return {"bleu": score, "signature": signature, "beams": options.beams}


def average_last(training: Path, output: Path, n: int) -> list[str]:
    """Write the mean of the last checkpoints, or of all if there are fewer.

    Returns:
        Their names.
    """
    n = min(n, len(list(training.glob("checkpoint-*"))))
    last = last_checkpoints(training, n)
    if n > 1:
        average_checkpoints(last, output)
    else:
        shutil.copytree(last[0], output, ignore=shutil.ignore_patterns("train*", "*.bin"))
    return [path.name for path in last]


def train(options: argparse.Namespace) -> dict[str, Any]:
    """Train, average the last checkpoints, and translate the test set.

    Returns:
        The figures.

    Raises:
        SystemExit: for a loss that is not finite.
    """
    pairs = whole_pairs(options.train)
    tokenizer = make_tokenizer(pairs, options)
    set_seed(options.seed)
    model = make_model(tokenizer, options)
    trainer = make_trainer(
        model,
        tokenizer,
        settings(options),
        pairs,
        whole_pairs(options.dev),
        max_pieces=options.max_pieces,
        callbacks=[EarlyStoppingCallback(options.patience)],
    )
    seconds = trainer.train().metrics["train_runtime"]
    n_tokens = sum(len(row["labels"]) for row in trainer.train_dataset) * trainer.state.epoch
    folder = options.output / "averaged"
    figures = {
        "shortcut": options.shortcut,
        "seed": options.seed,
        "n_parameters": sum(weight.numel() for weight in model.parameters()),
        "n_steps": trainer.state.global_step,
        "n_epochs": trainer.state.epoch,
        "seconds": seconds,
        "target_tokens_per_second": n_tokens / seconds,
        "best_step": trainer.state.best_global_step,
        "best_loss": trainer.state.best_metric,
        "losses": [row["eval_loss"] for row in trainer.state.log_history if "eval_loss" in row],
        "averaged": average_last(options.output / "training", folder, options.average),
    }
    if not all(map(math.isfinite, figures["losses"])):
        raise SystemExit("the loss is not finite; lower the learning rate, or raise the warm-up")
    if options.test:
        figures["test"] = bleu(folder, whole_pairs(options.test), options)
        print(f"BLEU {100 * figures['test']['bleu']:.2f}  {figures['test']['signature']}")
    return figures


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Train, average, translate the test set, and write figures.json.

    Returns:
        The figures.

    Raises:
        SystemExit: for files or options that cannot work, or a loss that is not finite.
    """
    options = parser().parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    options.output.mkdir(parents=True)
    try:
        figures = train(options)
    except CCError as error:
        raise SystemExit(str(error)) from error
    (options.output / "figures.json").write_text(
        json.dumps(figures, indent=1) + "\n", encoding="utf-8"
    )
    print(
        f"{options.shortcut}: {figures['n_parameters']:,} parameters, {figures['n_steps']:,} steps,"
        f" {figures['target_tokens_per_second']:,.0f} target tokens a second; the model is in"
        f" {options.output / 'averaged'}"
    )
    return figures


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
