"""The last step of every evaluation, and the only one that calls a metric: from rows, translations
and an evaluator to a result. The `evaluate` modules come in here.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cc_hf import registry
from cc_hf.errors import InputError, ResultWarning, UnknownNameError
from cc_hf.evaluation.fitting import all_metrics
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.base import Evaluator, ScoreFunction
from cc_hf.evaluators.contests import pair_scores
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import resolve_evaluator
from cc_hf.metrics.base import Metric, Rows, Scoring, ScoringMetric, finish
from cc_hf.metrics.checks import check_ids, check_languages
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["MetricModule", "judge", "module_figures"]

_DRAWING = ("seed", "n_resamples")


def judge(
    metric: Metric,
    material: Material,
    translations: Sequence[str] | None = None,
    *,
    evaluator: Evaluator | ScoreFunction | None = None,
    bootstrap: Bootstrap | None = None,
    origin: Mapping[str, str] | None = None,
    progress: bool = False,
) -> EvaluationResult:
    """Run one metric on translations that are at hand.

    The result carries the notes of the metric, the remark of the configuration, and, if there are
    notes on the evaluator, the metrics that do without one. Notes on the evaluator are warned of,
    too (`ResultWarning`).

    Args:
        metric: with its options.
        material: the rows.
        translations: one per row, in their order; of no effect on a metric that takes none.
        evaluator: for a metric that takes one; of no effect on others. A function
            (sources, translations) -> scores, higher is better, is taken at its word.
        bootstrap: of the intervals; None for the defaults.
        origin: further signature fields, such as {"sys": "..."}.
        progress: show a bar on scoring that takes longer than a second.

    Raises:
        InputError: for rows, translations, languages or options that do not fit.
        EvaluatorError, TooLongError: as `cc_hf.evaluators.contests.pair_scores`.

    >>> from cc_hf.data.loading import load_examples
    >>> from cc_hf.metrics.base import make_metric
    >>> judge(
    ...     make_metric("contrastive_conditioning"),
    ...     Material("en", "de", load_examples("simplegen", "en-de")[:4]),
    ...     ["Sie ist Ärztin."] * 4,
    ...     evaluator=lambda sources, translations: [1.0] * len(sources),
    ... ).n
    4
    """
    bootstrap = bootstrap or Bootstrap()
    check_languages(material.src_lang, material.tgt_lang)
    examples = material.examples
    texts, references = metric.check_input(
        translations if metric.takes_translations else None, material.references(type(metric))
    )
    rows = Rows(
        texts,
        references,
        check_ids([e.id for e in examples] if examples else material.ids, len(references)),
        material.src_lang or metric.default_src_lang,
        material.tgt_lang,
    )
    scoring: Scoring | None = None
    notes: tuple[str, ...] = ()
    if isinstance(metric, ScoringMetric):
        scoring = _scoring(metric, rows, evaluator, progress=progress)
        notes = metric.notes(rows, scoring.evaluator, dataset=material.origin.dataset)
        for note in notes:
            warnings.warn(note, ResultWarning, stacklevel=2)
    figures = metric.measure(rows, bootstrap, scoring)
    # a system that does not translate, or a file that is not the right one
    n_with_source = sum(
        bool(e.source) and e.source in text for e, text in zip(examples, texts, strict=False)
    )
    counts = {"n_with_source": n_with_source} if texts and examples else {}
    named = replace(material.origin, fields={**material.origin.fields, **(origin or {})})
    return finish(
        metric,
        rows,
        replace(
            figures,
            counts={**figures.counts, **counts},
            notes=(*notes, *_data_notes(material, has_notes=bool(notes))),
        ),
        origin=named,
        bootstrap=bootstrap,
    )


def _scoring(
    metric: ScoringMetric,
    rows: Rows,
    evaluator: Evaluator | ScoreFunction | None,
    *,
    progress: bool,
) -> Scoring:
    if not isinstance(evaluator, Evaluator) and not callable(evaluator):
        raise InputError(
            f"evaluator: expected an Evaluator or a function, got {type(evaluator).__name__}"
        )
    requests = metric.requests(rows)
    scores = pair_scores(
        requests,
        evaluator,
        metric.contests(rows),
        src_lang=rows.src_lang,
        tgt_lang=rows.tgt_lang,
        score=metric.evaluator_score,
        progress=progress,
    )
    return Scoring(evaluator, scores)


def _data_notes(material: Material, *, has_notes: bool) -> list[str]:
    """Return what the data add: metrics that serve where the evaluator does not, and the remark of
    the configuration.
    """
    if material.config is None or material.origin.dataset not in registry.DATASETS:
        return []
    notes = [material.config.remark] if material.config.remark else []
    by_words = [
        metric.name
        for metric in all_metrics()
        if metric.judges
        and metric.takes_translations
        and not metric.takes_evaluator
        and not material.unfit_reason(metric)
    ]
    if has_notes and by_words:
        notes.append(f"Without an evaluator, {material.name} is judged by {' and '.join(by_words)}")
    return notes


if TYPE_CHECKING:
    _Host = Any
else:
    _Host = object


class MetricModule(_Host):  # type: ignore[misc]
    """What every `evaluate` module of this package does, beside `evaluate.Metric`: options are
    split between host and metric, rows are checked when they are added, `_compute` judges them.

    Attributes:
        metric: the class of the metric.
    """

    metric: type[Metric]

    def __init__(self, *args: Any, **options: Any) -> None:
        # the host has a seed of its own
        known = _option_names(self.metric) - {"seed"}
        self._options = {name: value for name, value in options.items() if name in known}
        others = {name: value for name, value in options.items() if name not in known}
        super().__init__(*args, **others)

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> Any:
        """Compute as the host does, which would drop predictions that the metric does not take
        without a word.
        """
        if self.metric.takes_translations:
            return super().compute(predictions=predictions, references=references, **options)
        self.metric.check_no_translations(predictions)
        return super().compute(references=references, **options)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **options: Any) -> None:
        """Add rows; the host would turn numbers into strings and accept empty lists, so they are
        checked first.
        """
        texts, rows = self.metric.check_input(predictions, references, whole=False)
        given = {"predictions": texts} if self.metric.takes_translations else {}
        super().add_batch(**given, references=rows, **options)

    def _compute(self, references: Any, predictions: Any = None, **options: Any) -> dict[str, Any]:
        return module_figures(self.metric, predictions, references, {**self._options, **options})


def _option_names(metric: type[Metric]) -> set[str]:
    loading = ("evaluator", *LoadingOptions.names()) if metric.takes_evaluator else ()
    return {"src_lang", "tgt_lang", *_DRAWING, *loading, *metric.option_names()}


def module_figures(
    metric: type[Metric], predictions: Any, references: Any, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what an `evaluate` module returns: figures, counts and lists as one flat dict.

    Args:
        metric: the class of the metric.
        predictions: translations; None for a metric that takes none.
        references: what the metric reads.
        options: the metric's own, those of `cc_hf.evaluators.options.LoadingOptions`, evaluator,
            seed and n_resamples.

    Returns:
        The scores and counts of the metric; n; its lists (`Metric.row_values`); intervals (name ->
        [low, high], 95 %), interval_notes (name -> text); signature; and notes (list of str) where
        there are some.

    Raises:
        As `judge`, and as `cc_hf.load_evaluator` when the evaluator cannot be loaded.
    """
    known = _option_names(metric)
    for name in options:
        if name not in known:
            raise UnknownNameError(f"option of {metric.name}", name, known)
    own, loading, drawing = (
        {name: options[name] for name in names if name in options}
        for names in (metric.option_names(), LoadingOptions.names(), _DRAWING)
    )
    material = Material(loading.pop("src_lang", ""), loading.pop("tgt_lang", ""), references)
    result = judge(
        metric(**own),
        material,
        predictions,
        evaluator=resolve_evaluator(
            options.get("evaluator"),
            LoadingOptions.of(loading),
            src_lang=material.src_lang,
            tgt_lang=material.tgt_lang,
        )
        if metric.takes_evaluator
        else None,
        bootstrap=Bootstrap(**drawing),
    )
    return {
        **result.scores,
        **result.counts,
        "n": result.n,
        **metric.row_values(result),
        "intervals": {
            name: [interval.low, interval.high] for name, interval in result.intervals.items()
        },
        "interval_notes": result.interval_notes(),
        "signature": result.signature,
        **({"notes": list(result.notes)} if result.notes else {}),
    }
