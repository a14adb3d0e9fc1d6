"""`Seq2SeqTrainer` for pairs of sentences, whose training can be broken off and continued."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cc_hf.errors import MissingDependencyError
from cc_hf.plugins.training.compute_metrics import make_compute_metrics
from cc_hf_studies.common.scratch.batches import EpochOrder, PairBatches, flattened

try:
    import torch
    from torch.utils.data import SequentialSampler
    from transformers import (
        DataCollatorForSeq2Seq,
        Seq2SeqTrainer,
        Seq2SeqTrainingArguments,
        TrainerCallback,
    )
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = [
    "Checkpoints",
    "encode_pairs",
    "make_trainer",
    "training_arguments",
]

_COMPLETE = "trainer_state_complete.json"
#: Files of a checkpoint with which a training continues, without which the model can still be used.
_STATES = ("optimizer.pt", "scheduler.pt", "scaler.pt", "rng_state*.pth", "training_args.bin")


def encode_pairs(
    pairs: Sequence[tuple[str, str]], tokenizer: Any, *, max_pieces: int
) -> list[dict[str, list[int]]]:
    """Return pairs as rows for a trainer."""
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
    """Return arguments that this project's trainings share."""
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
        # as in fairseq's recipes of translation
        adam_beta1=0.9,
        adam_beta2=0.98,
        weight_decay=0.0,
        seed=seed,
        report_to="none",
        disable_tqdm=True,
        use_cpu=cpu or not torch.cuda.is_available(),
        dataloader_pin_memory=torch.cuda.is_available() and not cpu,
        **others,
    )


class Checkpoints(TrainerCallback):  # type: ignore[misc]
    """The checkpoints of a training; a process that is killed may leave an incomplete one.

    As a callback of the trainer it notes when a checkpoint is complete. It keeps optimizers, which
    are large, in the two newest checkpoints only.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._start = time.monotonic()
        #: The last complete checkpoint before this run, if there is one.
        self.last = next((path for path in self._newest_first() if self._is_complete(path)), None)
        #: Seconds of the training up to that checkpoint.
        self.seconds_before = 0.0 if self.last is None else float(self._note(self.last)["seconds"])

    def _newest_first(self) -> list[Path]:
        paths = self._folder.glob("checkpoint-*")
        return sorted(paths, key=lambda path: -int(path.name.rpartition("-")[2]))

    @staticmethod
    def _note(checkpoint: Path) -> dict[str, Any]:
        note: dict[str, Any] = json.loads((checkpoint / _COMPLETE).read_text(encoding="utf-8"))
        return note

    def _is_complete(self, checkpoint: Path) -> bool:
        try:
            files = self._note(checkpoint)["files"]
        except (FileNotFoundError, ValueError):
            return False
        return all(_size(checkpoint / name) == size for name, size in files.items())

    @property
    def state(self) -> dict[str, Any]:
        """The state of the trainer in the last complete checkpoint."""
        if self.last is None:
            return {"global_step": 0}
        state: dict[str, Any] = json.loads(
            (self.last / "trainer_state.json").read_text(encoding="utf-8")
        )
        return state

    @property
    def is_finished(self) -> bool:
        """Whether the training had ended when the last complete checkpoint was written."""
        callbacks = self.state.get("stateful_callbacks", {})
        return bool(callbacks.get("TrainerControl", {}).get("args", {}).get("should_training_stop"))

    def drop_incomplete(self) -> None:
        """Delete what was written after the last complete checkpoint."""
        for path in self._newest_first():
            if path == self.last:
                break
            shutil.rmtree(path)

    def drop_states(self, keep: int = 0) -> None:
        """Delete what a training continues with from all checkpoints but the newest."""
        for checkpoint in self._newest_first()[keep:]:
            for pattern in _STATES:
                for path in checkpoint.glob(pattern):
                    path.unlink()

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Note when this run began."""
        self._start = time.monotonic()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Note that a checkpoint is complete."""
        if torch.distributed.is_initialized():
            torch.distributed.barrier()  # each process writes a file of its own
        if not state.is_world_process_zero:
            return
        checkpoint = self._folder / f"checkpoint-{state.global_step}"
        note = {
            "seconds": self.seconds_before + time.monotonic() - self._start,
            "files": {path.name: _size(path) for path in checkpoint.iterdir()},
        }
        part = checkpoint / f"{_COMPLETE}.part"
        part.write_text(json.dumps(note), encoding="utf-8", newline="\n")
        part.rename(checkpoint / _COMPLETE)
        self.drop_states(keep=2)


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


class _Trainer(Seq2SeqTrainer):  # type: ignore[misc]
    """A trainer that evaluates rows in their order: `make_compute_metrics` compares by row."""

    order: EpochOrder | None = None

    def _get_train_sampler(self, *arguments: Any) -> Any:
        return self.order or super()._get_train_sampler(*arguments)

    def _get_eval_sampler(self, eval_dataset: Any) -> SequentialSampler:
        return SequentialSampler(eval_dataset)


def make_trainer(
    model: Any,
    tokenizer: Any,
    arguments: Seq2SeqTrainingArguments,
    training: Sequence[tuple[str, str]] | PairBatches,
    development: Sequence[tuple[str, str]],
    *,
    max_pieces: int,
    callbacks: Sequence[Any] = (),
) -> Seq2SeqTrainer:
    """Return a trainer of translation.

    With `predict_with_generate` in the arguments, each evaluation translates the development pairs,
    and `bleu` (sacreBLEU, in [0, 1]) can choose the best checkpoint.
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
    order = None
    collate: Any = DataCollatorForSeq2Seq(tokenizer, model)
    rows_or_batches: Any
    if isinstance(training, PairBatches):
        order, collate = EpochOrder(len(training), arguments.seed), flattened(collate)
        rows_or_batches = training
    else:
        rows_or_batches = encode_pairs(training, tokenizer, max_pieces=max_pieces)
    trainer = _Trainer(
        model,
        arguments,
        data_collator=collate,
        train_dataset=rows_or_batches,
        eval_dataset=rows,
        processing_class=tokenizer,
        compute_metrics=figures,
        callbacks=[*([order] if order else []), *callbacks],
    )
    trainer.order = order
    return trainer
