from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cc_hf.comparing.people.labels import with_labels
from cc_hf.results import EvaluationResult
from tests.helpers.labelled import N, is_right, simplegen_result
from tests.helpers.usual import cases, read_jsonl, refuses, write_jsonl, write_result


def _labels(result: EvaluationResult, step: int, path: Path, **more: Any) -> Path:
    """Write labels of each so-manieth translation by two people who agree."""
    rows = []
    for i in range(0, N, step):
        judgement, label = result.judgements[i], "correct" if is_right(i) else "wrong"
        labels = {f"binarized_annotator{n}": label for n in (1, 2)}
        rows.append(
            {"id": judgement.example_id, "translation": judgement.translation, **labels, **more}
        )
    return write_jsonl(path, rows)


def test_labels_with_their_probability_correct_the_figures(tmp_path: Path) -> None:
    result = simplegen_result()
    path = _labels(result, 3, tmp_path / "labels.jsonl", inclusion=1 / 3)
    first, *rows = read_jsonl(path)
    write_jsonl(path, [{**first, "binarized_annotator2": "correct"}, *rows])
    labelled = with_labels(result, [path])
    interval = labelled.intervals["corrected_accuracy"]
    assert interval.low < 0.7 < interval.high
    assert (labelled.counts["n_trusted"], labelled.judgements[0].trusted) == (134, 0.5)
    assert (labelled.judgements[3].trusted, labelled.judgements[3].inclusion) == (1, 1 / 3)
    assert "|trusted:people/n134" in labelled.signature


def test_where_all_are_labelled_no_probability_is_needed(tmp_path: Path) -> None:
    labelled = with_labels(
        simplegen_result(), [_labels(simplegen_result(), 1, tmp_path / "labels.jsonl")]
    )
    assert labelled.scores["corrected_accuracy"] == pytest.approx(0.7)


def test_a_corrected_result_of_another_system_transfers(tmp_path: Path) -> None:
    other = simplegen_result(system="b")
    labelled = with_labels(other, [_labels(other, 2, tmp_path / "l.jsonl", inclusion=0.5)])
    actual = with_labels(simplegen_result(), [write_result(tmp_path, "b", labelled)])
    assert "transferred_accuracy" in actual.scores
    assert "corrected_accuracy" not in actual.scores
    for result, source, message in (
        (simplegen_result(), other, "without"),
        (
            simplegen_result("gender_accuracy"),
            other,
            r"c\.json: expected a result by gender_accuracy",
        ),
        (simplegen_result(), _signed(labelled, "cues:other"), "another 'cues'"),
        (simplegen_result(), _signed(labelled, "langs:en-fr"), "another 'langs'"),
    ):
        refuses(message, with_labels, result, [write_result(tmp_path, "c", source)])


def _signed(result: EvaluationResult, option: str) -> EvaluationResult:
    return replace(result, signature=result.signature.replace("|n:", f"|{option}|n:"))


@cases(
    (["l.jsonl"], {}, r"l\.jsonl: example .*: expected the key inclusion"),
    (["l.jsonl"], {"inclusion": 0}, r"l\.jsonl: line 1: inclusion: expected a probability"),
    (["l.jsonl"], {"translation": "other", "inclusion": 0.5}, "other"),
    (["l.jsonl", "m.jsonl"], {}, "2 files without a key"),
    (["a.json", "b.json"], {}, "2 keys"),
)
def test_labels_that_bias_are_refused(names: Any, more: Any, message: str, tmp_path: Path) -> None:
    files = [_labels(simplegen_result(), 2, tmp_path / name, **more) for name in names]
    refuses(message, with_labels, simplegen_result(), files)
