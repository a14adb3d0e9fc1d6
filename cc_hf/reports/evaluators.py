"""The evaluators that a report's figures come from, and what a reader must know of each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from cc_hf import signature
from cc_hf.data.card_sections import evaluator_caution
from cc_hf.errors import InputError
from cc_hf.evaluation.calibration_file import NOTE_BEGINNING
from cc_hf.evaluators.judge_cards import JudgeCard, judge_cards
from cc_hf.reports.figure_text import metric_name
from cc_hf.reports.report import Report
from cc_hf.results import EvaluationResult
from cc_hf.schema import dataset_in_words

__all__ = [
    "EvaluatorFacts",
    "evaluator_facts",
    "evaluator_name",
    "evaluator_of",
    "evaluators_text",
    "facts_of_results",
    "level_text",
    "other_cautions",
]


class EvaluatorFacts(NamedTuple):
    """What a reader must know of an evaluator.

    Attributes:
        name: its name without the revision.
        levels: how far it can be trusted, a sentence for each metric and data.
        about: what its card says about its use; "" for none.
        notes: what the notes of the results say of it.
        cards: what was measured of it, or of the members of an ensemble, by itself.
    """

    name: str
    levels: tuple[str, ...]
    about: str
    notes: tuple[str, ...]
    cards: tuple[JudgeCard, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """What is known of it, the first level, then what is nearest to the figures, first."""
        # A note is on the cues and the data that are judged, a card on the model alone.
        texts = sorted(self.notes, key=lambda note: NOTE_BEGINNING in note)
        texts += [text for card in self.cards for text in card.caution.split(". ") if text]
        others = [f"{text.removesuffix('.')}." for text in (*texts, self.about) if text]
        return [*self.levels[:1], *others, *self.levels[1:]]

    def says(self, note: str) -> bool:
        """Return whether a note is about the calibration, or the text of one of the cards."""
        return NOTE_BEGINNING in note or note in {card.text for card in self.cards}


def evaluator_of(result: EvaluationResult) -> str:
    """Return the evaluator that a signature names, a function without the digest of its scores; ""
    if it names none or cannot be read.
    """
    try:
        return signature.without_scores(signature.parse(result.signature)[1].get("eval", ""))
    except InputError:
        return ""


def evaluator_name(result: EvaluationResult) -> str:
    """Return the evaluator of a result without its revision; "" for none."""
    return "+".join(part.partition("@")[0] for part in evaluator_of(result).split("+"))


def evaluator_facts(report: Report) -> tuple[EvaluatorFacts, ...]:
    """Return the facts of each evaluator of a report, beginning with the first metric."""
    results = (result for name in report.metrics for result in report.of_metric(name).values())
    others = [note for note in report.cautions if NOTE_BEGINNING not in note]
    return tuple(
        fact._replace(
            notes=(
                *fact.notes,
                *filter(re.compile(rf"(?<![\w/-]){re.escape(fact.name)}(?![\w/-])").search, others),
            )
        )
        for fact in facts_of_results(results, report.judge_cards)
    )


def facts_of_results(
    results: Iterable[EvaluationResult], others: Sequence[JudgeCard] = ()
) -> tuple[EvaluatorFacts, ...]:
    """Return the facts of each evaluator of results that has more to it than its name.

    Args:
        others: cards of evaluators besides those of the package.
    """
    facts: dict[str, EvaluatorFacts] = {}
    for result in results:
        name, judge = evaluator_name(result), evaluator_of(result)
        if not name:
            continue
        notes = (
            note.replace(f", {name} agrees", ", it agrees", 1)
            for note in result.notes
            if note.startswith(NOTE_BEGINNING)
        )
        known = facts.get(name) or EvaluatorFacts(name, (), evaluator_caution(judge), ())
        facts[name] = known._replace(
            levels=tuple(dict.fromkeys([*known.levels, *filter(None, [level_text(result)])])),
            notes=tuple(dict.fromkeys([*known.notes, *notes])),
            cards=judge_cards(judge, result.tgt_lang, others),
        )
    return tuple(fact for fact in facts.values() if any(fact[1:]))


def level_text(result: EvaluationResult) -> str:
    """Return how far the judge of a result can be trusted, as a sentence; "" without a judge."""
    trust = result.trust
    if trust is None:
        return ""
    on = f" on {dataset_in_words(result.dataset)}" if result.dataset else ""
    by = f"by {trust.labels}" if trust.rows else "without evidence"
    return f"Level{on}: {trust.level}, {by}."


def other_cautions(report: Report) -> list[str]:
    """Return the cautions of a report without those on a judge, which `evaluator_facts` has."""
    on_judges = {note for fact in evaluator_facts(report) for note in fact.notes}
    return [
        caution
        for caution in report.cautions
        if NOTE_BEGINNING not in caution and caution not in on_judges
    ]


def evaluators_text(report: Report, metrics: Collection[str] | None = None) -> str:
    """Return the evaluators that judged, with their metrics if they judged by different ones;
    `metrics` are those to look at, None for all.
    """
    names: dict[str, list[str]] = {}
    for system in report.systems:
        for metric, result in system.results.items():
            judged = names.setdefault(evaluator_of(result), [])
            if metric not in judged and (metrics is None or metric in metrics):
                judged.append(metric)
    names = {name: judged for name, judged in names.items() if judged}
    without = names.pop("", [])
    texts = [
        f"{name} ({', '.join(map(metric_name, judged))})" if len(names) > 1 or without else name
        for name, judged in names.items()
    ]
    if without:
        texts.append(f"none ({', '.join(map(metric_name, without))})")
    return "; ".join(texts)
