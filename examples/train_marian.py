"""Train a small Marian model and watch two figures as it learns: BLEU, and the accuracy on
ambiguous words in its worst category (minimum accuracy). The first rises while the second lags.

    python -m examples.train_marian --output out/marian
    torchrun --nproc_per_node 2 -m examples.train_marian --output out/marian

Without --pairs it learns from sentences that the package generates (English to German): people with
occupations, mostly of the gender of the stereotype, as in texts from the web. With --pairs FILE it
learns from your own lines "source TAB translation".
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from cc_hf_studies.common.scratch.model import make_model
from cc_hf_studies.common.scratch.options import ModelSizes
from cc_hf_studies.common.scratch.pieces import load_pieces, train_pieces
from cc_hf_studies.common.scratch.trainer import make_trainer, training_arguments
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    Seq2SeqTrainer,
    set_seed,
)

from cc_hf import ProbingCallback, load_material
from cc_hf.models.location import locate
from tools.evaluator_recipe.sentences import Pair, SentenceMaker


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--output", type=Path, required=True, help="folder for checkpoints and the best model"
    )
    options.add_argument("--pairs", type=Path, help='lines "source TAB translation" to learn from')
    options.add_argument(
        "--model",
        help="go on from this model (cc-tiny-en-de, a folder, the Hub) instead of random weights",
    )
    options.add_argument(
        "--dataset",
        default="simplegen",
        help="what is probed: a name of `cc-hf list datasets`, or a file of your own",
    )
    options.add_argument("--config", help="its configuration")
    options.add_argument("--src-lang", default="en")
    options.add_argument("--tgt-lang", default="de")
    options.add_argument("--data-dir", type=Path, help="local copy of the upstream repositories")
    options.add_argument("--evaluator", help="default: the one that ships for the language pair")
    options.add_argument(
        "--n-examples",
        type=int,
        help="probe a sample of that size; default: 600 of simplegen, all of another dataset",
    )
    options.add_argument(
        "--sentences",
        type=int,
        default=20_000,
        help="pairs to learn from, when the package makes them",
    )
    options.add_argument(
        "--development", type=int, default=200, help="pairs for BLEU, never learned from"
    )
    options.add_argument("--steps", type=int, default=600)
    options.add_argument("--eval-steps", type=int, default=100)
    options.add_argument("--batch-size", type=int, default=64, help="pairs per step and process")
    options.add_argument(
        "--eval-batch-size",
        type=int,
        default=64,
        help="sentences that a process translates at once",
    )
    options.add_argument("--learning-rate", type=float, default=2e-3)
    options.add_argument("--beams", type=int, default=1)
    options.add_argument("--pieces", type=int, default=2000, help="size of the vocabulary")
    options.add_argument("--width", type=int, default=128)
    options.add_argument("--layers", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--cpu", action="store_true", help="also where there is a GPU")
    return options


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of a file, one per line.

    Raises:
        SystemExit: for a line without exactly one tab.
    """
    rows = [
        line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    if wrong := [number for number, row in enumerate(rows, 1) if len(row) != 2]:
        raise SystemExit(
            f'{path}: expected "source TAB translation", got something else in line {wrong[0]}'
        )
    return [Pair(*row) for row in rows]


def made_pairs(n: int, seed: int) -> list[Pair]:
    """Return generated sentences without cues, in which the gender of an occupation is mostly that
    of the stereotype.
    """
    uncued: Iterator[Pair] = (
        pair for pair in SentenceMaker(seed) if pair.contrast in ("", pair.english)
    )
    return list(islice(uncued, n))


def split(pairs: Sequence[Pair], n: int, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Return pairs to learn from, and n other pairs, all of different sources.

    Raises:
        SystemExit: when there are not more than n sources.
    """
    sources = sorted({pair.english for pair in pairs})
    if not 0 < n < len(sources):
        raise SystemExit(
            f"--development: expected 1 to {len(sources) - 1}, as there are {len(sources)} sources,"
            f" got {n}"
        )
    held_out = set(random.Random(seed).sample(sources, n))
    development = {pair.english: pair for pair in pairs if pair.english in held_out}
    return [pair for pair in pairs if pair.english not in held_out], list(development.values())


def texts(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """Return the source and the translation of each pair."""
    return [(pair.english, pair.target) for pair in pairs]


def fresh_model(
    pairs: Sequence[Pair], options: argparse.Namespace, is_main: bool, meet: Any
) -> tuple[Any, Any]:
    """Return a model with random weights, and a tokenizer whose vocabulary the main process learns
    from the pairs for all processes.
    """
    folder = options.output / "vocabulary"
    if is_main:
        train_pieces((text for pair in texts(pairs) for text in pair), folder, options.pieces)
    meet()
    tokenizer = load_pieces(folder, src_lang=options.src_lang, tgt_lang=options.tgt_lang)
    sizes = ModelSizes(
        options.layers,
        options.layers,
        options.width,
        4 * options.width,
        4 * options.width,
        heads=max(1, options.width // 32),
    )
    return make_model(sizes, len(tokenizer.get_vocab()), seed=options.seed), tokenizer


def table(history: Sequence[Mapping[str, float]], prefix: str) -> str:
    """Return a Markdown table with a row for each evaluation, in percent. BLEU is that already."""
    columns = {
        "step": "step",
        "loss": "eval_loss",
        "BLEU": "eval_bleu",
        "accuracy": f"eval_{prefix}_accuracy",
        "minimum accuracy": f"eval_{prefix}_min_accuracy",
    }
    by_step: dict[float, dict[str, float]] = {}
    for row in history:
        by_step.setdefault(row["step"], {}).update(row)
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in by_step.values():
        if "eval_bleu" in row:
            values = [
                (
                    f"{row[name]:.0f}"
                    if name == "step"
                    else f"{row[name]:.2f}"
                    if name == "eval_loss"
                    else f"{row[name] * (1 if name == 'eval_bleu' else 100):.1f}"
                )
                for name in columns.values()
            ]
            lines.append("| " + " | ".join(values) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> Seq2SeqTrainer:
    """Train, print the table, and save the model with the best minimum accuracy.

    Returns:
        The trainer, after training.
    """
    options = parser().parse_args(arguments)
    n_examples = options.n_examples or (600 if options.dataset == "simplegen" else None)
    probing = ProbingCallback(
        load_material(
            options.dataset, options.config, tgt_lang=options.tgt_lang, data_dir=options.data_dir
        ),
        evaluator=options.evaluator,
        n_examples=n_examples,
        seed=options.seed,
    )
    settings = training_arguments(
        options.output,
        steps=options.steps,
        eval_steps=options.eval_steps,
        batch_size=options.batch_size,
        learning_rate=options.learning_rate,
        warmup=options.steps // 10,
        seed=options.seed,
        cpu=options.cpu,
        per_device_eval_batch_size=options.eval_batch_size,
        predict_with_generate=True,
        generation_num_beams=options.beams,
        generation_max_length=100,
        metric_for_best_model=f"{probing.prefix}_min_accuracy",
        greater_is_better=True,
    )
    set_seed(options.seed)
    training, development = split(
        read_pairs(options.pairs) if options.pairs else made_pairs(options.sentences, options.seed),
        options.development,
        options.seed,
    )
    if options.model:
        location = locate(options.model)[0]
        model, tokenizer = (
            AutoModelForSeq2SeqLM.from_pretrained(location, dtype=torch.float32),
            AutoTokenizer.from_pretrained(location),
        )
    else:
        model, tokenizer = fresh_model(
            training,
            options,
            settings.process_index == 0,
            settings.distributed_state.wait_for_everyone,
        )
    trainer = make_trainer(
        model, tokenizer, settings, texts(training), texts(development), max_pieces=80
    )
    probing.attach(trainer)
    trainer.train()
    trainer.save_model(str(options.output / "best"))
    if settings.process_index == 0:
        print(table(trainer.state.log_history, probing.prefix))
        print(
            f"best: step {trainer.state.best_global_step}, minimum accuracy"
            f" {100 * trainer.state.best_metric:.1f}, saved to {options.output / 'best'}"
        )
    return trainer


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
