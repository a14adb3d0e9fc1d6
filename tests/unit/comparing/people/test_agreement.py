from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cc_hf.comparing.people.agreement import (
    Assumption,
    agreement_with_labels,
    examples_without_corpora,
    read_annotations,
)
from cc_hf.comparing.people.annotations import annotator_agreement, binary_label
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from tests.helpers.cases import cases_by_words
from tests.helpers.metrics import evaluate_metric

evaluate = functools.partial(evaluate_metric, "contrastive_conditioning")

P = {"0": 0.9, "1": 0.4, "2": 0.7}  # probability that the translation is right


@pytest.fixture
def result() -> EvaluationResult:
    def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [
            P[t[1:]] if s.startswith("c") else 1 - P[t[1:]]
            for s, t in zip(sources, translations, strict=True)
        ]

    references = [
        {"correct_sources": ["c"], "incorrect_sources": ["i"], "category": gold}
        for gold in ("male", "male", "female")
    ]
    return evaluate(["t0", "t1", "t2"], references, scores, n_resamples=10)


def write(tmp_path: Path, rows: list[object]) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def row(
    index: int, gold: str, *labels: str | None, translation: str | None = None
) -> dict[str, object]:
    return {
        "index": index,
        "translation": translation or f"t{index}",
        "gold_gender": gold,
        "binarized_annotator1": labels[0],
        "binarized_annotator2": labels[1],
    }


def test_agreement_figures_count_labels_of_both_annotators(
    tmp_path: Path, result: EvaluationResult
) -> None:
    annotations = read_annotations(
        write(
            tmp_path,
            [
                row(0, "male", "male", "female"),
                row(1, "male", "female", "female"),
                row(2, "female", "male", None),
            ],
        )
    )
    found = agreement_with_labels(result, annotations)
    assert (found.n_labels, found.n_agree, found.agreement) == (4, 3, 0.75)
    assert found.weighted_agreement == pytest.approx((2 + 1 + 1) / (2 + 2 + 1 + 1))
    assert found.labels == ("male", "female")
    assert found.confusion == ((1, 0), (1, 2))


def test_annotations_of_another_translation_are_refused(
    tmp_path: Path, result: EvaluationResult
) -> None:
    with pytest.raises(InputError, match="example 0: annotated was 'other', judged was 't0'"):
        agreement_with_labels(
            result,
            read_annotations(
                write(tmp_path, [row(0, "male", "male", "male", translation="other")])
            ),
        )
    with pytest.raises(InputError, match="example 7 is not among the 3 judgements"):
        agreement_with_labels(
            result, read_annotations(write(tmp_path, [row(7, "male", "male", "male")]))
        )


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [3],
        [{"index": 1, "binarized_annotator1": "a", "binarized_annotator2": "b"}],
        [row(0, "male", "male", None)],
    ],
    ids=["no rows", "number", "no translation", "missing label"],
)
def test_malformed_files_are_refused(tmp_path: Path, rows: list[object]) -> None:
    with pytest.raises(InputError, match="expected"):
        read_annotations(write(tmp_path, rows))


def verdict(line: int | None, *labels: str, translation: str = "") -> dict[str, object]:
    return {
        "testset_line": line,
        "translation": translation or f"t{line}",
        "binarized_annotator1": labels[0],
        "binarized_annotator2": labels[1],
    }


def test_labels_can_be_verdicts(tmp_path: Path, result: EvaluationResult) -> None:
    rows: list[object] = [
        verdict(0, "correct", "correct"),
        verdict(1, "correct", "wrong"),
        verdict(2, "wrong", "wrong"),
    ]
    found = agreement_with_labels(result, read_annotations(write(tmp_path, rows)))
    assert found.labels == ("correct", "wrong")
    assert (found.n_labels, found.n_agree, found.n_skipped) == (6, 3, 0)
    assert found.confusion == ((2, 1), (2, 1))


def test_annotations_of_other_rows_are_skipped_only_on_request(
    tmp_path: Path, result: EvaluationResult
) -> None:
    rows: list[object] = [
        verdict(0, "correct", "correct"),
        verdict(None, "correct", "correct"),
        verdict(1, "wrong", "wrong", translation="another"),
    ]
    annotations = read_annotations(write(tmp_path, rows))
    with pytest.raises(InputError, match=r"without a place in the test set.*`skip_others`"):
        agreement_with_labels(result, annotations)
    with pytest.raises(InputError, match="annotated was 'another', judged was 't1'"):
        agreement_with_labels(result, annotations[2:])
    found = agreement_with_labels(result, annotations, skip_others=True)
    assert (found.n_labels, found.n_skipped) == (2, 2)
    with pytest.raises(InputError, match="none of the 2 annotated translations was judged"):
        agreement_with_labels(result, annotations[1:], skip_others=True)


def test_unknown_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 1: expected the labels correct and.*got 'correct'"):
        read_annotations(write(tmp_path, [verdict(0, "correct", "maybe")]))


def test_alternative_keys_are_read_and_other_types_refused(tmp_path: Path) -> None:
    given = {
        "id": "7",
        "translation": "x",
        "binarized_annotator1": "correct",
        "binarized_annotator2": "wrong",
    }
    assert read_annotations(write(tmp_path, [given]))[0].example_id == "7"
    with pytest.raises(InputError, match="line 1: translation: expected text, got 3"):
        read_annotations(write(tmp_path, [{**given, "translation": 3}]))


BOTH, BAD = "Both / Neutral / Ambiguous", "Bad sample / Ill-defined senses"


@cases_by_words(
    ("label", "gold", "classes", "expected"),
    [
        ("Male", "female", ("male", "female"), "male"),
        (BOTH, "female", ("male", "female"), "female"),
        ("Translation too bad to tell", "female", ("male", "female"), "male"),
        (BOTH, "correct", ("correct", "wrong"), "correct"),
        ("Wrong Sense", "correct", ("correct", "wrong"), "wrong"),
        ("Translation too bad to tell / Third sense", "correct", ("correct", "wrong"), "wrong"),
        (BAD, "correct", ("correct", "wrong"), None),
    ],
    "label",
    "gold",
)
def test_raw_labels_are_binarised(
    label: str, gold: str, classes: tuple[str, str], expected: str | None
) -> None:
    assert binary_label(label, gold, classes) == expected


def test_raw_labels_are_sufficient(tmp_path: Path) -> None:
    def raw(line: int, *labels: str | None) -> dict[str, object]:
        return {
            "id": line,
            "translation": f"t{line}",
            "label_annotator1": labels[0],
            "label_annotator2": labels[1],
        }

    rows: list[object] = [
        raw(0, "Correct Sense", BOTH),
        raw(1, "Wrong Sense", BAD),
        raw(2, "Wrong Sense", None),
    ]
    found = read_annotations(write(tmp_path, rows))
    assert [a.labels for a in found] == [("correct", "correct"), ()]
    people = annotator_agreement(found)
    assert (people.n_raw, people.n_binarised, people.kappa_raw, people.kappa_binarised) == (
        2,
        1,
        0.0,
        1.0,
    )
    with pytest.raises(InputError, match=r"line 1: expected one of the labels.*got 'Maybe'"):
        read_annotations(write(tmp_path, [raw(0, "Maybe", BOTH)]))


def judged(*verdicts: str, predicted: str = "", gold: str = "") -> EvaluationResult:
    judgements = tuple(
        Judgement(str(i), "all", v == "correct", f"t{i}", v, predicted=predicted, gold=gold)
        for i, v in enumerate(verdicts)
    )
    return EvaluationResult(
        "", "", "de", "any", "any|data:own@1a|n:1", len(judgements), {}, {}, (), judgements
    )


def test_inconclusive_verdicts_count_as_wrong_and_genders_as_right(tmp_path: Path) -> None:
    verdicts = read_annotations(
        write(tmp_path, [verdict(0, "wrong", "wrong"), verdict(1, "correct", "wrong")])
    )
    result = judged("inconclusive", "correct")
    found = agreement_with_labels(result, verdicts)
    assert (
        found.n_agree,
        found.n_inconclusive,
        found.inconclusive,
        found.agreement,
        found.strict_agreement,
    ) == (3, 2, "incorrect", 0.75, 0.25)
    assert agreement_with_labels(result, verdicts, inconclusive="correct").agreement == 0.25
    assert found.weighted_agreement is None
    genders = read_annotations(write(tmp_path, [row(0, "female", "female", "male")]))
    found = agreement_with_labels(judged("inconclusive"), genders)
    assert (found.n_agree, found.inconclusive, found.confusion) == (1, "correct", ((0, 1), (0, 1)))
    neutral = agreement_with_labels(judged("incorrect", predicted="neutral"), genders)
    assert (neutral.n_inconclusive, neutral.confusion) == (2, ((0, 1), (0, 1)))
    with pytest.raises(InputError, match=r"inconclusive: expected correct or.*got 'maybe'"):
        agreement_with_labels(result, verdicts, inconclusive="maybe")


def test_translations_are_compared_without_punctuation(tmp_path: Path) -> None:
    quoted = read_annotations(
        write(tmp_path, [verdict(0, "correct", "correct", translation="'t0'")])
    )
    assert agreement_with_labels(judged("correct"), quoted).n_agree == 2


def test_assumed_labels_are_weighted_by_their_share(tmp_path: Path) -> None:
    people = read_annotations(write(tmp_path, [verdict(3, "wrong", "correct")]))
    decided = judged("correct", "incorrect", "correct", "inconclusive")
    own = agreement_with_labels(decided, people, assumption=Assumption(decided))
    assert (own.n_labels, own.n_open, own.coverage, own.n_assumed) == (2, 2, 0.75, 6)
    assert own.agreement == pytest.approx(0.75 * 1 + 0.25 * 0.5)
    other = agreement_with_labels(
        judged("correct", "correct", "correct", "correct"), people, assumption=Assumption(decided)
    )
    assert other.agreement == pytest.approx(0.75 * 2 / 3 + 0.25 * 0.5)
    part = agreement_with_labels(
        decided, people, assumption=Assumption(decided, frozenset({"0", "3"}))
    )
    assert part.coverage == 0.5
    assert part.agreement == pytest.approx(0.5 * 1 + 0.5 * 0.5)
    published = agreement_with_labels(
        decided, people, assumption=Assumption(decided, as_published=True)
    )
    assert published.n_assumed == 8
    assert published.agreement == pytest.approx(8 / 10)  # the second annotator's label twice


def test_unfit_assumptions_are_refused(tmp_path: Path) -> None:
    people = read_annotations(write(tmp_path, [verdict(0, "wrong", "correct")]))
    result = judged("correct", "inconclusive")
    with pytest.raises(InputError, match="expected some that are inconclusive, on annotated"):
        agreement_with_labels(result, people, assumption=Assumption(judged("correct", "correct")))
    with pytest.raises(InputError, match="example 1: judged was 't1', the assumed result has no"):
        agreement_with_labels(
            result, people, assumption=Assumption(judged("inconclusive"), frozenset({"0", "1"}))
        )
    with pytest.raises(InputError, match="about 1 translations, none of which is in the result"):
        agreement_with_labels(result, people, assumption=Assumption(result, frozenset({"9"})))
    with pytest.raises(InputError, match="your own data, whose corpora are not known"):
        examples_without_corpora(result, ["opensubs"])


def test_the_documented_example_is_read(root: Path, tmp_path: Path) -> None:
    block = (
        (root / "docs/annotations.md")
        .read_text(encoding="utf-8")
        .partition("```json\n")[2]
        .partition("```")[0]
        .splitlines()
    )
    genders, verdicts = (read_annotations(write(tmp_path, [json.loads(line)])) for line in block)
    assert (genders[0].labels, genders[0].example_id) == (("male", "female"), "1051")
    assert verdicts[0].labels == ("correct", "correct")
