from __future__ import annotations

import numpy as np
import pytest

from cc_hf.cues.selection import ChosenCues, Overlap, best_cues, overlap
from cc_hf.errors import InputError

_SCORES = np.array([[0.2, 0.6, 0.4, 0.4], [0.4, 0.2, 0.5, 0.3]])  # means .3, .4, .45, .35


def test_correct_cues_score_high_and_incorrect_ones_low() -> None:
    high = best_cues(["a", "b", "c", "d"], _SCORES, correct=True)
    assert high.cues == ("c", "b", "d")
    assert high.mean_scores == pytest.approx((0.45, 0.4, 0.35))
    low = best_cues(["a", "b", "c", "d"], _SCORES, correct=False, n=2)
    assert low.cues == ("a", "d")
    assert low.mean_scores == pytest.approx((0.3, 0.35))


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


def test_all_candidates_are_chosen_when_fewer_than_cues() -> None:
    assert best_cues(["a"], np.array([[0.5]]), correct=False) == ChosenCues(("a",), (0.5,))


@pytest.mark.parametrize(
    ("words", "scores", "n"),
    [
        (["a"], np.zeros((2, 3)), 3),
        ([], np.zeros((2, 0)), 3),
        (["a"], np.zeros((0, 1)), 3),
        (["a"], np.zeros(1), 3),
        (["a"], np.zeros((1, 1)), 0),
    ],
    ids=["fewer words than columns", "no words", "no references", "one dimension", "no cues"],
)
def test_score_tables_of_wrong_shape_are_refused(
    words: list[str], scores: np.ndarray, n: int
) -> None:
    with pytest.raises(InputError, match=r"scores: expected|at least 1 cue"):
        best_cues(words, scores, correct=True, n=n)


def test_overlap_counts_only_senses_in_both() -> None:
    chosen = {("a", "1"): ("x", "y", "z"), ("b", "1"): ("u",), ("c", "1"): ("v",)}
    expected = {("a", "1"): ("z", "y", "no candidate"), ("b", "1"): ("w",), ("d", "1"): ("x",)}
    candidates = {("a", "1"): tuple("xyzuvw"), ("b", "1"): ("u", "w"), ("c", "1"): ("v",)}
    # 3 of 6 for two cues, 1 of 2 for one
    counts = Overlap(n_chosen=2, n_expected=4, n_by_chance=1.5)
    assert overlap(chosen, expected, candidates) == counts
