"""Language models that are asked in words: the pairs as questions for `cc-hf ask`, and its choices
as scores of both translations.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf import signature
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf_studies.metric_bias.sets import Pair, Sets

__all__ = ["Choices", "questions", "scores_of_choices"]

_GENDERS = ("male", "female")
_SETTING = re.compile(r"(?:open(?:, (?P<referent>male|female))?|male|female)")
_SCORES = {"correct": 1.0, "incorrect": 0.0, "inconclusive": 0.5}
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Choices:
    """The answers of a language model that chose between the translations of each pair.

    Attributes:
        n: number of questions.
        n_invalid: how many have no valid answer, or none at all. They count as ties.
        n_changed: how many got another answer when the options were swapped. They count as ties.
            None if the model was asked in one order only, where such answers cannot be told.
        first: share of valid answers that name the option shown first, in [0, 1]; None for none.
    """

    n: int
    n_invalid: int
    n_changed: int | None
    first: float | None


def questions(sets: Sets, *, src_lang: str, tgt_lang: str) -> Iterator[dict[str, Any]]:
    """Yield the pairs as rows that `cc-hf ask` reads, one for each source.

    The right translation is the one of the gender that the source says. Where it says none, the
    masculine one stands as `correct_translation`: the accuracy there is how often it was chosen.
    """
    for name, pairs in {**sets.open_sets, **sets.known_sets}.items():
        groups: dict[str, list[tuple[str, Pair, str]]] = defaultdict(list)
        for pair in pairs:
            for gender, source in pair.sources.items():
                referent = f", {pair.referent}" if pair.referent else ""
                setting = gender or f"open{referent}"
                groups[setting].append((f"{name}/{pair.id}/{setting}", pair, source))
        for setting, group in groups.items():
            # The right one is the first option in half of the rows of each set and setting, so that
            # a model that looks at the position only shows no preference.
            answers = _balanced([row_id for row_id, *_ in group])
            for row_id, pair, source in group:
                texts = (pair.masculine, pair.feminine)
                right, other = texts[::-1] if setting == "female" else texts
                yield {
                    "id": row_id,
                    "source": source,
                    "correct_translation": right,
                    "contrastive_translations": [other],
                    "answer": answers[row_id],
                    "category": setting,
                    "src_lang": src_lang,
                    "tgt_lang": tgt_lang,
                }


def _balanced(ids: Sequence[str]) -> dict[str, str]:
    """Return for each id "1" or "2", each for half of them, by hashes of the ids."""
    in_order = sorted(ids, key=lambda row_id: hashlib.sha256(row_id.encode()).digest())
    return {row_id: "12"[number % 2] for number, row_id in enumerate(in_order)}


def scores_of_choices(
    result: EvaluationResult,
) -> tuple[dict[str, tuple[_Floats, list[str]]], dict[str, _Floats], Choices]:
    """Return the choices as scores: 1 for the chosen translation, 0 for the other one, 0.5 for both
    if there is no valid answer or one that changes with the order of the options.

    Returns:
        Name of a set -> scores of shape (n, 2) of masculine and feminine translations, and the
        referents, where the source leaves the gender open; name of a set -> scores of shape
        (n, 2, 2), under the masculine and the feminine source, where it says it; and the counts.
    """
    remedy = (
        "ask what `cc-hf study metric_bias questions` wrote, all of it, by `cc-hf ask --shots 0`"
    )
    signed = signature.parse(result.signature)[1]
    if result.metric != "prompted_choice" or not result.judgements:
        raise InputError(f"expected choices of prompted_choice, got {result.metric}; {remedy}")
    # Such demonstrations would show the masculine as right where nothing is.
    if signed.get("demos", "").startswith("data") and signed.get("shots") != "0":
        raise InputError(
            f"expected no demonstrations from the questions, got {signed['shots']}; {remedy}"
        )
    open_rows: dict[str, list[tuple[list[float], str]]] = defaultdict(list)
    known: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(dict))
    for judgement in result.judgements:
        name, _, rest = judgement.example_id.partition("/")
        pair, _, setting = rest.rpartition("/")
        match = _SETTING.fullmatch(setting)
        if not pair or match is None:
            raise InputError(
                f"example {judgement.example_id!r}: expected an id of a set, a pair and a setting"
                f" with slashes between; {remedy}"
            )
        right = _SCORES[judgement.verdict]
        scores = [1 - right, right] if setting == "female" else [right, 1 - right]
        if setting in _GENDERS:
            known[name][pair][setting] = scores
        else:
            open_rows[name].append((scores, match["referent"] or ""))
    for name, pairs in known.items():
        for pair, genders in pairs.items():
            if len(genders) < len(_GENDERS):
                raise InputError(
                    f"{name}, pair {pair}: expected both sources, got {', '.join(genders)} alone;"
                    f" {remedy}"
                )
    return (
        {
            name: (np.array([s for s, _ in rows]), [r for _, r in rows])
            for name, rows in open_rows.items()
        },
        {
            name: np.array([[genders[gender] for gender in _GENDERS] for genders in pairs.values()])
            for name, pairs in known.items()
        },
        _counts(result, signed),
    )


def _counts(result: EvaluationResult, signed: Mapping[str, str]) -> Choices:
    counts = result.counts
    has_both = signed.get("orders") == "both"
    return Choices(
        result.n,
        counts.get("n_invalid", 0) + counts.get("n_failed", 0),
        counts.get("n_inconsistent", 0) if has_both else None,
        result.scores.get("first_rate"),
    )
