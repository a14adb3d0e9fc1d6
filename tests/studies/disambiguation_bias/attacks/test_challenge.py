from __future__ import annotations

import random
from dataclasses import replace

from cc_hf.studies.disambiguation_bias.attacks.challenge import choose_challenge
from cc_hf.studies.disambiguation_bias.attacks.samples import AdversarialSample
from tests.helpers.refusals import refuses
from tests.studies.disambiguation_bias.attacks.helper import sample_of


def samples() -> list[AdversarialSample]:
    kinds = ("insert_at_homograph", "replace_at_homograph", "insert_at_other")
    rows = []
    for i in range(60):
        word = "spring" if i > 20 else "bat"
        row = sample_of("hot", id=str(i), kind=kinds[i % 3], homograph=word, freq_diff=float(i))
        rows.append(row)
    return rows


def test_the_highest_differences_at_the_homograph_are_chosen() -> None:
    chosen = choose_challenge(samples(), n=5, max_per_homograph=3)
    assert [row.freq_diff for row in chosen.biased] == [58.0, 57.0, 55.0, 19.0, 18.0]
    assert [row.homograph for row in chosen.biased] == ["spring"] * 3 + ["bat"] * 2
    assert (len(chosen.random), chosen.n) == (5, 60)


def test_the_order_of_the_samples_does_not_matter() -> None:
    shuffled = samples()
    random.Random(1).shuffle(shuffled)
    assert choose_challenge(shuffled, n=7) == choose_challenge(samples(), n=7)
    others = choose_challenge(samples(), n=7, seed=1)
    assert others.biased == choose_challenge(samples(), n=7).biased
    assert others.random != choose_challenge(samples(), n=7).random


def test_of_equal_samples_the_first_are_chosen() -> None:
    equal = [replace(sample, freq_diff=1.0) for sample in samples()]
    assert [row.id for row in choose_challenge(equal, n=3).biased] == ["0", "1", "3"]


def test_bad_input_is_refused() -> None:
    for options in ({"n": 0}, {"max_per_homograph": 0}):
        refuses("expected at least 1, got 0", choose_challenge, samples(), **options)
    refuses(r"change at the homograph .* got none among 20", choose_challenge, samples()[2::3])
