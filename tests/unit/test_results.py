"""Texts and names of languages have one form, and blank texts are those that show nothing."""

import math
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cc_hf._version import __version__
from cc_hf.metrics.figures import summarize
from cc_hf.normalization import composed, composed_start, is_blank
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement, Reading, ScoringRequest
from cc_hf.signature import build, own_judges, parse, unparse
from tests.helpers.usual import cases, refuses


def judgement(verdict: str, name: str = "0", category: str = "a") -> Judgement:
    return Judgement(name, category, verdict == "correct", "x", verdict)


def result(**scores: float) -> EvaluationResult:
    return EvaluationResult("", "", "de", "m", "m|n:1", 1, scores, {}, (), (judgement("correct"),))


@cases(
    *(("accuracy", -0.1), ("accuracy", 1.1), ("accuracy", math.nan), ("bleu", 24.0)),
    *(("delta_g", -1.1), ("bleu_gap", 3.0), ("gap", -0.1)),
)
def test_scores_out_of_range_are_refused(name: str, value: float) -> None:
    refuses(rf"score '{name}': expected a number in \[(0|-1), 1\]", result, **{name: value})


@cases(
    ("|sys:org/a@1a2b3c4/beam5|eval:org/a@1a2b3c4", "", "the evaluator,"),
    ("|sys:org/a@1a2b3c4/beam5|eval:org/a@5d6e7f8", "other", "the evaluator,"),
    ("|sys:org/a@1a2b3c4/beam5|eval:org/a@1a2b3c4+b@1", "", "a part of the evaluator,"),
    ("|eval:org/a@1a2b3c4", "a", "the evaluator,"),
    ("|sys:org/b@1a2b3c4/beam5|eval:org/a@5d6e7f8", "a", ""),
    ("|sys:scored|eval:org/a@5d6e7f8", "a", ""),
    ("", "a", ""),
)
def test_a_system_that_judged_itself_is_unfit_to_cite(fields: str, system: str, role: str) -> None:
    made = replace(result(accuracy=1.0), signature=f"m{fields}|n:1", system=system, notes=("x",))
    computed = ("unfit", "level")
    older = {name: value for name, value in made.to_dict().items() if name not in computed}
    for kept in (made, replace(made), EvaluationResult.from_dict(older)):
        reason = kept.unfit.get("itself", "")
        assert (role in reason, "org/a is the system" in reason) == (True, bool(role))
        assert kept.unfit.keys() <= {"itself", "few", "evaluator"}
    assert EvaluationResult.from_json(made.to_json()) == made


def test_differences_may_be_negative() -> None:
    scores = {"delta_g": -1.0, "delta": 0.5, "bleu_gap": -0.1}
    assert EvaluationResult.from_json(result(**scores).to_json()).scores == scores


def test_unknown_and_contradictory_verdicts_are_refused() -> None:
    refuses(r"example '0': verdict: expected one of.*got 'maybe'", judgement, "maybe")
    for verdict in ("incorrect", "inconclusive"):
        refuses(
            f"is_correct is True, which contradicts the verdict '{verdict}'",
            replace,
            judgement(verdict),
            is_correct=True,
        )


def test_summary_counts_every_verdict() -> None:
    verdicts = [("a", "correct"), ("a", "incorrect"), ("a", "inconclusive"), ("b", "correct")]
    verdicts.append(("none", "incorrect"))
    actual = summarize([judgement(v, str(i), c) for i, (c, v) in enumerate(verdicts)])
    assert actual.counts == {"n_correct": 2, "n_inconclusive": 1}
    accuracies = {"accuracy_a": 1 / 3, "accuracy_b": 1.0, "accuracy_none": 0.0}
    assert actual.scores == {"accuracy": 0.4, "min_accuracy": 1 / 3, **accuracies}
    figures = [(c.category, c.n, c.n_correct, c.n_inconclusive) for c in actual.categories]
    assert figures == [("a", 3, 1, 1), ("b", 1, 1, 0), ("none", 1, 0, 0)]
    assert {c.weighted_accuracy for c in actual.categories} == {None}
    assert actual.intervals.keys() == actual.scores.keys()
    refuses("got none", summarize, [])


_INTERVAL = '{"m": {"low": NaN, "high": 1, "level": 0.95}}'
_HIGH = '[{"category": "a", "n": 1, "n_correct": 1, "accuracy": 7}]'
_NUMBER = _HIGH.replace('"a"', "1").replace("7", "1")
_HUGE = f'{{"accuracy": {10**400}}}'
_P = "probability_correct"
_READ: dict[str, Any] = {"example_id": "0", "category": "all", "translation": "x"}
_READ["reading"] = "neutral"
_READINGS = (Reading(**_READ), Reading("1", "all", "y", "", 0.25))


@cases(
    ("dataset", '""', "3", "dataset: expected a text, got 3"),
    ("n", "1,", "true,", "n: expected an integer from 0 to 1,000,000,000, got True"),
    ("n", "1,", f"{10**400},", "n: expected an integer from 0 to"),
    ("n", "1,", f"{2**62},", "n: expected an integer from 0.*, got 4611686018427387904"),
    ("counts", "{}", f'{{"n_groups": {2**62}}}', "counts: n_groups: expected an integer from 0"),
    ("n", "1,", f"{'1' * 5000},", "expected the JSON of .* more digits than can be read"),
    ("counts", "{}", '{"n_ties": "<b>"}', "counts: n_ties: expected a.*got '<b>'"),
    ("intervals", "{}", _INTERVAL, "intervals: m: low: expected a number, got nan"),
    ("categories", "[]", _HIGH, "categories: item 1: accuracy: expected a number from 0 to 1"),
    ("categories", "[]", _NUMBER, "categories: item 1: category: expected a text, got 1"),
    ("example_id", '"0"', "0", "judgements: example 0: example_id.*got 0"),
    ("translation", '"x"', '["x"]', "example '0': translation: expected a text"),
    ("is_correct", "true", "1", "example '0': is_correct: expected true.*got 1"),
    (_P, "null", "NaN", f"example '0': {_P}: expected a number from .*, got nan"),
    (_P, "null", '"<b>"', f"example '0': {_P}: expected a number from 0 to 1 or null, got '<b>'"),
    ("score_correct", "null", "Infinity", "score_correct: expected a number or null, got inf"),
    ("score_correct", "null", "-Infinity", "score_correct: expected a number or null, got -inf"),
    ("weight", "1", "0.5", "example '0': weight: expected an integer from 0.*got 0.5"),
    ("weight", "1", '1, "scores": ["a"]', "example '0': scores: item 1: expected a number"),
    ("scores", "{}", _HUGE, "score 'accuracy': expected a number|expected the JSON of an eval"),
)
def test_json_with_wrong_types_is_refused(name: str, old: str, new: str, message: str) -> None:
    text, given = result().to_json(), f'"{name}": {old}'
    assert text.count(given) == 1
    refuses(message, EvaluationResult.from_json, text.replace(given, f'"{name}": {new}'))


def test_json_with_deep_nesting_or_a_lone_surrogate_is_refused() -> None:
    text = result().to_json()
    lone, whole = (text.replace('"x"', rf'"{x}"') for x in (r"\ud83d", r"\ud83d\ude00"))
    for text in ("[" * 100_000, lone):
        refuses(
            "expected the JSON of an evaluation result .*, got", EvaluationResult.from_json, text
        )
    assert EvaluationResult.from_json(whole).judgements[0].translation == "😀"


@cases(
    ("notes", ("A.", "B."), (), ["a text", [3], None, {"a": "b"}], "a (list|text), got"),
    ("system", "Amazon 2021", "", [3, "a\nb", "\x1b[1m"], "a text in one line.*, got"),
    ("readings", _READINGS, (), [[{**_READ, "reading": 3}]], "a text, got 3"),
    ("readings", _READINGS, (), [[{**_READ, "probability_counted": 2}]], "a number from"),
)
def test_later_fields(field: str, value: Any, absent: Any, wrong: Any, message: str) -> None:
    """They survive JSON, and are empty in older files."""
    made = replace(result(accuracy=1.0), **{field: value})
    assert EvaluationResult.from_json(made.to_json()) == made
    row = made.to_dict()
    del row[field]
    assert getattr(EvaluationResult.from_dict(row), field) == absent
    for bad in wrong:
        refuses(f"{field}: .*expected {message}", EvaluationResult.from_dict, {**row, field: bad})
    assert "system" not in result().to_dict()


_TEXT = st.text(min_size=1, max_size=8)


@given(_TEXT, st.dictionaries(_TEXT, _TEXT, max_size=4))
@example("cc", {"%7C": "%0A", "%3A": "%25"})  # texts that look like escapes
def test_a_signature_parses_to_its_parts(metric: str, fields: dict[str, str]) -> None:
    assert parse(unparse(metric, fields)) == (metric, fields)


def test_the_version_is_the_last_field() -> None:
    assert build("cc", {"data": "winomt", "n": 2}) == f"cc|data:winomt|n:2|v:{__version__}"


@pytest.mark.parametrize("text", ["cc|a", "cc|a:1|a:2"])
def test_malformed_signatures_are_refused(text: str) -> None:
    refuses("not a signature", parse, text)


_TINY, _HASH, _OTHER = "cc-tiny-en-de", "d644c6d303e7", "0123456789ab"
_SERVER = f"server:http://h:1/v1#org/m@{_HASH}"


@cases(
    (f"{_TINY}@{_HASH}", f"{_TINY}@{_HASH}/beam5", [_TINY]),
    (f"{_TINY}@{_HASH}", f"{_TINY}@{_HASH}/beam5/int8 torch/context <sep>", [_TINY]),
    (f"{_TINY}@{_HASH}", f"{_TINY}@{_OTHER}/beam5", []),  # a folder of this name
    (f"folder@{_HASH}", f"{_TINY}@{_HASH}/beam5", ["folder"]),
    ("student@b4b85329b5a5", "bergamot:en-pt@b4b85329b5a5/beam5", ["student"]),
    (f"{_TINY}@{_HASH}", f"a@{_OTHER}/beam5", []),
    (f"org/a@{_HASH}+{_TINY}@{_HASH}", f"{_TINY}@{_HASH}/beam5", ["org/a", _TINY]),
    (f"org/a@{_OTHER}+{_TINY}@{_HASH}", f"org/b@1a2b+{_TINY}@{_HASH}/beam5", [_TINY]),
    ("Helsinki-NLP/opus-mt-en-de@1a2b3c4", "opus-mt-en-de@5d6e7f8/beam5", None),  # a download
    ("google/opus@1a2b3c4", "Helsinki-NLP/opus@5d6e7f8/beam5", []),
    (f"final@{_HASH}", f"final@{_OTHER}/beam5", []),  # folders with other files
    (f"converted@{_HASH}", f"fairseq-model@{_HASH}/beam1", None),  # and with the same
    ("bergamot:en-pt@1a2b3c4", "bergamot:en-pt@5d6e7f8/beam1", None),
    (_SERVER, "server:http://h:2#org/m/greedy/9 tokens", ["org/m"]),
    (_SERVER, "local:org/m@1a2b3c4/float32/greedy/9 tokens", ["org/m"]),
    ("org/opus@1a2b3c4", "opus.beam5", None),  # in attacks
    ("org/opus@1a2b3c4", "opus@training.step500/beam1", None),
    ("opus@1a2b3c4", "opus", None),  # the name of a system
    ("opus@1a2b3c4", "opus (basic)", []),
    ("function f@scores.1a2b3c4d", "f@1a2b3c4d/beam5", []),
    ("opus@1a2b3c4", "scored", []),
    ("", "", []),
    ("", "opus", []),
)
def test_own_judges_are_found(evaluator: str, system: str, names: list[str] | None) -> None:
    expected = [evaluator.partition("@")[0]] if names is None else names
    assert own_judges(evaluator, system) == expected


def test_empty_values_are_refused() -> None:
    refuses("'eval' is empty", build, "cc", {"eval": ""})


@cases(
    "",
    " \t\n",
    "\u00a0\u2003\u3000",  # spaces
    "\u2028\u2029",
    "\u200b\u200c\u200d\u2060\ufeff",  # zero-width characters
    "\u200e\u202b\u00ad",
    "\x00\x1b",
    "\u2800",  # an empty Braille pattern
    "\u3164\u115f\u1160\uffa0",  # fillers
    "\ufe0f\U000e0100\u180b\u034f",  # variation selectors and a joiner
)
def test_a_text_that_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(f"{text}.")


@given(st.text())
def test_every_text_that_strip_empties_is_blank(text: str) -> None:
    assert is_blank(text) or text.strip()


@given(st.text(max_size=8), st.text(max_size=8))
def test_positions_follow_the_characters_before_them(before: str, after: str) -> None:
    text = f"{before} a{after}"  # nothing composes with a space before it
    start = composed_start(text, len(before) + 1)
    assert composed(text)[start:] == composed(f"a{after}")
    assert composed_start(composed(text), start) == start


@pytest.mark.parametrize("start", [-1, 7])
def test_a_position_outside_of_the_text_is_left_to_be_refused(start: int) -> None:
    assert composed_start("A\u0308rzte", start) == start


def test_evaluators_read_composed_texts_only() -> None:
    source, translation = (unicodedata.normalize("NFD", text) for text in ("é", "Ä"))
    request = ScoringRequest(source, translation, 3)
    assert request == ScoringRequest("é", "Ä")
    assert (request.source, request.translation, request.row) == ("é", "Ä", 3)
