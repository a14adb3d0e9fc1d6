"""Explain a verdict of a metric that changes texts: every part that it left out or rewrote, and how
much more probable the other text became.
"""

from __future__ import annotations

from cc_hf.errors import InputError
from cc_hf.evaluation.judging import score_rows
from cc_hf.evaluators.base import Evaluator
from cc_hf.metrics.base import Rows, ScoringMetric
from cc_hf.normalization import composed
from cc_hf.plugins.omissions.explained_changes import ExplainedChanges
from cc_hf.schema import Example

__all__ = ["explain_changes"]


def explain_changes(
    metric: ScoringMetric,
    evaluator: Evaluator,
    example: Example,
    translation: str,
    *,
    tgt_lang: str = "",
    progress: bool = False,
) -> ExplainedChanges:
    """Explain the verdict of a metric on one translation.

    Raises:
        InputError: for a source or translation on which the metric tries nothing.
        TooLongError: for a text that the model cannot read.

    Examples:
        >>> import cc_hf
        >>> from cc_hf.plugins.omissions.coverage import Coverage
        >>> from cc_hf.schema import ProbingExample
        >>> explained = explain_changes(
        ...     Coverage(),
        ...     cc_hf.load_evaluator("cc-tiny-en-de"),
        ...     ProbingExample("0", "en", "de", "The small house is old.", "all", "?"),
        ...     "Das Haus ist alt.",
        ... )
        >>> explained.changes[0].text, explained.is_error[0]
        ('small', True)
    """
    _, references = metric.check_input([translation], metric.references([example]))
    rows = Rows(
        [composed(translation)],
        references,
        [example.id],
        example.src_lang,
        tgt_lang or example.tgt_lang or evaluator.tgt_lang,
    )
    src_lang, tgt_lang = rows.languages
    metric = metric.opened(evaluator, src_lang=src_lang, tgt_lang=tgt_lang)
    scoring = score_rows(metric, rows, evaluator, progress=progress)
    changes, errors = (metric.changes(rows, scoring, only_errors=only)[0] for only in (False, True))
    if not changes:
        raise InputError(
            f"example {example.id!r}: expected a source in which {metric.title} can change"
            " something, and a translation that is not blank or a copy"
        )
    ordered = sorted(changes, key=lambda change: -change.difference)
    return ExplainedChanges(
        metric.name,
        references[0]["source"],
        rows.translations[0],
        tuple(ordered),
        tuple(change in errors for change in ordered),
        rows.src_lang,
        rows.tgt_lang,
        _named(evaluator),
        "" if scoring.backward is None else _named(scoring.backward.evaluator),
        metric.change_notes(),
    )


def _named(evaluator: Evaluator) -> str:
    return f"{evaluator.name}@{evaluator.identity}" if evaluator.identity else evaluator.name
