from __future__ import annotations

from collections.abc import Iterator

import pytest

from cc_hf.errors import InputError
from cc_hf.studies.disambiguation_bias.attacks.samples import AttackJudgement
from cc_hf.studies.disambiguation_bias.attacks.transfer import jaccard, transferability
from tests.helpers.refusals import refuses
from tests.studies.disambiguation_bias.attacks.helper import sample_of


def judged(successes: set[int], wrong_seed: int = -1) -> Iterator[AttackJudgement]:
    for number in range(8):
        seed = "deleted" if number == wrong_seed else "correct"
        outcome = "flipped:water" if number in successes else "correct"
        yield AttackJudgement(sample_of("hot", id=str(number)), "", "", seed, outcome)


def test_three_systems_are_compared_by_their_true_union() -> None:
    first, second, third = judged({0, 1, 2}), judged({1, 2, 3}), judged({2, 3, 4}, 0)
    transfers = transferability({"a": first, "b": second, "c": third})
    found = [("".join(t.systems), t.n, t.n_all, t.n_any) for t in transfers]
    assert found == [("ab", 8, 2, 4), ("ac", 7, 1, 4), ("bc", 7, 2, 4), ("abc", 7, 1, 4)]
    assert transfers[-1].jaccard == 0.25


def test_two_systems_have_one_comparison_and_none_without_success() -> None:
    (transfer,) = transferability({"a": judged(set()), "b": judged(set())})
    assert transfer.jaccard is None
    assert jaccard([{1}, {1}]) == 1.0


def test_bad_input_is_refused() -> None:
    refuses("two systems or more, got 1", transferability, {"a": judged(set())})
    refuses("sets: expected two or more, got 1", jaccard, [{1}])
    fewer = (row for row in judged(set()) if row.sample.id != "3")
    with pytest.raises(InputError, match=r"same samples, got '3' in only one of a and b"):
        transferability({"a": judged(set()), "b": fewer})
