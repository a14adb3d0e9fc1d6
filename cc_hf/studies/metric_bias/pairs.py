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
from cc_hf.studies.metric_bias.preference import Share

__all__ = ["Member", "PairBias", "members", "pair_bias"]

_OTHER = {"male": "female", "female": "male"}


@dataclass(frozen=True, slots=True)
class Member:
    """One of the two sentences of a pair.

    Attributes:
        pair: name that both share.
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

    right: Share
    same: Share
    same_gender: dict[str, Share]
    different: Share
    unread: Share
    right_pro: dict[str, Share]


def members(result: EvaluationResult) -> list[Member]:
    """Return what a result reads in the translations of sentences that come in pairs.

    A metric that only says right or wrong reads the gender of the sentence, or the other one. The
    stereotype is that of the ids of WinoMT's pairs.

    Args:
        result: by any metric with verdicts, on winomt pairs, mt_geneval counterfactual_*, or data
            of your own with a column `pair` and the categories male and female.

    Raises:
        InputError: for a result without pairs, or with another gender.

    Examples:
        >>> from cc_hf.schema import Judgement
        >>> judgement = Judgement("0.pro", "male", False, "Sie kam.", "incorrect", pair="0")
        >>> members(EvaluationResult("", "", "", "m", "m|n:1", 1, {}, {}, (), (judgement,)))
        [Member(pair='0', gold='male', reading='female', is_pro=True)]
    """
    is_winomt = any(j.example_id.endswith((".pro", ".anti")) for j in result.judgements)
    in_pairs = [judgement for judgement in result.judgements if judgement.pair]
    if not in_pairs:
        raise InputError(
            "expected a result with verdicts on sentences in pairs, such as winomt pairs or"
            f" mt_geneval counterfactual_de, got none of {result.n}"
        )
    read = []
    for judgement in in_pairs:
        gold = judgement.gold or judgement.category
        if gold not in _OTHER:
            raise InputError(
                f"example {judgement.example_id}: expected the gender male or female, got {gold!r}"
            )
        by_verdict = gold if judgement.is_correct else _OTHER[gold]
        reading = judgement.predicted or ("" if judgement.gold else by_verdict)
        is_pro = judgement.example_id.endswith(".pro") if is_winomt else None
        read.append(Member(judgement.pair, gold, reading, is_pro))
    return read


def pair_bias(sentences: Iterable[Member]) -> PairBias:
    """Return how often both sentences of a pair are right, and how often both have one gender.

    Raises:
        InputError: for no pairs, or one that is not two sentences with different genders.

    Examples:
        >>> genders = ("male", "female")
        >>> right = [Member("a", gender, gender) for gender in genders]
        >>> bias = pair_bias([*right, *(Member("b", gender, "male") for gender in genders)])
        >>> bias.right.value, bias.same.value, bias.same_gender["male"].value
        (0.5, 0.5, 0.5)
    """
    by_pair: dict[str, list[Member]] = {}
    for sentence in sentences:
        by_pair.setdefault(sentence.pair, []).append(sentence)
    for name, twins in by_pair.items():
        if sorted(twin.gold for twin in twins) != ["female", "male"]:
            raise InputError(
                f"pair {name}: expected a male and a female sentence, got"
                f" {', '.join(twin.gold for twin in twins)}"
            )
    if not by_pair:
        raise InputError("expected at least one pair, got none")
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


def _share(flags: Sequence[bool]) -> Share:
    return Share.of(np.array(flags))
