from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.studies.mt_geneval.ratings import REFERENCE, draw_contextual_sample, rate_genders
from tests.helpers.cases import cases
from tests.helpers.refusals import refuses
from tests.studies.mt_geneval.samples import (
    CATEGORIES,
    answers,
    contextual_examples,
    contextual_result,
    drawn,
)


def test_every_category_has_as_many_sources_with_all_translations() -> None:
    key = drawn()
    origins = [origin for row in key.rows for origin in row.origins]
    counts = Counter((o["system"], o["category"]) for o in origins)
    assert set(counts.values()) == {3}
    assert len(counts) == 6
    for system in ("good", "bad", REFERENCE):
        ids = [o["example_id"] for o in origins if o["system"] == system]
        assert sorted(ids) == sorted({o["example_id"] for o in origins})
    assert {o["verdict"] for o in origins if o["system"] == REFERENCE} == {""}
    assert drawn() == key
    assert drawn(seed=1) != key
    assert len({o["example_id"] for row in drawn(n=50).rows for o in row.origins}) == 8


def test_a_translation_like_the_reference_is_judged_once() -> None:
    key = drawn()
    assert sorted(len(row.origins) for row in key.rows) == [1] * 6 + [2] * 6
    context, source, translation = key.rows[0].cells
    assert context.startswith("She is tall")
    assert source.split()[2] == translation.split()[2]


def test_figures_are_those_of_the_rater_who_accepts_most_references() -> None:
    key = drawn()
    strict = answers(key, lambda category, text: category == CATEGORIES[0] and "Ärztin" in text)
    kind = answers(key, lambda category, text: "Ärztin" in text or category == CATEGORIES[1])
    ratings = rate_genders(key, [strict, kind])
    assert (ratings.preferred, ratings.n_accepted) == (2, (3, 6))
    bad, good, reference = ratings.systems
    assert (bad.name, good.name, reference.name) == ("bad", "good", REFERENCE)
    assert (bad.accuracies, bad.accuracy) == ((0.0, 0.5), 0.5)
    assert (good.accuracies, reference.accuracies) == ((0.5, 1.0), (0.5, 1.0))
    assert bad.by_category == {CATEGORIES[0]: (3, 0), CATEGORIES[1]: (3, 3)}
    assert bad.interval.low < 0.5 < bad.interval.high
    assert bad.f_scores == {"Correct": 0.0, "Incorrect": pytest.approx(2 / 3)}
    assert good.f_scores is not None
    assert good.f_scores["Correct"] == 1.0
    assert reference.f_scores is None
    assert ratings.f_scores == {"Correct": 0.5, "Incorrect": pytest.approx(2 / 3)}
    assert ratings.alpha < 1
    assert ratings.data == ("mt_geneval", "contextual_de", "de")
    assert rate_genders(key, [kind, kind]).preferred == 1
    assert rate_genders(key, [kind, kind]).alpha == 1.0


@cases(
    ({}, contextual_examples(), 1, "results: expected those of at least one system"),
    ({"a": contextual_result("a", "x", "correct")}, contextual_examples(), 0, "n: expected at least 1"),
    ({REFERENCE: contextual_result("a", "x", "correct")}, contextual_examples(), 1, "another name for the system"),
    ({"a": contextual_result("a", "x", "correct")}, contextual_examples(9), 9, "a: .* got none of '8'"),
    ({"a": contextual_result("a", "x", "correct")},
     [replace(contextual_examples()[0], extra={})], 1, "example '0': expected the test split of"),
    ({"a": contextual_result("a", "x", "correct")},
     [replace(contextual_examples()[0], category="unknown")], 1, "example '0': expected the test split"),
    ({"a": contextual_result("a", "x", "correct"), "b": contextual_result("b", "y", "correct", tgt_lang="fr")},
     contextual_examples(), 1, "results: expected those of the same data"),
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(
    results: dict[str, EvaluationResult], rows: list[Any], n: int, message: str
) -> None:
    refuses(message, draw_contextual_sample, results, rows, n=n)


def test_a_key_without_references_is_refused() -> None:
    key = drawn()
    rows = tuple(row for row in key.rows if row.origins[0]["system"] == "bad")
    with pytest.raises(InputError, match="key: expected references and at least one system"):
        rate_genders(replace(key, rows=rows), [answers(key, lambda category, text: True)] * 2)
