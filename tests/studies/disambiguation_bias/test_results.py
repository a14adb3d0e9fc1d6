from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Focus, Judgement, ProbingExample
from cc_hf.studies.disambiguation_bias.attractors import AttractorTable
from cc_hf.studies.disambiguation_bias.results import (
    bias_of_examples,
    bias_of_rows,
    judged_sentences,
)
from tests.helpers.cases import cases
from tests.helpers.judged import result_of
from tests.helpers.refusals import refuses

TABLE = AttractorTable(
    {"bat": {"1": Counter(ball=4), "2": Counter(cave=8)}}, {"bat": {"1": 1, "2": 1}}
)
BIAS = {name: {"homograph": "bat", "freq_diff": i} for i, name in enumerate("abc", 1)}


def result(*verdicts: str) -> EvaluationResult:
    return result_of(
        [Judgement("abcd"[i], "all", v == "correct", "x", v) for i, v in enumerate(verdicts)]
    )


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
    assert joined.features == {"freq_diff": (1, 2, 3)}
    assert joined.is_error == (False, True, False)
    assert joined.homographs == ("bat",) * 3
    assert (joined.n_undecided, joined.n_unknown) == (0, 1)


@cases(("right", (True, False)), ("wrong", (True, True)), ("ignored", (True,)))
def test_an_inconclusive_verdict_counts_as_asked(undecided: str, errors: tuple[bool, ...]) -> None:
    joined = judged_sentences(result("incorrect", "inconclusive"), BIAS, undecided=undecided)
    assert joined.is_error == errors
    assert joined.n_undecided == 2 - len(errors)


def test_values_that_not_all_sentences_have_are_left_out() -> None:
    bias: dict[str, dict[str, Any]] = {"a": {"freq_diff": 1, "length": 2}, "b": {"freq_diff": 2}}
    assert set(judged_sentences(result("correct", "incorrect"), bias).features) == {"freq_diff"}


def test_sentences_without_bias_are_refused() -> None:
    refuses("name the table of attractors", bias_of_examples, [example()])
    refuses("expected homographs with their clusters", bias_of_examples, [example()], TABLE)
    rows: list[tuple[list[tuple[str, dict[str, Any]]], str]] = [
        ([("0", {"freq_diff": "nan"})], "'0': freq_diff: expected a finite number, got 'nan'"),
        ([("0", {"freq_diff": None})], "expected a finite number, got None"),
        ([("0", {}), ("0", {})], "'0': expected one row of bias"),
    ]
    for values, message in rows:
        refuses(message, bias_of_rows, values)


def test_verdicts_without_bias_are_refused() -> None:
    refuses("expected verdicts on single translations", judged_sentences, result(), BIAS)
    refuses("got that of others", judged_sentences, result("correct"), {"z": {"freq_diff": 1}})
    refuses("undecided: expected one of", judged_sentences, result("correct"), BIAS, undecided="no")
