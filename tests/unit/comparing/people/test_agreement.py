import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cc_hf.comparing.people import agreement
from cc_hf.comparing.people.agreement import Assumption, agreement_with_labels
from cc_hf.comparing.people.annotations import Annotation, binary_label
from cc_hf.comparing.people.labels import trusted_labels
from cc_hf.results import EvaluationResult
from cc_hf.schema import Reading
from tests.helpers.usual import (
    cases,
    evaluate_metric,
    judgement,
    refuses,
    result_of,
    write_jsonl,
)

evaluate = functools.partial(evaluate_metric, "contrastive_conditioning")

P = {"0": 0.9, "1": 0.4, "2": 0.7}  # probability that the translation is right


@pytest.fixture
def result() -> EvaluationResult:
    def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        pairs = zip(sources, translations, strict=True)
        return [P[t[1:]] if s == "c" else 1 - P[t[1:]] for s, t in pairs]

    sources = {"correct_sources": ["c"], "incorrect_sources": ["i"]}
    references = [{**sources, "category": gold} for gold in ("male", "male", "female")]
    return evaluate(["t0", "t1", "t2"], references, scores, n_resamples=10)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[Annotation]]:
    """Return what reads annotations of these rows from a file."""
    return lambda *rows: agreement.read_annotations(write_jsonl(tmp_path / "a.jsonl", rows))


Read = Callable[..., list[Annotation]]


def labelled(line: int | None, *labels: str | None, **others: str) -> dict[str, object]:
    names = {f"binarized_annotator{n}": label for n, label in enumerate(labels, 1)}
    position = {"index" if "gold_gender" in others else "testset_line": line}
    return {**position, "translation": f"t{line}", **names, **others}


def gendered(line: int, gold: str, *labels: str | None, **others: str) -> dict[str, object]:
    return labelled(line, *labels, gold_gender=gold, **others)


def test_figures_count_labels_of_both_annotators(read: Read, result: EvaluationResult) -> None:
    labels = [("male", "male", "female"), ("male", "female", "female"), ("female", "male", None)]
    annotations = read(*(gendered(line, *row) for line, row in enumerate(labels)))
    agreement = agreement_with_labels(result, annotations)
    assert (agreement.n_labels, agreement.n_agree, agreement.agreement) == (4, 3, 0.75)
    assert agreement.weighted_agreement == pytest.approx((2 + 1 + 1) / (2 + 2 + 1 + 1))
    assert (agreement.labels, agreement.confusion) == (("male", "female"), ((1, 0), (1, 2)))


def test_annotations_of_other_texts_are_refused(read: Read, result: EvaluationResult) -> None:
    other, absent = (gendered(n, "male", "male", "male", translation="other") for n in (0, 7))
    refuses("0: annotated was 'other', judged", agreement_with_labels, result, read(other))
    refuses("7 is not among the 3 judgements", agreement_with_labels, result, read(absent))


def raw(line: int, *labels: str | None) -> dict[str, object]:
    names = {f"label_annotator{n}": label for n, label in enumerate(labels, 1)}
    return {"id": line, "translation": f"t{line}", **names}


def reading(line: int, gold: str | None, *labels: str | None) -> dict[str, object]:
    return {**raw(line, *labels), "gold_reading": gold}


def test_labels_may_be_readings_of_any_number(read: Read, result: EvaluationResult) -> None:
    """They are classes, of people and of the result; nothing is right where all are allowed."""
    labels = [("neutral", "neutral"), ("male", "inclusive"), ("female", "female"), ("x", None)]
    annotations = read(*(reading(line, "", *row) for line, row in enumerate(labels)))
    classes = ("female", "inclusive", "male", "neutral", "x")
    actual = [(a.gold, a.classes, a.labels) for a in annotations]
    assert actual == [("", classes, row) for row in labels[:3]]
    texts = [
        Reading(str(i), "all", f"t{i}", name) for i, name in enumerate(("neutral", "inclusive", ""))
    ]
    read_result = replace(result_of((), n=3), readings=tuple(texts))
    agreed = agreement_with_labels(read_result, annotations)
    assert agreed.labels == (*classes, "inconclusive")
    assert (agreed.n_labels, agreed.n_agree, agreed.n_inconclusive) == (6, 3, 2)
    assert [row[5] for row in agreed.confusion] == [2, 0, 0, 0, 0, 0]
    assert agreed.weighted_agreement is None
    golds = read(*(reading(line, "female", *row) for line, row in enumerate(labels)))
    assert agreement_with_labels(read_result, golds, inconclusive="correct").n_agree == 5
    judged = agreement_with_labels(result, golds)  # correct, incorrect, correct
    assert (judged.n_agree, judged.confusion[classes.index("neutral")][0]) == (2, 2)
    refuses("example 0: expected the right reading", trusted_labels, result, annotations)
    verdicts = read(labelled(0, "correct", "wrong"))
    refuses("expected labels that are readings", agreement_with_labels, read_result, verdicts)
    refuses("one pair of labels", agreement_with_labels, result, [*verdicts, *golds])


BOTH, BAD = "Both / Neutral / Ambiguous", "Bad sample / Ill-defined senses"


@cases(
    ([], "expected"),
    ([3], "expected"),
    ([{"index": 1, "binarized_annotator1": "a", "binarized_annotator2": "b"}], "expected"),
    ([gendered(0, "male", "male", None)], "expected"),
    (
        [{**raw(0, "Maybe", BOTH), f"label_annotator{'9' * 5000}": "a"}],
        "expected one of the labels",
    ),
    ([labelled(0, "correct", "maybe")], "1: expected the labels correct and.*got 'correct'"),
    ([{**labelled(0, "correct", "wrong"), "translation": 3}], "line 1: translation: .* got 3"),
    ([reading(0, "a", "b", None)], "expected rows that both annotators labelled"),
    ([reading(0, 3, "b", "c")], "line 1: gold_reading: expected the name of a reading.* got 3"),  # type: ignore[arg-type]
    ([raw(0, "Maybe", BOTH)], r"line 1: expected one of the labels.*got 'Maybe'"),
)
def test_malformed_files_are_refused(rows: list[object], message: str, read: Read) -> None:
    refuses(message, read, *rows)


def test_labels_can_be_verdicts(read: Read, result: EvaluationResult) -> None:
    labels = [("correct", "correct"), ("correct", "wrong"), ("wrong", "wrong")]
    annotations = read(*(labelled(line, *both) for line, both in enumerate(labels)))
    agreement = agreement_with_labels(result, annotations)
    assert agreement.labels == ("correct", "wrong")
    assert (agreement.n_labels, agreement.n_agree, agreement.n_skipped) == (6, 3, 0)
    assert agreement.confusion == ((2, 1), (2, 1))


def test_annotations_of_other_rows_can_be_skipped(read: Read, result: EvaluationResult) -> None:
    places = [labelled(line, "correct", "correct") for line in (0, None)]
    annotations = read(*places, labelled(1, "wrong", "wrong", translation="another"))
    compared = functools.partial(agreement_with_labels, result)
    refuses(r"without a place in the test set.*`skip_others`", compared, annotations)
    refuses("annotated was 'another', judged was 't1'", compared, annotations[2:])
    actual = compared(annotations, skip_others=True)
    assert (actual.n_labels, actual.n_skipped) == (2, 2)
    refuses(
        "none of the 2 annotated translations was judged",
        compared,
        annotations[1:],
        skip_others=True,
    )


@cases(
    ("Male", "female", "male"),
    (BOTH, "female", "female"),
    ("Translation too bad to tell", "female", "male"),
    (BOTH, "correct", "correct"),
    ("Wrong Sense", "correct", "wrong"),
    ("Translation too bad to tell / Third sense", "correct", "wrong"),
    (BAD, "correct", None),
)
def test_raw_labels_are_binarised(label: str, gold: str, expected: str | None) -> None:
    classes = ("male", "female") if gold == "female" else ("correct", "wrong")
    assert binary_label(label, gold, classes) == expected


def test_raw_labels_are_sufficient(read: Read) -> None:
    labels = [("Correct Sense", BOTH), ("Wrong Sense", BAD), ("Wrong Sense", None)]
    actual = read(*(raw(line, *both) for line, both in enumerate(labels)))
    assert [(a.example_id, a.labels) for a in actual] == [("0", ("correct", "correct")), ("1", ())]


def judged(*verdicts: str, **fields: str) -> EvaluationResult:
    rows = [judgement(i, v, f"t{i}", **fields) for i, v in enumerate(verdicts)]
    return result_of(rows, dataset="", config="", signature="any|data:own@1a|n:1")


def test_inconclusive_verdicts_count_as_wrong_and_genders_as_right(read: Read) -> None:
    verdicts = read(labelled(0, "wrong", "wrong"), labelled(1, "correct", "wrong"))
    result = judged("inconclusive", "correct")
    agreement = agreement_with_labels(result, verdicts)
    assert (agreement.n_agree, agreement.n_inconclusive, agreement.inconclusive) == (
        3,
        2,
        "incorrect",
    )
    assert (agreement.agreement, agreement.strict_agreement) == (0.75, 0.25)
    assert agreement_with_labels(result, verdicts, inconclusive="correct").agreement == 0.25
    assert agreement.weighted_agreement is None
    genders = read(gendered(0, "female", "female", "male"))
    agreement = agreement_with_labels(judged("inconclusive"), genders)
    assert (agreement.n_agree, agreement.inconclusive, agreement.confusion) == (
        1,
        "correct",
        ((0, 1), (0, 1)),
    )
    neutral = agreement_with_labels(judged("incorrect", predicted="neutral"), genders)
    assert (neutral.n_inconclusive, neutral.confusion) == (2, ((0, 1), (0, 1)))
    message = r"inconclusive: expected correct or.*got 'maybe'"
    refuses(message, agreement_with_labels, result, verdicts, inconclusive="maybe")


def test_translations_are_compared_without_punctuation(read: Read) -> None:
    quoted = read(labelled(0, "correct", "correct", translation="'t0'"))
    assert agreement_with_labels(judged("correct"), quoted).n_agree == 2


def test_assumed_labels_are_weighted_by_their_share(read: Read) -> None:
    people = read(labelled(3, "wrong", "correct"))
    decided = judged("correct", "incorrect", "correct", "inconclusive")
    actual = agreement_with_labels(decided, people, assumption=Assumption(decided))
    assert (actual.n_labels, actual.n_open, actual.coverage, actual.n_assumed) == (2, 2, 0.75, 6)
    assert actual.agreement == pytest.approx(0.75 * 1 + 0.25 * 0.5)
    other = agreement_with_labels(judged(*["correct"] * 4), people, assumption=Assumption(decided))
    assert other.agreement == pytest.approx(0.75 * 2 / 3 + 0.25 * 0.5)
    part = agreement_with_labels(decided, people, assumption=Assumption(decided, frozenset("03")))
    assert part.coverage == 0.5
    assert part.agreement == pytest.approx(0.5 * 1 + 0.5 * 0.5)
    as_published = Assumption(decided, as_published=True)
    published = agreement_with_labels(decided, people, assumption=as_published)
    assert published.n_assumed == 8
    assert published.agreement == pytest.approx(8 / 10)  # the second annotator's label twice


def test_unfit_assumptions_are_refused(read: Read) -> None:
    people, result = read(labelled(0, "wrong", "correct")), judged("correct", "inconclusive")
    for assumption, message in (
        (Assumption(judged(*["correct"] * 2)), "expected some that are inconclusive, on annotated"),
        (
            Assumption(judged("inconclusive"), frozenset("01")),
            "example 1: judged was 't1', the ass",
        ),
        (
            Assumption(result, frozenset("9")),
            "about 1 translations, none of which is in the result",
        ),
    ):
        refuses(message, agreement_with_labels, result, people, assumption=assumption)


def test_the_documented_example_is_read(root: Path, read: Read) -> None:
    text = (root / "docs/formats.md").read_text(encoding="utf-8")
    block = text.partition("```json\n")[2].partition("```")[0]
    # An object for each line of a file; the page shows them over several lines.
    objects = block.replace("}\n{", "}\n\n{").split("\n\n")
    genders, verdicts = (read(json.loads(text)) for text in objects)
    assert (genders[0].labels, genders[0].example_id) == (("male", "female"), "1051")
    assert verdicts[0].labels == ("correct", "correct")
