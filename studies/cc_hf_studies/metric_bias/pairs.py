"""What a system does with two sentences that differ in the gender of one person alone: both right
(minimal pair accuracy, Manna et al. 2025), or the same gender whatever the sentence says.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from cc_hf_studies.metric_bias.preference import PairShare

__all__ = ["Member", "PairBias", "members", "pair_bias"]

_OTHER = {"male": "female", "female": "male"}


@dataclass(frozen=True, slots=True)
class Member:
    """One of the two sentences of a pair.

    Attributes:
        gold: the gender that the sentence says, male or female.
        reading: the gender that is read in its translation; anything else for none.
        is_pro: whether the gender agrees with the stereotype; None if it is not known.
    """

    pair: str
    gold: str
    reading: str
    is_pro: bool | None = None


@dataclass(frozen=True, slots=True)
class PairBias:
    """What a system does with pairs, as shares of them.

    Attributes:
        right: both are translated with the right gender: minimal pair accuracy.
        same: both are translated with the same gender, whatever the sentence says: prior bias.
        same_gender: gender -> the share of pairs that are both translated with it.
        different: both have a gender, and not the same one; these include the right ones.
        unread: one or both have no gender that could be read.
        right_pro: gender -> among the right pairs, the share in which the sentence with the
            stereotype is of it; {} without right pairs, or if stereotypes are not known.
    """

    right: PairShare
    same: PairShare
    same_gender: dict[str, PairShare]
    different: PairShare
    unread: PairShare
    right_pro: dict[str, PairShare]


def members(result: EvaluationResult) -> list[Member]:
    """Return what a result reads in the translations of sentences that come in pairs.

    A metric that only says right or wrong reads the gender of the sentence, or the other one. The
    stereotype is that of the ids of WinoMT's pairs.
    """
    is_winomt = any(j.example_id.endswith((".pro", ".anti")) for j in result.judgements)
    read = []
    for judgement in result.judgements:
        if not judgement.pair:
            continue
        gold = judgement.gold or judgement.category
        if gold not in _OTHER:
            raise InputError(
                f"example {judgement.example_id}: expected the gender male or female, got {gold!r}"
            )
        is_pro = judgement.example_id.endswith(".pro") if is_winomt else None
        read.append(Member(judgement.pair, gold, _reading(judgement, gold), is_pro))
    genders: dict[str, set[str]] = {}
    for member in read:
        genders.setdefault(member.pair, set()).add(member.gold)
    for pair, golds in genders.items():
        if len(golds) != len(_OTHER):
            raise InputError(
                f"pair {pair}: expected a male and a female sentence, got {golds.pop()} twice"
            )
    return read


def _reading(judgement: Judgement, gold: str) -> str:
    if judgement.predicted or judgement.gold or judgement.verdict == "inconclusive":
        return judgement.predicted
    if judgement.probability_correct is not None and judgement.score_correct is None:
        return ""  # blank or too long, and counted as incorrect
    return gold if judgement.is_correct else _OTHER[gold]


def pair_bias(sentences: Iterable[Member]) -> PairBias:
    """Return how often both sentences of a pair are right, and how often both have one gender."""
    by_pair: dict[str, list[Member]] = {}
    for sentence in sentences:
        by_pair.setdefault(sentence.pair, []).append(sentence)
    if not by_pair or any(len(twins) != len(_OTHER) for twins in by_pair.values()):
        raise InputError(
            "expected verdicts on sentences in pairs of two, such as on winomt pairs or mt_geneval"
            f" counterfactual_de, got {len(by_pair)} pairs"
        )
    pairs = list(by_pair.values())
    readings = [tuple(twin.reading for twin in twins) for twins in pairs]
    are_right = [all(twin.reading == twin.gold for twin in twins) for twins in pairs]
    right = [twin for twins in itertools.compress(pairs, are_right) for twin in twins]
    pro = [twin.gold for twin in right if twin.is_pro]
    return PairBias(
        right=_share(are_right),
        same=_share([pair[0] == pair[1] in _OTHER for pair in readings]),
        same_gender={
            gender: _share([pair == (gender, gender) for pair in readings]) for gender in _OTHER
        },
        different=_share([set(pair) == set(_OTHER) for pair in readings]),
        unread=_share([not set(pair) <= set(_OTHER) for pair in readings]),
        right_pro={g: _share([gold == g for gold in pro]) for g in _OTHER} if pro else {},
    )


def _share(flags: Sequence[bool]) -> PairShare:
    return PairShare.of(np.array(flags))
