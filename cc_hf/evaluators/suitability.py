"""Evaluators with published agreement, and notes on the embedded one. No torch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf import registry
from cc_hf.cues.gender_brackets import differ_by_gender_brackets
from cc_hf.evaluators.base import Evaluator
from cc_hf.models.location import EmbeddedModel, KnownAgreement

__all__ = [
    "PUBLISHED",
    "PublishedEvaluator",
    "embedded_name",
    "evaluator_notes",
    "has_other_cues",
    "outside_notes",
    "unknown_character_notes",
]


_FEW_UNKNOWN = 0.01


@dataclass(frozen=True, slots=True)
class PublishedEvaluator:
    """A large evaluator whose verdicts were compared with those of people.

    Attributes:
        about: which model it is, and whose agreement was measured.
        source: publication of the figures.
    """

    name: str
    src_lang: str
    tgt_lang: str
    about: str
    agreements: tuple[KnownAgreement, ...]
    source: str

    def __str__(self) -> str:
        return f"{self.name}, {self.about} {', '.join(map(str, self.agreements))} ({self.source})"


_WMT19 = "a member of the WMT19 ensemble of Ng et al. 2019, which has"
_SOURCE = "Vamvas & Sennrich 2021, Table 2"

#: The evaluators of Vamvas & Sennrich 2021 as the Hub has them: the last model of each ensemble.
#: The whole ensembles are fairseq checkpoints (`cc-hf convert`).
PUBLISHED: tuple[PublishedEvaluator, ...] = (
    PublishedEvaluator(
        "facebook/wmt19-en-de",
        "en",
        "de",
        _WMT19,
        (KnownAgreement("winomt", weighted=0.976), KnownAgreement("mucow", weighted=0.880)),
        _SOURCE,
    ),
    PublishedEvaluator(
        "facebook/wmt19-en-ru",
        "en",
        "ru",
        _WMT19,
        (KnownAgreement("winomt", weighted=0.782), KnownAgreement("mucow", weighted=0.928)),
        _SOURCE,
    ),
)


def evaluator_notes(
    evaluator: Evaluator, references: Sequence[Mapping[str, Any]], *, dataset: str = ""
) -> tuple[str, ...]:
    """Return a note if any row lacks the cues that an embedded evaluator was made for.

    A copy of an embedded model counts as the model, and so does an ensemble that contains it.

    Args:
        references: rows with `correct_sources` and `incorrect_sources`.
        dataset: name of the dataset that the rows are from, "" for other data.

    Examples:
        >>> from cc_hf.evaluators.loading import load_evaluator
        >>> row = {"correct_sources": ["a flying bat"], "incorrect_sources": ["a baseball bat"]}
        >>> [note] = evaluator_notes(load_evaluator("cc-tiny-en-de"), [row])
        >>> "this row has other cues, so its verdicts there are not reliable" in note
        True
    """
    name = embedded_name(evaluator)
    n_outside = sum(has_other_cues(name, row) for row in references) if name else 0
    return outside_notes(name, n_outside, len(references), dataset=dataset)


def unknown_character_notes(evaluator: Evaluator, translations: Sequence[str]) -> tuple[str, ...]:
    """Return a note if 1 % of the texts or more have characters that an embedded evaluator lacks.

    Examples:
        >>> from cc_hf.evaluators.loading import load_evaluator
        >>> unknown_character_notes(load_evaluator("cc-tiny-en-de"), ["{Die Ärztin}", "Er kam."])
        ('1 of 2 translations have characters that cc-tiny-en-de does not know, such as "{"',)
    """
    embedded = _embedded(evaluator)
    if embedded is None:
        return ()
    unknown = {c for c in set().union(*translations) - {*embedded.characters} if not c.isspace()}
    rows = [text for text in translations if not unknown.isdisjoint(text)]
    if not rows or len(rows) < _FEW_UNKNOWN * len(translations):
        return ()
    example = next(c for c in rows[0] if c in unknown)
    return (
        f"{len(rows):,} of {len(translations):,} translations have characters that"
        f' {embedded.name} does not know, such as "{example}"',
    )


def embedded_name(evaluator: Evaluator) -> str:
    """Return the name of the embedded model that an evaluator is or contains, or ""."""
    embedded = _embedded(evaluator)
    return "" if embedded is None else embedded.name


def has_other_cues(name: str, reference: Mapping[str, Any]) -> bool:
    """Return whether a row is known to lack the cues that an embedded model was made for."""
    embedded: EmbeddedModel = registry.resolve("evaluator", name)
    if "gender_brackets" not in embedded.cues:  # other cues are not known by their form
        return False
    return not differ_by_gender_brackets(
        reference["correct_sources"], reference["incorrect_sources"], src_lang=embedded.src_lang
    )


def outside_notes(name: str, n_outside: int, n: int, *, dataset: str = "") -> tuple[str, ...]:
    """Return the note on rows with other cues than an embedded model was made for.

    Args:
        name: name of the model; "" for another evaluator.
        dataset: name of the dataset that the rows are from, "" for other data.
    """
    if not n_outside:
        return ()
    embedded: EmbeddedModel = registry.resolve("evaluator", name)
    rows = (
        f"{n_outside:,} of the {n:,} rows have"
        if n_outside < n
        else f"all {n:,} rows have"
        if n > 1
        else "this row has"
    )
    measured = next((known for known in embedded.agreements if known.dataset == dataset), None)
    accuracy = (
        "How often it is right on such data was not measured"
        if measured is None
        else f"Measured: {measured}"
    )
    return (
        (
            f"{embedded.name} was made to judge {embedded.made_for}; {rows} other cues, so its"
            f" verdicts there are not reliable. {accuracy}. `cc-hf judge check` counts how often a"
            " judge is right on labelled ones"
        ),
    )


def _embedded(evaluator: Evaluator) -> EmbeddedModel | None:
    """Return the embedded model that an evaluator is or contains, or None."""
    identities = evaluator.identity.split("+")  # of the members of an ensemble
    models: dict[str, EmbeddedModel] = registry.load_all("evaluator")
    return next((model for model in models.values() if model.identity in identities), None)
