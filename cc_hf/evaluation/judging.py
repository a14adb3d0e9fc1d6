"""The last step of every evaluation: from rows, translations and an evaluator to a result.

Only this module runs metrics, and `streaming` those that judge a stream. The `evaluate` modules
call it directly.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cc_hf import registry
from cc_hf.errors import InputError, ResultWarning, TooLongError, UnknownNameError
from cc_hf.evaluate_modules import check_own_metric
from cc_hf.evaluation.calibrated_cues import with_calibrated_cues
from cc_hf.evaluation.calibration_file import Calibration, shipped_calibrations
from cc_hf.evaluation.fitting import all_metrics
from cc_hf.evaluation.inspection import (
    Inspected,
    both_genders_counts,
    check_wrapped,
    inspected,
    is_inspected,
    known_texts,
    unusable_counts,
)
from cc_hf.evaluation.material import Material
from cc_hf.evaluation.metric_help import BOOTSTRAP_OPTIONS, module_info, option_names
from cc_hf.evaluation.neither import measured, with_known_threshold
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import Contest, pair_scores
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import resolve_evaluator
from cc_hf.evaluators.suitability import unknown_character_notes
from cc_hf.metrics.base import Metric, Rows, Scoring, ScoringMetric, finish
from cc_hf.metrics.checks import check_ids, check_languages
from cc_hf.metrics.figures import Figures
from cc_hf.normalization import composed, is_blank
from cc_hf.results import EvaluationResult
from cc_hf.schema import CUSTOM, Judgement, Reading, ScoringRequest
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = [
    "MetricModule",
    "judge",
    "load_metric",
    "module_class",
    "module_figures",
    "score_rows",
]

_Judged = TypeVar("_Judged", Judgement, Reading)
_ONE_POINT = 0.01
# COMET, for example, has an argument "sources".
_NO_SOURCES = "; sources are part of the references, as `cc_hf.load_dataset` returns them"


def judge(
    metric: Metric,
    material: Material,
    translations: Sequence[str] | None = None,
    *,
    evaluator: Evaluator | None = None,
    bootstrap: Bootstrap | None = None,
    origin: Mapping[str, str] | None = None,
    clean: bool | None = None,
    progress: bool = False,
) -> EvaluationResult:
    """Run one metric on translations that are already loaded.

    The result carries the notes of the metric and the remark of the configuration. If there are
    notes on the evaluator, each is also given as a warning (`ResultWarning`), and the result names
    the metrics that need no evaluator.

    Args:
        translations: one per row, in their order; ignored by a metric that judges the evaluator
            itself.
        evaluator: what `cc_hf.evaluators.resolve.resolve_evaluator` returned; ignored by a metric
            that needs none.
        bootstrap: how the intervals are drawn; None for the defaults.
        origin: additional signature fields, such as {"sys": "..."}.
        clean: whether what stands around translations is removed, see
            `cc_hf.evaluation.inspection.inspected`; the signature says so unless it is None.

    Returns:
        Scores in [0, 1] with their intervals, counts, every judgement, notes, and the signature.

    Raises:
        InputError: for rows, translations, languages or options that do not fit.
        TooLongError: for a text that is too long for the evaluator.
        EvaluatorError: for an evaluator that fails (see `cc_hf.evaluators.contests.pair_scores`).

    Examples:
        >>> from cc_hf.data.loading import load_examples
        >>> from cc_hf.evaluation.fitting import make_metric
        >>> equal = resolve_evaluator(lambda sources, translations: [1.0] * len(sources))
        >>> judge(
        ...     make_metric("contrastive_conditioning"),
        ...     Material("en", "de", load_examples("simplegen", "en-de")[:4]),
        ...     ["Sie ist Ärztin."] * 4,
        ...     evaluator=equal,
        ... ).n
        4
    """
    bootstrap = bootstrap or Bootstrap()
    _check_evaluator(metric, evaluator)
    material, calibrated = with_calibrated_cues(metric, material, evaluator)
    metric, most_neither = with_known_threshold(metric, material, evaluator)
    check_languages(material.src_lang, material.tgt_lang)
    rows, of_texts = _checked_rows(metric, material, translations, evaluator, clean=clean)
    texts = of_texts.given
    scoring: Scoring | None = None
    notes: tuple[str, ...] = ()
    has_warnings = False
    if isinstance(metric, ScoringMetric) and evaluator is not None:
        calibration_notes = _calibration_notes(material, texts, evaluator, calibrated)
        scoring = score_rows(metric, rows, evaluator, progress=progress)
        notes = (
            *metric.notes(rows, scoring.evaluator, dataset=material.origin.dataset),
            *scoring.evaluator.variety_notes(*rows.languages),
        )
        for note in notes:
            warnings.warn(note, ResultWarning, stacklevel=2)
        has_warnings, notes = bool(notes), (*notes, *calibration_notes)
        if metric.takes_translations:
            notes = (*notes, *unknown_character_notes(scoring.evaluator, rows.translations))
    figures = measured(metric, rows, bootstrap, scoring, most_neither=most_neither)
    is_moved = of_texts.plain is None or _is_moved(metric, rows, of_texts.plain, figures)
    both_counts, both_notes = both_genders_counts(metric, rows, figures.judgements)
    sources = [composed(example.source) for example in material.examples]
    counts, unusable_notes = unusable_counts(metric, rows, sources)
    # The result's origin tells which data and which system its figures come from.
    full_origin = replace(material.origin, fields={**material.origin.fields, **(origin or {})})
    result = finish(
        metric,
        rows,
        replace(
            figures,
            counts={
                **both_counts,
                **figures.counts,
                **counts,
                **of_texts.counts(is_moved=is_moved),
            },
            signature={**figures.signature, **_cleaning(clean)},
            judgements=_as_given(figures.judgements, texts),
            readings=_as_given(figures.readings, texts),
        ),
        origin=full_origin,
        bootstrap=bootstrap,
        notes=(
            *material.limit_notes,
            *of_texts.notes,
            *both_notes,
            *unusable_notes,
            *notes,
            *figures.notes,
            *_data_notes(material, has_notes=has_warnings),
        ),
    )
    for kind in ("unmarked", "itself", "ties", "unresponsive"):
        if reason := result.unfit.get(kind):
            warnings.warn(f"{metric.name}: {reason}", ResultWarning, stacklevel=2)
    return result


def _cleaning(clean: bool | None) -> dict[str, str]:
    return {} if clean is None else {"clean": "yes" if clean else "no"}


def _check_evaluator(metric: Metric, evaluator: object) -> None:
    if metric.takes_evaluator and not isinstance(evaluator, Evaluator):
        raise InputError(
            f"evaluator: expected an Evaluator, got {type(evaluator).__name__}; `resolve_evaluator`"
            " returns that of a name or a function"
        )


def _checked_rows(
    metric: Metric,
    material: Material,
    translations: Sequence[str] | None,
    evaluator: Evaluator | None,
    *,
    clean: bool | None,
) -> tuple[Rows, Inspected]:
    """Return the rows that a metric judges, and what was given."""
    examples = material.examples
    texts, references = metric.check_input(
        translations if metric.takes_translations else None,
        material.references(type(metric)),
        counts_blank=metric.counts_blank,
    )
    known_lang = "" if evaluator is None else evaluator.src_lang
    of_texts = inspected(type(metric), texts, known_texts(examples, references), clean=clean)
    for note in of_texts.warnings:
        warnings.warn(note, ResultWarning, stacklevel=3)
    rows = Rows(
        [composed(text) for text in of_texts.texts],
        references,
        check_ids([e.id for e in examples] if examples else material.ids, len(references)),
        material.src_lang or known_lang or metric.default_src_lang,
        material.tgt_lang,
        _pairs([example.extra for example in examples] or references),
        of_texts.untranslated,
    )
    return rows, of_texts


def _is_moved(metric: Metric, rows: Rows, plain: Sequence[str], figures: Figures) -> bool:
    """Return whether figures depend on what stands around the translations."""
    # An evaluator always scores it; where words are read, a figure must move by over a point.
    if isinstance(metric, ScoringMetric):
        return True
    try:
        alone = metric.measure(replace(rows, translations=[*map(composed, plain)]), Bootstrap())
    except InputError:  # such as alignments, which are those of the texts as they are
        return True
    return any(
        abs(value - alone.scores.get(name, math.inf)) > _ONE_POINT
        for name, value in figures.scores.items()
    )


def _pairs(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the name of each row's pair; "" for a row without a twin."""
    # A name that more than two rows share means something else in data of the user's own.
    names = [row.get("pair") or "" for row in rows]
    counts = Counter(names)
    return [name if counts[name] == 2 else "" for name in names]


def score_rows(
    metric: ScoringMetric,
    rows: Rows,
    evaluator: Evaluator,
    *,
    progress: bool = False,
) -> Scoring:
    """Return the scores of a metric's requests, and the evaluator that gave them.

    A blank translation is not scored if the metric counts it as incorrect, nor is one that is too
    long if the evaluator says so (`on_too_long`).

    Raises:
        InputError: for a metric whose backward evaluator is not open (`Metric.opened`).
        TooLongError: for a text that is too long for the evaluator.
        EvaluatorError: for an evaluator that fails.
    """
    languages = rows.languages
    back = metric.backward  # refused before anything is scored
    decisions = metric.requests(rows), metric.contests(rows)
    forward = _scored(metric, *decisions, evaluator, languages, progress=progress)
    if back is None:
        return forward
    decisions = metric.backward_requests(rows), metric.backward_contests(rows)
    backward = _scored(
        metric,
        *decisions,
        back,
        languages[::-1],
        too_long=forward.unscored["too_long"],
        progress=progress,
    )
    return replace(forward, backward=backward)


def _scored(
    metric: ScoringMetric,
    requests: Sequence[ScoringRequest],
    contests: Sequence[Contest],
    evaluator: Evaluator,
    languages: tuple[str, str],
    *,
    too_long: Collection[int] = (),
    progress: bool,
) -> Scoring:
    """Return the scores of requests."""
    unscored = {"blank": {r.row for r in requests if is_blank(r.translation)}}
    unscored["too_long"] = set(too_long)
    counts_too_long = metric.takes_translations and evaluator.on_too_long == "incorrect"
    scores = np.full(len(requests), np.nan)
    while True:
        excluded = unscored["blank"] | unscored["too_long"]
        kept = [i for i, request in enumerate(requests) if request.row not in excluded]
        position = {i: n for n, i in enumerate(kept)}
        try:
            if kept:
                scores[kept] = pair_scores(
                    [requests[i] for i in kept],
                    evaluator,
                    [
                        ([position[i] for i in left], [position[i] for i in right])
                        for left, right in contests
                        if all(i in position for i in (*left, *right))
                    ],
                    src_lang=languages[0],
                    tgt_lang=languages[1],
                    score=metric.evaluator_score,
                    threshold=metric.threshold,
                    progress=progress,
                )
        except TooLongError as error:
            # Nothing was scored: the lengths of all texts are checked first.
            longer = {r.row for r in requests if r.translation in error.translations}
            if not (counts_too_long and longer):
                raise
            unscored["too_long"] |= longer
            continue
        return Scoring(
            evaluator, scores, {reason: frozenset(numbers) for reason, numbers in unscored.items()}
        )


def _calibration_notes(
    material: Material,
    translations: Sequence[str],
    evaluator: Evaluator,
    calibrated: Calibration | None,
) -> tuple[str, ...]:
    """Return how well the wording of the cues works under the evaluator, if this is known."""
    # A calibration is quoted for the dataset that it was made on, and for a user's file. For cues
    # that the user chose for another dataset, the note says that nothing is known, and is also
    # given as a warning.
    if calibrated is not None:
        sources = [example.source for example in material.examples]
        is_development = calibrated.is_development(sources, translations)
        return (calibrated.default_note(material.origin.dataset, is_development=is_development),)
    cues = material.origin.fields.get("cues", "")
    if (calibration := material.calibration) is not None:
        calibration.check_evaluator(evaluator, material.src_lang, material.tgt_lang)
        sources = [example.source for example in material.examples]
        calibration.check_not_development(sources, translations)
        cues = calibration.chosen
    else:
        calibration = next(
            (
                known
                for known in shipped_calibrations()
                if known.is_for(evaluator, material.src_lang, material.tgt_lang)
                and cues in {result.name for result in known.wordings}
            ),
            None,
        )
    if calibration is None:
        return ()
    dataset = material.origin.dataset
    is_worse = dataset == CUSTOM and cues != calibration.chosen
    if dataset in ("", calibration.dataset) or is_worse:
        return (calibration.note(cues),)
    if material.wording is None:
        return ()
    note = calibration.unmeasured_note(cues, dataset)
    warnings.warn(note, ResultWarning, stacklevel=3)
    return (note,)


def _data_notes(material: Material, *, has_notes: bool) -> list[str]:
    """Return the configuration's remark and, beside notes, the metrics without evaluator."""
    if material.config is None or material.origin.dataset not in registry.names("dataset"):
        return []
    notes = [material.config.remark] if material.config.remark else []
    if not has_notes:
        return notes  # without loading the other metrics
    by_words = [
        metric.name
        for metric in all_metrics()
        if metric.judges
        and metric.takes_translations
        and not metric.only_named
        and not metric.takes_evaluator
        and not material.unfit_reason(metric)
    ]
    if by_words:
        notes.append(f"Without an evaluator, {material.name} is judged by {' and '.join(by_words)}")
    return notes


if TYPE_CHECKING:
    _Host = Any
else:
    _Host = object


class MetricModule(_Host):  # type: ignore[misc]
    """Base class of this package's `evaluate` modules, used together with `evaluate.Metric`.

    What it says of itself is what the class of the metric declares; its homepage is the paper that
    it follows.
    """

    metric: type[Metric]
    _counts_blank = False

    def __init__(self, *args: Any, **options: Any) -> None:
        # "seed" goes to the host, which has its own option of that name.
        known = option_names(self.metric) - {"seed"}
        self._options = {name: value for name, value in options.items() if name in known}
        others = {name: value for name, value in options.items() if name not in known}
        super().__init__(*args, **others)

    def _info(self) -> Any:
        import evaluate

        return evaluate.MetricInfo(**module_info(self.metric))

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> Any:
        """Compute what `module_figures` returns, and refuse predictions that the metric ignores."""
        # Rows are checked when the host adds them, before it passes the options on.
        self._counts_blank = {**self._options, **options}.get("on_blank") == "incorrect"
        if self.metric.takes_translations:
            return super().compute(predictions=predictions, references=references, **options)
        # The host would drop such predictions without a message.
        self.metric.check_no_translations(predictions)
        return super().compute(references=references, **options)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **options: Any) -> None:
        """Check rows and add them."""
        # The host would convert numbers to strings and accept empty lists.
        texts, rows = self.metric.check_input(
            predictions, references, whole=False, counts_blank=self._counts_blank
        )
        columns = {"predictions": texts} if self.metric.takes_translations else {}
        super().add_batch(**columns, references=rows, **options)

    def add(self, *, prediction: Any = None, reference: Any = None, **options: Any) -> None:
        """Check one row and add it, as `add_batch` does."""
        predictions = [prediction] if self.metric.takes_translations else prediction
        self.add_batch(predictions=predictions, references=[reference], **options)

    def _compute(self, references: Any, predictions: Any = None, **options: Any) -> dict[str, Any]:
        return module_figures(self.metric, predictions, references, {**self._options, **options})


@cache
def module_class(name: str) -> Any:
    """Return the class of a metric's `evaluate` module. Every call returns the same object.

    Examples:
        >>> module_class("gender_accuracy").__name__
        'GenderAccuracy'
    """
    import evaluate

    check_own_metric(name)
    metric: type[Metric] = registry.resolve("metric", name)
    return type(metric.__name__, (MetricModule, evaluate.Metric), {"metric": metric})


def load_metric(name: str, **options: Any) -> Any:
    """Make the `evaluate` module of a metric, without a file or a download.

    Args:
        options: those of the metric, and of `evaluate.EvaluationModule`.

    Raises:
        UnknownNameError: for a metric that is not one of cc_hf.

    Examples:
        >>> load_metric("contrastive_conditioning").name
        'contrastive_conditioning'
    """
    return module_class(name)(**options)


def module_figures(
    metric: type[Metric], predictions: Any, references: Any, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what an `evaluate` module returns: figures, counts and lists in one flat dict."""
    known = option_names(metric)
    for name in options:
        if name not in known:
            remedy = _NO_SOURCES if name in ("source", "sources") else ""
            raise UnknownNameError(f"option of {metric.name}", name, known, remedy=remedy)
    metric_options, loading, bootstrap_options = (
        {name: options[name] for name in names if name in options}
        for names in (metric.option_names(), LoadingOptions.names(), BOOTSTRAP_OPTIONS)
    )
    material = Material(loading.pop("src_lang", ""), loading.pop("tgt_lang", ""), references)
    clean = options.get("clean")
    if is_inspected(metric):
        texts, rows = metric.check_input(predictions, references, counts_blank=True)
        check_wrapped(metric, texts, known_texts((), rows), clean=clean)
    languages = {"src_lang": material.src_lang, "tgt_lang": material.tgt_lang}
    evaluator = (
        resolve_evaluator(options.get("evaluator"), LoadingOptions.of(loading), **languages)
        if metric.takes_evaluator
        else None
    )
    result = judge(
        metric(**metric_options).opened(evaluator, **languages),
        material,
        predictions,
        evaluator=evaluator,
        bootstrap=Bootstrap(**bootstrap_options),
        clean=clean,
    )
    return {
        **result.scores,
        **result.counts,
        "n": result.n,
        **_lists(metric, result),
        "intervals": {
            name: [interval.low, interval.high] for name, interval in result.intervals.items()
        },
        "interval_notes": result.interval_notes(),
        "signature": result.signature,
        **({"notes": list(result.notes)} if result.notes else {}),
        **({"unfit": result.why_unfit()} if result.unfit else {}),
    }


def _as_given(judged: tuple[_Judged, ...], texts: Sequence[str]) -> tuple[_Judged, ...]:
    """Return judgements or readings with the translations as they were given, for readers."""
    if not (judged and texts):
        return judged
    return tuple(replace(row, translation=text) for row, text in zip(judged, texts, strict=True))


def _lists(metric: type[Metric], result: EvaluationResult) -> dict[str, Any]:
    """Return the lists of a metric; without verdicts, readings in place of those that are empty."""
    lists = metric.row_values(result)
    if not result.readings:
        return lists
    lists = {name: values for name, values in lists.items() if values != []}
    lists["readings"] = [row.reading for row in result.readings]
    probabilities = [row.probability_counted for row in result.readings]
    if any(p is not None for p in probabilities):
        lists["probability_counted"] = probabilities
    return lists
