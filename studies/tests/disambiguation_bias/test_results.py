"""Results that are joined with their bias, and challenge sets."""

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cc_hf_studies import disambiguation_bias
from cc_hf_studies.common.rank_tests import effect_thresholds
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable
from cc_hf_studies.disambiguation_bias.challenge import SETS, ChallengeSets, challenge_sets
from cc_hf_studies.disambiguation_bias.homographs import TaggedPair
from cc_hf_studies.disambiguation_bias.prediction import error_rate_by_bias, predict_errors
from cc_hf_studies.disambiguation_bias.results import (
    bias_of_examples,
    bias_of_rows,
    judged_sentences,
)

from cc_hf.comparing.published import read_published
from cc_hf.data.files.sense_rows import parse_senses
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Focus, ProbingExample
from studies.tests.disambiguation_bias.corpus import lexicon_of
from tests.helpers.usual import cases, judgement, known, refuses, result_of

COUNTS = {"bat": {"1": Counter(ball=4), "2": Counter(cave=8)}}
TABLE = AttractorTable(COUNTS, {"bat": {"1": 1, "2": 1}})
BIAS = {name: {"homograph": "bat", "freq_diff": i} for i, name in enumerate("abc", 1)}


def result(*verdicts: str) -> EvaluationResult:
    return result_of([judgement("abcd"[i], v, "x") for i, v in enumerate(verdicts)])


def example(**extra: str) -> ProbingExample:
    return ProbingExample("0", "en", "de", "A bat, a ball.", "all", "2", Focus("bat", 2), extra)


def test_bias_is_computed_from_a_table_for_any_form_of_examples() -> None:
    extra = {"homograph": "bat", "cluster": "2"}
    with_cues = ContrastiveSourceExample(
        "1", "en", "de", "A bat, a ball.", Focus("bat", 2), ("x",), ("y",), "all", "2", extra
    )
    bias = bias_of_examples([example(**extra), with_cues, example()], TABLE)
    assert set(bias) == {"0", "1"}
    assert bias["0"] == bias["1"]
    assert bias["0"]["freq_wrong"] == pytest.approx(4 / 6)
    assert (bias["0"]["freq_right"], bias["0"]["length"]) == (0, 6)


def test_bias_is_read_from_examples_that_hold_it() -> None:
    bias = bias_of_examples([example(freq_diff="0.5", length="6", homograph="bat"), example()])
    assert bias == {"0": {"homograph": "bat", "freq_diff": 0.5, "length": 6.0}}


def test_verdicts_are_joined_with_the_bias() -> None:
    joined = judged_sentences(result("correct", "incorrect", "inconclusive", "correct"), BIAS)
    assert (joined.features, joined.is_error) == ({"freq_diff": (1, 2, 3)}, (False, True, False))
    assert (joined.homographs, joined.n_undecided, joined.n_unknown) == (("bat",) * 3, 0, 1)


@cases(("right", (True, False)), ("wrong", (True, True)), ("ignored", (True,)))
def test_an_inconclusive_verdict_counts_as_asked(undecided: str, errors: tuple[bool, ...]) -> None:
    joined = judged_sentences(result("incorrect", "inconclusive"), BIAS, undecided=undecided)
    assert (joined.is_error, joined.n_undecided) == (errors, 2 - len(errors))


def test_values_that_not_all_sentences_have_are_left_out() -> None:
    bias: dict[str, dict[str, Any]] = {"a": {"freq_diff": 1, "length": 2}, "b": {"freq_diff": 2}}
    assert set(judged_sentences(result("correct", "incorrect"), bias).features) == {"freq_diff"}


def test_sentences_without_bias_are_refused() -> None:
    refuses("name the table of attractors", bias_of_examples, [example()])
    refuses("expected homographs with their clusters", bias_of_examples, [example()], TABLE)
    rows: Any = (
        ([("0", {"freq_diff": "nan"})], "'0': freq_diff: expected a finite number, got 'nan'"),
        ([("0", {"freq_diff": "1_0"})], "expected a finite number, got '1_0'"),
        ([("0", {"freq_diff": None})], "expected a finite number, got None"),
        ([("0", {}), ("0", {})], "'0': expected one row of bias"),
    )
    for values, message in rows:
        refuses(message, bias_of_rows, values)


def test_verdicts_without_bias_are_refused() -> None:
    refuses("expected verdicts on single translations", judged_sentences, result(), BIAS)
    refuses("got that of others", judged_sentences, result("correct"), {"z": {"freq_diff": 1}})
    refuses("undecided: expected one of", judged_sentences, result("correct"), BIAS, undecided="no")


def test_values_that_separate_errors_have_a_correlation_of_one() -> None:
    values = {"above": [3, 4, 1, 2, 0], "below": [1, 0, 3, 2, 4]}
    prediction = predict_errors(values, [True, True, False, False, False])
    above, below = prediction.tests
    assert (above.test.rank_biserial, above.u, above.size) == (1, 0, "large")
    assert (below.test.rank_biserial, below.u, below.size) == (-1, 0, "large")
    assert (prediction.n, prediction.n_errors, prediction.error_rate) == (5, 2, 0.4)
    assert prediction.thresholds == effect_thresholds(0.4)


@cases(
    ({}, [True, False], "at least one value per sentence"),
    ({"freq_diff": [1.0]}, [True, False], "freq_diff: expected one value per sentence, 2"),
    ({"freq_diff": [1.0, 2.0]}, [True, True], "nothing to predict"),
    ({"freq_diff": [1.0, 2.0]}, [False, False], "nothing to predict"),
    ({"freq_diff": [1.0, float("nan")]}, [True, False], "finite"),
)
def test_bad_input_fails(values: dict[str, list[float]], errors: list[bool], message: str) -> None:
    refuses(message, predict_errors, values, errors)


def test_deciles_hold_all_sentences_in_the_order_of_their_values() -> None:
    values = np.random.default_rng(0).normal(size=1003)
    groups = error_rate_by_bias(values.tolist(), (values > 1).tolist())
    assert len(groups) == 10
    assert {group.errors.n for group in groups} <= {100, 101}
    assert sum(group.errors.n for group in groups) == 1003
    assert sum(group.errors.k for group in groups) == (values > 1).sum()
    assert all(a.high < b.low for a, b in itertools.pairwise(groups))
    assert all(g.errors.limits[0] <= g.errors.value <= g.errors.limits[1] for g in groups)
    assert " ".join(groups[0].to_dict()) == "low high n n_errors error_rate interval"


def test_equal_values_share_a_group() -> None:
    groups = error_rate_by_bias([0.0] * 95 + [1.0] * 5, [False] * 95 + [True] * 5)
    assert [(g.low, g.errors.n, g.errors.k) for g in groups] == [(0, 95, 0), (1, 5, 5)]
    assert len(error_rate_by_bias([0.1 + 0.2, 0.3] * 9, [True, False] * 9, n_groups=2)) == 1


@cases(
    ([], [], 10, "at least one sentence"),
    ([1.0], [True, False], 10, "1 values for 2"),
    ([float("inf")], [True], 10, "finite"),
    ([1.0], [True], 0, "n_groups"),
)
def test_groups_of_bad_values_fail(values: Any, errors: Any, n_groups: int, message: str) -> None:
    refuses(message, error_rate_by_bias, values, errors, n_groups=n_groups)


def test_published_thresholds_are_those_of_the_error_rates() -> None:
    rates = (0.080, 0.128, 0.149, 0.038, 0.056, 0.068)
    table = read_published(Path(disambiguation_bias.__path__[0]))["Table 3.8"]
    for system, rate in zip(table.rows, rates, strict=True):
        large = table.value(system, "large")
        assert effect_thresholds(rate).large == pytest.approx(large, abs=2e-3)


_LEXICON = lexicon_of(bat={"1": "Schläger", "2": "Fledermaus"}, spring={"1": "Lenz", "2": "Feder"})
_COUNTS = {
    "bat": {"1": Counter(ball=10, cave=1), "2": Counter(cave=10)},
    "spring": {"1": Counter(summer=10), "2": Counter(watch=5)},
}
_SIZES = {"bat": {"1": 90, "2": 10}, "spring": {"1": 60, "2": 40}}
_TABLE = AttractorTable(_COUNTS, _SIZES, lexicon="a" * 64)


def pair(name: str, text: str, homograph: str, cluster: str) -> TaggedPair:
    start = text.index(homograph)
    return TaggedPair(name, text, "", homograph, start, len(text[:start].split()), cluster, "")


POOL = [
    pair("a", "the ball and the bat", "bat", "2"),  # most bias: +2
    pair("b", "the ball and the bat", "bat", "1"),  # -2
    pair("c", "the ball and bat and nothing else here", "bat", "2"),  # 10 / 8
    pair("d", "the summer and the spring", "spring", "1"),  # -2
    pair("e", "one spring or the other spring", "spring", "2"),  # 0
    pair("f", "one spring or the other", "spring", "2"),  # 0, shorter
    pair("g", "one spring", "spring", "2"),  # too short
]


def chosen(**options: Any) -> ChallengeSets:
    given = {"n": 3, "min_tokens": 5, **options}
    return challenge_sets(given.pop("pairs", POOL), _TABLE, _LEXICON, **given)


def names(sets: ChallengeSets, name: str) -> list[str]:
    return [example.id for example in sets.sets[name]]


def test_the_most_biased_and_the_rarest_come_first() -> None:
    sets = chosen(n=6)
    assert names(sets, "most_biased") == ["a", "c", "e", "f", "b", "d"]
    # senses by their share: bat 2 (10 %), spring 2 (40 %), spring 1 (60 %), bat 1 (90 %)
    assert names(sets, "rarest") == ["c", "a", "e", "f", "d", "b"]
    assert sorted(names(sets, "random")) == list("abcdef")
    assert (sets.n_pool, sets.n_short) == (6, 1)
    assert chosen().overlap("most_biased", "rarest") == 1


def test_the_random_set_depends_on_the_seed_only() -> None:
    drawn = [names(chosen(seed=1, n=6, by=by), "random") for by in ("freq_diff", "ppmi_diff")]
    assert drawn[0] == drawn[1]
    assert len({tuple(names(chosen(seed=seed, n=6), "random")) for seed in range(5)}) > 1


def test_a_homograph_can_be_limited() -> None:
    sets = chosen(max_per_homograph=1)
    assert names(sets, "most_biased") == ["a", "e"]
    assert all(len({e.extra["homograph"] for e in s}) == len(s) for s in sets.sets.values())


def test_examples_hold_senses_group_and_bias() -> None:
    sets = chosen()
    example = sets.sets["most_biased"][0]
    assert (example.gold, example.category) == ("2", "rare")
    assert known(example.focus).text == "bat"
    extra = example.extra
    assert parse_senses(extra["senses"], "") == dict(_LEXICON.clusters("bat"))
    assert (float(extra["freq_diff"]), float(extra["length"])) == (2.0, 5)
    assert (extra["freq_wrong_cluster"], sets.sets["rarest"][-1].category) == ("1", "rare")
    assert chosen(n=6).sets["rarest"][-1].category == "frequent"


def test_ids_are_unique_where_a_sentence_has_several_homographs() -> None:
    text = "the bat in spring and so on"
    sets = chosen(pairs=[pair("0", text, "bat", "1"), pair("0", text, "spring", "1")])
    assert set(names(sets, "random")) == {"0:bat:4", "0:spring:11"}


def test_signatures_name_pool_and_choice() -> None:
    sets = chosen()
    for name, text in sets.signatures.items():
        assert text.startswith(f"challenge|set:{name}|")
        for part in ("|n:3|", "|pool:6.", "|pairs:200|", "|lexicon:aaaaaaa|", "|seed:0|"):
            assert part in text
    assert "|by:freq_diff|" in sets.signatures["most_biased"]
    assert "|by:" not in sets.signatures["random"]
    assert chosen(pairs=POOL[:-2]).signatures != sets.signatures


def test_the_sets_are_configurations_of_a_dataset() -> None:
    sets = chosen()
    declared = sets.declaration(name="pool.jsonl")
    assert [config.name for config in declared.configs] == list(SETS)
    assert list(declared.read({}, "rarest", "test")) == list(sets.sets["rarest"])
    assert "pool.jsonl, 6 in all" in declared.description


@cases(
    ({"n": 0}, "n: expected 1 or more"),
    ({"max_per_homograph": 0}, "max_per_homograph: expected 1 or more"),
    ({"by": "bias"}, "by: expected one of freq_right"),
    ({"min_tokens": 50}, "at least one sentence of 50 tokens or more, got none"),
    ({"pairs": []}, "at least one sentence"),
    ({"pairs": [pair("x", "a fan and so on too", "fan", "1")]}, "pair x: expected a homograph"),
    ({"pairs": [pair("x", "a bat and so on too", "bat", "7")]}, "pair x: expected a homograph"),
    ({"pairs": [replace(POOL[0], start=3)]}, "pair a: start: expected the position"),
)
def test_pools_and_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(message, chosen, **options)
