"""Gender accuracy of MT-GenEval: does a translation avoid words of the other gender?

See Currey et al. 2022, section 3.1.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cc_hf.errors import InputError, check_choice
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    check_spaced_language,
    optional_text,
    text,
)
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration, shares
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.results import Interval
from cc_hf.schema import ContrastiveTranslationExample, Example, Judgement
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.score_intervals import estimate_share

__all__ = ["GenderAccuracy", "judge_rows", "words"]

_FIELDS: Fields = {
    "reference": text,
    "contrastive_reference": text,
    "category": optional_text,
    "gender": optional_text,
    "pair": optional_text,
}
_OTHER = {"male": "female", "female": "male"}
_UNDECIDED = ("correct", "inconclusive")
_TOKENS = ("mt_geneval", "split")
_PUNCTUATION = re.compile(f"[{re.escape(string.punctuation)}]")


def words(text: str, tokens: str = "mt_geneval") -> frozenset[str]:
    """Split a text into its set of words.

    Args:
        tokens: "mt_geneval", as the paper's program does: the text is lower-cased, and ASCII
            punctuation becomes spaces; other punctuation stays attached. "split", as Zaranis et al.
            2025 do: the text is split at spaces only.

    Examples:
        >>> sorted(words("Die Ärztin, «ja»!")), sorted(words("Die Ärztin, «ja»!", "split"))
        (['die', '«ja»', 'ärztin'], ['Die', '«ja»!', 'Ärztin,'])
    """
    plain = text if tokens == "split" else _PUNCTUATION.sub(" ", text.lower())
    return frozenset(plain.split())


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    ids: Sequence[str] | None = None,
    undecided: str = "correct",
    tokens: str = "mt_geneval",
    untranslated: Collection[int] = (),
) -> tuple[Judgement, ...]:
    """Return the verdict on every translation; each is judged on its own.

    A translation is incorrect if it has a word that the contrastive reference has and the reference
    does not have (eq. 2). All others are correct. Among them, a translation with no word of only
    one reference, such as a blank one, is undecided, and its `predicted` is "".

    Args:
        undecided: verdict on undecided translations: "correct", as in the paper's program, or
            "inconclusive".
        tokens: how texts are split, "mt_geneval" or "split", see `words`.

    Examples:
        >>> row = {"reference": "Sie ist Ärztin.", "contrastive_reference": "Er ist Arzt."}
        >>> [j.verdict for j in judge_rows(["Sie ist Arzt.", "Er hilft."], [row, row])]
        ['incorrect', 'incorrect']
    """
    names = check_ids(ids, len(predictions))
    judgements = []
    for row, (name, translation, reference) in enumerate(
        zip(names, predictions, references, strict=True)
    ):
        right, wrong, present = (
            words(text, tokens)
            for text in (reference["reference"], reference["contrastive_reference"], translation)
        )
        sides = (not present.isdisjoint(right - wrong), not present.isdisjoint(wrong - right))
        gender = reference.get("gender") or ""
        gold, other = (gender, _OTHER[gender]) if gender in _OTHER else ("reference", "contrastive")
        verdict = "incorrect" if sides[1] else "correct" if sides[0] else undecided
        verdict = "incorrect" if row in untranslated else verdict
        predicted = {
            (True, True): "both",
            (True, False): gold,
            (False, True): other,
            (False, False): "",
        }[sides]
        category = reference.get("category") or gender or "all"
        judgements.append(
            Judgement(
                name,
                category,
                verdict == "correct",
                translation,
                verdict,
                predicted=predicted,
                gold=gold,
            )
        )
    return tuple(judgements)


def _unit_figures(
    judgements: Sequence[Judgement], pairs: Sequence[str] | None
) -> tuple[dict[str, float], dict[str, Interval], int]:
    """Return figures of pairs and of decided translations, intervals, and n_pairs_correct."""
    units: dict[str, list[Judgement]] = {}
    for row, judgement in enumerate(judgements):
        units.setdefault(str(row) if pairs is None else pairs[row], []).append(judgement)
    statistics = np.array([_contribution(unit) for unit in units.values()], dtype=np.float64)
    figures = [
        *(("pair_accuracy", "decided_pair_accuracy") if pairs is not None else ()),
        "decided_accuracy",
        "undecided_rate",
    ]
    scores, intervals = {}, {}
    for name in figures:
        parts, wholes = statistics[:, _COLUMNS[name]], statistics[:, _COLUMNS[name] + 1]
        if wholes.any():
            # The translations of a pair are not independent, so the units are pairs.
            share = estimate_share(parts, wholes)
            scores[name], intervals[name] = share.value, share.interval
    return scores, intervals, int(statistics[:, 0].sum())


def _contribution(unit: Sequence[Judgement]) -> tuple[int, ...]:
    """Return what a pair, or a translation on its own, contributes to the sums (see `_COLUMNS`)."""
    correct, decided = [j.is_correct for j in unit], [bool(j.predicted) for j in unit]
    decided_correctly = [c and d for c, d in zip(correct, decided, strict=True)]
    return (
        all(correct),
        1,
        all(decided_correctly),
        all(decided),
        sum(decided_correctly),
        sum(decided),
        len(unit) - sum(decided),
        len(unit),
    )


#: Column of each figure's numerator in `_contribution`; its denominator is in the next column.
_COLUMNS = {
    "pair_accuracy": 0,
    "decided_pair_accuracy": 2,
    "decided_accuracy": 4,
    "undecided_rate": 6,
}


def _figures(judgements: Sequence[Judgement], names: Sequence[str]) -> Figures:
    """Return the figures of judgements, each with the name of its pair, "" for none."""
    pairs = names if any(names) else None
    unit_scores, unit_intervals, n_pairs_correct = _unit_figures(judgements, pairs)
    of_pairs: dict[str, int] = {}
    if pairs is not None:
        of_pairs = {"n_pairs": len(set(pairs)), "n_pairs_correct": n_pairs_correct}
    figures = Figures(
        scores={**unit_scores, **_decided_by_category(judgements)},
        intervals=unit_intervals,
        counts={
            **of_pairs,
            "n_undecided": sum(not j.predicted for j in judgements),
        },
    )
    return summarize(judgements).joined(figures)


def _decided_by_category(judgements: Sequence[Judgement]) -> dict[str, float]:
    by_category: dict[str, list[bool]] = {}
    for judgement in judgements:
        if judgement.predicted:
            by_category.setdefault(judgement.category, []).append(judgement.is_correct)
    return {
        f"decided_accuracy_{name}": sum(correct) / len(correct)
        for name, correct in sorted(by_category.items())
    }


@dataclass(frozen=True)
class GenderAccuracy(Metric):
    """Gender accuracy of single translations, and of pairs if the references come in pairs.

    Gender accuracy (MT-GenEval) compares a translation with two references that differ only in the
    gender of a person. A translation is incorrect if it has a word that only the reference of the
    wrong gender has. Sentences that come in pairs with their counterfactual are also judged as
    pairs: `pair_accuracy` is then the paper's figure.

    Attributes:
        undecided: verdict on a translation with no word of only one reference: "correct", as in the
            paper's program, or "inconclusive".
        tokens: how texts are split: "mt_geneval", as in the paper's program, or "split", at spaces
            only, as in the verdicts that Zaranis et al. 2025 released (the signature says so).
    """

    name = "gender_accuracy"
    title = "gender accuracy"
    about = (
        "A translation is right if it holds no word that only the reference with the other gender"
        " has."
    )
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one is judged like
            any other.
        references (list of dict): one per translation, with `reference` and `contrastive_reference`
            (str), the same with the other gender. Optional keys are `category` (str), `gender`
            (male, female) and `pair` (str), a name that a sentence and its counterfactual share.

    Returns:
        n, n_correct, n_inconclusive, n_undecided, n_blank, n_pairs, n_pairs_correct (int): numbers
            of translations and pairs.
        verdicts (list of str): correct, incorrect or inconclusive, one per translation.
        predicted (list of str): the gender whose words the translation has, "both", or "" for
            neither; "reference" or "contrastive" for rows without `gender`.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/gender_accuracy")
        >>> reference = {
        ...     "reference": "Sie ist eine gute Ärztin.",
        ...     "contrastive_reference": "Er ist ein guter Arzt.",
        ... }
        >>> texts = ["Die Ärztin ist gut."]
        >>> metric.compute(predictions=texts, references=[reference], tgt_lang="de")["accuracy"]
        1.0
    """
    papers = ("currey-2022",)
    signature_name = "ga"
    version = 3
    reference_fields = _FIELDS
    reads_cues = False
    leaderboard = ("accuracy", "pair_accuracy")
    interval_method = (
        "by Wilson's score, within categories; of pairs and of what is decided, over whole pairs"
    )
    figure_names = {  # noqa: RUF012
        **COMMON,
        **shares(
            "decided_accuracy",
            "accuracy where decided",
            "high",
            "The share of correct translations among those that hold a word of only one reference",
        ),
        "decided_pair_accuracy": FigureDeclaration(
            "pair accuracy where decided",
            "high",
            "The share of pairs with both translations correct, among those where both hold a word"
            " of only one reference.",
        ),
        "undecided_rate": FigureDeclaration(
            "undecided", "low", "The share of translations without a word of only one reference."
        ),
    }

    undecided: str = "correct"
    tokens: str = "mt_geneval"

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        if dataset == "mittens" and form is ContrastiveTranslationExample:
            return ""
        if dataset != "mt_geneval":
            return (
                "gender_accuracy needs a reference of each gender, which mt_geneval has, and"
                f" mittens into English, not {dataset} {config}"
            )
        if config.startswith("counterfactual_") and form is ContrastiveTranslationExample:
            return (
                f"gender_accuracy counts pairs whose references show no gender too, which {config}"
                " leaves out"
            )
        return ""

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        return [
            {
                "reference": (
                    e.correct_translation
                    if isinstance(e, ContrastiveTranslationExample)
                    else e.extra["reference"]
                ),
                "contrastive_reference": (
                    e.contrastive_translations[0]
                    if isinstance(e, ContrastiveTranslationExample)
                    else e.extra["contrastive_reference"]
                ),
                "category": e.category,
                "gender": (
                    e.extra["gender"] if isinstance(e, ContrastiveTranslationExample) else e.gold
                ),
                "pair": e.extra.get("pair", ""),
            }
            for e in examples
        ]

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        rows: dict[str, list[int]] = {}
        for row, reference in enumerate(references):
            rows.setdefault(reference["pair"], []).append(row)
        if unpaired := rows.pop("", []):
            if rows:
                raise InputError(
                    f"row {unpaired[0]}: pair: expected the name of a pair, as in row"
                    f" {min(min(r) for r in rows.values())}, got none; give all rows one, or none"
                )
            return
        for pair, members in rows.items() if whole else ():
            if len(members) != 2:
                raise InputError(
                    f"row {members[0]}: pair {pair!r}: expected two rows, a sentence and its"
                    f" counterfactual, got {len(members)} (rows"
                    f" {', '.join(map(str, members[:5]))})"
                )

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict that does not follow from the words that are found."""
        undecided = signed.get("undecided", "correct")
        for j in judgements:
            allowed = {j.gold: ["correct"], "": [undecided]}.get(j.predicted, [])
            # A text that was not translated is incorrect, whatever is found in it.
            check_reading(j, "incorrect", *allowed)

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        check_spaced_language(rows.tgt_lang, self.name)
        check_choice("undecided", self.undecided, _UNDECIDED)
        check_choice("tokens", self.tokens, _TOKENS)
        judgements = judge_rows(
            rows.translations,
            rows.references,
            ids=rows.ids,
            undecided=self.undecided,
            tokens=self.tokens,
            untranslated=rows.untranslated,
        )
        figures = _figures(judgements, rows.column("pair"))
        return replace(
            figures,
            signature={
                "langs": f"{rows.languages[0] or '?'}-{rows.languages[1] or '?'}",
                "undecided": self.undecided,
                **({"tokens": self.tokens} if self.tokens != "mt_geneval" else {}),
            },
            judgements=judgements,
            counts={**figures.counts, "n_blank": rows.n_blank},
        )

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return all figures, and all counts but that of blank translations."""
        figures = _figures(judgements, [j.pair for j in judgements])
        if any(j.pair for j in judgements):
            return figures
        # Files of older versions do not name pairs, which are the units of some intervals.
        names = summarize(judgements).intervals
        return replace(figures, intervals={n: figures.intervals[n] for n in names})
