"""What is judged of given translations, and what is said of the rest: wrappers, which move
verdicts, refusals and placeholders.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cc_hf.errors import InputError, ResultWarning, shown
from cc_hf.fit_to_cite import MANY_WRAPPED
from cc_hf.metrics.base import Metric, Rows, StreamedMetric
from cc_hf.metrics.both_genders import BOTH, rows_of_both
from cc_hf.normalization import composed, is_blank
from cc_hf.schema import Example, Judgement
from cc_hf.text.artefacts import (
    ARTEFACTS,
    Artefact,
    artefacts,
    is_empty_wrapper,
    rows_with_reasons,
    without_artefacts,
)
from cc_hf.text.replies import is_placeholder, is_refusal
from cc_hf.text.unusable import unusable_rows, unusable_texts

__all__ = [
    "Inspected",
    "both_genders_counts",
    "check_wrapped",
    "inspected",
    "is_inspected",
    "known_texts",
    "unusable_counts",
    "unusable_notes",
]

#: The share of wrapped translations from which a file was read wrongly, and their fewest number.
_NEARLY_ALL, _FEWEST = 0.9, 2
_LONGEST = 60  # of an example
#: Kinds that are no text around a translation, or may be a part of it.
_DOUBTFUL = ("beginning", "upper", "encoding", "control")
#: Keys of a reference whose text is like a translation, those of the source first.
_TEXT_KEYS = ("source", "sentence", "correct_sources", "reference", "correct_translation")


@dataclass(frozen=True)
class Inspected:
    """Translations as a metric judges them, and what is said of those that were given.

    Attributes:
        texts: what is judged; "" for what is no translation.
        untranslated: row of a refusal or placeholder -> the text that was given.
        wrapped: rows with text around the translation that is a reason not to cite figures.
        notes: what a reader must know.
        warnings: those of the notes that are also given as warnings.
        plain: the texts without what stands around them, where there is much; else None.
    """

    given: list[str]
    texts: list[str]
    untranslated: Mapping[int, str] = field(default_factory=dict)
    wrapped: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    plain: list[str] | None = None

    def counts(self, *, is_moved: bool = True) -> dict[str, int]:
        """Return the numbers, above 0, of wrapped translations that move figures, and refusals."""
        counts = {
            "n_wrapped": len(self.wrapped) if is_moved else 0,
            "n_untranslated": len(self.untranslated),
        }
        return {name: n for name, n in counts.items() if n}


def known_texts(
    examples: Sequence[Example], references: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return each row's source, else another text of people; "" for a row without.

    Examples:
        >>> known_texts((), [{"correct_sources": ["a", "b"]}, {"category": "female"}])
        ('a', '')
    """
    if examples:
        return tuple(composed(example.source) for example in examples)
    values = (next((row[key] for key in _TEXT_KEYS if row.get(key)), "") for row in references)
    return tuple(value[0] if isinstance(value, list) else value for value in values)


def check_wrapped(
    metric: type[Metric], translations: Sequence[str], texts: Sequence[str], *, clean: bool | None
) -> None:
    """Refuse a file of which nearly every translation is wrapped, unless `clean` is given."""
    if not isinstance(clean, (bool, type(None))):
        raise InputError(f"clean: expected True, False or None, got {shown(clean)}")
    if clean is not None or not is_inspected(metric):
        return
    named = artefacts(tuple(translations), tuple(texts))
    around = [artefact for artefact in named if artefact.kind not in _DOUBTFUL]
    n_wrapped = len(rows_with_reasons(around))
    if n_wrapped >= max(_FEWEST, _NEARLY_ALL * len(translations)):
        [first, *others] = sorted(_reasons(around), key=lambda artefact: -len(artefact.rows))
        also = f" (and {'; '.join(map(str, others))})" if others else ""
        raise InputError(
            f"translations: expected translations alone, but {first}{also}. Remove that from the"
            " file; or give `clean`, so that it is removed before they are judged; or clean=False"
            " (--as-is) to judge them as they are"
        )


def inspected(
    metric: type[Metric],
    translations: Sequence[str],
    texts: Sequence[str],
    *,
    clean: bool | None = None,
) -> Inspected:
    """Return translations as they are judged.

    Args:
        texts: what `known_texts` returns.
        clean: True removes what stands around translations, see
            `cc_hf.text.artefacts.without_artefacts`; False judges everything as it is. None
            removes nothing, and judges refusals and placeholders as blank, which is never right.

    Examples:
        >>> from cc_hf.metrics.base import registered_metric
        >>> metric = registered_metric("contrastive_conditioning")
        >>> inspected(metric, ["N/A", "Sie kam."], ["He went.", "She came."]).texts
        ['', 'Sie kam.']
    """
    given = list(translations)
    if not (given and is_inspected(metric)):
        return Inspected(given, given)
    named = artefacts(tuple(given), tuple(texts))
    judged, notes = given, []
    if clean:
        judged = without_artefacts(given, texts)
        if named:
            notes.append(f"Before they were cleaned, {_listed(named)}")
        elif n_cleaned := sum(map(operator.ne, given, judged)):
            notes.append(f"{n_cleaned:,} of {len(given):,} translations were cleaned")
        named = artefacts(tuple(judged), tuple(texts))
    wrapped = rows_with_reasons(named)
    of_reasons = [f"What is no translation moves verdicts: {_listed(_reasons(named))}"] * bool(
        wrapped
    )
    untranslated = _untranslated(given, judged, texts, takes_refusals=clean is False)
    if untranslated:
        of_reasons.append(
            f"{len(untranslated):,} of {len(given):,} translations are refusals or placeholders,"
            f' such as "{next(iter(untranslated.values())).strip()[:_LONGEST]}"; they are not right'
        )
    ways = [artefact for artefact in named if not ARTEFACTS[artefact.kind].is_reason]
    of_ways = [f"Not as people write: {_listed(ways)}"] * bool(ways)
    # Metrics that read words are not moved by it, and what is ignored moves nothing.
    is_warned = metric.takes_evaluator and any(way.kind != "invisible" for way in ways)
    return Inspected(
        given,
        ["" if row in untranslated else text for row, text in enumerate(judged)],
        untranslated,
        wrapped,
        (*notes, *of_reasons, *of_ways),
        (*of_reasons, *(of_ways if is_warned else ())),
        without_artefacts(judged, texts) if len(wrapped) > MANY_WRAPPED * len(given) else None,
    )


def is_inspected(metric: type[Metric]) -> bool:
    """Return whether a metric judges translations that must be there."""
    # Replies are read elsewhere, and a rewriter may give none.
    return metric.takes_translations and metric.counts_unusable and not metric.reads_replies


def _reasons(named: Sequence[Artefact]) -> list[Artefact]:
    return [artefact for artefact in named if ARTEFACTS[artefact.kind].is_reason]


def _listed(named: Sequence[Artefact]) -> str:
    return "; ".join(map(str, named))


def _untranslated(
    given: Sequence[str], judged: Sequence[str], texts: Sequence[str], *, takes_refusals: bool
) -> dict[int, str]:
    """Return refusals, placeholders and texts of which cleaning leaves nothing, by row."""
    rows = zip(given, judged, texts, strict=True)
    return {
        row: original
        for row, (original, left, text) in enumerate(rows)
        if (left != original and is_blank(left) and not is_blank(original))
        or (not takes_refusals and _is_no_translation(left, text))
    }


def _is_no_translation(translation: str, text: str) -> bool:
    return (
        is_placeholder(translation, text)
        or is_refusal(translation, text)
        or is_empty_wrapper(translation.strip(), text)
    )


def both_genders_counts(
    metric: Metric, rows: Rows, judgements: Sequence[Judgement]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Count translations that name both genders where the source names one, and warn of them."""
    if not (metric.judges and rows.translations) or metric.reads_replies:
        return {}, ()
    if isinstance(metric, StreamedMetric) and judgements:
        both = [row for row, judgement in enumerate(judgements) if judgement.predicted == BOTH]
    else:
        both = rows_of_both(rows)
    if not both:
        return {}, ()
    what = "have no verdict" if isinstance(metric, StreamedMetric) else "are judged as any other"
    note = (
        f"{len(both):,} of {len(rows.translations):,} translations name both genders, such as"
        f' "{rows.translations[both[0]][:60]}"; they {what}'
    )
    warnings.warn(note, ResultWarning, stacklevel=3)
    return {"n_both_genders": len(both)}, (note,)


def unusable_counts(
    metric: Metric, rows: Rows, sources: Sequence[str]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Count the translations that no metric can judge."""
    # Many of them show a system that does not translate, or a wrong file.
    if not rows.translations or metric.reads_replies or not metric.counts_unusable:
        return {}, ()
    unusable = unusable_rows(
        rows.translations,
        sources or [repr(reference) for reference in rows.references],
        rows.tgt_lang,
        are_texts=bool(sources),
    )
    n_of_kind = {name: len(numbers) for name, numbers in unusable.items()}
    counts = n_of_kind if sources else {}
    blank = {row for row, text in enumerate(rows.translations) if is_blank(text)}
    n_unusable = len(blank.union(*unusable.values()))
    return counts, unusable_notes(
        {**n_of_kind, "n_blank": rows.n_blank}, n_unusable, len(rows.translations)
    )


def unusable_notes(
    counts: Mapping[str, int], n_unusable: int, n: int, *, stacklevel: int = 4
) -> tuple[str, ...]:
    """Return a note, also given as a warning, if half of the translations or more are unusable.

    Args:
        counts: how many are unusable for each reason, see `cc_hf.text.unusable.UNUSABLE`.
        n_unusable: how many are unusable for any reason, of `n`.
    """
    if 2 * n_unusable < n:
        return ()
    kinds = unusable_texts(counts, n)
    note = (
        f"The figures say nothing about the system: {n_unusable:,} of {n:,} translations are"
        f" unusable ({'; '.join(kinds)})"
    )
    warnings.warn(note, ResultWarning, stacklevel=stacklevel)
    return (note,)
