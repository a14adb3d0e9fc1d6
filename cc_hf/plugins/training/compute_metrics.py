"""`compute_metrics` for `Seq2SeqTrainer` with `predict_with_generate`: BLEU, chrF and the metrics
of cc_hf, correct under DDP.

A trainer of several processes fills up the last batches with rows that it has already shown. It
says neither which rows these are nor which dataset it evaluates. Both are determined from the
labels.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cc_hf import registry
from cc_hf.errors import InputError, ResultWarning, UnknownNameError
from cc_hf.evaluation.fitting import with_options
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.lists import listed, listed_texts
from cc_hf.metrics.base import Metric
from cc_hf.plugins.training.validation_figures import (
    add_figures,
    check_judges_translations,
    flat_figures,
    in_training,
    judgeable,
)
from cc_hf.schema import FORMS, Example
from cc_hf.statistics.corpus_quality import corpus_score, points

_References: TypeAlias = Sequence[Mapping[str, Any]] | Sequence[Example]

__all__ = ["make_compute_metrics"]

_QUALITY = ("bleu", "chrf")
_IGNORED = -100  # label that the loss ignores
_COVERED = 0.95  # a model in training may predict padding anywhere
_TEACHER_FORCED = (
    "The predictions seem to be tokens that were predicted after the tokens of the reference"
    " (teacher forcing), not translations: they have the length of the labels, and no token that"
    " starts a generation. Figures of such tokens differ from those of translations. Set"
    " predict_with_generate=True in Seq2SeqTrainingArguments, and drop"
    " preprocess_logits_for_metrics"
)


def make_compute_metrics(
    tokenizer: Any,
    *,
    labels: Sequence[Sequence[int]],
    metrics: Sequence[str] = ("bleu",),
    references: _References | Mapping[str, _References] | None = None,
    targets: Sequence[str] | None = None,
    evaluator: AnyEvaluator | None = None,
    loading: LoadingOptions | None = None,
    src_lang: str = "",
    tgt_lang: str = "",
    options: Mapping[str, Any] | None = None,
) -> Callable[..., dict[str, float]]:
    """Make a function for `Seq2SeqTrainer(compute_metrics=...)` that judges one evaluation set.

    The trainer needs `predict_with_generate=True`. BLEU and chrF are in [0, 100], as the scripts of
    transformers and sacreBLEU log them; all other figures are in [0, 1], and differences in
    [-1, 1]. Beside `bleu`, `chrf` and the scores of the
    metrics of cc_hf there are their counts, such as `n_ties`; `n`, the number of rows; and
    `n_empty`, the number of predictions without words, which metrics of cc_hf judge as ".". A
    warning (`ResultWarning`) is given where half of the predictions or more cannot be judged
    (`cc_hf.text.unusable`), and where they are no translations, but tokens predicted after those of
    the labels.

    Args:
        tokenizer: tokenizer that decodes predictions and labels.
        labels: labels of every row of the evaluation set, in its order: `eval_dataset["labels"]`.
            They serve to find and drop the rows that a trainer of several processes shows twice,
            and to refuse another dataset.
        metrics: "bleu", "chrf" (both by sacreBLEU), and names of `cc-hf list metrics`. Figures of
            the first metric of cc_hf have their own names; those of others start with the name of
            the metric.
        references: for each row what a metric of cc_hf reads, or the examples (`cc_hf.schema`) of
            the rows, which add `n_with_source`, `n_repeated` and `n_without_words`. For several
            metrics that read different things, a mapping from metric to these.
        targets: for each row the text with which BLEU and chrF compare; None for the decoded
            labels.
        evaluator: name, path, several of these (an ensemble), Evaluator or function, as in
            `cc_hf.evaluate`; it is loaded once, when first needed, and shared by all processes.
        loading: how the evaluator is loaded, such as `LoadingOptions(mode="exact")`. A translation
            that is too long for it is cut, unless `loading` sets `on_too_long`.
        src_lang: ISO 639-1 code of the sources; required for metrics of cc_hf.
        tgt_lang: ISO 639-1 code of the translations; required for metrics of cc_hf.

    Returns:
        The function. It raises InputError for predictions that are not token ids, and for rows that
            are not those of `labels`.

    Raises:
        UnknownNameError: for a metric or an option that does not exist.
        InputError: for lists of different lengths, or a missing argument that a metric needs.

    Examples:
        >>> from cc_hf.models.pretrained import load_model
        >>> tokenizer = load_model("cc-tiny-en-de").tokenizer
        >>> labels = tokenizer(text_target=["Der Arzt ist hier.", "Ja."])["input_ids"]
        >>> compute_metrics = make_compute_metrics(tokenizer, labels=labels, metrics=["chrf"])
        >>> rows = np.full((3, 12), -100)
        >>> for row, ids in zip(rows, [*labels, labels[0]]):
        ...     row[: len(ids)] = ids
        >>> from transformers import EvalPrediction
        >>> compute_metrics(EvalPrediction(predictions=rows, label_ids=rows))
        {'chrf': 100.0, 'n': 2, 'n_empty': 0}

        A metric of cc_hf needs what it reads of each row, and the languages:

        >>> doctor = {
        ...     "correct_sources": ["The [male] doctor is here."],
        ...     "incorrect_sources": ["The [female] doctor is here."],
        ... }
        >>> translations = ["Der Arzt ist hier.", "Die Ärztin ist hier."]
        >>> labels = tokenizer(text_target=translations)["input_ids"]
        >>> compute_metrics = make_compute_metrics(
        ...     tokenizer,
        ...     labels=labels,
        ...     metrics=["contrastive_conditioning"],
        ...     references=[doctor, doctor],
        ...     src_lang="en",
        ...     tgt_lang="de",
        ... )
        >>> rows = np.full((2, 12), -100)
        >>> for row, ids in zip(rows, labels):
        ...     row[: len(ids)] = ids
        >>> figures = compute_metrics(EvalPrediction(predictions=rows, label_ids=rows))
        >>> figures["accuracy"], figures["n"]
        (0.5, 2)
    """
    if not (metrics := listed("metrics", metrics, what="names")):
        raise InputError("metrics: expected at least one name, got none")
    if unknown := [name for name in metrics if name not in (*_QUALITY, *registry.names("metric"))]:
        raise UnknownNameError("metric", unknown[0], [*_QUALITY, *registry.names("metric")])
    classes = [registry.resolve("metric", name) for name in metrics if name not in _QUALITY]
    chosen = with_options(classes, options) if classes or options else []
    known_labels = [_trimmed(row, tokenizer.pad_token_id) for row in labels]
    if not known_labels:
        raise InputError("labels: expected those of every row of the evaluation set, got none")
    if chosen and (missing := _missing(references, src_lang, tgt_lang)):
        raise InputError(
            f"{', '.join(missing)}: expected for {chosen[0].name}, got none; references are the"
            " examples of the rows, or what the metric reads of them, and languages codes such as"
            " 'en' and 'de'"
        )
    check_judges_translations(chosen)
    if targets is not None:
        targets = listed_texts("targets", targets)
    if targets is not None and len(targets) != len(known_labels):
        raise InputError(
            f"targets: expected one for each of the {len(known_labels)} rows of labels, got"
            f" {len(targets)}"
        )
    n = len(known_labels)
    return _ComputeMetrics(
        tokenizer,
        known_labels,
        [name for name in metrics if name in _QUALITY],
        [(m, Material(src_lang, tgt_lang, _data(m, references, n))) for m in chosen],
        (
            list(targets)
            if targets is not None
            else tokenizer.batch_decode(known_labels, skip_special_tokens=True)
        ),
        tgt_lang,
        lambda: resolve_evaluator(
            evaluator,
            in_training(loading or LoadingOptions()),
            src_lang=src_lang,
            tgt_lang=tgt_lang,
        ),
    )


@dataclass(frozen=True)
class _ComputeMetrics:
    """The function that `make_compute_metrics` makes."""

    tokenizer: Any
    labels: list[list[int]]  # of every row, without padding
    quality: list[str]  # which of BLEU and chrF to compute
    metrics: list[tuple[Metric, Material]]  # with the rows that each reads
    targets: Sequence[str]  # with which BLEU and chrF compare
    tgt_lang: str
    load: Callable[[], Evaluator]

    @functools.cached_property
    def evaluator(self) -> Evaluator | None:
        """The evaluator, loaded when first needed; None if no metric needs one."""
        return self.load() if any(m.takes_evaluator for m, _ in self.metrics) else None

    def __call__(self, prediction: Any, compute_result: bool | None = None) -> dict[str, float]:
        if compute_result is not None:
            raise InputError(
                "compute_metrics: expected the whole evaluation set at once, got batches; leave out"
                " batch_eval_metrics"
            )
        pad = self.tokenizer.pad_token_id
        # A Marian tokenizer may have a vocabulary of its own for translations.
        n_tokens = len(getattr(self.tokenizer, "target_encoder", self.tokenizer))
        predicted = _token_ids(prediction.predictions, n_tokens, pad)
        _check_rows(prediction.label_ids, self.labels, pad)
        if _is_teacher_forced(prediction, pad, self.tokenizer.all_special_ids):
            warnings.warn(_TEACHER_FORCED, ResultWarning, stacklevel=2)
        if len(predicted) != len(prediction.label_ids):
            raise InputError(
                f"expected one prediction per row of labels, got {len(predicted)} predictions and"
                f" {len(prediction.label_ids)} rows"
            )
        # Rows after the known ones are repetitions, which fill up the last batches.
        decoded = self.tokenizer.batch_decode(
            predicted[: len(self.labels)], skip_special_tokens=True
        )
        texts = [" ".join(text.split()) for text in decoded]
        filled, n_empty = judgeable(texts)
        figures = {
            name: points(
                corpus_score(name, texts, self.targets, tokenize=None, tgt_lang=self.tgt_lang)[0]
            )
            for name in self.quality
        }
        results = [
            judge(
                metric.opened(
                    self.evaluator, src_lang=material.src_lang, tgt_lang=material.tgt_lang
                ),
                material,
                filled,
                evaluator=self.evaluator,
            )
            for metric, material in self.metrics
        ]
        judged = flat_figures(results, n_empty=n_empty) or {"n": len(texts), "n_empty": n_empty}
        add_figures(figures, judged, remedy="leave out one of the metrics")
        return figures


def _missing(references: object, src_lang: str, tgt_lang: str) -> list[str]:
    given = {"references": references, "src_lang": src_lang, "tgt_lang": tgt_lang}
    return [name for name, value in given.items() if value is None or value == ""]


def _data(
    metric: Metric, references: _References | Mapping[str, _References] | None, n: int
) -> list[Any]:
    """Return the examples, or what the metric reads of data without examples."""
    chosen = references.get(metric.name) if isinstance(references, Mapping) else references
    if chosen is None:
        raise InputError(
            f"references: expected those of {metric.name}, one per row of the evaluation set, or"
            " the examples of the rows; got none"
        )
    if len(chosen) != n:
        raise InputError(
            f"references: expected one for each of the {n} rows of labels, got {len(chosen)} for"
            f" {metric.name}"
        )
    rows: list[Any] = list(chosen)
    if isinstance(rows[0], Mapping):
        return rows  # the metric checks its mappings
    if bad := [i for i, row in enumerate(rows) if not isinstance(row, tuple(FORMS))]:
        raise InputError(
            f"references: row {bad[0]}: expected a mapping or an example (`cc_hf.schema`), as the"
            f" other rows, got {type(rows[bad[0]]).__name__}"
        )
    return rows


def _trimmed(row: Any, pad: int) -> list[int]:
    """Return a row without the -100 or padding at its end."""
    ids = np.asarray(row, dtype=np.int64)
    real = np.flatnonzero((ids != _IGNORED) & (ids != pad))
    trimmed: list[int] = np.where(ids == _IGNORED, pad, ids)[
        : real[-1] + 1 if len(real) else 0
    ].tolist()
    return trimmed


def _token_ids(predictions: Any, n_tokens: int, pad: int) -> npt.NDArray[np.int64]:
    """Return (rows, length) token ids, with padding instead of -100."""
    advice = "set predict_with_generate=True in Seq2SeqTrainingArguments and use a Seq2SeqTrainer"
    if isinstance(predictions, (tuple, list)):
        raise InputError(
            f"predictions: expected token ids of translations, got {len(predictions)} arrays"
            f" (logits and states of the model); {advice}"
        )
    ids = np.asarray(predictions)
    if ids.ndim != 2 or not np.issubdtype(ids.dtype, np.integer):
        raise InputError(
            f"predictions: expected token ids of shape (rows, length), got {ids.dtype} numbers of"
            f" shape {ids.shape}, which may be logits; {advice}"
        )
    ids = np.where(ids == _IGNORED, pad, ids).astype(np.int64)
    if len(bad := np.argwhere((ids < 0) | (ids >= n_tokens))):
        row, column = (int(i) for i in bad[0])
        raise InputError(
            f"row {row}: expected token ids from 0 to {n_tokens - 1}, got {ids[row, column]}; is"
            " this the tokenizer of the model?"
        )
    return ids


def _check_rows(label_ids: Any, known: Sequence[list[int]], pad: int) -> None:
    """Check that the rows are the known ones in their order, and extra rows are known too."""
    received = [_trimmed(row, pad) for row in np.asarray(label_ids)]
    advice = (
        "compute_metrics was made for another evaluation set, or for other labels; make one with"
        " labels=eval_dataset['labels'] of the set that is evaluated"
    )
    if len(received) < len(known):
        raise InputError(
            f"expected the {len(known)} rows of labels, got {len(received)}; {advice} (and leave"
            " out dataloader_drop_last)"
        )
    for row, (labels, expected) in enumerate(zip(received, known, strict=False)):
        if labels != expected:
            elsewhere = (
                "; it is that of another row: is the set shuffled, or sorted by length"
                " (train_sampling_strategy)?"
                if labels in known
                else f"; {advice}"
            )
            raise InputError(
                f"row {row}: expected the labels {_short(expected)}, got"
                f" {_short(labels)}{elsewhere}"
            )
    distinct = {tuple(row) for row in known}
    for row, labels in enumerate(received[len(known) :], len(known)):
        if tuple(labels) not in distinct:
            raise InputError(
                f"expected {len(known)} rows, got {len(received)}, and row {row} is none of them"
                f" (labels {_short(labels)}); {advice}"
            )


def _is_teacher_forced(prediction: Any, pad: int, special: Collection[int]) -> bool:
    """Return whether predictions follow the labels token by token, as no generation does."""
    ids, labels = np.asarray(prediction.predictions), np.asarray(prediction.label_ids)
    if ids.shape != labels.shape or len(ids) < 2:
        return False
    is_label = ~np.isin(labels, (_IGNORED, pad))
    starts = np.unique(ids[:, 0]).tolist()
    # The argmax of logits has a token wherever the labels have one. A generation begins with the
    # token that starts the decoder: padding in Marian and T5, another special token in other
    # models.
    is_generated = len(starts) == 1 and starts[0] in special and (labels[:, 0] != starts[0]).all()
    covered = ~np.isin(ids[is_label], (_IGNORED, pad))
    differs = bool((ids[is_label] != labels[is_label]).any())
    return differs and not is_generated and bool(covered.mean() >= _COVERED)


def _short(ids: Sequence[int]) -> str:
    return str(list(ids[:8])).rstrip("]") + (", ...]" if len(ids) > 8 else "]")
