import json
from functools import partial

import numpy as np
import pytest

from cc_hf.plugins.calibration.mlm_insertions import (
    SenseCandidates,
    candidates_json,
    discriminating_words,
    most_probable,
    parse_candidates,
)
from cc_hf.plugins.calibration.selection import ChosenCues, Overlap, best_cues, overlap
from tests.helpers.usual import cases, refuses

_WORDS = ["gas", "ion", "red", "new"]
_SENTENCES = [np.log([0.70, 0.001, 0.15, 0.149]), np.log([0.001, 0.30, 0.30, 0.399])]


def test_the_arithmetic_average_follows_a_single_confident_sentence() -> None:
    # arithmetic: .3505, .1505, .225, .274; geometric, squared: .0007, .0003, .045, .0595
    for average, order in (("arithmetic", "gas new red ion"), ("geometric", "new red gas ion")):
        assert " ".join(most_probable(_WORDS, _SENTENCES, n=4, average=average)) == order
    assert most_probable(_WORDS, iter(_SENTENCES), n=2) == ("new", "red")


def test_equally_probable_words_keep_their_order() -> None:
    alike = [np.log([0.25, 0.25, 0.5])]
    assert most_probable(["b", "a", "c"], alike, n=3) == ("c", "b", "a")


def test_the_order_of_sentences_does_not_change_the_words() -> None:
    rows = list(np.random.default_rng(0).dirichlet(np.ones(200), size=30))
    words = [f"w{i}" for i in range(200)]
    for average in ("geometric", "arithmetic"):
        given, turned = map(np.log, rows), map(np.log, rows[::-1])
        expected = most_probable(words, given, average=average)
        assert most_probable(words, turned, average=average) == expected


@cases(
    ({"logprobs": []}, "at least one sentence, got none"),
    ({"average": "median"}, "average: expected one of geometric, arithmetic, got 'median'"),
    ({"n": 0}, "at least 1 word to keep, got 0"),
    ({"logprobs": [*_SENTENCES, np.zeros(3)]}, "sentence 2: expected log-probabilities of 4"),
)
def test_bad_distributions_are_refused(change: dict[str, object], message: str) -> None:
    refuses(message, most_probable, **{"words": _WORDS, "logprobs": _SENTENCES, **change})


def test_whole_lists_are_compared_before_they_are_cut() -> None:
    words = {"pedal": "gas brake car rear ion", "machine": "ion linear gas fast beam"}
    lists = {sense: text.split() for sense, text in words.items()}
    actual = discriminating_words(lists, ambiguous_word="accelerator", n=2)
    assert actual == {  # gas and ion come late in the other list, and are dropped all the same
        "pedal": SenseCandidates(("brake", "car"), ("linear", "fast")),
        "machine": SenseCandidates(("linear", "fast"), ("brake", "car")),
    }


def test_stop_words_and_the_ambiguous_word_are_dropped_after_the_cut() -> None:
    lists = {"a": ["the", "bat", "fruit", "brown"], "b": ["The", "-", "wooden", "big"]}
    words = discriminating_words(lists, ambiguous_word="bat", n=3)
    # the case is kept: en-ru publishes "The"
    assert words["a"] == SenseCandidates(("fruit",), ("The", "wooden"))

    all_words = discriminating_words(lists, ambiguous_word="bat", n=3, stop_words=())
    assert all_words["a"].correct == ("the", "fruit")


def test_incorrect_candidates_alternate_between_the_other_senses() -> None:
    lists = {"a": ["own", "first"], "b": ["own", "x", "y", "z"], "c": ["u", "y", "w", "x"]}
    words = discriminating_words(lists, ambiguous_word="ball", n=4)
    assert words["a"].incorrect == ("u", "x", "y", "w")
    assert words["b"].correct == ("z",)  # own, x and y are in the list of another sense
    assert words["b"].incorrect == ("u", "first", "w")

    four = {"a": ["o"], "b": ["p"], "c": ["q", "r"], "d": ["s", "t", "u"]}
    assert discriminating_words(four, ambiguous_word="ball")["a"].incorrect == tuple("pqsrtu")


def test_equal_lists_give_no_candidates() -> None:
    actual = discriminating_words({"a": ["x", "y"], "b": ["y", "x"]}, ambiguous_word="bat")
    assert actual["a"] == SenseCandidates((), ())


def test_a_single_sense_and_no_candidates_are_refused() -> None:
    words = partial(discriminating_words, ambiguous_word="bat")
    refuses("'bat': expected at least two senses to tell.*got 1", words, {"a": ["x"]})
    refuses("at least 1 candidate, got 0", words, {"a": ["x"], "b": ["y"]}, n=0)


def test_candidates_survive_writing_and_parsing() -> None:
    given = {"bat": {"животное": ("fruit", "'s"), "club": ()}}
    text = candidates_json(given)
    assert parse_candidates(text) == given
    assert "животное" in text
    assert json.loads(text)["bat"]["club"] == []


@cases(
    ("{", "expected the JSON of {ambiguous word: .* got '{'"),
    ("[]", r"expected an object, got \[\]"),
    ('{"bat": ["fruit"]}', r"bat: expected an object, got \['fruit'\]"),
    ('{"bat": {"animal": "fruit"}}', "bat: animal: expected a list, got 'fruit'"),
    ('{"bat": {"animal": ["fruit", " "]}}', "bat: animal: item 2: expected a text.*got ' '"),
)
def test_malformed_candidate_files_are_refused(text: str, message: str) -> None:
    refuses(message, parse_candidates, text)


_SCORES = np.array([[0.2, 0.6, 0.4, 0.4], [0.4, 0.2, 0.5, 0.3]])  # means .3, .4, .45, .35


def test_correct_cues_score_high_and_incorrect_ones_low() -> None:
    high = best_cues(["a", "b", "c", "d"], _SCORES, correct=True)
    assert high.cues == ("c", "b", "d")
    assert high.mean_scores == pytest.approx((0.45, 0.4, 0.35))
    low = best_cues(["a", "b", "c", "d"], _SCORES, correct=False, n=2)
    assert low.cues == ("a", "d")
    assert low.mean_scores == pytest.approx((0.3, 0.35))
    assert best_cues(["a"], np.array([[0.5]]), correct=False) == ChosenCues(("a",), (0.5,))


@pytest.mark.parametrize("correct", [True, False], ids=["correct", "incorrect"])
def test_equal_means_keep_the_order_of_candidates(correct: bool) -> None:
    scores = np.array([[0.1, 0.3, 0.3, 0.2], [0.3, 0.1, 0.1, 0.2]])
    assert best_cues(["z", "y", "x", "w"], scores, correct=correct).cues == ("z", "y", "x")
    assert best_cues(["w", "x", "y", "z"], scores, correct=correct).cues == ("w", "x", "y")


def test_the_order_of_references_does_not_change_the_cues() -> None:
    random = np.random.default_rng(1)
    scores = random.random((40, 10))
    words = [f"w{i}" for i in range(10)]
    for _ in range(20):
        shuffled = random.permutation(scores)
        assert best_cues(words, shuffled, correct=True) == best_cues(words, scores, correct=True)


@cases(
    (["a"], np.zeros((2, 3)), 3),  # fewer words than columns
    ([], np.zeros((2, 0)), 3),  # no words
    (["a"], np.zeros((0, 1)), 3),  # no references
    (["a"], np.zeros(1), 3),  # one dimension
    (["a"], np.zeros((1, 1)), 0),  # no cues
)
def test_scores_of_wrong_shape_are_refused(words: list[str], scores: np.ndarray, n: int) -> None:
    refuses(r"scores: expected|at least 1 cue", best_cues, words, scores, correct=True, n=n)


def test_overlap_counts_only_senses_in_both() -> None:
    chosen = {("a", "1"): ("x", "y", "z"), ("b", "1"): ("u",), ("c", "1"): ("v",)}
    expected = {("a", "1"): ("z", "y", "no candidate"), ("b", "1"): ("w",), ("d", "1"): ("x",)}
    candidates = {("a", "1"): tuple("xyzuvw"), ("b", "1"): ("u", "w"), ("c", "1"): ("v",)}
    # 3 of 6 for two cues, 1 of 2 for one
    counts = Overlap(n_chosen=2, n_expected=4, n_by_chance=1.5)
    assert overlap(chosen, expected, candidates) == counts
