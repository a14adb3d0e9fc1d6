"""Few-shot fine-tuning on Wino-X (thesis, sections 4.3.4 and 4.4.3): learning curves over the size
of the training part, in the same or another language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cc_hf.errors import EvaluatorError, InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.families.masked_lm import MaskedLMEvaluator
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf_studies.wino_x.choice_accuracy import ChoiceAccuracy, choice_accuracy
from cc_hf_studies.wino_x.filler_training import fine_tune_on_fillers
from cc_hf_studies.wino_x.fine_tuning import FineTuned, FineTuning, fine_tune, own_copy, save
from cc_hf_studies.wino_x.pronoun_penalty import PronounPenaltyTrainer
from cc_hf_studies.wino_x.splits import WinoXSplits, schema_of
from cc_hf_studies.wino_x.translation_pairs import PairCollator, encode_pairs

__all__ = [
    "LEARNING_RATES",
    "CurvePoint",
    "RateTrial",
    "fine_tune_on_translations",
    "learning_curve",
    "search_learning_rate",
]

#: The rates among which the thesis chooses (sections 4.3.4 and 4.4.3).
LEARNING_RATES = (1e-5, 1e-6, 1e-7)

_Examples = Sequence[ContrastiveTranslationExample]


@dataclass(frozen=True)
class CurvePoint:
    """The result for one size of the training part.

    Attributes:
        size: the requested size; `tuned.n_train` samples were used. It is 0, and `tuned` is None,
            for the original model.
        accuracies: name of a test part -> accuracy on it.
        measured: further figures of the model, by name.
    """

    size: int
    tuned: FineTuned | None
    accuracies: Mapping[str, ChoiceAccuracy]
    folder: Path | None
    measured: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RateTrial:
    """A training with one learning rate: the lowest loss on the development part and its epoch,
    counted from 1; None if the loss became infinite or undefined.
    """

    learning_rate: float
    dev_loss: float | None
    n_epochs: int | None
    best_epoch: int | None


def fine_tune_on_translations(
    evaluator: Seq2SeqEvaluator, train: _Examples, dev: _Examples, settings: FineTuning
) -> FineTuned:
    """Fine-tune a copy on correct translations, with the pronoun penalty if it has a weight."""
    copy = own_copy(evaluator)
    pronouns = settings.pronouns if settings.penalty_weight else None
    pairs, dev_pairs = (encode_pairs(copy, part, pronouns=pronouns) for part in (train, dev))
    return fine_tune(
        copy,
        PronounPenaltyTrainer,
        pairs,
        dev_pairs,
        PairCollator.of(copy),
        settings,
        penalty_weight=settings.penalty_weight,
    )


def search_learning_rate(
    evaluator: Evaluator,
    splits: WinoXSplits,
    size: int,
    settings: FineTuning,
    rates: Sequence[float],
) -> tuple[FineTuning, FineTuned, tuple[RateTrial, ...]]:
    """Train with each rate, and choose the one with the lowest loss on the development part."""
    if len(set(rates)) < 2 or len(set(rates)) < len(rates):
        raise InputError(
            "learning_rate: expected at least two different rates to search among, got"
            f" {', '.join(map(str, rates)) or 'none'}"
        )
    part, tune = splits.train_part(size), _tuner(evaluator)
    best: tuple[float, FineTuning, FineTuned] | None = None
    trials: list[RateTrial] = []
    failure: EvaluatorError | None = None
    # All settings are checked before the first training.
    for tried in [replace(settings, learning_rate=rate) for rate in rates]:
        try:
            tuned = tune(evaluator, part, splits.dev, tried)
        except EvaluatorError as error:  # such as an infinite loss, where the rate is too high
            failure = error
            trials.append(RateTrial(tried.learning_rate, None, None, None))
            continue
        loss = min(tuned.dev_losses)
        trials.append(RateTrial(tried.learning_rate, loss, len(tuned.dev_losses), tuned.best_epoch))
        if best is None or loss < best[0]:
            best = loss, tried, tuned
    if best is None:
        raise EvaluatorError(
            f"no training with the learning rates {', '.join(map(str, rates))} was completed:"
            f" {failure}"
        ) from failure
    return best[1], best[2], tuple(trials)


def learning_curve(
    evaluator: Evaluator,
    splits: WinoXSplits,
    sizes: Sequence[int],
    settings: FineTuning,
    *,
    tests: Mapping[str, _Examples] | None = None,
    output: Path | None = None,
    note: Callable[[CurvePoint], None] | None = None,
    measure: Callable[[Evaluator], Mapping[str, Any]] | None = None,
    trained: Mapping[int, FineTuned] | None = None,
) -> list[CurvePoint]:
    """Measure the accuracies of the original model, and of the model fine-tuned on each size of the
    training part, each time from the original weights.

    Args:
        tests: name -> samples to evaluate; None for the test part alone, as "test". Samples of
            schemas of the training or development part are refused.
        output: a folder in which each model is saved as "train-SIZE"; None to save none.
    """
    tune = _tuner(evaluator)
    if not sizes:
        raise InputError("training sizes: expected at least one, got none")
    # All sizes and test samples are checked before the first training, which can take hours.
    parts = [splits.train_part(size) for size in sizes]
    judged = {"test": splits.test} if tests is None else tests
    _check_held_out(splits, judged)

    def point(size: int, tuned: FineTuned | None, folder: Path | None) -> CurvePoint:
        model = evaluator if tuned is None else tuned.evaluator
        accuracies = {name: choice_accuracy(model, examples) for name, examples in judged.items()}
        result = CurvePoint(
            size, tuned, accuracies, folder, dict(measure(model)) if measure else {}
        )
        if note:
            note(result)
        return result

    points = [point(0, None, None)]
    for size, part in zip(sizes, parts, strict=True):
        tuned = (trained or {}).get(size) or tune(evaluator, part, splits.dev, settings)
        folder = None if output is None else output / f"train-{size}"
        if folder is not None:
            tuned = save(tuned, folder)
        points.append(point(size, tuned, folder))
    return points


def _tuner(evaluator: Evaluator) -> Callable[[Any, _Examples, _Examples, FineTuning], FineTuned]:
    """Return the function that fine-tunes this kind of model."""
    if isinstance(evaluator, MaskedLMEvaluator):
        return fine_tune_on_fillers
    if isinstance(evaluator, Seq2SeqEvaluator):
        return fine_tune_on_translations
    raise InputError(
        "expected a translation model or a masked language model to fine-tune,"
        f" {evaluator.name} is a {type(evaluator).__name__}"
    )


def _check_held_out(splits: WinoXSplits, judged: Mapping[str, _Examples]) -> None:
    """Refuse test samples of schemas of the training or development part."""
    seen_schemas = {schema_of(example) for example in (*splits.train, *splits.dev)}
    for name, examples in judged.items():
        if leaked := [example.id for example in examples if schema_of(example) in seen_schemas]:
            raise InputError(
                f"{name}: expected samples of the test part, {len(leaked)} are of schemas of the"
                f" training or development part, such as {leaked[0]!r}"
            )
