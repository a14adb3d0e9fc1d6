"""What is judged of given translations, and what is said of the rest: wrappers, which move
verdicts, refusals and placeholders.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cc_hf.errors import InputError, ResultWarning, shown
from cc_hf.fit_to_cite import MANY_WRAPPED
from cc_hf.metrics.base import Metric
from cc_hf.normalization import composed, is_blank
from cc_hf.schema import Example
from cc_hf.text.artefacts import (
    ARTEFACTS,
    Artefact,
    artefacts,
    rows_with_reasons,
    without_artefacts,
)
from cc_hf.text.replies import is_placeholder, is_refusal

__all__ = ["Inspected", "check_wrapped", "inspected", "is_inspected", "known_texts"]

#: The share of wrapped translations from which a file was read wrongly, and their fewest number.
_NEARLY_ALL, _FEWEST = 0.9, 2
#: Kinds that are no text around a translation.
_OF_LETTERS = ("upper", "encoding", "control")
#: Keys of a reference whose text is like a translation, those of the source first.
_TEXT_KEYS = ("source", "sentence", "correct_sources", "reference", "correct_translation")


@dataclass(frozen=True)
class Inspected:
    """Translations as a metric judges them, and what is said of those that were given.

    Attributes:
        texts: what is judged; "" for what is no translation.
        counts: numbers of `n_wrapped` and `n_untranslated` translations, if there are any.
        notes: what a reader must know.
        untranslated: rows of refusals and placeholders, whose text is "".
        plain: the texts without what stands around them, where that is a reason not to cite the
            figures, unless they do not depend on it; else None.
    """

    texts: list[str]
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    untranslated: frozenset[int] = frozenset()
    plain: list[str] | None = None


def known_texts(
    examples: Sequence[Example], references: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return what each row says of what a translation may contain: its source, else another text of
    people; "" for a row without.

    Args:
        references: the rows, where they are no examples.
    """
    if examples:
        return tuple(composed(example.source) for example in examples)
    values = ([row[key] for key in _TEXT_KEYS if row.get(key)] for row in references)
    first = (next(iter(found), "") for found in values)
    return tuple(value[0] if isinstance(value, list) else value for value in first)


def check_wrapped(
    metric: type[Metric], translations: Sequence[str], texts: Sequence[str], *, clean: bool | None
) -> None:
    """Refuse a file in which nearly every translation is wrapped, unless the user said what is
    meant.

    Args:
        texts: what `known_texts` returns.
        clean: see `inspected`.

    Raises:
        InputError: for such translations, or another value of `clean`.
    """
    if not isinstance(clean, (bool, type(None))):
        raise InputError(f"clean: expected True, False or None, got {shown(clean)}")
    if clean is not None or not is_inspected(metric):
        return
    found = artefacts(tuple(translations), tuple(texts))
    around = [artefact for artefact in found if artefact.kind not in _OF_LETTERS]
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
    """Return translations as they are judged. What moves verdicts is also given as a warning.

    Args:
        texts: what `known_texts` returns.
        clean: True removes what stands around translations, see
            `cc_hf.text.artefacts.without_artefacts`; False judges everything as it is. None
            removes nothing, and judges refusals and placeholders as blank, which is never right.
    """
    given = list(translations)
    if not (given and is_inspected(metric)):
        return Inspected(given)
    found = artefacts(tuple(given), tuple(texts))
    judged, notes = given, []
    if clean and found:
        judged = without_artefacts(given, texts)
        notes.append(f"Before they were cleaned, {_listed(found)}")
        found = artefacts(tuple(judged), tuple(texts))
    wrapped = rows_with_reasons(found)
    plain = without_artefacts(judged, texts) if len(wrapped) > MANY_WRAPPED * len(given) else None
    untranslated = [] if clean is False else _untranslated(judged, texts)
    # The given text of a row shows what was no translation, even if nothing is left of it.
    untranslated += [
        row for row, text in enumerate(judged) if is_blank(text) and not is_blank(given[row])
    ]
    if reasons := _reasons(found):
        notes.append(f"What is no translation moves verdicts: {_listed(reasons)}")
        warnings.warn(notes[-1], ResultWarning, stacklevel=4)
    if ways := [artefact for artefact in found if not ARTEFACTS[artefact.kind].is_reason]:
        notes.append(f"Not as people write: {_listed(ways)}")
        if metric.takes_evaluator and any(artefact.kind != "invisible" for artefact in ways):
            warnings.warn(notes[-1], ResultWarning, stacklevel=4)
    if untranslated:
        notes.append(
            f"{len(untranslated):,} of {len(given):,} translations are refusals or placeholders,"
            f' such as "{given[untranslated[0]].strip()[:60]}"; they are not right'
        )
        warnings.warn(notes[-1], ResultWarning, stacklevel=4)
        judged = list(judged)
        for row in untranslated:
            judged[row] = ""
    counts = {"n_wrapped": len(wrapped), "n_untranslated": len(untranslated)}
    return Inspected(
        judged,
        {name: n for name, n in counts.items() if n},
        tuple(notes),
        frozenset(untranslated),
        plain,
    )


def is_inspected(metric: type[Metric]) -> bool:
    """Return whether a metric judges translations, which a rewriter may leave out."""
    return metric.takes_translations and metric.counts_unusable and not metric.reads_replies


def _reasons(found: Sequence[Artefact]) -> list[Artefact]:
    return [artefact for artefact in found if ARTEFACTS[artefact.kind].is_reason]


def _listed(found: Sequence[Artefact]) -> str:
    return "; ".join(map(str, found))


def _untranslated(translations: Sequence[str], texts: Sequence[str]) -> list[int]:
    return [
        row
        for row, (translation, text) in enumerate(zip(translations, texts, strict=True))
        if is_placeholder(translation, text) or is_refusal(translation, text)
    ]
