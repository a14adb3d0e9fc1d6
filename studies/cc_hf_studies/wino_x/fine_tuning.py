"""Fine-tuning by the Trainer, for any model: settings of the thesis, early stopping that keeps the
best weights in memory, and a private copy of the model.

Only the final model is written, as safetensors. Checkpoints of the Trainer would contain pickles.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cc_hf.errors import EvaluatorError, MissingDependencyError
from cc_hf.evaluators.base import Evaluator
from cc_hf.models.pretrained import model_identity
from cc_hf.rules import ABOVE_0, PART_OF_ONE, AtLeast, OneOf, check_fields

try:
    import torch
    from transformers import PrinterCallback, Seq2SeqTrainingArguments, TrainerCallback
    from transformers.utils import logging
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = [
    "SCHEDULES",
    "BestWeights",
    "FineTuned",
    "FineTuning",
    "fine_tune",
    "own_copy",
    "save",
    "thesis_settings",
]

#: Schedules of the learning rate. "linear" decreases it to 0 over `max_epochs`. "inverse_sqrt"
#: decreases it with the root of the steps; after 10,000 steps it is 0.71 of its start. Without
#: warm-up, the thesis leaves this scale open and fairseq defines none, so it is that of
#: transformers.
SCHEDULES = ("linear", "inverse_sqrt")

_AnyEvaluator = TypeVar("_AnyEvaluator", bound=Evaluator)


@dataclass(frozen=True)
class FineTuning:
    """Settings of one fine-tuning; the defaults are the thesis's for transformers (section 4.3.4).

    Attributes:
        learning_rate: learning rate of AdamW at the start, without weight decay and warm-up.
        beta2: beta2 of AdamW, in [0, 1).
        max_grad_norm: norm to which gradients are clipped; 0 for no clipping.
        batch_size, accumulation: number of samples in a batch, and of batches in a step.
        max_epochs: number of epochs after which training ends.
        patience: number of epochs in a row without a lower loss on the development part after which
            training ends.
        label_smoothing: ε of the cross-entropy, in [0, 1); ignored for masked LMs.
        penalty_weight: λ of the pronoun penalty; 0 for none.
        pronouns: which pronouns are penalized, "all" or "ambiguous".
        masking: how masked LMs are trained, "filler", "filler-only" or "random".
        seed: seed of batches, dropout and masks, 0 or more.
    """

    learning_rate: Annotated[float, ABOVE_0] = 1e-7
    schedule: Annotated[str, OneOf(*SCHEDULES)] = "inverse_sqrt"
    beta2: Annotated[float, PART_OF_ONE] = 0.98
    max_grad_norm: Annotated[float, AtLeast(0.0)] = 0.0
    batch_size: Annotated[int, AtLeast(1)] = 8
    accumulation: Annotated[int, AtLeast(1)] = 1
    max_epochs: Annotated[int, AtLeast(1)] = 1000
    patience: Annotated[int, AtLeast(1)] = 3
    label_smoothing: Annotated[float, PART_OF_ONE] = 0.1
    penalty_weight: Annotated[float, AtLeast(0.0)] = 0.0
    pronouns: str = "all"
    masking: str = "filler"
    seed: Annotated[int, AtLeast(0)] = 42

    def __post_init__(self) -> None:
        check_fields(self)


def thesis_settings(family: str, **changes: Any) -> FineTuning:
    """Return the settings of the thesis for a family of models, with changes by name."""
    # mBART follows Table 4.11, masked LMs follow Table 4.15. What the two tables leave open has the
    # defaults of transformers, as the thesis says. All other families continue as they were trained
    # (section 4.3.4, Table 4.6 and the program's script).
    of_transformers = {
        "batch_size": 16,
        "schedule": "linear",
        "beta2": 0.999,
        "max_grad_norm": 1.0,
        "label_smoothing": 0.0,
    }
    of_family: dict[str, dict[str, Any]] = {
        "mbart": {"learning_rate": 1e-5, **of_transformers},
        "masked_lm": {"learning_rate": 1e-7, **of_transformers},
    }
    return FineTuning(**{**of_family.get(family, {}), **changes})


@dataclass(frozen=True)
class FineTuned:
    """The result of a fine-tuning.

    Attributes:
        evaluator: evaluator with the weights of the best epoch, without a cache of scores.
        dev_losses: loss on the development part after each epoch, in nats per label (including the
            penalty, if there is one): the mean over batches, weighted by their samples.
        best_epoch: epoch of the lowest loss, counted from 1.
    """

    evaluator: Evaluator = field(repr=False)
    dev_losses: tuple[float, ...]
    best_epoch: int
    n_train: int
    n_dev: int


class BestWeights(TrainerCallback):  # type: ignore[misc]
    """Early stopping on the loss of the development part, with the best weights in main memory."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.losses: list[float] = []
        self.weights: dict[str, torch.Tensor] = {}

    @property
    def best_epoch(self) -> int:
        """The epoch of the lowest loss, counted from 1; 0 before the first epoch ends."""
        return self.losses.index(min(self.losses)) + 1 if self.losses else 0

    def on_evaluate(
        self,
        args: Any,
        state: Any,
        control: Any,
        metrics: dict[str, float],
        model: Any,
        **others: Any,
    ) -> None:
        """Record the loss of an epoch; keep the weights if it is the lowest, or stop training."""
        self.losses.append(float(metrics["eval_loss"]))
        if not math.isfinite(self.losses[-1]):
            raise EvaluatorError(
                f"the loss on the development part became {self.losses[-1]} in epoch"
                f" {len(self.losses)}; lower the learning rate"
            )
        if self.best_epoch == len(self.losses):
            # Copies on the CPU use no GPU memory, and training does not change them.
            self.weights = {
                name: tensor.detach().to("cpu", copy=True)
                for name, tensor in model.state_dict().items()
            }
        elif len(self.losses) - self.best_epoch >= self.patience:
            control.should_training_stop = True


def own_copy(evaluator: _AnyEvaluator) -> _AnyEvaluator:
    """Return a copy with a model of its own to train, in mode "exact" and fp32, without a cache."""
    trainable = copy.copy(evaluator)
    trainable.model = copy.deepcopy(evaluator.model).float()  # type: ignore[attr-defined]
    # The weights will change, so that stored scores would be wrong.
    trainable.sharing = dataclasses.replace(evaluator.sharing, cache=None)
    trainable.dtype = "float32"
    return trainable.with_mode("exact")  # type: ignore[return-value]


def fine_tune(
    evaluator: Evaluator,
    trainer: Callable[..., Any],
    train: Sequence[Any],
    dev: Sequence[Any],
    collate: Callable[[Any], Any],
    settings: FineTuning,
    **options: Any,
) -> FineTuned:
    """Fine-tune the model of an evaluator in place, until the development loss stops falling."""
    stopper = BestWeights(settings.patience)
    model: Any = evaluator.model  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as folder, _quiet():
        arguments = Seq2SeqTrainingArguments(
            output_dir=folder,
            learning_rate=settings.learning_rate,
            lr_scheduler_type=settings.schedule,
            adam_beta2=settings.beta2,
            max_grad_norm=settings.max_grad_norm,
            per_device_train_batch_size=settings.batch_size,
            per_device_eval_batch_size=settings.batch_size,
            gradient_accumulation_steps=settings.accumulation,
            num_train_epochs=settings.max_epochs,
            label_smoothing_factor=settings.label_smoothing,
            eval_strategy="epoch",
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            seed=settings.seed,
            data_seed=settings.seed,
            use_cpu=evaluator.device == "cpu",
            dataloader_pin_memory=evaluator.device != "cpu",
            remove_unused_columns=False,
            prediction_loss_only=True,
            disable_tqdm=True,
        )
        instance = trainer(
            model=model,
            args=arguments,
            train_dataset=list(train),
            eval_dataset=list(dev),
            data_collator=collate,
            callbacks=[stopper],
            **options,
        )
        instance.remove_callback(PrinterCallback)  # the result holds the figures
        instance.train()
    model.load_state_dict(stopper.weights)
    model.eval()
    # This discards what the evaluator had prepared from the previous weights.
    trained = evaluator.with_mode("exact")
    return FineTuned(trained, tuple(stopper.losses), stopper.best_epoch, len(train), len(dev))


def save(tuned: FineTuned, folder: Path) -> FineTuned:
    """Write the model (safetensors) and its tokenizer as transformers does."""
    folder.mkdir(parents=True, exist_ok=True)
    evaluator: Any = copy.copy(tuned.evaluator)
    with _quiet():
        evaluator.model.save_pretrained(folder)
        evaluator.tokenizer.save_pretrained(folder)
    evaluator.name, evaluator.identity = folder.name, model_identity(evaluator.model, str(folder))
    return dataclasses.replace(tuned, evaluator=evaluator)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence transformers, which is possible only for the whole process."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
