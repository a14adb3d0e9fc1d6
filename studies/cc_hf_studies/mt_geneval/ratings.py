"""Ask people about the gender of contextual translations, and compare their answers with a metric
(Currey et al. 2022, section 5.1, Tables 5 and 7).
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cc_hf.errors import InputError
from cc_hf.plugins.raters.sheets import Answers, SheetForm, SheetKey
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import VERDICTS, ContrastiveTranslationExample, Example
from cc_hf.statistics.agreement import confusion_matrix, f_scores, krippendorff_alpha
from cc_hf.statistics.shares import wilson_share

__all__ = [
    "FORM",
    "REFERENCE",
    "GenderRatings",
    "RatedSystem",
    "draw_contextual_sample",
    "rate_genders",
]

#: Name of the references among the systems.
REFERENCE = "reference"

_CORRECT, _INCORRECT = "Correct", "Incorrect"
_LABELS = (_CORRECT, _INCORRECT)
_UNKNOWN = "unknown"

#: The sheet. Its words are not those of the paper, which does not print its guidelines.
FORM = SheetForm(
    "gender-in-context",
    "The goal of this annotation is to evaluate the gender of people in machine translation: Does"
    " the translation of the source sentence give the person the gender that the context tells?",
    {
        "Context": "The sentences before the source sentence. They are not translated.",
        "Source Sentence": "The sentence that was translated.",
        "Translation": "The translation that is evaluated.",
    },
    {
        "GENDER": {
            _CORRECT: "The translation gives the person the gender that the context tells.",
            _INCORRECT: "A word of the translation gives the person another gender.",
        }
    },
    {"system": (), "example_id": (), "category": (), "verdict": (*VERDICTS, "")},
    (
        "Judge only the translation of the source sentence, but read the context first.",
        "Judge only the gender of the person. Other errors of the translation do not matter.",
        "A translation that shows no gender at all is correct.",
    ),
)


@dataclass(frozen=True, slots=True)
class RatedSystem:
    """What the raters say about one system. All shares are in [0, 1].

    Attributes:
        accuracies: share of translations that each rater accepts.
        accuracy, interval: that of the preferred rater, with its Wilson interval.
        f_scores: F1 of the metric's verdicts against the labels of the preferred rater, by label;
            NaN for a label that occurs on neither side; None for the references.
        by_category: sub-category -> number of translations, and how many of them the preferred
            rater accepts.
    """

    name: str
    n: int
    accuracies: tuple[float, ...]
    accuracy: float
    interval: Interval | NoInterval
    f_scores: Mapping[str, float] | None
    by_category: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class GenderRatings:
    """What several raters say about all systems.

    Attributes:
        preferred: number of the preferred rater, from 1: who accepts most references; the first of
            several.
        n_accepted: number of references that each rater accepts.
        systems: the systems in the order of their names, and the references.
        alpha, alpha_reference: Krippendorff's alpha of the raters on the translations of all
            systems, and on the references.
        f_scores: mean F1 by label, over systems where it is defined.
        data: dataset, configuration and target language.
    """

    preferred: int
    n_accepted: tuple[int, ...]
    systems: tuple[RatedSystem, ...]
    alpha: float
    alpha_reference: float
    f_scores: Mapping[str, float]
    data: tuple[str, str, str]


def draw_contextual_sample(
    results: Mapping[str, EvaluationResult],
    examples: Sequence[Example],
    *,
    n: int = 100,
    seed: int = 0,
) -> SheetKey:
    """Draw sources of each sub-category, and shuffle references and translations by all systems."""
    settings = SheetKey.settings_of(results, n=n, seed=seed)
    if REFERENCE in results:
        raise InputError(f"results: expected another name for the system {REFERENCE!r}")
    verdicts = {system: result.by_id() for system, result in results.items()}
    items = []
    for example in _stratified(examples, n, random.Random(seed)):
        translations = {REFERENCE: (example.correct_translation, "")}
        for system, judgements in verdicts.items():
            if example.id not in judgements:
                raise InputError(
                    f"results: {system}: expected a translation of every example, got none of"
                    f" {example.id!r}"
                )
            judgement = judgements[example.id]
            translations[system] = judgement.translation, judgement.verdict
        shown = (example.extra["context"], example.source)
        shared = {"example_id": example.id, "category": example.category}
        items += [
            ((*shown, translation), {"system": system, **shared, "verdict": verdict})
            for system, (translation, verdict) in translations.items()
        ]
    settings["systems"] = {
        name: {"signature": result.signature} for name, result in results.items()
    }
    return SheetKey.of(FORM, settings, items)


def _stratified(
    examples: Sequence[Example], n: int, draw: random.Random
) -> list[ContrastiveTranslationExample]:
    by_category: dict[str, list[ContrastiveTranslationExample]] = {}
    for example in examples:
        if (
            not isinstance(example, ContrastiveTranslationExample)
            or "context" not in example.extra
            or example.category == _UNKNOWN
        ):
            raise InputError(
                f"results: example {example.id!r}: expected the test split of a configuration"
                " contextual_* of mt_geneval, whose examples have a context and a sub-category"
            )
        by_category.setdefault(example.category, []).append(example)
    return [
        example
        for _, members in sorted(by_category.items())
        for example in draw.sample(members, min(n, len(members)))
    ]


def rate_genders(key: SheetKey, raters: Sequence[Answers]) -> GenderRatings:
    """Return accuracies by the raters, their agreement, and F-scores of the metric, in [0, 1]."""
    of_system: dict[str, list[tuple[str, Mapping[str, str]]]] = {}
    for row in key.rows:
        for origin in row.origins:
            of_system.setdefault(origin["system"], []).append((row.id, origin))
    references = of_system.get(REFERENCE, [])
    if not references or len(of_system) < 2:
        raise InputError("key: expected references and at least one system; use the key as written")
    n_accepted = tuple(sum(_accepts(r, name) for name, _ in references) for r in raters)
    preferred = n_accepted.index(max(n_accepted))
    names = [*sorted(name for name in of_system if name != REFERENCE), REFERENCE]
    systems = tuple(_rated_system(name, of_system[name], raters, preferred) for name in names)
    return GenderRatings(
        preferred + 1,
        n_accepted,
        systems,
        _alpha([e for name in names[:-1] for e in of_system[name]], raters),
        _alpha(references, raters),
        {label: _mean([s.f_scores[label] for s in systems if s.f_scores]) for label in _LABELS},
        _data(key),
    )


def _data(key: SheetKey) -> tuple[str, str, str]:
    dataset, config, lang = (
        str(key.settings.get(name, "")) for name in ("dataset", "config", "tgt_lang")
    )
    return dataset, config, lang


def _accepts(rater: Answers, name: str) -> bool:
    return rater[name][0] == _CORRECT


def _mean(values: Sequence[float]) -> float:
    defined = [value for value in values if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan


def _alpha(origins: Sequence[tuple[str, Mapping[str, str]]], raters: Sequence[Answers]) -> float:
    """Return the agreement on distinct rows."""
    names = dict.fromkeys(name for name, _ in origins)
    return krippendorff_alpha([[rater[name][0] for name in names] for rater in raters])


def _rated_system(
    system: str,
    origins: Sequence[tuple[str, Mapping[str, str]]],
    raters: Sequence[Answers],
    preferred: int,
) -> RatedSystem:
    n = len(origins)
    n_accepted = [sum(_accepts(rater, name) for name, _ in origins) for rater in raters]
    by_category: dict[str, tuple[int, int]] = {}
    for name, origin in origins:
        of_category, accepted = by_category.get(origin["category"], (0, 0))
        is_accepted = _accepts(raters[preferred], name)
        by_category[origin["category"]] = (of_category + 1, accepted + is_accepted)
    scores = None
    if system != REFERENCE:
        people = [raters[preferred][name][0] for name, _ in origins]
        judged = [
            _CORRECT if origin["verdict"] == "correct" else _INCORRECT for _, origin in origins
        ]
        table = confusion_matrix(people, judged, labels=_LABELS)
        scores = dict(zip(_LABELS, f_scores(table), strict=True))
    return RatedSystem(
        system,
        n,
        tuple(count / n for count in n_accepted),
        n_accepted[preferred] / n,
        wilson_share(n_accepted[preferred], n).interval,
        scores,
        dict(sorted(by_category.items())),
    )
