from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cc_hf.comparing.people.agreement import agreement_with_labels
from cc_hf.comparing.people.annotations import annotator_agreement, read_earlier
from cc_hf.comparing.people.sampling import (
    GENDERS,
    SENSES,
    annotations_of_system,
    assumption_of_system,
    draw_sample,
    earlier_agreement_of_system,
    system_of_result,
)
from cc_hf.comparing.people.sheets import Answers, SheetKey
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Focus, Judgement

SENSE_COLUMNS = {
    "ambiguous_word": "spring",
    "correct_senses": "Frühling Lenz",
    "incorrect_senses": "Quelle",
}


def examples(n: int = 20, extra: dict[str, str] | None = None) -> list[ContrastiveSourceExample]:
    """Return examples of word senses, or of occupations, whose gold labels take turns."""
    columns = SENSE_COLUMNS if extra is None else extra
    return [
        ContrastiveSourceExample(
            str(i), "en", "de", f"A spring {i}.", Focus("spring", 2), ("c",), ("i",), "all",
            ("male", "female", "neutral")[i % 3], columns,
        )
        for i in range(n)
    ]  # fmt: skip


def result(
    system: str, verdict: Callable[[int], str], n: int = 20, **changes: Any
) -> EvaluationResult:
    judgements = tuple(
        Judgement(str(i), "all", verdict(i) == "correct", f"{system} {i}", verdict(i))
        for i in range(n)
    )
    empty = EvaluationResult(
        "mucow", "en-de", "de", "mucow_pattern_matching", "pm|data:mucow/en-de@1|n:20", n, {}, {},
        (), judgements, system=system,
    )  # fmt: skip
    return replace(empty, **changes)


def _every_fourth_is_open(i: int) -> str:
    return "inconclusive" if i % 4 == 0 else ("correct" if i % 2 else "incorrect")


def drawn(**options: Any) -> SheetKey:
    results = {name: result(name, _every_fourth_is_open) for name in ("a", "b")}
    return draw_sample(results, examples(), **options)


def answered(key: SheetKey, *labels: str) -> list[Answers]:
    return [{row.id: (label,) for row in key.rows} for label in labels]


def test_undecided_translations_are_rated_and_decided_ones_assumed_in_the_overall_ratio() -> None:
    key = drawn(n=2)
    assert key.form is SENSES
    origins = [origin for row in key.rows for origin in row.origins]
    assert sorted(origin["system"] for origin in origins) == ["a", "a", "b", "b"]
    assert {origin["verdict"] for origin in origins} == {"inconclusive"}
    assert [origin["system"] for origin in key.unrated] == ["a"] * 6 + ["b"] * 6
    assert {origin["verdict"] for origin in key.unrated} == {"correct", "incorrect"}
    counts = key.settings["systems"]["a"]
    assert (counts["n_undecided"], counts["n_decided"]) == (5, 15)
    assert (counts["n_rated"], counts["n_assumed"]) == (2, 6)
    assert drawn(n=2) == key
    assert drawn(n=2, seed=1) != key


def test_all_are_drawn_where_there_are_fewer() -> None:
    key = drawn()
    assert (len(key.rows), len(key.unrated)) == (10, 30)
    word, right, wrong, translation, source = key.rows[0].cells
    assert (word, right, wrong) == ("spring", "Frühling, Lenz", "Quelle")
    assert translation.split()[1] == source.split()[2].rstrip(".")


def test_all_can_be_rated_in_the_overall_ratio() -> None:
    key = drawn(n=8, rated="all")
    of_a = [o["verdict"] for row in key.rows for o in row.origins if o["system"] == "a"]
    assert (len(of_a), of_a.count("inconclusive")) == (8, 2)
    assert key.unrated == ()
    assert assumption_of_system(key, "a") is None


@pytest.mark.parametrize(("n", "n_open"), [(2, 1), (8, 1), (19, 1)])
def test_no_kind_of_translation_is_left_out_of_a_draw(n: int, n_open: int) -> None:
    results = {"a": result("a", lambda i: "inconclusive" if i == 0 else "correct")}
    key = draw_sample(results, examples(), n=n, rated="all")
    verdicts = [origin["verdict"] for row in key.rows for origin in row.origins]
    assert (len(verdicts), verdicts.count("inconclusive")) == (n, n_open)


def test_genders_are_all_rated_and_neutral_ones_are_not_drawn() -> None:
    results = {"a": result("a", _every_fourth_is_open)}
    key = draw_sample(results, examples(extra={"occupation": "chief"}))
    assert key.form is GENDERS
    assert len(key.rows) == 14
    assert {origin["gold"] for row in key.rows for origin in row.origins} == {"male", "female"}
    assert {row.cells[0] for row in key.rows} == {"chief"}


def test_earlier_annotations_are_all_drawn_and_compared() -> None:
    results = {"a": result("a", _every_fourth_is_open)}
    rows = examples(extra={"occupation": "chief"})
    earlier = {
        "0": ("a 0", "Male"), "1": ("„a 1“", "Male"), "3": ("a 3", "Male"), "4": ("b 4", "Female"),
        "2": ("a 2", "Male"),
    }  # fmt: skip
    for n in (2, 8):
        key = draw_sample(results, rows, n=n, earlier=earlier)
        labels = {o["example_id"]: o["earlier"] for row in key.rows for o in row.origins}
        assert {name for name, label in labels.items() if label} == {"0", "1", "3"}
        assert len(labels) == max(3, n)
    names = {row.origins[0]["example_id"]: row.id for row in key.rows}
    first = {row.id: ("Male",) for row in key.rows}
    second = {**first, names["0"]: ("Translation too bad to tell",), names["1"]: ("Female",)}
    one, two = earlier_agreement_of_system(key, [first, second], "a")
    assert (one.annotator, one.n, one.kappa) == (1, 3, 1.0)
    assert (two.annotator, two.n, two.kappa) == (2, 2, 0.0)
    with pytest.raises(InputError, match="rated: expected all with earlier annotations"):
        draw_sample(results, rows, rated="undecided", earlier=earlier)


def test_earlier_annotations_are_read(tmp_path: Path) -> None:
    path = tmp_path / "earlier.jsonl"
    row = {"id": 3, "translation": "t", "label_earlier": "Male"}
    path.write_text(f"{json.dumps(row)}\n{json.dumps({'id': 4})}\n", encoding="utf-8")
    assert read_earlier(path) == {"3": ("t", "Male")}
    for damaged, message in (
        ([row, row], "line 2: .* got '3' a second time"),
        ([{**row, "id": None}], "line 1: expected the id of an example"),
        ([{**row, "translation": None}], "line 1: translation: expected text"),
        ([{"id": 4}], "expected rows with id, translation and label_earlier, got none"),
    ):
        path.write_text("\n".join(map(json.dumps, damaged)), encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_earlier(path)


def test_a_population_limits_what_is_drawn() -> None:
    key = drawn(population={"4", "5", "6"})
    ids = {origin["example_id"] for row in key.rows for origin in row.origins}
    assert (ids, {o["example_id"] for o in key.unrated}) == ({"4"}, {"5", "6"})


def test_what_raters_say_becomes_agreement_with_assumed_labels() -> None:
    key = drawn(n=2)
    raters = answered(key, "Correct Sense", "Correct Sense", "Wrong Sense")
    judged = result("a", lambda i: "correct", metric="contrastive_conditioning")
    assert system_of_result(key, judged) == "a"
    annotations = annotations_of_system(key, raters, "a")
    assert [a.labels for a in annotations] == [("correct", "correct", "wrong")] * 2
    assumption = assumption_of_system(key, "a")
    assert assumption is not None
    found = agreement_with_labels(judged, annotations, assumption=assumption, n_resamples=10)
    n_right = sum(o["verdict"] == "correct" for o in key.unrated if o["system"] == "a")
    assert found.coverage == 0.75
    assert (found.n_open, found.n_assumed) == (6, 18)
    assert found.agreement == pytest.approx((4 + 3 * n_right) / 24)


def test_kappa_of_three_raters_is_a_mean_over_pairs() -> None:
    key = drawn()
    names = [row.id for row in key.rows for o in row.origins if o["system"] == "a"]
    first, second = (
        {row.id: (("Wrong" if row.id in names[:n] else "Correct") + " Sense",) for row in key.rows}
        for n in (2, 1)
    )
    people = annotator_agreement(
        annotations_of_system(key, [first, second, second], "a"), n_resamples=10
    )
    kappas = [pair.kappa_binarised for pair in people.pairs]
    assert [pair.annotators for pair in people.pairs] == [(1, 2), (1, 3), (2, 3)]
    assert kappas == pytest.approx([6 / 11, 6 / 11, 1.0])
    assert people.kappa_binarised == pytest.approx((6 / 11 * 2 + 1) / 3)
    assert people.kappa_raw == people.kappa_binarised
    assert people.binarised_interval.note == "no interval: it is a mean over 3 pairs of annotators"


def test_the_system_of_a_result_is_known_by_its_translations() -> None:
    key = drawn()
    renamed = replace(result("b", lambda i: "correct"), system="")
    assert system_of_result(key, renamed) == "b"
    with pytest.raises(InputError, match=r"expected one of mucow en-de de, .* got one of winomt"):
        system_of_result(key, replace(renamed, dataset="winomt"))
    with pytest.raises(InputError, match=r"translations of one of the systems a, b, got .* none"):
        system_of_result(key, result("c", lambda i: "correct"))


def test_translations_alike_of_two_systems_are_judged_once_and_count_for_both() -> None:
    same = result("a", _every_fourth_is_open)
    key = draw_sample({"a": same, "twin": same}, examples())
    assert len(key.rows) == 5
    assert all(len(row.origins) == 2 for row in key.rows)
    raters = answered(key, "Correct Sense", "Wrong Sense")
    assert len(annotations_of_system(key, raters, "twin")) == 5
    with pytest.raises(InputError, match="got translations of a and twin"):
        system_of_result(key, replace(same, system=""))
    assert system_of_result(key, same) == "a"


def _draw(changes: dict[str, Any], rows: Sequence[Any] | None = None, **options: Any) -> SheetKey:
    results = {"a": result("a", _every_fourth_is_open), "b": result("b", lambda i: "correct")}
    results["b"] = replace(results["b"], **changes)
    return draw_sample(results, examples() if rows is None else rows, **options)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: draw_sample({}, examples()), "results: expected those of at least one system"),
        (lambda: _draw({}, n=0), "n: expected at least 1"),
        (lambda: _draw({}, rated="some"), "rated: expected one of undecided, all, uncertain, got 'some'"),
        (lambda: _draw({}), "b: expected translations to draw from.*got 20 translations"),
        (lambda: _draw({"judgements": ()}, rated="all"), "b: expected .* got 0 translations"),
        (lambda: _draw({"config": "en-ru"}), "results: expected those of the same data: a is of"),
        (lambda: _draw({}, examples(extra={"corpus": "x"})), "ambiguous words .* data with corpus"),
        (lambda: _draw({}, []), "data with no columns"),
        (lambda: _draw({}, [ContrastiveTranslationExample(
            "0", "en", "de", "s", "t", ("u",), "all", {"occupation": "chief"})]),
         "a: expected translations to draw from, got 0 translations"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(draw: Callable[[], SheetKey], message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw()


@pytest.mark.parametrize("change", [{"config": 1}, {"systems": {}}, {"systems": {"a": {}, "b": 1}}])
def test_settings_of_a_key_are_checked(change: dict[str, Any]) -> None:
    key = drawn()
    damaged = replace(key, settings={**key.settings, **change})
    with pytest.raises(InputError, match="key: settings: expected dataset, config, tgt_lang"):
        system_of_result(damaged, result("a", lambda i: "correct"))
