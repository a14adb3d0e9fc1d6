"""Test whether choices between two readings of a pronoun follow its gender or the position of its
referent (Emelin & Sennrich 2021; Emelin 2023, section 4.3.2), for Wino-X.

Each pronoun is correct as often as it is incorrect. Unbiased choices therefore fall on either side
equally often, whatever the gender. Ties are ignored in the bias.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cc_hf.errors import InputError
from cc_hf_studies.common.rank_tests import (
    EffectThresholds,
    RankTest,
    effect_thresholds,
    mann_whitney,
)
from cc_hf_studies.wino_x.referent_choices import UNSTATED, ReferentChoice

__all__ = [
    "GENDER_CODINGS",
    "POSITION_CODING",
    "BiasTest",
    "Frequency",
    "ReferentBias",
    "referent_bias",
]

#: Numbers that stand for genders in the rank test. "program" gives the published values; the thesis
#: prints "1=masculine, 2=feminine, 3=neutral".
GENDER_CODINGS: dict[str, dict[str, int]] = {
    "program": {"female": 1, "male": 2, "neutral": 3},
    "thesis": {"male": 1, "female": 2, "neutral": 3},
}
#: Numbers that stand for the position of the referent among the two nouns of the source, as in the
#: program.
POSITION_CODING: dict[str, int] = {"second": 1, "first": 2}


@dataclass(frozen=True, slots=True)
class Frequency:
    """How often a gender or position occurred among the choices."""

    n_offered: int
    n_preferred: int
    n_correct: int


@dataclass(frozen=True, slots=True)
class BiasTest:
    """A rank test of preferred against rejected readings.

    Attributes:
        feature: "gender" or "position".
        coding: name of the coding; the gender itself if one gender is tested against all others.
        ids: value -> the number that stands for it.
        test: preferred against rejected readings. If the rank-biserial correlation (RBC) is
            positive, higher ids are preferred.
        strength: |RBC|, the bias, in [0, 1].
        attainable: |RBC| of choices that always prefer the higher id, in [0, 1].
        references: the same test of correct against incorrect readings; near 0 if the data are
            unbiased.
        thresholds: the |RBC| from which an effect is small, medium or large, for this base rate.
    """

    feature: str
    coding: str
    ids: Mapping[str, int]
    test: RankTest
    strength: float
    attainable: float
    references: RankTest
    thresholds: EffectThresholds
    size: str


@dataclass(frozen=True)
class ReferentBias:
    """Accuracy and biases of choices.

    Attributes:
        n: number of choices, including ties and all others that are ignored below.
        accuracy: n_correct / n, in [0, 1]; ties count as wrong.
        n_pairs, n_correct_pairs: number of schemas with both twins, and with both choices correct.
        pair_accuracy: n_correct_pairs / n_pairs, in [0, 1]; None if there are no pairs.
        n_open: ties, and choices where neither reading was recognised; ignored below.
        n_unknown_gender, n_unknown_position: further choices whose gender or position is unknown;
            ignored for that feature only.
        tests: gender by each coding, then each gender against all others if there are three, then
            position. A feature that is unknown in all choices has no test.
    """

    n: int
    n_correct: int
    accuracy: float
    n_pairs: int
    n_correct_pairs: int
    pair_accuracy: float | None
    n_open: int
    n_unknown_gender: int
    n_unknown_position: int
    genders: Mapping[str, Frequency]
    positions: Mapping[str, Frequency]
    tests: tuple[BiasTest, ...]

    def test(self, feature: str, coding: str = "program") -> BiasTest:
        """Return the test of a feature."""
        for test in self.tests:
            if (test.feature, test.coding) == (feature, coding):
                return test
        raise InputError(
            "expected one of the tests"
            f" {', '.join(f'{t.feature} ({t.coding})' for t in self.tests) or '(none)'}, got"
            f" {feature} ({coding})"
        )


def referent_bias(choices: Sequence[ReferentChoice]) -> ReferentBias:
    """Compute accuracy, frequencies, gender bias and positional bias of choices."""
    if not choices:
        raise InputError("expected at least one choice, got none")
    if len({choice.example_id for choice in choices}) < len(choices):
        repeated = next(
            i for i, n in Counter(choice.example_id for choice in choices).items() if n > 1
        )
        raise InputError(f"example {repeated!r}: expected one choice, got several")
    n_correct = sum(choice.is_correct is True for choice in choices)
    pairs = _pairs(choices)
    n_correct_pairs = sum(all(choice.is_correct is True for choice in pair) for pair in pairs)
    decided = [choice for choice in choices if choice.is_correct is not None]
    by_gender = [
        _Sides(c.correct_gender, c.incorrect_gender, c.is_correct is True)
        for c in decided
        if _known(c.correct_gender) and _known(c.incorrect_gender)
    ]
    by_position = [
        _Sides(c.correct_position, _other(c), c.is_correct is True)
        for c in decided
        if _known(c.correct_position)
    ]
    _check_values("gender", GENDER_CODINGS["program"], by_gender)
    _check_values("position", POSITION_CODING, by_position)
    codings = (*GENDER_CODINGS.items(), *_each_against_others(by_gender).items())
    tests = [_test("gender", coding, ids, by_gender) for coding, ids in codings if by_gender]
    tests += [_test("position", "program", POSITION_CODING, by_position)] if by_position else []
    return ReferentBias(
        n=len(choices),
        n_correct=n_correct,
        accuracy=n_correct / len(choices),
        n_pairs=len(pairs),
        n_correct_pairs=n_correct_pairs,
        pair_accuracy=n_correct_pairs / len(pairs) if pairs else None,
        n_open=len(choices) - len(decided),
        n_unknown_gender=len(decided) - len(by_gender),
        n_unknown_position=len(decided) - len(by_position),
        genders=_frequencies(by_gender),
        positions=_frequencies(by_position),
        tests=tuple(tests),
    )


@dataclass(frozen=True, slots=True)
class _Sides:
    """The two values of a decided choice."""

    correct: str
    incorrect: str
    is_correct: bool

    @property
    def preferred(self) -> str:
        return self.correct if self.is_correct else self.incorrect

    @property
    def rejected(self) -> str:
        return self.incorrect if self.is_correct else self.correct


def _check_values(feature: str, ids: Mapping[str, int], sides: Sequence[_Sides]) -> None:
    if (
        unknown := {value for side in sides for value in (side.correct, side.incorrect)}
        - ids.keys()
    ):
        raise InputError(
            f'{feature}: expected {", ".join(ids)}, "{UNSTATED}" or nothing, got'
            f" {sorted(unknown)[0]!r}"
        )


def _each_against_others(sides: Sequence[_Sides]) -> dict[str, dict[str, int]]:
    """Return one coding per gender, which tests it against all others; empty for two genders."""
    genders = sorted({value for side in sides for value in (side.correct, side.incorrect)})
    if len(genders) < 3:
        return {}
    return {gender: {other: 2 if other == gender else 1 for other in genders} for gender in genders}


def _pairs(choices: Iterable[ReferentChoice]) -> list[list[ReferentChoice]]:
    by_pair: dict[str, list[ReferentChoice]] = {}
    for choice in choices:
        if choice.pair:
            by_pair.setdefault(choice.pair, []).append(choice)
    if oversized := [name for name, members in by_pair.items() if len(members) > 2]:
        raise InputError(
            f"schema {oversized[0]!r}: expected two examples, got {len(by_pair[oversized[0]])}"
        )
    return [members for members in by_pair.values() if len(members) == 2]


def _known(value: str) -> bool:
    return value not in ("", UNSTATED)


def _other(choice: ReferentChoice) -> str:
    return {"first": "second", "second": "first"}.get(
        choice.correct_position, choice.correct_position
    )


def _frequencies(sides: Sequence[_Sides]) -> dict[str, Frequency]:
    offered = Counter(value for side in sides for value in {side.correct, side.incorrect})
    preferred, correct = (
        Counter(side.preferred for side in sides),
        Counter(side.correct for side in sides),
    )
    return {
        value: Frequency(offered[value], preferred[value], correct[value])
        for value in sorted(offered)
    }


def _test(feature: str, coding: str, ids: Mapping[str, int], sides: Sequence[_Sides]) -> BiasTest:
    values = [(ids[side.preferred], ids[side.rejected]) for side in sides]
    test = mann_whitney([a for a, _ in values], [b for _, b in values])
    attainable = mann_whitney([max(pair) for pair in values], [min(pair) for pair in values])
    references = mann_whitney(
        [ids[side.correct] for side in sides], [ids[side.incorrect] for side in sides]
    )
    thresholds = effect_thresholds(test.n_first / (test.n_first + test.n_second))
    strength = abs(test.rank_biserial)
    return BiasTest(
        feature,
        coding,
        dict(ids),
        test,
        strength,
        abs(attainable.rank_biserial),
        references,
        thresholds,
        thresholds.size(strength),
    )
