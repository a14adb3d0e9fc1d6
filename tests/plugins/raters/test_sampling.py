import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cc_hf.comparing.people.agreement import agreement_with_labels
from cc_hf.comparing.people.labels import with_labels
from cc_hf.data.loading import load_examples
from cc_hf.evaluation.correction import corrected
from cc_hf.plugins.raters import sampling
from cc_hf.plugins.raters.annotators import annotator_agreement
from cc_hf.plugins.raters.drawn_results import read_earlier
from cc_hf.plugins.raters.sampling import annotations_of_system, draw_sample, system_of_result
from cc_hf.plugins.raters.sheets import Answers, SheetKey, key_text, rater_files
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Focus
from tests.helpers.labelled import VERDICTS, N, is_right, simplegen_result
from tests.helpers.usual import (
    cases,
    contrastive,
    fill,
    judgement,
    read_json,
    refuses,
    result_of,
    write_jsonl,
)

SENSE_COLUMNS = {"ambiguous_word": "spring", "correct_senses": "Frühling Lenz"}
SENSE_COLUMNS["incorrect_senses"] = "Quelle"
OCCUPATION = {"occupation": "chief"}


def examples(extra: dict[str, str] = SENSE_COLUMNS) -> list[ContrastiveSourceExample]:
    """Return examples of word senses, or of occupations, whose gold labels take turns."""
    sides, golds = (Focus("spring", 2), ("c",), ("i",), "all"), ("male", "female", "neutral")
    texts = [(str(i), "en", "de", f"A spring {i}.") for i in range(20)]
    return [ContrastiveSourceExample(*t, *sides, golds[i % 3], extra) for i, t in enumerate(texts)]


def result(system: str, verdict: Callable[[int], str], **changes: Any) -> EvaluationResult:
    judgements = [judgement(i, verdict(i), f"{system} {i}") for i in range(20)]
    named = {"dataset": "mucow", "metric": "mucow_pattern_matching", "system": system}
    return result_of(judgements, **{**named, "signature": "pm|data:mucow/en-de@1|n:20", **changes})


def _every_fourth_is_open(i: int) -> str:
    return "inconclusive" if i % 4 == 0 else ("correct" if i % 2 else "incorrect")


def drawn(**options: Any) -> SheetKey:
    results = {name: result(name, _every_fourth_is_open) for name in ("a", "b")}
    return draw_sample(results, examples(), **options)


def answered(key: SheetKey, *labels: str) -> list[Answers]:
    return [{row.id: (label,) for row in key.rows} for label in labels]


def origins(key: SheetKey, system: str = "") -> list[Any]:
    """Return where the rated translations come from."""
    actual = [origin for row in key.rows for origin in row.origins]
    return [origin for origin in actual if system in ("", origin["system"])]


def test_undecided_translations_are_rated_and_decided_ones_assumed_in_the_overall_ratio() -> None:
    key = drawn(n=2)
    assert key.form is sampling.SENSES
    assert sorted(origin["system"] for origin in origins(key)) == ["a", "a", "b", "b"]
    assert {origin["verdict"] for origin in origins(key)} == {"inconclusive"}
    assert [origin["system"] for origin in key.unrated] == ["a"] * 6 + ["b"] * 6
    assert {origin["verdict"] for origin in key.unrated} == {"correct", "incorrect"}
    counts = key.settings["systems"]["a"]
    names = ("n_undecided", "n_decided", "n_rated", "n_assumed")
    assert [counts[name] for name in names] == [5, 15, 2, 6]
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
    of_a = [origin["verdict"] for origin in origins(key, "a")]
    assert (len(of_a), of_a.count("inconclusive")) == (8, 2)
    assert key.unrated == ()
    assert sampling.assumption_of_system(key, "a") is None


@pytest.mark.parametrize("n", [2, 8, 19])
def test_no_kind_of_translation_is_left_out_of_a_draw(n: int) -> None:
    results = {"a": result("a", lambda i: "inconclusive" if i == 0 else "correct")}
    verdicts = [o["verdict"] for o in origins(draw_sample(results, examples(), n=n, rated="all"))]
    assert (len(verdicts), verdicts.count("inconclusive")) == (n, 1)


def test_genders_are_all_rated_and_neutral_ones_are_not_drawn() -> None:
    key = draw_sample({"a": result("a", _every_fourth_is_open)}, examples(OCCUPATION))
    assert key.form is sampling.GENDERS
    assert len(key.rows) == 14
    assert {origin["gold"] for origin in origins(key)} == {"male", "female"}
    assert {row.cells[0] for row in key.rows} == {"chief"}


def test_earlier_annotations_are_all_drawn_and_compared() -> None:
    results, rows = {"a": result("a", _every_fourth_is_open)}, examples(OCCUPATION)
    texts = {"0": "a 0", "1": "„a 1“", "3": "a 3", "4": "b 4", "2": "a 2"}
    earlier = {name: (text, "Female" if name == "4" else "Male") for name, text in texts.items()}
    for n in (2, 8):
        key = draw_sample(results, rows, n=n, earlier=earlier)
        labels = {origin["example_id"]: origin["earlier"] for origin in origins(key)}
        assert {name for name, label in labels.items() if label} == {"0", "1", "3"}
        assert len(labels) == max(3, n)
    names = {row.origins[0]["example_id"]: row.id for row in key.rows}
    (first,) = answered(key, "Male")
    second = {**first, names["0"]: ("Translation too bad to tell",), names["1"]: ("Female",)}
    actual = sampling.earlier_agreement_of_system(key, [first, second], "a")
    kappas = [(agreement.annotator, agreement.n, agreement.kappa) for agreement in actual]
    assert kappas == [(1, 3, 1.0), (2, 2, 0.0)]
    refuses(
        "rated: expected all with earlier annotations",
        draw_sample,
        results,
        rows,
        rated="undecided",
        earlier=earlier,
    )


def test_earlier_annotations_are_read(tmp_path: Path) -> None:
    path, row = tmp_path / "earlier.jsonl", {"id": 3, "translation": "t", "label_earlier": "Male"}
    assert read_earlier(write_jsonl(path, [row, {"id": 4}])) == {"3": ("t", "Male")}
    for damaged, message in (
        ([row, row], "line 2: .* got '3' a second time"),
        ([{**row, "id": None}], "line 1: expected the id of an example"),
        ([{**row, "translation": None}], "line 1: translation: expected text"),
        ([{"id": 4}], "expected rows with id, translation and label_earlier, got none"),
    ):
        refuses(message, read_earlier, write_jsonl(path, damaged))


def test_a_population_limits_what_is_drawn() -> None:
    key = drawn(population={"4", "5", "6"})
    assert {origin["example_id"] for origin in origins(key)} == {"4"}
    assert {origin["example_id"] for origin in key.unrated} == {"5", "6"}


def test_what_raters_say_becomes_agreement_with_assumed_labels() -> None:
    key = drawn(n=2)
    raters = answered(key, "Correct Sense", "Correct Sense", "Wrong Sense")
    judged = result("a", lambda i: "correct", metric="contrastive_conditioning")
    assert system_of_result(key, judged) == "a"
    annotations = annotations_of_system(key, raters, "a")
    assert [a.labels for a in annotations] == [("correct", "correct", "wrong")] * 2
    assumption = sampling.assumption_of_system(key, "a")
    agreement = agreement_with_labels(judged, annotations, assumption=assumption, n_resamples=10)
    n_right = sum(o["verdict"] == "correct" for o in key.unrated if o["system"] == "a")
    assert (agreement.coverage, agreement.n_open, agreement.n_assumed) == (0.75, 6, 18)
    assert agreement.agreement == pytest.approx((4 + 3 * n_right) / 24)


def test_kappa_of_three_raters_is_a_mean_over_pairs() -> None:
    key = drawn()
    names = [row.id for row in key.rows for o in row.origins if o["system"] == "a"]
    (right,) = answered(key, "Correct Sense")
    first, second = ({**right, **dict.fromkeys(names[:n], ("Wrong Sense",))} for n in (2, 1))
    annotations = annotations_of_system(key, [first, second, second], "a")
    people = annotator_agreement(annotations, n_resamples=10)
    assert [pair.annotators for pair in people.pairs] == [(1, 2), (1, 3), (2, 3)]
    assert [pair.kappa_binarised for pair in people.pairs] == pytest.approx([6 / 11, 6 / 11, 1.0])
    assert people.kappa_binarised == pytest.approx((6 / 11 * 2 + 1) / 3)
    assert people.kappa_raw == people.kappa_binarised
    assert people.binarised_interval.note == "no interval: it is a mean over 3 pairs of annotators"


def test_the_system_of_a_result_is_known_by_its_translations() -> None:
    key = drawn()
    renamed = replace(result("b", lambda i: "correct"), system="")
    assert system_of_result(key, renamed) == "b"
    refuses(
        r"expected one of mucow en-de de, .* got one of winomt",
        system_of_result,
        key,
        replace(renamed, dataset="winomt"),
    )
    refuses(
        r"translations of one of the systems a, b, got .* none",
        system_of_result,
        key,
        result("c", lambda i: "correct"),
    )


def test_translations_alike_of_two_systems_are_judged_once_and_count_for_both() -> None:
    same = result("a", _every_fourth_is_open)
    key = draw_sample({"a": same, "twin": same}, examples())
    assert len(key.rows) == 5
    assert all(len(row.origins) == 2 for row in key.rows)
    raters = answered(key, "Correct Sense", "Wrong Sense")
    assert len(annotations_of_system(key, raters, "twin")) == 5
    refuses("got translations of a and twin", system_of_result, key, replace(same, system=""))
    assert system_of_result(key, same) == "a"


def _draw(changes: dict[str, Any], rows: Sequence[Any] | None = None, **options: Any) -> SheetKey:
    results = {"a": result("a", _every_fourth_is_open), "b": result("b", lambda i: "correct")}
    results["b"] = replace(results["b"], **changes)
    return draw_sample(results, examples() if rows is None else rows, **options)


_CONTRASTIVE = contrastive("0", "s", "t", "u", **OCCUPATION)


@cases(
    (lambda: draw_sample({}, examples()), "results: expected those of at least one system"),
    (lambda: _draw({}, n=0), "n: expected at least 1"),
    (lambda: _draw({}, rated="x"), "rated: expected one of undecided, all, uncertain, got 'x'"),
    (lambda: _draw({}), "b: expected translations to draw from.*got 20 translations"),
    (lambda: _draw({"judgements": ()}, rated="all"), "b: expected .* got 0 translations"),
    (lambda: _draw({"config": "en-ru"}), "results: expected those of the same data: a is of"),
    (lambda: _draw({}, examples({"corpus": "x"})), "ambiguous words .* data with corpus"),
    (lambda: _draw({}, []), "data with no columns"),
    (lambda: _draw({}, [_CONTRASTIVE]), "a: expected translations to draw from, got 0 tran"),
)
def test_what_cannot_be_drawn_is_refused(draw: Callable[[], SheetKey], message: str) -> None:
    refuses(message, draw)


@pytest.mark.parametrize("change", [{"config": 1}, {"systems": {}}, {"systems": {"a": {}, "b": 1}}])
def test_settings_of_a_key_are_checked(change: dict[str, Any]) -> None:
    key = drawn()
    damaged = replace(key, settings={**key.settings, **change})
    judged = result("a", _every_fourth_is_open)
    refuses("key: settings: expected dataset, config, tgt_lang", system_of_result, damaged, judged)


@cases(("all", 200), ("undecided", 20))
def test_filled_sheets_keep_how_they_were_drawn(rated: str, n: int, tmp_path: Path) -> None:
    result, examples = simplegen_result(), load_examples("simplegen", "en-de")[:N]
    key = draw_sample({"a": result}, examples, n=n, rated=rated)
    files = [tmp_path / name for name in ("key.json", "rater1.csv", "rater2.csv")]
    files[0].write_text(key_text(key), encoding="utf-8")
    numbers = {example.id: i for i, example in enumerate(examples)}
    example_numbers = {row.id: numbers[row.origins[0]["example_id"]] for row in key.rows}

    def answer(row: Mapping[str, str]) -> list[str]:
        gold = examples[example_numbers[row["id"]]].gold
        other = {"Male": "Female", "Female": "Male"}[gold.title()]
        return [gold if is_right(example_numbers[row["id"]]) else other]

    for path in files[1:]:
        path.write_text(rater_files(key)[path.name], encoding="utf-8")
        fill(path, answer)
    labelled = with_labels(result, files)
    assert labelled.counts["n_trusted"] == 200
    interval = labelled.intervals["corrected_accuracy"]
    # Verdicts that stand for labels are wrong on a twentieth of the samples.
    assert interval.low < (0.7 if rated == "all" else 0.65) < interval.high
    assert {j.inclusion for j in labelled.judgements if j.trusted is not None} == {0.5}
    assert ("stand for 180 labels" in labelled.notes[0]) == (rated == "undecided")
    settings = read_json(files[0])
    settings["settings"]["systems"]["a"]["n_decided"] -= 1
    files[0].write_text(json.dumps(settings), encoding="utf-8")
    refuses("all 400 translations", with_labels, result, files)


def test_uncertain_translations_are_drawn_more_often_and_weigh_less() -> None:
    examples = load_examples("simplegen", "en-de")[:N]
    random = np.random.default_rng(0)
    probabilities = random.beta(1.5, 0.5, size=N).tolist()
    changes = [{"is_correct": p >= 0.5, "probability_correct": p} for p in probabilities]
    pairs = zip(simplegen_result().judgements, changes, strict=True)
    judgements = tuple(replace(j, verdict=VERDICTS[not c["is_correct"]], **c) for j, c in pairs)
    result = replace(simplegen_result("contrastive_conditioning"), judgements=judgements)

    def drawn(n: int, rated: str = "uncertain", seed: int = 0) -> Mapping[str, float]:
        key = draw_sample({"a": result}, examples, n=n, rated=rated, seed=seed)
        return sampling.inclusion_of_system(key, "a", N)

    truth = random.random(N) < probabilities
    true_accuracy, hits, widths = truth.mean(), 0, {"all": 0.0, "uncertain": 0.0}
    by_id = {j.example_id: float(t) for j, t in zip(judgements, truth, strict=True)}
    for seed in range(40):
        for rated in widths:
            inclusion = drawn(100, rated, seed=seed)
            assert len(inclusion) == 100
            trusted = {name: by_id[name] for name in by_id if name in inclusion}
            corrected_result = corrected(
                result, trusted, by="people", about="labels", inclusion=inclusion
            )
            interval = corrected_result.intervals["corrected_accuracy"]
            widths[rated] += interval.high - interval.low
            hits += rated == "uncertain" and interval.low <= true_accuracy <= interval.high
    assert min(drawn(100).values()) >= 0.12
    assert set(drawn(N).values()) == {1.0}
    assert (len(drawn(350)), max(drawn(350).values())) == (350, 1.0)
    assert hits >= 37
    assert widths["uncertain"] < 0.97 * widths["all"]
