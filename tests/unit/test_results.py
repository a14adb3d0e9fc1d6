from __future__ import annotations

from dataclasses import replace

import pytest

from cc_hf.errors import InputError
from cc_hf.metrics.summary import summarize
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from tests.helpers.cases import cases_by_message


def judgement(verdict: str, name: str = "0", category: str = "a") -> Judgement:
    return Judgement(name, category, verdict == "correct", "x", verdict)


def result(**scores: float) -> EvaluationResult:
    return EvaluationResult("", "", "de", "m", "m|n:1", 1, scores, {}, (), (judgement("correct"),))


@pytest.mark.parametrize(
    "scores",
    [
        {"accuracy": -0.1},
        {"accuracy": 1.1},
        {"bleu": 24.0},
        {"accuracy": float("nan")},
        {"delta_g": -1.1},
        {"bleu_gap": 3.0},
        {"gap": -0.1},
    ],
    ids=[
        "accuracy below 0",
        "accuracy above 1",
        "bleu in points",
        "nan",
        "difference below -1",
        "difference above 1",
        "gap below 0",
    ],
)
def test_scores_out_of_range_are_refused(scores: dict[str, float]) -> None:
    (name,) = scores
    with pytest.raises(InputError, match=rf"score '{name}': expected a number in \[(0|-1), 1\]"):
        result(**scores)


@pytest.mark.parametrize(
    ("fields", "system", "role"),
    [
        ("|sys:org/a@1a2b3c4/beam5|eval:org/a@1a2b3c4", "", "the evaluator,"),
        ("|sys:org/a@1a2b3c4/beam5|eval:org/a@5d6e7f8", "other", "the evaluator,"),
        ("|sys:org/a@1a2b3c4/beam5|eval:org/a@1a2b3c4+b@1", "", "a part of the evaluator,"),
        ("|eval:org/a@1a2b3c4", "a", "the evaluator,"),
        ("|sys:org/b@1a2b3c4/beam5|eval:org/a@5d6e7f8", "a", ""),
        ("|sys:scored|eval:org/a@5d6e7f8", "a", ""),
        ("", "a", ""),
    ],
)
def test_a_system_that_judged_itself_is_not_fit_to_cite_also_in_older_files(
    fields: str, system: str, role: str
) -> None:
    made = replace(result(accuracy=1.0), signature=f"m{fields}|n:1", system=system, notes=("x",))
    older = {name: value for name, value in made.to_dict().items() if name != "unfit"}
    for kept in (made, replace(made), EvaluationResult.from_dict(older)):
        reason = kept.unfit.get("itself", "")
        assert (role in reason, "org/a is the system" in reason) == (True, bool(role))
        assert kept.unfit.keys() <= {"itself"}
    assert EvaluationResult.from_json(made.to_json()) == made


def test_differences_may_be_negative() -> None:
    assert EvaluationResult.from_json(
        result(delta_g=-1.0, delta=0.5, bleu_gap=-0.1).to_json()
    ).scores == {"delta_g": -1.0, "delta": 0.5, "bleu_gap": -0.1}


def test_unknown_and_contradictory_verdicts_are_refused() -> None:
    with pytest.raises(InputError, match=r"example '0': verdict: expected one of.*got 'maybe'"):
        judgement("maybe")
    for verdict in ("incorrect", "inconclusive"):
        with pytest.raises(
            InputError, match=f"is_correct is True, which contradicts the verdict '{verdict}'"
        ):
            replace(judgement(verdict), is_correct=True)


def test_summary_counts_every_verdict() -> None:
    verdicts = {
        "a": ["correct", "incorrect", "inconclusive"],
        "b": ["correct"],
        "none": ["incorrect"],
    }
    found = summarize(
        [judgement(v, f"{c}{i}", c) for c, vs in verdicts.items() for i, v in enumerate(vs)]
    )
    assert found.counts == {"n_correct": 2, "n_inconclusive": 1}
    assert found.scores == {
        "accuracy": 0.4,
        "min_accuracy": 1 / 3,
        "accuracy_a": 1 / 3,
        "accuracy_b": 1.0,
        "accuracy_none": 0.0,
    }
    assert [
        (c.category, c.n, c.n_correct, c.n_inconclusive, c.weighted_accuracy)
        for c in found.categories
    ] == [("a", 3, 1, 1, None), ("b", 1, 1, 0, None), ("none", 1, 0, 0, None)]
    assert found.intervals.keys() == found.scores.keys()
    with pytest.raises(InputError, match="got none"):
        summarize([])


@cases_by_message(
    ("old", "new", "message"),
    [
        ('"dataset": ""', '"dataset": 3', "dataset: expected a text, got 3"),
        ('"n": 1,', '"n": true,', "n: expected a number of judgements, got True"),
        ('"n": 1,', f'"n": {10**400},', "n: expected a number of judgements"),
        ('"n": 1,', f'"n": {"1" * 5000},', "expected the JSON of .* more digits than can be read"),
        ('"counts": {}', '"counts": {"n_ties": "<b>"}', "counts: n_ties: expected a.*got '<b>'"),
        (
            '"intervals": {}',
            '"intervals": {"m": {"low": NaN, "high": 1, "level": 0.95}}',
            "intervals: m: low: expected a number, got nan",
        ),
        (
            '"categories": []',
            '"categories": [{"category": "a", "n": 1, "n_correct": 1, "accuracy": 7}]',
            "categories: 'a': accuracy: expected a number in",
        ),
        (
            '"categories": []',
            '"categories": [{"category": 1, "n": 1, "n_correct": 1, "accuracy": 1}]',
            "categories: 1: category: expected a text, got 1",
        ),
        ('"example_id": "0"', '"example_id": 0', "judgements: example 0: example_id.*got 0"),
        ('"translation": "x"', '"translation": ["x"]', "example '0': translation: expected a text"),
        ('"is_correct": true', '"is_correct": 1', "example '0': is_correct: expected true.*got 1"),
        (
            '"probability_correct": null',
            '"probability_correct": NaN',
            "example '0': probability_correct: expected a number in .*, got nan",
        ),
        (
            '"probability_correct": null',
            '"probability_correct": "<b>"',
            "example '0': probability_correct: expected a number in .* or null, got '<b>'",
        ),
        (
            '"score_correct": null',
            '"score_correct": Infinity',
            "example '0': score_correct: expected a number or null, got inf",
        ),
        ('"weight": 1', '"weight": 0.5', "example '0': weight: expected a number, 0 or.*got 0.5"),
        ('"weight": 1', '"weight": 1, "scores": ["a"]', "example '0': scores: expected numbers"),
        (
            '"scores": {}',
            f'"scores": {{"accuracy": {10**400}}}',
            "score 'accuracy': expected a number|expected the JSON of an evaluation result",
        ),
    ],
)
def test_json_with_values_of_wrong_types_is_refused(old: str, new: str, message: str) -> None:
    text = result().to_json()
    assert text.count(old) == 1
    with pytest.raises(InputError, match=message):
        EvaluationResult.from_json(text.replace(old, new))


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, result().to_json().replace('"x"', r'"\ud83d"')],
    ids=["deep nesting", "lone surrogate"],
)
def test_json_with_deep_nesting_or_a_lone_surrogate_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected the JSON of an evaluation result, got"):
        EvaluationResult.from_json(text)
    whole = EvaluationResult.from_json(result().to_json().replace('"x"', r'"\ud83d\ude00"'))
    assert whole.judgements[0].translation == "😀"


def test_notes_survive_json_and_are_empty_in_older_files() -> None:
    noted = replace(
        result(accuracy=1.0), notes=("This evaluator was made for something else.", "Two.")
    )
    assert EvaluationResult.from_json(noted.to_json()) == noted
    row = noted.to_dict()
    del row["notes"]
    assert EvaluationResult.from_dict(row).notes == ()
    for bad in ("a text", [3], None, {"a": "b"}):
        with pytest.raises(InputError, match="notes: expected a list of texts, got"):
            EvaluationResult.from_dict({**row, "notes": bad})


def test_the_name_of_the_system_survives_json_and_is_empty_in_older_files() -> None:
    plain, named = result(accuracy=1.0), replace(result(accuracy=1.0), system="Amazon 2021")
    assert EvaluationResult.from_json(named.to_json()) == named
    assert "system" not in plain.to_dict()
    assert EvaluationResult.from_json(plain.to_json()).system == ""
    with pytest.raises(InputError, match="system: expected a text, got 3"):
        EvaluationResult.from_dict({**named.to_dict(), "system": 3})
