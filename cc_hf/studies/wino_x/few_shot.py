"""Few-shot fine-tuning on Wino-X (thesis, sections 4.3.4 and 4.4.3): learning curves over the size
of the training part, in the same or another language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.families.masked_lm import MaskedLMEvaluator
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.studies.wino_x.choice_accuracy import ChoiceAccuracy, choice_accuracy
from cc_hf.studies.wino_x.filler_training import fine_tune_on_fillers
from cc_hf.studies.wino_x.pronoun_penalty import PronounPenaltyTrainer
from cc_hf.studies.wino_x.splits import WinoXSplits, schema_of
from cc_hf.studies.wino_x.translation_pairs import PairCollator, encode_pairs
from cc_hf.training.fine_tuning import FineTuned, FineTuning, fine_tune, own_copy, save

__all__ = ["CurvePoint", "fine_tune_on_translations", "learning_curve"]

_Examples = Sequence[ContrastiveTranslationExample]


@dataclass(frozen=True)
class CurvePoint:
    """The result for one size of the training part.

    Attributes:
        size: the requested size; `tuned.n_train` samples were used. It is 0, and `tuned` is None,
            for the original model.
        tuned: the result of the training.
        accuracies: name of a test part -> accuracy on it.
        folder: where the model was saved; None if it was not.
    """

    size: int
    tuned: FineTuned | None
    accuracies: Mapping[str, ChoiceAccuracy]
    folder: Path | None


def fine_tune_on_translations(
    evaluator: Seq2SeqEvaluator, train: _Examples, dev: _Examples, settings: FineTuning
) -> FineTuned:
    """Fine-tune a copy of a translation model on correct translations, with the pronoun penalty if
    `settings.penalty_weight` is above 0.

    Args:
        evaluator: the model to start from; it is not changed.
        train: examples of one language pair.
        dev: as for `train`.
        settings: see `thesis_settings`.

    Returns:
        The fine-tuned copy, with the losses on the development part.

    Raises:
        InputError: for examples or settings that `encode_pairs` or `fine_tune` refuse.
        EvaluatorError: for a tokenizer that cannot tell the pronouns apart, or a training that
            `fine_tune` cannot complete.
        TooLongError: for a text that exceeds the length limit of the model.
    """
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


def learning_curve(
    evaluator: Evaluator,
    splits: WinoXSplits,
    sizes: Sequence[int],
    settings: FineTuning,
    *,
    tests: Mapping[str, _Examples] | None = None,
    output: Path | None = None,
    note: Callable[[CurvePoint], None] | None = None,
) -> list[CurvePoint]:
    """Measure the accuracies of the original model, and of the model fine-tuned on each size of the
    training part, each time from the original weights.

    Translation models are trained on correct translations, masked LMs on sentences with the correct
    filler.

    Args:
        evaluator: a seq2seq or masked LM evaluator; it is not changed.
        splits: the parts, from `split_schemas`.
        sizes: numbers of training samples, at least one.
        settings: the settings of every training.
        tests: name -> samples to evaluate; None for the test part alone, as "test". Samples of
            schemas of the training or development part are refused.
        output: a folder in which each model is saved as "train-SIZE"; None to save none.
        note: a function that is called with each point as soon as it is known.

    Returns:
        The point of the original model, then one per size.

    Raises:
        InputError: for no sizes, sizes that do not fit, a test sample of a training or development
            schema, or an evaluator of another kind.
        EvaluatorError: for a model that cannot be trained, as in `fine_tune_on_translations`.
        TooLongError: for a text that exceeds the length limit of the model.
    """
    if not isinstance(evaluator, (Seq2SeqEvaluator, MaskedLMEvaluator)):
        raise InputError(
            "expected a translation model or a masked language model to fine-tune,"
            f" {evaluator.name} is a {type(evaluator).__name__}"
        )
    if not sizes:
        raise InputError("training sizes: expected at least one, got none")
    # All sizes and test samples are checked before the first training, which can take hours.
    parts = [splits.train_part(size) for size in sizes]
    judged = {"test": splits.test} if tests is None else tests
    seen_schemas = {schema_of(example) for example in (*splits.train, *splits.dev)}
    for name, examples in judged.items():
        if leaked := [example.id for example in examples if schema_of(example) in seen_schemas]:
            raise InputError(
                f"{name}: expected samples of the test part, {len(leaked)} are of schemas of the"
                f" training or development part, such as {leaked[0]!r}"
            )
    tune: Callable[[Any, _Examples, _Examples, FineTuning], FineTuned] = (
        fine_tune_on_fillers
        if isinstance(evaluator, MaskedLMEvaluator)
        else fine_tune_on_translations
    )
    points = [
        CurvePoint(
            0,
            None,
            {name: choice_accuracy(evaluator, examples) for name, examples in judged.items()},
            None,
        )
    ]
    for size, part in zip(sizes, parts, strict=True):
        if note:
            note(points[-1])
        tuned, folder = tune(evaluator, part, splits.dev, settings), None
        if output is not None:
            folder = output / f"train-{size}"
            tuned = save(tuned, folder)
        points.append(
            CurvePoint(
                size,
                tuned,
                {
                    name: choice_accuracy(tuned.evaluator, examples)
                    for name, examples in judged.items()
                },
                folder,
            )
        )
    if note:
        note(points[-1])
    return points
