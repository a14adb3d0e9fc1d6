"""Every metric reads rows alike: any container, by position, composed or decomposed Unicode, and
ids; results on user data are joined by their content.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pytest

from cc_hf import registry
from cc_hf.comparing.metrics import evaluator_agreement
from cc_hf.comparing.people.agreement import Assumption, agreement_with_labels
from cc_hf.comparing.systems import compare
from cc_hf.metrics.checks import check_ids, check_rows, index, listed, text
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.results import EvaluationResult, difference_of_data
from cc_hf.statistics.bootstrap import Bootstrap, check_bootstrap
from tests.helpers.metric_rows import options_of, row
from tests.helpers.usual import cases, evaluate_metric, metric_class, refuses

Rows = list[dict[str, Any]]


METRICS = sorted(registry.METRICS)


def _case(name: str) -> tuple[list[str], Rows]:
    """Return translations, if the metric reads some, and references."""
    rows = [row(name, index, is_right=True) for index in range(4)]
    texts = [text for text, _ in rows if metric_class(name).takes_translations]
    return texts, [reference for _, reference in rows]


CASES = {name: _case(name) for name in METRICS}

pytestmark = pytest.mark.filterwarnings("ignore:none of .* translations was read as")


def run(name: str, translations: Any, references: Any, **more: Any) -> EvaluationResult:
    given = translations if metric_class(name).takes_translations else None
    return evaluate_metric(
        name, given, references, **{**options_of(name, 4), "n_resamples": 10, **more}
    )


def _permuted(values: Sequence[Any]) -> Any:
    series = pd.Series(values)
    series.index = series.index[::-1]  # its labels then differ from the positions
    return series


def _column(values: Sequence[Any]) -> Any:
    rows = [{"value": value} for value in values]
    return datasets.Dataset.from_list(rows)["value"] if rows else values


def _arrays(reference: Mapping[str, Any]) -> dict[str, Any]:
    return {k: np.array(v) if isinstance(v, list) else v for k, v in reference.items()}


def _object_array(values: Sequence[Any]) -> Any:
    return pd.Series([*values], dtype=object).to_numpy()


CONTAINERS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "tuple": tuple,
    "series": _permuted,
    "generator": iter,
    "column": _column,
    "array": _object_array,
}


@cases("contrastive_conditioning", "contrastive_translation_scoring")
@pytest.mark.parametrize("container", CONTAINERS)
def test_rows_in_any_container_are_read_by_position(name: str, container: str) -> None:
    translations, references = CASES[name]
    expected = run(name, translations, references)
    wrap = CONTAINERS[container]
    assert run(name, wrap(translations), wrap(references)) == expected


@pytest.mark.parametrize("name", METRICS)
def test_references_may_be_the_rows_of_a_table(name: str) -> None:
    translations, references = CASES[name]
    expected = run(name, translations, references)
    assert run(name, translations, pd.DataFrame(references)) == expected
    assert run(name, translations, datasets.Dataset.from_list(references)) == expected


@pytest.mark.parametrize("name", METRICS)
def test_numpy_arrays_and_texts_become_plain_python_values(name: str) -> None:
    translations, references = CASES[name]
    outcome = run(name, np.array(translations), [_arrays(reference) for reference in references])
    assert outcome == run(name, translations, references)
    values = [
        v for j in outcome.judgements for v in (j.translation, j.category, j.gold, j.predicted)
    ]
    assert all(type(value) is str for value in values)


@pytest.mark.parametrize("name", METRICS)
def test_unordered_containers_are_refused(name: str) -> None:
    translations, references = CASES[name]
    if translations:
        refuses(r"predictions: expected a list.*got set", run, name, set(translations), references)
        refuses(r"predictions: .*, got dict", run, name, dict(enumerate(translations)), references)
    for key in ("correct_sources", "contrastive_translations", "correct_senses"):
        if key in references[0]:
            unordered = [{**reference, key: set(reference[key])} for reference in references]
            refuses(f"row 0: {key}: expected a list.*got set", run, name, translations, unordered)


def test_ids_must_be_distinct_texts() -> None:
    name = "contrastive_conditioning"
    translations, references = CASES[name]
    n = len(references)
    ids = [f"row {row}" for row in range(n)]
    expected = run(name, translations, references, ids=ids)
    assert run(name, translations, references, ids=_permuted(ids)) == expected
    for wrong, message in (
        (["a"] * n, "ids: row 1: expected an id that no other row has, got 'a', as in row 0"),
        ([*ids[1:], 3], f"ids: row {n - 1}: expected a text that is not blank, got 3"),
        (set(ids), "ids: expected a list, got set"),
        ([*ids, "more"], f"ids: expected one per row, {n} in all, got {n + 1}"),
    ):
        refuses(message, run, name, translations, references, ids=wrong)


@cases(
    *(("n_resamples", value) for value in (2.5, True, "10", 0, 10_000_001)),
    *(("seed", value) for value in (1.0, True, -1, 2**64)),
)
def test_bootstrap_options_must_be_integers_in_range(option: str, value: object) -> None:
    refuses(option, Bootstrap, **{option: value})


def test_numpy_integers_are_accepted_as_integers() -> None:
    check_bootstrap(seed=np.int64(3), n_resamples=np.int32(10))  # type: ignore[arg-type]
    assert index(np.int64(3), "row 0: occupation_index") == 3
    refuses("occupation_index: .* integer, got True", index, True, "row 0: occupation_index")


def test_checked_rows_hold_only_the_declared_keys() -> None:
    rows = check_rows(("x",), ({"source": np.str_("a"), "more": 1},), {"source": text})
    assert rows == (["x"], [{"source": "a"}])
    refuses("values: expected a list, got int", listed, "values", 3)
    assert check_ids(None, 1) == ["0"]


def _decomposed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _decomposed(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_decomposed(member) for member in value]
    return unicodedata.normalize("NFD", value) if isinstance(value, str) else value


@pytest.mark.parametrize("name", sorted(METRICS))
@pytest.mark.parametrize("side", ["translations", "references"])
def test_composed_and_decomposed_letters_are_judged_alike(name: str, side: str) -> None:
    translations, references = CASES[name]
    expected = run(name, translations, references)
    given = _decomposed(translations) if side == "translations" else translations
    outcome = run(name, given, _decomposed(references) if side == "references" else references)
    for what in ("scores", "intervals", "counts", "signature"):
        assert getattr(outcome, what) == getattr(expected, what)
    assert [j.verdict for j in outcome.judgements] == [j.verdict for j in expected.judgements]
    assert "|norm:nfc-cf|" in outcome.signature
    if expected.judgements and translations:
        # accents matter in these translations
        assert {"correct", "incorrect"} & {j.verdict for j in expected.judgements}
        # the judgements keep the given texts
        assert [j.translation for j in outcome.judgements] == given


def test_positions_of_characters_are_those_of_the_composed_text() -> None:
    row = {
        "source": "The cliche\u0301d bat.",
        "homograph": "bat",
        "start": 13,
        "cluster": "1",
        "senses": {"1": ["Schla\u0308ger"], "2": ["Fledermaus"]},
    }
    metric = metric_class("homograph_accuracy")
    (checked,) = metric.check_input(["x"], [row])[1]
    assert checked["source"][checked["start"] :] == "bat."
    assert metric.check_input(["x"], [checked])[1] == [checked]
    (judgement,) = run("homograph_accuracy", ["Der Schläger."], [row]).judgements
    assert judgement.is_correct


@pytest.mark.parametrize("blank", ["\u200b", "\u2060\ufeff \u00ad", "\u3164", "\u2800", "\u115f"])
def test_translations_of_invisible_characters_alone_are_blank(blank: str) -> None:
    for name, (translations, references) in CASES.items():
        if not translations or name == "prompted_choice":
            continue
        options: dict[str, Any] = {}
        if name in ("gender_reading", "winomt_pattern_matching"):
            options["alignments"] = None
        if not metric_class(name).is_blank_allowed:
            options["on_blank"] = "incorrect"
            refuses(
                "row 0: expected a translation", run, name, [blank, *translations[1:]], references
            )
        texts = ([text, *translations[1:]] for text in (blank, ""))
        actual, expected = (run(name, given, references, **options) for given in texts)
        assert actual.counts == expected.counts, name
        assert [j.verdict for j in actual.judgements] == [j.verdict for j in expected.judgements]


def test_decomposed_letters_are_judged_alike_in_ukrainian() -> None:
    pytest.importorskip("pymorphy3")
    name, translations = "winomt_pattern_matching", ["Цей водій приїхав.", "Ця водійка приїхала."]
    references = [{**CASES[name][1][0], "source": "The driver left.", "occupation": "driver"}] * 2
    for texts in (_decomposed(translations), translations):
        outcome = run(name, texts, references, tgt_lang="uk", alignments=None)
        assert [j.predicted for j in outcome.judgements] == ["male", "female"]


ACCENT = {"reference": "die Ärztin kam", "contrastive_reference": "der Arzt kam"}


def test_results_on_different_user_data_are_not_joined_by_row_number() -> None:
    name = "gender_accuracy"
    here = [{**ACCENT, "contrastive_reference": f"der Arzt {n}"} for n in range(3)]
    there = [{"reference": f"la {n}", "contrastive_reference": "el doctor"} for n in range(3)]
    translations = ["Die Ärztin.", "Der Arzt.", "Sie."]
    result, same = run(name, translations, here), run(name, ["Der Arzt."] * 3, here)
    assert difference_of_data({"a": result, "b": same}) == ""
    assert compare({"a": result, "b": same}, n_resamples=10).systems[0].n == 3
    for strange in (run(name, translations, there), run(name, translations[::-1], here[::-1])):
        both = {"a": result, "b": strange}
        joins: list[tuple[Any, ...]] = [
            (compare, both),
            (
                build_report,
                [ReportedSystem(system, {name: actual}) for system, actual in both.items()],
            ),
            (evaluator_agreement, both),
            (partial(agreement_with_labels, assumption=Assumption(strange)), result, []),
        ]
        message = r"own@[0-9a-f]{12}|expected annotations with one pair"
        for join, *given in joins:
            refuses(message, join, *given, n_resamples=10)


def test_results_of_older_versions_on_user_data_must_be_made_again() -> None:
    old = EvaluationResult("", "", "de", "m", "m|data:own|n:1", 1, {}, {}, (), ())
    assert "evaluate them again" in difference_of_data({"a": old, "b": old})


def test_two_metrics_on_user_data_are_joined_by_equal_translations() -> None:
    translations, references = CASES["gender_accuracy"]
    words = run("gender_accuracy", translations, references)
    judged = partial(
        run,
        "contrastive_conditioning",
        references=CASES["contrastive_conditioning"][1],
        tgt_lang="de",
    )
    cues, other = judged(translations), judged(["Anderes."] * 4)
    assert len(compare({"words": words, "cues": cues}, n_resamples=10).agreements) == 1
    refuses("be compared to none of the others", compare, {"w": words, "c": other}, n_resamples=10)
    systems = [ReportedSystem("a", {words.metric: words}), ReportedSystem("b", {cues.metric: cues})]
    refuses("metrics do not show that the rows are", build_report, systems, n_resamples=10)
