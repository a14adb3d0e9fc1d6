"""A file of results is refused where its judgements deny what it says, and marked where nothing
shows it.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cc_hf.data.files.result_files import read_result_file
from cc_hf.results import EvaluationResult, Interval
from tests.helpers.metric_rows import drawn_rows, drawn_scores, judged
from tests.helpers.plugins import add_package
from tests.helpers.usual import cases, metric_class, refuses, small_result, write_text

N = 24
CC, CTS = "contrastive_conditioning", "contrastive_translation_scoring"
SIMPLEGEN, WINOMT = "simplegen_accuracy", "winomt_pattern_matching"


def drawn(metric: str) -> EvaluationResult:
    texts, references = drawn_rows(metric, 0, N)
    options = (
        {"evaluator": drawn_scores(0, n_levels=4)} if metric_class(metric).takes_evaluator else {}
    )
    return judged(metric, texts, references, **options)


def edited(result: EvaluationResult, edits: Mapping[str, Any]) -> str:
    """Return the JSON of a result with other values, by the keys on the way to them; None removes
    a value.
    """
    row = json.loads(result.to_json())
    for path, value in edits.items():
        *above, last = (int(key) if key.isdecimal() else key for key in path.split("/"))
        inner: Any = row
        for key in above:
            inner = inner[key]
        if value is None:
            del inner[last]
        else:
            inner[last] = value
    return json.dumps(row)


def read(folder: Path, text: str) -> EvaluationResult:
    (result,) = read_result_file(write_text(folder / "r.json", text)).results
    return result


_FLIPPED = {"judgements/0/is_correct": True, "judgements/0/verdict": "correct"}
_SIDES = {"judgements/0/score_correct": 0.7, "judgements/0/probability_correct": 0.7 / 1.1}


@cases(
    (SIMPLEGEN, {"scores/accuracy": 0.999}, "scores: accuracy: the file says 0.999, its.*0.458333"),
    (SIMPLEGEN, {"scores/delta": 0.0}, "scores: delta: the file says 0, its.* give -0.0833333"),
    (SIMPLEGEN, {"scores/incorrect_rate": None}, "incorrect_rate: the file says nothing, .*0.5416"),
    (SIMPLEGEN, {"scores/corrected_accuracy": 0.9}, "corrected_accuracy: .*0.9, .* give nothing"),
    (CC, {"scores/weighted_accuracy": 0.9}, "scores: weighted_accuracy: the file says 0.9"),
    (WINOMT, {"scores/f1_male": 0.9}, "scores: f1_male: the file says 0.9"),
    (CTS, {"scores/pair_accuracy": 0.5}, "scores: pair_accuracy: the file says 0.5, .* give 0.25"),
    (CTS, {"categories/0/n_correct": 9}, "categories: female: n_correct: .* says 9, .* give 4"),
    (CTS, {"categories/0": None}, "categories: female: n: the file says nothing, .* give 12"),
    (CC, {"categories/1/weighted_accuracy": 0.9}, "male: weighted_accuracy: the file says 0.9"),
    (CC, {"intervals/accuracy/low": 0.7}, "intervals: accuracy: low: the file says 0.7"),
    (CC, {"intervals/min_accuracy/high": 1.0}, "intervals: min_accuracy: high: the file says 1"),
    (CC, {"intervals/min_accuracy": None}, "intervals: min_accuracy: low: the file says nothing"),
    (CC, {"intervals/x": {"low": 0.9, "high": 0.1}}, "intervals: x: expected limits around"),
    (CC, {"intervals/x": {"low": -0.5, "high": 0.1}}, "in its range, got -0.5 to 0.1"),
    (CC, {"counts/n_ties": 0}, "counts: n_ties: the file says 0, its judgements give 6"),
    (CC, {"counts/n_ties": None}, "counts: n_ties: the file says nothing, its judgements give 6"),
    (SIMPLEGEN, {"counts/n_incorrect": 3}, "counts: n_incorrect: the file says 3, .* give 13"),
    (CC, {"n": 3648}, "n: the file says 3648, and has 24 judgements"),
    (CC, {"judgements/0": None}, "n: the file says 24, and has 23 judgements"),
    (SIMPLEGEN, _FLIPPED, "example '0': verdict: 'female' for 'male' gives 'incorrect'"),
    (WINOMT, _FLIPPED, "example '0': verdict: 'female' for 'male' gives 'incorrect'"),
    ("wino_x_pattern_matching", _FLIPPED, "'female' for 'male' gives 'inconclusive' or 'incorr"),
    ("gender_accuracy", _FLIPPED, "example '0': verdict: 'female' for 'male' gives 'incorrect'"),
    ("gender_form", _FLIPPED, "example '0': verdict: 'female' for 'male' gives 'incorrect'"),
    ("homograph_accuracy", _FLIPPED, "example '0': verdict: '2' for '1' gives 'incorrect'"),
    ("expected_form", _FLIPPED, "example '0': verdict: '' for 'schön' gives 'incorrect'"),
    ("prompted_choice", _FLIPPED, "example '0': verdict: '2' for '1' gives 'incorrect'"),
    ("critical_errors", _FLIPPED, "'added_negation' for '' gives 'incorrect', the file says"),
    (CC, _FLIPPED, "example '0': verdict: its scores give 'incorrect', the file says 'correct'"),
    (CC, {"judgements/0/probability_correct": 0.9}, "example '0': probability_correct: its scores"),
    (CC, {"judgements/0/score_correct": 0.9}, "example '0': probability_correct: its scores give"),
    (CC, {"judgements/0/weight": 1}, "example '0': weight: expected 7, the rank of its confidence"),
    (CTS, {"judgements/1/scores/0": 0.9}, r"example '1': score_correct.*give \(0.9, 0.8\)"),
    (CTS, _SIDES, r"example '0': score_correct, score_incorrect: its scores give \(0.6, 0.4\)"),
)
def test_what_judgements_deny_is_refused(
    metric: str, edits: Mapping[str, Any], message: str, tmp_path: Path
) -> None:
    refuses(rf"r\.json: .*{message}", read, tmp_path, edited(drawn(metric), edits))


@cases(
    ("n:24", "n:3648", "n of the signature: the file says 3648, and has 24 judgements"),
    ("tie:correct", "tie:incorrect", "verdict: its scores give 'incorrect', the file says 'corr"),
)
def test_a_signature_that_judgements_deny_is_refused(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    signature = drawn(CC).signature.replace(old, new)
    refuses(message, read, tmp_path, edited(drawn(CC), {"signature": signature}))


_UNPROVED = "Not proved: the file has no judgements from which its figures follow"
_OLDER = (
    "Figures that follow from the judgements are by today's rules of contrastive_conditioning"
    " (version 5); the file is by an older version, which gave others"
)
_LATER = (
    "Not proved: the file is by version 99 of contrastive_conditioning, and the rules of version 5"
    " are known here"
)


@cases(
    ({"scores/accuracy": 0.999, "judgements": []}, 0.999, [_UNPROVED]),
    ({"scores/accuracy": 0.999, "metric": "own"}, 0.999, ["Not proved: the metric own is not"]),
    ({"scores/accuracy": 0.999, "signature": "m:99"}, 0.999, [_LATER]),
    ({"scores/accuracy": 0.999, "signature": "m:4"}, 0.75, [_OLDER]),
    ({"signature": "m:4"}, 0.75, []),
    ({}, 0.75, []),
)
def test_figures_that_nothing_proves_are_shown_with_a_note(
    edits: Mapping[str, Any], accuracy: float, notes: list[str], tmp_path: Path
) -> None:
    result = drawn(CC)
    signed = {"signature": result.signature.replace("m:5", str(edits.get("signature", "m:5")))}
    shown = read(tmp_path, edited(result, {**edits, **signed}))
    assert shown.scores["accuracy"] == accuracy
    assert [note[: len(notes[0])] for note in shown.notes if note not in result.notes] == notes
    assert read(tmp_path, shown.to_json()) == shown  # a note is not repeated


def test_results_without_translations_are_proved_as_well(tmp_path: Path) -> None:
    from cc_hf.plugins.leaderboard.store import without_translations

    for metric in (CC, CTS, "coverage", "critical_errors", WINOMT):
        published = without_translations(drawn(metric))
        assert {j.translation for j in published.judgements} == {""}
        assert read(tmp_path, published.to_json()) == published


def test_a_metric_of_another_package_may_have_fewer_figures(site: Path, tmp_path: Path) -> None:
    add_package(
        site,
        "toy",
        {"cc_hf.metrics": {"words": "toy:Words"}},
        "from tests.helpers.fake_metric import Words",
    )
    whole = small_result((0.4, 0.9), metric="words", fields="|m:1")
    figures = {"accuracy": 0.65}, {"accuracy": Interval(0.5, 0.8)}
    result = replace(whole, scores=figures[0], intervals=figures[1], categories=(), counts={})
    assert read(tmp_path, result.to_json()) == result
    forged = edited(result, {"scores/accuracy": 0.999})
    refuses("accuracy: the file says 0.999, its judgements give 0.65", read, tmp_path, forged)
