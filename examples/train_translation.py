"""Train a translation model from random weights on your own pairs, and keep the checkpoint with the
best BLEU. Teachers, students and baselines of a distillation are trained by this script, and so are
models with few decoder layers or average attention.

    python -m examples.train_translation --pairs train.en train.de --dev dev.en dev.de \\
        --size small --output out/baseline
    cc-hf translate train.en --system out/teacher/best -l en-de \\
        --output distilled.de
    python -m examples.train_translation --pairs train.en distilled.de --dev dev.en dev.de \\
        --size small --vocabulary out/teacher/best --output out/student

Sizes, filters and schedule are those of Vamvas & Sennrich (2021), section 4.2, unless options say
otherwise: Adam with 5e-4, label smoothing of .1, dropout of .3, 16,000 tokens in a step (here:
--batch-size times --accumulation pairs). The paper gives neither warm-up nor schedule; the defaults
are those of fairseq's recipes. The model is in the folder `best`, and figures.json beside it.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from transformers import EarlyStoppingCallback, Seq2SeqTrainingArguments, set_seed

from cc_hf import load_material
from cc_hf.errors import CCError
from cc_hf.training import ProbingCallback
from tools.training.pair_filters import FilteredPairs, filter_pairs, read_pairs
from tools.training.seq2seq_training import (
    ATTENTIONS,
    SIZES,
    ModelSizes,
    load_pieces,
    make_model,
    make_trainer,
    train_pieces,
    training_arguments,
)


def two_sides(text: str) -> tuple[int, int]:
    """Return the numbers of encoder and decoder: "8,4", or "6" for both."""
    first, _, second = text.partition(",")
    return int(first), int(second or first)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    pair: dict[str, Any] = {"type": Path, "nargs": 2, "metavar": ("SOURCES", "TARGETS")}
    options.add_argument("--pairs", required=True, help="two files, a sentence a line", **pair)
    options.add_argument("--dev", required=True, help="to choose the best checkpoint", **pair)
    options.add_argument("--output", type=Path, required=True, help="new folder")
    options.add_argument("--size", choices=list(SIZES), default="small", help="of the model")
    sides: dict[str, Any] = {"type": two_sides, "metavar": "ENCODER[,DECODER]"}
    options.add_argument("--layers", help="in place of those of the size", **sides)
    options.add_argument("--ffn", help="in place of those of the size", **sides)
    options.add_argument("--width", type=int, help="in place of that of the size")
    options.add_argument("--heads", type=int, help="in place of those of the size")
    options.add_argument(
        "--decoder-attention", choices=ATTENTIONS, default="ordinary", help="of a word to others"
    )
    options.add_argument("--pieces", type=int, default=32_000, help="size of the joint vocabulary")
    options.add_argument(
        "--vocabulary", type=Path, help="folder of a model whose vocabulary is used"
    )
    options.add_argument("--src-lang", default="en")
    options.add_argument("--tgt-lang", default="de")
    options.add_argument(
        "--max-tokens", type=int, default=250, help="pairs with more pieces on a side are dropped"
    )
    options.add_argument(
        "--max-length-ratio", type=float, default=1.5, help="pairs above it are dropped"
    )
    options.add_argument("--dropout", type=float, default=0.3)
    options.add_argument("--label-smoothing", type=float, default=0.1)
    options.add_argument("--learning-rate", type=float, default=5e-4)
    options.add_argument("--warmup", type=int, default=4000, help="steps")
    options.add_argument("--schedule", choices=["inverse_sqrt", "linear"], default="inverse_sqrt")
    options.add_argument("--steps", type=int, default=300_000, help="largest number of steps")
    options.add_argument("--eval-steps", type=int, default=4000, help="steps between checkpoints")
    options.add_argument(
        "--patience", type=int, help="evaluations without a higher BLEU before the end"
    )
    options.add_argument("--batch-size", type=int, default=64, help="pairs per batch and process")
    options.add_argument("--accumulation", type=int, default=1, help="batches in a step")
    options.add_argument("--beams", type=int, default=5, help="for BLEU of the development pairs")
    options.add_argument("--precision", choices=["fp32", "bf16", "fp16"], default="fp32")
    options.add_argument("--probe", metavar="DATASET", help="probe this dataset as it learns")
    options.add_argument("--probe-examples", type=int, default=600, help="size of its sample")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--threads", type=int, help="threads of torch")
    options.add_argument("--cpu", action="store_true", help="also where there is a GPU")
    return options


def chosen_sizes(options: argparse.Namespace) -> ModelSizes:
    """Return the named sizes, with those that options replace."""
    changes: dict[str, int] = {
        name: getattr(options, name)
        for name in ("width", "heads")
        if getattr(options, name) is not None
    }
    for name in ("layers", "ffn"):
        if (values := getattr(options, name)) is not None:
            changes[f"encoder_{name}"], changes[f"decoder_{name}"] = values
    return replace(SIZES[options.size], **changes)


def kept_pairs(paths: Sequence[Path], tokenizer: Any, options: argparse.Namespace) -> FilteredPairs:
    """Return the pairs that pass the filters, counted in pieces.

    Raises:
        SystemExit: if none passes.
    """
    kept = filter_pairs(
        read_pairs(*paths),
        max_tokens=options.max_tokens,
        max_length_ratio=options.max_length_ratio,
        n_tokens=lambda text: len(tokenizer.tokenize(text)),
    )
    if not kept.pairs:
        raise SystemExit(
            f"{paths[0]}, {paths[1]}: expected pairs that pass the filters: {kept.counts}"
        )
    return kept


def settings(options: argparse.Namespace, longest: int) -> Seq2SeqTrainingArguments:
    """Return the arguments of the trainer. BLEU of the development pairs chooses the checkpoint.

    A translation ends at twice the longest reference, which has so many pieces: a model that has
    learned little repeats itself without end.
    """
    return training_arguments(
        options.output / "training",
        steps=options.steps,
        eval_steps=options.eval_steps,
        batch_size=options.batch_size,
        learning_rate=options.learning_rate,
        warmup=options.warmup,
        seed=options.seed,
        cpu=options.cpu,
        gradient_accumulation_steps=options.accumulation,
        per_device_eval_batch_size=2 * options.batch_size,
        train_sampling_strategy="group_by_length",
        lr_scheduler_type=options.schedule,
        label_smoothing_factor=options.label_smoothing,
        predict_with_generate=True,
        generation_num_beams=options.beams,
        generation_max_length=min(2 * longest, options.max_tokens) + 2,
        metric_for_best_model="bleu",
        greater_is_better=True,
        save_total_limit=1,
        save_only_model=True,
        bf16=options.precision == "bf16",
        fp16=options.precision == "fp16",
    )


def train(options: argparse.Namespace) -> dict[str, Any]:
    """Train, and save the best model.

    Returns:
        The figures.

    Raises:
        CCError: for files or options that cannot work.
    """
    sizes = chosen_sizes(options)
    folder = options.vocabulary or options.output / "vocabulary"
    state = PartialState(cpu=options.cpu)
    if options.vocabulary is None and state.is_main_process:
        train_pieces(
            (text for pair in read_pairs(*options.pairs) for text in pair), folder, options.pieces
        )
    state.wait_for_everyone()
    tokenizer = load_pieces(
        folder,
        src_lang=options.src_lang,
        tgt_lang=options.tgt_lang,
        max_pieces=options.max_tokens + 1,
    )
    training = kept_pairs(options.pairs, tokenizer, options)
    development = [pair for pair in read_pairs(*options.dev) if all(map(str.strip, pair))]
    set_seed(options.seed)
    model = make_model(
        sizes,
        len(tokenizer.get_vocab()),
        attention=options.decoder_attention,
        dropout=options.dropout,
        max_positions=max(256, options.max_tokens + 2),
        seed=options.seed,
    )
    trainer = make_trainer(
        model,
        tokenizer,
        settings(options, max(len(tokenizer.tokenize(target)) for _, target in development)),
        training.pairs,
        development,
        max_pieces=options.max_tokens + 1,
        callbacks=[EarlyStoppingCallback(options.patience)] if options.patience else [],
    )
    if options.probe:
        ProbingCallback(
            load_material(options.probe, tgt_lang=options.tgt_lang),
            n_examples=options.probe_examples,
            seed=options.seed,
        ).attach(trainer)
    seconds = trainer.train().metrics["train_runtime"]
    if trainer.is_world_process_zero():
        # Not `save_model`, which also writes a pickle of the arguments.
        for part in (model, tokenizer):
            part.save_pretrained(options.output / "best")
    return {
        "seed": options.seed,
        "sizes": asdict(sizes),
        "decoder_attention": options.decoder_attention,
        "n_parameters": sum(
            weight.numel() for weight in model.parameters() if weight.requires_grad
        ),
        "pairs": training.counts,
        "n_development": len(development),
        "n_steps": trainer.state.global_step,
        "n_epochs": trainer.state.epoch,
        "seconds": seconds,
        "best_step": trainer.state.best_global_step,
        "best_bleu": trainer.state.best_metric,
        "evaluations": [
            {name.removeprefix("eval_"): value for name, value in row.items()}
            for row in trainer.state.log_history
            if "eval_bleu" in row
        ],
    }


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Train a model, and write figures.json.

    Returns:
        The figures.

    Raises:
        SystemExit: for files or options that cannot work.
    """
    options = parser().parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    options.output.mkdir(parents=True, exist_ok=True)
    try:
        figures = train(options)
    except CCError as error:
        raise SystemExit(str(error)) from error
    if int(os.environ.get("RANK", "0")) == 0:
        (options.output / "figures.json").write_text(
            json.dumps(figures, indent=1) + "\n", encoding="utf-8"
        )
        print(
            f"{figures['n_parameters']:,} parameters, {figures['pairs']['n_kept']:,} of"
            f" {figures['pairs']['n_pairs']:,} pairs, {figures['n_steps']:,} steps; best BLEU"
            f" {100 * figures['best_bleu']:.1f} at step {figures['best_step']}; the model is in"
            f" {options.output / 'best'}"
        )
    return figures


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
