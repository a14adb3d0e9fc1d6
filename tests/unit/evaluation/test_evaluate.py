"""Translations of a system are judged by one metric or by all."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from cc_hf import registry
from cc_hf.data.files.translations import read_translations
from cc_hf.data.loading import declaration, load_examples
from cc_hf.errors import MissingDependencyError, UnknownNameError
from cc_hf.evaluation.evaluate import evaluate
from cc_hf.evaluation.material import Material
from cc_hf.reports.figure_text import figure_label
from cc_hf.reports.tables.base import result_table, results_table
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.systems.translate import Translations
from tests.helpers import reported
from tests.helpers.usual import (
    cases,
    evaluate_dataset,
    evaluate_dataset_by_all,
    fails,
    hash_scores,
    printed,
    refuses,
    write_lines,
)

TEXTS = ["Die Ärztin ging.", "Der Arzt ging.", "Der Arzt?"] * 888


@pytest.fixture(autouse=True)
def _two_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in set(registry.METRICS) - {"contrastive_conditioning"}:
        monkeypatch.delitem(registry.METRICS, name)
    monkeypatch.setitem(registry.METRICS, "words", "tests.helpers.fake_metric:Words")


_GIVEN: dict[str, Any] = {"translations": TEXTS, "evaluator": hash_scores}


def run_all(**options: Any) -> ResultSet:
    return evaluate_dataset_by_all("simplegen", "en-de", **{**_GIVEN, **options})


def test_evaluating_all_metrics_equals_evaluating_each() -> None:
    outcomes = run_all()
    assert outcomes.not_run == {}
    conditioning = evaluate_dataset("simplegen", "en-de", **_GIVEN)
    words = evaluate_dataset("simplegen", "en-de", translations=TEXTS, metric="words")
    assert outcomes.results == (conditioning, words)
    assert words.scores["accuracy"] == 1 / 3
    assert {"n_inconclusive": 888, "n_with_source": 0}.items() <= words.counts.items()
    assert ResultSet.from_json(outcomes.to_json()) == outcomes
    assert ResultSet.from_json(conditioning.to_json()).results == (conditioning,)


def test_metrics_share_a_read_and_a_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Mock()
    functions: list[Any] = [read_translations, load_examples, declaration]
    for function, module in zip(functions, ("evaluate", "material", "material"), strict=True):
        name = function.__name__
        calls.attach_mock(Mock(side_effect=function), name)
        monkeypatch.setattr(f"cc_hf.evaluation.{module}.{name}", getattr(calls, name))
    assert len(run_all(translations=write_lines(tmp_path / "t.txt", TEXTS)).results) == 2
    called = [call[0] for call in calls.mock_calls]
    assert called == ["declaration", "load_examples", "read_translations"]


def test_options_reach_only_the_metric_that_takes_them() -> None:
    outcomes = run_all(options={"word": "Arzt"})
    assert "|word:Arzt|" in outcomes.results[1].signature
    assert outcomes.results[1].scores["accuracy"] == 1 / 3
    assert outcomes.results[0] == run_all().results[0]
    fails(UnknownNameError, r"unknown option.*did you mean 'word'", run_all, options={"wort": "x"})


def test_metrics_that_were_not_run_have_a_reason() -> None:
    spanish = evaluate_dataset_by_all("simplegen", "en-es", translations=TEXTS)
    assert [r.metric for r in spanish.results] == ["words"]
    assert "none ships with the package for en-es" in spanish.not_run["contrastive_conditioning"]
    lacking = run_all(options={"word": "uninstalled"})
    assert [r.metric for r in lacking.results] == ["contrastive_conditioning"]
    assert "pip install 'cc_hf[morphology]'" in lacking.not_run["words"]
    assert ResultSet.from_json(lacking.to_json()) == lacking
    reason = "words: expected a word for the language; name one with word"
    assert run_all(options={"word": ""}).not_run == {"words": reason}
    given: dict[str, Any] = {"translations": TEXTS, "config": "en-cs"}
    refuses("no metric can judge mucow en-cs in cs", evaluate_dataset_by_all, "mucow", **given)
    given = {**_WORDS, "options": {"word": "uninstalled"}}
    fails(MissingDependencyError, "pip install", evaluate_dataset, "simplegen", **given)


def test_metrics_that_do_not_fit_are_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        registry.METRICS,
        "contrastive_translation_scoring",
        "cc_hf.metrics.contrastive_translation_scoring:ContrastiveTranslationScoring",
    )
    assert run_all().not_run == {}


def test_a_system_is_named_by_the_user_or_after_its_file(tmp_path: Path) -> None:
    def named(**options: Any) -> str:
        return evaluate_dataset("simplegen", "en-de", metric="words", **options).system

    aws = write_lines(tmp_path / "aws/en-de.txt", TEXTS)
    assert named(translations=aws) == "aws"
    assert named(translations=write_lines(tmp_path / "out/opus.v2.txt", TEXTS)) == "opus.v2"
    assert named(translations=TEXTS) == ""
    assert named(translations=aws, name=" Amazon 2021 ") == "Amazon 2021"
    for wrong in ("", " ", "a\nb", 3):
        refuses("name: expected the name of a system", named, translations=TEXTS, name=wrong)
    assert {result.system for result in run_all(name="x").results} == {"x"}


_WORDS: dict[str, Any] = {"translations": TEXTS, "metric": "words"}


@cases(
    ("mucow en-de", _WORDS, "words knows simplegen only, not mucow"),
    ("simplegen", {**_WORDS, "evaluator": hash_scores}, "the metric words judges by the words"),
    ("simplegen", {**_WORDS, "score": "x"}, "unknown option of the metric words 'score'"),
    ("simplegen", {**_GIVEN, "options": {"word": "x"}}, "unknown option of the metric"),
    ("simplegen en-es", {"translations": TEXTS}, "none ships with the package for en-es"),
)
def test_unfit_metrics_and_options_are_refused(data: str, options: Any, message: str) -> None:
    refuses(message, evaluate_dataset, *data.split(), **options)


@pytest.mark.parametrize("text", ["[]", *(f'{{"results": {v}}}' for v in ("[]", 3, "[{}]", "[3]"))])
def test_malformed_result_sets_are_refused(text: str) -> None:
    refuses("expected the JSON of", ResultSet.from_json, text)


def test_tables_show_only_the_figures_of_the_result() -> None:
    outcomes = run_all()
    weighted, words = (printed(result_table(result), width=100) for result in outcomes.results)
    shown = "weighted (95 %)", "ties", "mean confidence", "delta words", "−25.0"
    assert [name in weighted for name in shown] == [True, True, True, False, False]
    assert [name in words for name in shown] == [False, False, False, True, True]
    assert ("inconclusive" in weighted, "weighted" in words) == (False, False)
    total = next(line for line in words.splitlines() if line.split()[:1] == ["total"])
    assert (total.split()[:3], total.split()[-1]) == (["total", "2,664", "33.3"], "888")
    both = printed(
        results_table(ResultSet(outcomes.results, {"other": "needs [spacy]"})), width=100
    )
    assert ("2 metrics on 2,664 translations" in both, "not run" in both) == (True, False)
    for result in outcomes.results:
        for name in result.scores:
            assert f" {figure_label(result.metric, name)} " in both


def test_a_result_without_categories_has_a_table() -> None:
    result = EvaluationResult(
        "d", "c", "de", "quality", "q|n:1", 1, {"bleu_gap": -0.03, "bleu_male": 0.25}, {}, (), ()
    )
    shown = printed(result_table(result), width=100)
    assert "d (c), German · quality" in shown
    assert re.findall(r"bleu \w+ +(\S+)", shown) == ["−3.0", "25.0", "−3.0"]


def test_a_file_for_another_configuration_is_refused_naming_it(tmp_path: Path) -> None:
    winomt, rows = declaration("winomt"), load_examples("simplegen", "en-de")[:4]
    material = Material("en", "de", rows, declared=winomt, config=winomt.config("default"))
    named = r"4 in all, got 3888 .* 3888 is the number of examples"
    for n, message in ((3888, named), (5, r"matched by source or id$")):
        path = write_lines(tmp_path / "de.txt", ["Text."] * n)
        refuses(message, evaluate, material, translations=path, evaluator=hash_scores)


def test_judgements_name_the_pairs_of_their_examples() -> None:
    # Two rows are a pair; one is alone, and a name of three rows means something else.
    names = ["a", "a", "b", "c", "c", "c", ""]
    pairs = zip(reported.examples(), names, strict=False)
    material = Material("en", "de", [replace(e, extra={"pair": name}) for e, name in pairs])
    texts = [f"Satz {i}." for i in range(len(names))]
    result = evaluate(material, translations=texts, evaluator=hash_scores)
    assert [j.pair for j in result.judgements] == ["a", "a", "", "", "", "", ""]


def test_a_result_says_that_translations_were_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = Mock(return_value=Translations(TEXTS, [5, 9]))
    monkeypatch.setattr("cc_hf.systems.translate.translate_rows", cut)
    for result in run_all(translations=None, system="cc-tiny-en-de").results:
        assert re.match(r".*2 of 2,664 translations were cut.*that of row 5", result.notes[0])
