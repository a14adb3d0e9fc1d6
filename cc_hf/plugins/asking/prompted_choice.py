"""Choices of a language model that was asked in words: its replies are parsed and counted (Emelin
2023, section 4.6). No model is run here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cc_hf.errors import InputError, check_choice
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import Fields, check_ids, check_twins, one_of, optional_text
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration, shares
from cc_hf.metrics.figures import Figures, pair_figures, summarize, twin_figures
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.plugins.asking.prompting.choices import PARSERS, parse_choice
from cc_hf.results import Interval, NoInterval
from cc_hf.schema import ContrastiveTranslationExample, Example, Judgement
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.score_intervals import Estimate, difference, estimate_share

__all__ = ["OUTCOMES", "PromptedChoice", "RepliedChoice", "judge_rows", "read_choices"]

#: What may become of a request: an answer that can be used, an answer that cannot, no answer.
OUTCOMES = ("valid", "invalid", "failed")

_BOTH = "both"
_CUT = "yes"
_FIELDS: Fields = {
    "answer": one_of(("1", "2")),
    "category": optional_text,
    "pair": optional_text,
    "option1": optional_text,
    "option2": optional_text,
    "error": optional_text,
    "cut": optional_text,
    "orders": optional_text,
    "swapped_reply": optional_text,
    "swapped_error": optional_text,
}
#: Keys that hold what a model did, not what it was asked.
_OF_THE_REPLY = ("error", "cut", "swapped_reply", "swapped_error")


@dataclass(frozen=True, slots=True)
class RepliedChoice:
    """The outcome of one sample."""

    # One of `OUTCOMES`; a sample asked in both orders is valid only if both replies are.
    outcome: str
    # The chosen options as the data number them, "" for none: one, or two for both orders.
    numbers: tuple[str, ...]
    shown: tuple[str, ...]  # the same as they were shown to the model
    is_cut: bool = False  # a reply ended at the limit of its length

    @property
    def is_consistent(self) -> bool:
        """Whether all replies are valid and choose the same option."""
        return self.outcome == "valid" and len(set(self.numbers)) == 1


def read_choices(
    replies: Sequence[str], references: Sequence[Mapping[str, Any]], *, parser: str = "conclusion"
) -> list[RepliedChoice]:
    """Return the outcome of every sample.

    Args:
        replies: one per reference, to the sample with its options in the order of the data.
    """
    choices = []
    for reply, reference in zip(replies, references, strict=True):
        options = [reference.get("option1") or "", reference.get("option2") or ""]
        asked = [(reply, reference.get("error") or "", options)]
        if reference.get("orders") == _BOTH:
            swapped = reference.get("swapped_reply") or ""
            asked.append((swapped, reference.get("swapped_error") or "", options[::-1]))
        outcomes, shown = [], []
        for text, error, texts in asked:
            number = "" if error else parse_choice(text, texts, parser=parser).number
            outcomes.append("failed" if error else "valid" if number else "invalid")
            shown.append(number)
        numbers = [number if i == 0 else _other(number) for i, number in enumerate(shown)]
        worst = max(outcomes, key=OUTCOMES.index)
        is_cut = bool(reference.get("cut"))
        choices.append(RepliedChoice(worst, tuple(numbers), tuple(shown), is_cut))
    return choices


def _other(number: str) -> str:
    return {"1": "2", "2": "1"}.get(number, "")


def judge_rows(
    replies: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    parser: str = "conclusion",
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """Return the verdict on every sample.

    A sample is correct if its reply, or both of its replies, choose the right option; incorrect if
    they choose the other one; and inconclusive in every other case. `predicted` is the number of
    the chosen option, "invalid", "failed", or "inconsistent" if the answer changed with the order.

    Examples:
        >>> [j.verdict for j in judge_rows(["Translation 2", "Hm."], [{"answer": "2"}] * 2)]
        ['correct', 'inconclusive']
    """
    choices = read_choices(replies, references, parser=parser)
    return tuple(
        _judgement(name, reply, reference, choice)
        for name, reply, reference, choice in zip(
            check_ids(ids, len(replies)), replies, references, choices, strict=True
        )
    )


def _judgement(
    name: str, reply: str, reference: Mapping[str, Any], choice: RepliedChoice
) -> Judgement:
    gold = reference["answer"]
    if choice.outcome != "valid":
        verdict, predicted = "inconclusive", choice.outcome
    elif not choice.is_consistent:
        verdict, predicted = "inconclusive", "inconsistent"
    else:
        predicted = choice.numbers[0]
        verdict = "correct" if predicted == gold else "incorrect"
    return Judgement(
        example_id=name,
        category=reference.get("category") or "all",
        is_correct=verdict == "correct",
        translation=reply,
        verdict=verdict,
        predicted=predicted,
        gold=gold,
    )


@dataclass(frozen=True)
class PromptedChoice(Metric):
    """Choices between two options, translations or fillers of a gap, read from replies.

    Reads which of two options, translations or fillers of a gap, a language model chose that was
    asked in words. A reply is valid if it chooses one option, invalid if it chooses none, and
    failed if there is none. The figures are the accuracy of valid answers, as the thesis has it,
    and of all, and what became of the requests. A sample that was asked in both orders is valid
    only if both of its answers are, and then both count.

    Attributes:
        parser: how replies are read: "conclusion", by the last option that a concluding phrase
            names, or the only number; "last", by the last option that is named; or "exact": a reply
            must be the name of an option only (`cc_hf.plugins.asking.prompting.choices.PARSERS`).
    """

    name = "prompted_choice"
    title = "Prompted choice"
    about = "A language model is asked in words which of two options is right."
    help = """
    Args:
        predictions (list of str): replies, as the model wrote them, with its thoughts, which choose
            nothing; a blank one is invalid.
        references (list of dict): one per reply, with `answer`, the number of the right option as
            it was shown ("1" or "2"). Optional keys are `category`; `pair`, a name that the twins
            of a schema share; `option1` and `option2`, the texts of the options, by which a reply
            may choose; `error`, why there is no reply; `cut`, "yes" for a reply that ended at the
            limit of its length; `orders`, "both" for a sample that was also asked with its options
            swapped, so that the right one had the other number, and then `swapped_reply` or
            `swapped_error`.

    Returns:
        n, n_correct, n_inconclusive, n_valid, n_invalid, n_failed (int): numbers of samples;
            n_inconsistent (int): with both orders; n_cut (int): with cut replies; n_pairs,
            n_pairs_correct, n_without_twin (int): with pairs.
        verdicts (list of str): correct, incorrect or inconclusive, one per sample.
        predicted (list of str): 1, 2, invalid, failed or inconsistent.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/prompted_choice")
        >>> replies = ["Translation 2", "Both are fine."]
        >>> metric.compute(predictions=replies, references=[{"answer": "2"}] * 2)["valid_accuracy"]
        1.0
    """
    papers = ("emelin-sennrich-2021",)
    signature_name = "choice"
    version = 4
    reference_fields = _FIELDS
    reads_cues = False
    reads_replies = only_named = True
    leaderboard = ("valid_accuracy", "accuracy", "pair_accuracy")
    key_figures = ("valid_accuracy", "accuracy", "valid_rate", "pair_accuracy", "consistency")
    interval_method = "by Wilson's score, within categories; of pairs, over whole pairs"
    figure_names = {  # noqa: RUF012
        **COMMON,
        "accuracy": FigureDeclaration(
            "accuracy",
            "high",
            "The share of correct choices. Replies that cannot be used and requests that failed are"
            " not correct.",
        ),
        **shares(
            "valid_accuracy",
            "accuracy of valid answers",
            "high",
            "The share of correct choices among the replies that choose one option; in both orders,"
            " only of samples of which both replies do",
            is_of_read=True,
        ),
        **shares(
            "valid_rate",
            "valid",
            "high",
            "The share of samples whose replies all choose one option",
        ),
        **shares(
            "invalid_rate",
            "invalid",
            "low",
            "The share of samples with replies that choose no option",
        ),
        **shares("failed_rate", "failed", "low", "The share of samples without a reply"),
        **shares(
            "cut_rate",
            "cut",
            "low",
            "The share of samples with a reply that ended at the limit of tokens",
        ),
        "first_rate": FigureDeclaration(
            "first option",
            "none",
            "The share of valid answers that name the first option; in both orders, only of samples"
            " of which both answers are valid.",
        ),
        "position_gap": FigureDeclaration(
            "position gap, 0 is best",
            "zero",
            "The accuracy of valid answers where the first option is right minus that where the"
            " second is; in both orders, only of samples of which both answers are valid.",
        ),
        "consistency": FigureDeclaration(
            "consistency",
            "high",
            "The share of samples with valid answers in both orders that choose the same option in"
            " both.",
        ),
        "n_inconclusive": FigureDeclaration(
            "no usable answer",
            "low",
            "The share of samples whose reply chooses no option, that have no reply, or whose"
            " choice changed with the order. They are not correct.",
        ),
    }

    parser: str = "conclusion"

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        """Return "" for configurations of Wino-X with two numbered options, else the reason."""
        if dataset == "wino_x" and form is ContrastiveTranslationExample:
            return ""
        return (
            "prompted_choice needs two numbered options; mt_*.translations and lm_* of wino_x have"
            f" them, {dataset} {config} does not"
        )

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return answer, category, pair and options of the examples."""
        rows = []
        for example in examples:
            if (
                not isinstance(example, ContrastiveTranslationExample)
                or len(example.contrastive_translations) != 1
                or example.extra.get("answer") not in ("1", "2")
            ):
                raise InputError(
                    f"example {example.id!r}: expected two translations and the number of the right"
                    ' one under "answer", 1 or 2'
                )
            answer = example.extra["answer"]
            options = [
                example.extra.get("correct_filler") or example.correct_translation,
                example.extra.get("incorrect_filler") or example.contrastive_translations[0],
            ]
            rows.append(
                {
                    "answer": answer,
                    "category": example.category,
                    "pair": example.extra.get("pair", ""),
                    "option1": options[0 if answer == "1" else 1],
                    "option2": options[1 if answer == "1" else 0],
                }
            )
        return rows

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        """Refuse unknown values, swapped replies to one question, and pairs of over two rows."""
        for row, reference in enumerate(references):
            if reference["orders"] not in ("", _BOTH):
                raise InputError(
                    f'row {row}: orders: expected "{_BOTH}" or nothing, got {reference["orders"]!r}'
                )
            if reference["cut"] not in ("", _CUT):
                raise InputError(
                    f'row {row}: cut: expected "{_CUT}" or nothing, got {reference["cut"]!r}'
                )
            swapped = reference["swapped_reply"] or reference["swapped_error"]
            if swapped and reference["orders"] != _BOTH:
                raise InputError(
                    f'row {row}: orders: expected "{_BOTH}" for a row with a reply to swapped'
                    " options, got nothing"
                )
        if whole:
            check_twins([reference["pair"] for reference in references])

    def data_fields(
        self, references: Sequence[Mapping[str, Any]], origin: Mapping[str, str]
    ) -> dict[str, str]:
        """Return the signature fields of the data, which do not depend on what a model replied."""
        asked = [
            {key: value for key, value in row.items() if key not in _OF_THE_REPLY}
            for row in references
        ]
        return super().data_fields(asked, origin)

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return figures that follow from verdicts: of pairs, and of valid answers in one order."""
        pairs = twin_figures(judgements, [j.pair for j in judgements])
        figures = super().proof(judgements, signed).joined(pairs)
        # Judgements do not say which option stood first, so that order has to be the given one.
        valid = _valid_shares(judgements) if signed.get("orders") == "given" else {}
        return replace(figures, scores={**figures.scores, **valid})

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict that does not follow from the option that was chosen."""
        for j in judgements:
            if j.predicted in (*OUTCOMES[1:], "inconsistent"):
                check_reading(j, "inconclusive")
            else:
                check_reading(j, "correct" if j.predicted == j.gold else "incorrect")

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        """Parse every reply and compute the figures."""
        check_choice("parser", self.parser, PARSERS)
        choices = read_choices(rows.translations, rows.references, parser=self.parser)
        judgements = judge_rows(
            rows.translations, rows.references, parser=self.parser, ids=rows.ids
        )
        scores, intervals = _rates(choices, judgements)
        outcomes = [choice.outcome for choice in choices]
        has_both = _BOTH in rows.column("orders")
        n_inconsistent = sum(j.predicted == "inconsistent" for j in judgements)
        n_cut = sum(choice.is_cut for choice in choices)
        figures = Figures(
            scores=scores,
            signature={
                "langs": f"{rows.languages[0] or '?'}-{rows.languages[1] or '?'}",
                "parser": self.parser,
                "orders": _BOTH if has_both else "given",
            },
            intervals=intervals,
            judgements=judgements,
            counts={
                **{f"n_{outcome}": outcomes.count(outcome) for outcome in OUTCOMES},
                **({"n_inconsistent": n_inconsistent} if has_both else {}),
                **({"n_cut": n_cut} if n_cut else {}),
            },
        )
        pairs = pair_figures(judgements, rows.column("pair"))
        return summarize(judgements).joined(pairs, figures)


def _valid_shares(judgements: Sequence[Judgement]) -> dict[str, float]:
    """Return the figures over valid answers of samples that were asked in one order."""
    groups: dict[str, list[Judgement]] = {"": [*judgements]}
    for j in judgements:
        groups.setdefault(f"_{j.category}", []).append(j)
    scores: dict[str, float] = {}
    for suffix, members in groups.items():
        n_of = Counter(j.predicted if j.predicted in OUTCOMES else "valid" for j in members)
        scores |= {f"{outcome}_rate{suffix}": n_of[outcome] / len(members) for outcome in OUTCOMES}
        if n_of["valid"]:
            n_correct = sum(j.is_correct for j in members)
            scores[f"valid_accuracy{suffix}"] = n_correct / n_of["valid"]
    return scores


def _rates(
    choices: Sequence[RepliedChoice], judgements: Sequence[Judgement]
) -> tuple[dict[str, float], dict[str, Interval | NoInterval]]:
    """Return the figures that are ratios of counts of samples, with their intervals."""
    categories = [judgement.category for judgement in judgements]
    counted = np.array(
        [_counts(choice, j.gold) for choice, j in zip(choices, judgements, strict=True)],
        dtype=np.float64,
    )
    names = np.asarray(categories)
    has_cut = counted[:, _N_CUT].any()
    estimates: dict[str, Estimate] = {}

    def share(mask: Any, part: int, whole: int) -> Estimate:
        return estimate_share(mask * counted[:, part], mask * counted[:, whole], strata=categories)

    for figure, (part, whole) in _SHARES.items():
        suffixes = {"": np.ones(len(names), dtype=np.bool_)}
        if figure not in _OVERALL:
            suffixes |= {f"_{name}": names == name for name in sorted(set(categories))}
        for suffix, mask in suffixes.items():
            if counted[mask, whole].any() and (has_cut or figure != "cut_rate"):
                estimates[f"{figure}{suffix}"] = share(mask, part, whole)
    if counted[:, _N_FIRST_GOLD].any() and counted[:, _N_SECOND_GOLD].any():
        estimates["position_gap"] = difference(
            share(1, _N_FIRST_RIGHT, _N_FIRST_GOLD), share(1, _N_SECOND_RIGHT, _N_SECOND_GOLD)
        )
    return (
        {name: estimate.value for name, estimate in estimates.items()},
        {name: estimate.interval for name, estimate in estimates.items()},
    )


#: Columns of `_counts`.
_N, _N_VALID, _N_INVALID, _N_FAILED, _N_BOTH, _N_CONSISTENT = range(6)
_N_ANSWERS, _N_RIGHT, _N_FIRST, _N_FIRST_GOLD, _N_FIRST_RIGHT = range(6, 11)
_N_SECOND_GOLD, _N_SECOND_RIGHT, _N_CUT = range(11, 14)
#: Figure -> the columns of its numerator and denominator.
_SHARES = {
    "valid_accuracy": (_N_RIGHT, _N_ANSWERS),
    "valid_rate": (_N_VALID, _N),
    "invalid_rate": (_N_INVALID, _N),
    "failed_rate": (_N_FAILED, _N),
    "cut_rate": (_N_CUT, _N),
    "first_rate": (_N_FIRST, _N_ANSWERS),
    "consistency": (_N_CONSISTENT, _N_BOTH),
}
_OVERALL = ("first_rate", "consistency")


def _counts(choice: RepliedChoice, gold: str) -> list[int]:
    """Return what a sample contributes to the sums that figures are ratios of."""
    is_valid = choice.outcome == "valid"
    numbers = choice.numbers if is_valid else ()
    # the number that the right option had when it was shown
    golds = [gold if i == 0 else _other(gold) for i in range(len(numbers))]
    right = [number == gold for number in numbers]
    has_both = is_valid and len(numbers) == 2
    return [
        1,
        is_valid,
        choice.outcome == "invalid",
        choice.outcome == "failed",
        has_both,
        has_both and choice.is_consistent,
        len(numbers),
        sum(right),
        choice.shown.count("1") if is_valid else 0,
        golds.count("1"),
        sum(r for r, g in zip(right, golds, strict=True) if g == "1"),
        golds.count("2"),
        sum(r for r, g in zip(right, golds, strict=True) if g == "2"),
        choice.is_cut,
    ]
