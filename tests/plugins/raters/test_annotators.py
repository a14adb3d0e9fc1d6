import pytest

from cc_hf.comparing.people.annotations import annotations_of_rows
from cc_hf.plugins.raters.annotators import AnnotatorAgreement, annotator_agreement
from cc_hf.plugins.raters.drawn_results import examples_without_corpora
from tests.helpers.usual import refuses, result_of

BOTH, BAD = "Both / Neutral / Ambiguous", "Bad sample / Ill-defined senses"


def agreed(*labels: tuple[str | None, ...], **others: object) -> AnnotatorAgreement:
    rows = []
    for line, of_row in enumerate(labels):
        names = {f"label_annotator{n}": label for n, label in enumerate(of_row, 1)}
        rows.append((line, {"id": line, "translation": f"t{line}", **names, **others}))
    return annotator_agreement(annotations_of_rows(rows))


def test_readings_take_the_place_of_binary_labels() -> None:
    labels = [("neutral", "neutral"), ("male", "inclusive"), ("female", "female"), ("x", None)]
    people = agreed(*labels, gold_reading="")
    assert people.kappa_binarised == pytest.approx((2 / 3 - 2 / 9) / (1 - 2 / 9))
    assert (people.kappa_raw, 0 < people.alpha < 1) == (None, True)


def test_ill_defined_samples_are_compared_by_raw_labels_only() -> None:
    people = agreed(("Correct Sense", BOTH), ("Wrong Sense", BAD), ("Wrong Sense", None))
    assert (people.n_raw, people.n_binarised) == (2, 1)
    assert (people.kappa_raw, people.kappa_binarised) == (0.0, 1.0)


def test_corpora_of_user_data_are_unknown() -> None:
    result = result_of((), dataset="", config="", signature="any|data:own@1a|n:1")
    refuses("your own data, whose corpora are", examples_without_corpora, result, ["opensubs"])
