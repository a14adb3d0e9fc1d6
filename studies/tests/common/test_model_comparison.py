"""Two models compared by BLEU, by rates and by verdicts, with intervals and tests."""

import random
from typing import Any

import numpy as np
import pytest
from cc_hf_studies.common.model_comparison import compared_bleu, compared_rates, compared_verdicts
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from cc_hf.statistics.bootstrap import Bootstrap
from tests.helpers.usual import judgement, known, limits, reason, refuses, result_of

WORDS = ["das", "ein", "Haus", "alte", "Mann", "geht", "nach", "und", "sie", "den", "Hund", "."]


def texts(share: float, seed: int) -> tuple[list[str], list[str]]:
    """Return references and translations in which so many words are right."""
    draw = random.Random(seed)
    references = [draw.choices(WORDS, k=draw.randint(5, 15)) for _ in range(120)]

    def said(word: str) -> str:
        return word if draw.random() < share else draw.choice(WORDS)

    translations = [[said(word) for word in row] for row in references]
    return [" ".join(row) for row in references], [" ".join(row) for row in translations]


def test_bleu_and_its_test_are_those_of_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    references, first = texts(0.8, 1)
    _, second = texts(0.7, 1)
    compared = compared_bleu((first, second), references, bootstrap=Bootstrap(3, 500))
    difference = compared.difference

    scores = [
        BLEU().corpus_score(translations, [references]).score / 100
        for translations in (first, second)
    ]
    assert [difference.first, difference.second] == pytest.approx(scores, abs=1e-12)

    monkeypatch.setenv("SACREBLEU_SEED", "3")
    options: Any = {"references": [references], "test_type": "ar", "n_samples": 500}
    outcomes: Any
    _, outcomes = PairedTest([("a", first), ("b", second)], {"BLEU": BLEU()}, **options)()
    assert difference.p_value == pytest.approx(outcomes["BLEU"][1].p_value, abs=0.02)
    assert limits(difference.interval)[1] < 0
    assert compared.signatures[0].startswith("bleu|nrefs:1|")


def test_equal_translations_do_not_differ() -> None:
    references, first = texts(0.8, 1)
    actual = compared_bleu((first, first), references, bootstrap=Bootstrap(0, 100)).difference
    assert (actual.difference, actual.p_value) == (0, 1)
    assert reason(actual.interval)


def test_rates_count_the_samples_of_each_model_and_pair_those_of_both() -> None:
    draw = np.random.default_rng(0)
    first: list[bool | None] = [
        None if n < 30 else bool(draw.random() < 0.5)  # the first 30 do not count
        for n in range(300)
    ]
    second: list[bool | None] = [
        bool(flag) and bool(draw.random() < 0.3)  # true only where the first is
        for flag in first
    ]

    compared = compared_rates("attack_success", (first, second), [n // 3 for n in range(300)])
    assert compared.n == (270, 300)

    n_first, n_second = sum(map(bool, first)), sum(map(bool, second))
    difference, test = compared.difference, known(compared.mcnemar)
    assert (difference.first, difference.second) == (n_first / 270, n_second / 300)
    assert difference.p_value < 0.01
    assert (test.n_only_first, test.n_only_second) == (n_first - n_second, 0)


def test_samples_that_go_together_give_wider_intervals_than_single_ones() -> None:
    # Ten copies of each verdict are worth no more than one if they go together.
    copies = [flag for flag in (True, False) * 20 for _ in range(10)]
    others = [flag for flag in (True, True, False, False) * 10 for _ in range(10)]

    widths = []
    for names in (range(400), [n // 10 for n in range(400)]):
        low, high = limits(compared_rates("x", (copies, others), names).difference.interval)
        widths.append(high - low)
    assert widths[1] > 2 * widths[0]


def test_a_rate_of_few_samples_has_no_interval() -> None:
    actual = compared_rates("x", ([None] * 19 + [True], [True, False] * 10), range(20)).difference
    assert "n = 1, " in reason(actual.interval)
    assert 0 < actual.p_value <= 1


def test_verdicts_of_the_same_examples_are_compared() -> None:
    verdicts = (
        ["correct", "incorrect", "inconclusive", "correct"],
        ["correct", "incorrect", "incorrect", "incorrect"],
    )
    first, second = (
        result_of([judgement(index, verdict) for index, verdict in enumerate(row)])
        for row in verdicts
    )

    compared = compared_verdicts("wsd_errors", (first, second), lambda v: v == "incorrect")
    assert (compared.difference.first, compared.difference.second) == (0.25, 0.75)
    test = known(compared.mcnemar)
    assert (test.n_only_first, test.n_only_second) == (0, 2)  # the third and the fourth


def test_samples_that_cannot_be_compared_are_refused() -> None:
    refuses("got 1, 2 and 2", compared_bleu, (["a"], ["a", "b"]), ["a", "b"])
    refuses("same samples for both .* 1 and 2", compared_rates, "x", ([True], [True, False]), [0])
    sides = ([None, None], [True, False])
    refuses(r"x: .*samples that count for both .* \[0, 2\]", compared_rates, "x", sides, [0, 1])
