import dataclasses
import itertools
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cc_hf_studies.common.model_comparison import compared_bleu, compared_rates, compared_verdicts
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from cc_hf.comparing.metrics import evaluator_agreement
from cc_hf.comparing.uncertain import uncertain_samples
from cc_hf.reports.tables.comparisons import uncertain_tables
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from cc_hf.statistics.bootstrap import Bootstrap
from tests.helpers import reported
from tests.helpers.results import agreement_result, agreement_results, small_result
from tests.helpers.usual import judgement, limits, printed, reason, refuses, result_of


def test_orders_of_systems_are_correlated_between_evaluators() -> None:
    b, c = (0.5, 0.7, 0.6, 0.9), (0.4, 0.3, 0.2, 0.1)
    actual = evaluator_agreement(agreement_results(a=c[::-1], b=b, c=c))
    assert actual.systems == ("a.0", "a.1", "a.2", "a.3")
    assert actual.scores["b"] == (0.5, 0.7, 0.6, 0.9)
    values = {(p.left, p.right): round(p.correlation.spearman, 4) for p in actual.pairs}
    assert values == {("a", "b"): 0.8, ("a", "c"): -1, ("b", "c"): -0.8}
    assert actual.mean_spearman == pytest.approx(-1 / 3)
    assert actual.mean_kendall == pytest.approx((2 / 3 - 1 - 2 / 3) / 3)


def test_the_order_of_files_does_not_change_correlations() -> None:
    rows = agreement_results(a=(0.1, 0.2, 0.3, 0.4), b=(0.5, 0.7, 0.6, 0.9))
    left, right = evaluator_agreement(rows), evaluator_agreement(dict(reversed(rows.items())))
    assert left.pairs[0].correlation.spearman == pytest.approx(right.pairs[0].correlation.spearman)


def test_one_model_with_two_options_and_metrics_without_one_count_as_several_evaluators() -> None:
    rows = {}
    for way, n in itertools.product(("score:geometric", "score:reference"), range(3)):
        rows[f"{way}{n}"] = agreement_result(f"s{n}", "a", n / 10, options=way)
    names = ["cc score:geometric", "cc score:reference"]
    assert list(evaluator_agreement(rows).evaluators) == names
    signature = "wxpm|data:winomt|n:2|seed:0"
    rows = {name: rows[name] for name in rows if "geometric" in name}
    others = {f"b{name}": dataclasses.replace(r, signature=signature) for name, r in rows.items()}
    assert list(evaluator_agreement({**rows, **others}).evaluators) == ["cc", "wxpm"]


def test_incomparable_results_are_refused() -> None:
    rows = agreement_results(a=(0.1, 0.2, 0.3), b=(0.5, 0.7, 0.6))
    refuses(r"figure: .* one of accuracy, .*got 'bleu'", evaluator_agreement, rows, figure="bleu")
    fewer = {name: result for name, result in rows.items() if name != "b.2"}
    other = agreement_result("s0", "c", 0.3, ids=("0", "2"))
    equal = agreement_results(a=(0.1, 0.1, 0.1), b=(0.5, 0.7, 0.6))
    for results, message in (
        (agreement_results(a=(0.1, 0.2, 0.3)), "at least three systems by at least two evaluators"),
        (fewer, r"the translations of a\.2 were not judged by .*eval:b"),
        ({**rows, "again": rows["a.0"]}, r"again and a\.0 are the same translations by the same"),
        (equal, r"a gives all 3 systems the same accuracy, 0\.1"),
        ({**rows, "c.0": other}, "expected results of the same examples"),
    ):
        refuses(message, evaluator_agreement, results)


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
    scores = [BLEU().corpus_score(texts, [references]).score / 100 for texts in (first, second)]
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
    first: list[bool | None] = [None if n < 30 else bool(draw.random() < 0.5) for n in range(300)]
    second: list[bool | None] = [bool(flag) and bool(draw.random() < 0.3) for flag in first]
    compared = compared_rates("attack_success", (first, second), [n // 3 for n in range(300)])
    assert compared.n == (270, 300)
    n_first, n_second = sum(map(bool, first)), sum(map(bool, second))
    difference, test = compared.difference, compared.mcnemar
    assert (difference.first, difference.second) == (n_first / 270, n_second / 300)
    assert difference.p_value < 0.01
    assert test is not None
    assert (test.n_only_first, test.n_only_second) == (n_first - n_second, 0)
    # Groups of samples that go together give wider intervals than single samples.
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
    verdicts = ["correct", "incorrect", "inconclusive", "correct"], ["correct", *["incorrect"] * 3]
    first, second = (result_of([judgement(i, v) for i, v in enumerate(row)]) for row in verdicts)
    compared = compared_verdicts("wsd_errors", (first, second), lambda v: v == "incorrect")
    assert (compared.difference.first, compared.difference.second) == (0.25, 0.75)
    assert compared.mcnemar is not None
    assert (compared.mcnemar.n_only_first, compared.mcnemar.n_only_second) == (0, 2)


def test_what_cannot_be_compared_is_refused() -> None:
    refuses("got 1, 2 and 2", compared_bleu, (["a"], ["a", "b"]), ["a", "b"])
    refuses("same samples for both .* 1 and 2", compared_rates, "x", ([True], [True, False]), [0])
    sides = ([None, None], [True, False])
    refuses(r"x: .*samples that count for both .* \[0, 2\]", compared_rates, "x", sides, [0, 1])


def result(**changes: object) -> EvaluationResult:
    judgements = []
    for name, p in {"a": 0.5, "b": 0.56, "c": 0.46, "d": 0.55, "e": None, "f": 0.1}.items():
        category, is_right = "female" if name in "ab" else "male", p is None or p >= 0.5
        verdict = ("incorrect", "correct")[is_right]
        made = Judgement(name, category, is_right, f"Übersetzung {name}", verdict)
        judgements.append(replace(made, probability_correct=p))
    return replace(small_result((0.5, 0.5)), judgements=tuple(judgements), **changes)  # type: ignore[arg-type]


def test_samples_near_the_middle_are_listed_the_least_sure_first() -> None:
    samples = uncertain_samples(result())
    assert [s.example_id for s in samples.samples] == ["a", "c", "d"]
    assert (samples.n, samples.within) == (5, 0.05)
    rows = [tuple(row.values()) for row in samples.to_dict()["categories"]]
    assert rows == [("female", 2, 1), ("male", 3, 2)]
    assert [s.example_id for s in uncertain_samples(result(), within=0.06).samples] == [*"acd", "b"]
    assert [s.example_id for s in uncertain_samples(result(), within=0).samples] == ["a"]


def test_other_metrics_say_what_they_read_in_the_same_translations() -> None:
    texts = {"a": "Übersetzung a", "c": "eine andere"}
    read = {"predicted": "neutral", "gold": "male"}
    judgements = tuple(judgement(n, "incorrect", t, "male", **read) for n, t in texts.items())
    other = replace(result(metric="winomt_pattern_matching"), judgements=judgements)
    samples = uncertain_samples(result(), others=[other], examples=reported.examples())
    readings = [dict(s.readings)["winomt_pattern_matching"] for s in samples.samples]
    assert readings == ["neutral", "", ""]
    text = printed(uncertain_tables(samples, result(), n_shown=1))
    assert "a: 50.0 %, female, WinoMT pattern matching: neutral" in text
    assert "and 2 more" in text
    assert "Übersetzung c" not in text


def test_results_without_probabilities_and_other_data_are_refused() -> None:
    refuses("expected a result with probabilities", uncertain_samples, small_result((0.5, 0.5)))
    others = [small_result((0.5, 0.5), dataset="mucow")]
    refuses("expected results on the same data", uncertain_samples, result(), others=others)
    refuses(r"within: .* number from 0 to 0\.5, got 5", uncertain_samples, result(), within=5)
