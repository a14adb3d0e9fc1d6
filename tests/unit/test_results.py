from __future__ import annotations

from dataclasses import replace

import pytest

from cc_hf.errors import InputError
from cc_hf.metrics.summary import summarize
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement


def judgement(verdict: str, name: str = "0", category: str = "a") -> Judgement:
    return Judgement(name, category, verdict == "correct", "x", verdict)


def result(**scores: float) -> EvaluationResult:
    return EvaluationResult("", "", "de", "m", "m|n:1", 1, scores, {}, (), (judgement("correct"),))


@pytest.mark.parametrize("scores", [{"accuracy": -0.1}, {"accuracy": 1.1}, {"bleu": 24.0}, {"accuracy": float("nan")}, {"delta_g": -1.1}, {"bleu_gap": 3.0}, {"gap": -0.1}])
def test_scores_out_of_range_are_refused(scores: dict[str, float]) -> None:
    (name,) = scores
    with pytest.raises(InputError, match=rf"score '{name}': expected a number in \[(0|-1), 1\]"):
        result(**scores)


def test_differences_may_be_negative() -> None:
    assert EvaluationResult.from_json(result(delta_g=-1.0, delta=0.5, bleu_gap=-0.1).to_json()).scores == {"delta_g": -1.0, "delta": 0.5, "bleu_gap": -0.1}


def test_a_verdict_that_contradicts_is_refused() -> None:
    with pytest.raises(InputError, match="example '0': verdict: expected one of correct, incorrect, inconclusive, got 'maybe'"):
        judgement("maybe")
    for verdict in ("incorrect", "inconclusive"):
        with pytest.raises(InputError, match=f"is_correct is True, which contradicts the verdict '{verdict}'"):
            replace(judgement(verdict), is_correct=True)


def test_summary_counts_every_verdict() -> None:
    verdicts = {"a": ["correct", "incorrect", "inconclusive"], "b": ["correct"], "none": ["incorrect"]}
    found = summarize([judgement(v, f"{c}{i}", c) for c, vs in verdicts.items() for i, v in enumerate(vs)], n_resamples=50)
    assert found.counts == {"n_correct": 2, "n_inconclusive": 1}
    assert found.scores == {"accuracy": 0.4, "min_accuracy": 1 / 3, "accuracy_a": 1 / 3, "accuracy_b": 1.0, "accuracy_none": 0.0}
    assert [(c.category, c.n, c.n_correct, c.n_inconclusive, c.weighted_accuracy) for c in found.categories] == [
        ("a", 3, 1, 1, None),
        ("b", 1, 1, 0, None),
        ("none", 1, 0, 0, None),
    ]
    assert found.intervals.keys() == found.scores.keys()
    with pytest.raises(InputError, match="got none"):
        summarize([])
