from __future__ import annotations

from dataclasses import replace

import pytest

from cc_hf.comparing.uncertain import uncertain_samples
from cc_hf.errors import InputError
from cc_hf.reports.tables.result_lists import uncertain_tables
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from tests.helpers import reported
from tests.helpers.results import small_result
from tests.helpers.terminal import printed

PROBABILITIES = {"a": 0.5, "b": 0.56, "c": 0.46, "d": 0.55, "e": None, "f": 0.1}


def result(**changes: object) -> EvaluationResult:
    judgements = []
    for name, p in PROBABILITIES.items():
        category, is_right = "female" if name in "ab" else "male", p is None or p >= 0.5
        verdict = ("incorrect", "correct")[is_right]
        made = Judgement(name, category, is_right, f"Übersetzung {name}", verdict)
        judgements.append(replace(made, probability_correct=p))
    return replace(small_result((0.5, 0.5)), judgements=tuple(judgements), **changes)  # type: ignore[arg-type]


def test_samples_near_the_middle_are_listed_the_least_sure_first() -> None:
    samples = uncertain_samples(result())
    assert [s.example_id for s in samples.samples] == ["a", "c", "d"]
    assert (samples.n, samples.within) == (5, 0.05)
    assert samples.to_dict()["categories"] == [
        {"category": "female", "n": 2, "n_uncertain": 1},
        {"category": "male", "n": 3, "n_uncertain": 2},
    ]
    assert [s.example_id for s in uncertain_samples(result(), within=0.06).samples] == [*"acd", "b"]
    assert [s.example_id for s in uncertain_samples(result(), within=0).samples] == ["a"]


def test_other_metrics_say_what_they_read_in_the_same_translations() -> None:
    judgements = tuple(
        Judgement(name, "male", False, text, "incorrect", predicted="neutral", gold="male")
        for name, text in (("a", "Übersetzung a"), ("c", "eine andere"))
    )
    other = replace(result(metric="winomt_pattern_matching"), judgements=judgements)
    samples = uncertain_samples(result(), others=[other], examples=reported.examples())
    readings = [dict(s.readings)["winomt_pattern_matching"] for s in samples.samples]
    assert readings == ["neutral", "", ""]
    text = printed(uncertain_tables(samples, result(), n_shown=1))
    assert "a: 50.0 %, female, WinoMT pattern matching: neutral" in text
    assert "and 2 more" in text
    assert "Übersetzung c" not in text


def test_results_without_probabilities_and_other_data_are_refused() -> None:
    with pytest.raises(InputError, match="expected a result with probabilities"):
        uncertain_samples(small_result((0.5, 0.5)))
    with pytest.raises(InputError, match="expected results on the same data"):
        uncertain_samples(result(), others=[small_result((0.5, 0.5), dataset="mucow")])
    with pytest.raises(InputError, match=r"within: expected a number from 0 to 0\.5, got 5"):
        uncertain_samples(result(), within=5)
