from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cc_hf.analysis.human_agreement import agreement_with_labels, read_annotations
from cc_hf.errors import InputError
from cc_hf.metrics.contrastive_conditioning import evaluate
from cc_hf.results import EvaluationResult

P = {"0": 0.9, "1": 0.4, "2": 0.7}  # probability that the translation is right


@pytest.fixture
def result() -> EvaluationResult:
    def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [P[t[1:]] if s.startswith("c") else 1 - P[t[1:]] for s, t in zip(sources, translations, strict=True)]

    references = [{"correct_sources": ["c"], "incorrect_sources": ["i"], "category": gold} for gold in ("male", "male", "female")]
    return evaluate(["t0", "t1", "t2"], references, scores, n_resamples=10)


def write(tmp_path: Path, rows: list[object]) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def row(index: int, gold: str, *labels: str | None, translation: str | None = None) -> dict[str, object]:
    return {"index": index, "translation": translation or f"t{index}", "gold_gender": gold, "binarized_annotator1": labels[0], "binarized_annotator2": labels[1]}


def test_figures(tmp_path: Path, result: EvaluationResult) -> None:
    annotations = read_annotations(write(tmp_path, [row(0, "male", "male", "female"), row(1, "male", "female", "female"), row(2, "female", "male", None)]))
    found = agreement_with_labels(result, annotations)
    assert (found.n_labels, found.n_agree, found.agreement) == (4, 3, 0.75)
    assert found.weighted_agreement == pytest.approx((2 + 1 + 1) / (2 + 2 + 1 + 1))
    assert found.labels == ("male", "female")
    assert found.confusion == ((1, 0), (1, 2))


def test_another_translation_is_refused(tmp_path: Path, result: EvaluationResult) -> None:
    with pytest.raises(InputError, match="example 0: annotated was 'other', judged was 't0'"):
        agreement_with_labels(result, read_annotations(write(tmp_path, [row(0, "male", "male", "male", translation="other")])))
    with pytest.raises(InputError, match="example 7 is not among the 3 judgements"):
        agreement_with_labels(result, read_annotations(write(tmp_path, [row(7, "male", "male", "male")])))


@pytest.mark.parametrize("rows", [[], [3], [{"index": 1, "binarized_annotator1": "a", "binarized_annotator2": "b"}], [row(0, "male", "male", None)]])
def test_malformed_files(tmp_path: Path, rows: list[object]) -> None:
    with pytest.raises(InputError, match="expected"):
        read_annotations(write(tmp_path, rows))


def verdict(line: int | None, *labels: str, translation: str = "") -> dict[str, object]:
    return {"testset_line": line, "translation": translation or f"t{line}", "binarized_annotator1": labels[0], "binarized_annotator2": labels[1]}


def test_labels_that_are_verdicts(tmp_path: Path, result: EvaluationResult) -> None:
    rows: list[object] = [verdict(0, "correct", "correct"), verdict(1, "correct", "wrong"), verdict(2, "wrong", "wrong")]
    found = agreement_with_labels(result, read_annotations(write(tmp_path, rows)))
    assert found.labels == ("correct", "wrong")
    assert (found.n_labels, found.n_agree, found.n_skipped) == (6, 3, 0)
    assert found.confusion == ((2, 1), (2, 1))


def test_others_are_skipped_only_when_told(tmp_path: Path, result: EvaluationResult) -> None:
    rows: list[object] = [verdict(0, "correct", "correct"), verdict(None, "correct", "correct"), verdict(1, "wrong", "wrong", translation="another")]
    annotations = read_annotations(write(tmp_path, rows))
    with pytest.raises(InputError, match=r"without a place in the test set.*--skip-others"):
        agreement_with_labels(result, annotations)
    with pytest.raises(InputError, match="annotated was 'another', judged was 't1'"):
        agreement_with_labels(result, annotations[2:])
    found = agreement_with_labels(result, annotations, skip_others=True)
    assert (found.n_labels, found.n_skipped) == (2, 2)
    with pytest.raises(InputError, match="none of the 2 annotated translations was judged"):
        agreement_with_labels(result, annotations[1:], skip_others=True)


def test_unknown_labels(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: expected the labels correct and wrong, got 'correct', 'correct' and 'maybe'"):
        read_annotations(write(tmp_path, [verdict(0, "correct", "maybe")]))
