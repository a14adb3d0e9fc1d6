import functools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cc_hf
from cc_hf.comparing.systems import compare
from cc_hf.errors import EvaluatorError
from cc_hf.metrics.contrastive_translation_scoring import contests, requests
from cc_hf.normalization import composed, is_blank
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.statistics.score_intervals import wilson_interval
from tests.helpers import families, metrics, plain_forward
from tests.helpers.letter_evaluator import LetterEvaluator, TextEvaluator
from tests.helpers.samples import MT, data_of, declare_wino_x, lay_out_samples
from tests.helpers.usual import (
    cases,
    constant_scores,
    evaluate_dataset,
    evaluate_dataset_by_all,
    fails,
    hash_scores,
    printed_by,
    refuses,
)

compute = functools.partial(metrics.compute_metric, "contrastive_translation_scoring", None)
evaluate = functools.partial(metrics.evaluate_metric, "contrastive_translation_scoring", None)

METRIC = "contrastive_translation_scoring"


def contrast(source: str, right: str, *wrong: str, **more: str) -> dict[str, Any]:
    sides = {"correct_translation": right, "contrastive_translations": [*wrong]}
    return {"source": source, **sides, **more}


ROWS = [
    contrast("s", "best", "b", "c", category="x", pair="p"),
    contrast("s", "tie", "b", "same", category="y", pair="p"),
    contrast("t", "worse", "b", category="y", pair="q"),
    contrast("t", "alone", category="y", pair=""),
    contrast("t", "zero", "nil", category="x", pair="r"),
    contrast("t", "best", "tie", category="x", pair="r"),
]
TABLE = {"best": 0.9, "b": 0.5, "c": 0.2, "tie": 0.75, "same": 0.75, "worse": 0.1}


def by_table(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    return [TABLE.get(text, 0.0) for text in translations]


def texts_of(row: dict[str, Any]) -> list[str]:
    return [row["correct_translation"], *row["contrastive_translations"]]


def test_the_correct_translation_must_beat_all_others_and_ties_are_wrong() -> None:
    result = evaluate(ROWS, by_table, src_lang="en", tgt_lang="de", n_resamples=50)
    assert [j.is_correct for j in result.judgements] == [True, False, False, True, False, True]
    by_category = {"min_accuracy": 1 / 3, "accuracy_x": 2 / 3, "accuracy_y": 1 / 3}
    assert result.scores == {"accuracy": 0.5, "pair_accuracy": 0, **by_category}
    counts = {"n_correct": 3, "n_ties": 2, "n_without_contrast": 1, "n_without_twin": 1}
    assert result.counts == {**counts, "n_pairs": 2, "n_pairs_correct": 0}
    assert [(c.category, c.n_ties) for c in result.categories] == [("x", 1), ("y", 1)]
    assert [result.judgements[i].scores for i in (1, 3)] == [(0.75, 0.5, 0.75), (0.0,)]
    probabilities = [j.probability_correct for j in result.judgements[1:5]]
    assert probabilities == [0.5, pytest.approx(1 / 6), None, 0.5]
    signature = re.sub(r"(own|scores[.])@?[0-9a-f]{8,12}", r"\1", result.signature)
    begin = (
        "cts|data:own|sys:scored|langs:en-de|"
        "eval:function by_table@scores.|score:own|tie:incorrect"
        "|norm:nfc-cf|n:6|boot:50|seed:0|m:4|v:"
    )
    assert signature.startswith(begin)
    assert result.intervals["pair_accuracy"] == wilson_interval(0, result.counts["n_pairs"])
    lenient = evaluate(ROWS, by_table, src_lang="en", tgt_lang="de", ties="correct")
    assert (lenient.counts["n_correct"], lenient.counts["n_ties"]) == (5, 2)
    assert "|tie:correct|" in lenient.signature


def test_a_pair_is_correct_when_both_rows_are() -> None:
    rows = [{**ROWS[i], "pair": name} for i, name in ((0, "a"), (5, "a"), (0, "b"), (2, "b"))]
    result = evaluate(rows, by_table)
    assert (result.scores["pair_accuracy"], result.scores["accuracy"]) == (0.5, 0.75)
    assert result.intervals["pair_accuracy"] == wilson_interval(1, 2)
    alone = evaluate(rows[:1], by_table)
    assert "pair_accuracy" not in alone.scores
    assert alone.counts["n_without_twin"] == 1
    assert "n_pairs" not in evaluate([{**ROWS[0], "pair": ""}], by_table).counts


def test_scores_of_judgements_are_optional_in_json() -> None:
    row = evaluate(ROWS, by_table).to_dict()
    for judgement in row["judgements"]:
        del judgement["scores"]
    assert {j.scores for j in EvaluationResult.from_dict(row).judgements} == {()}
    other = evaluate_dataset("simplegen", translations=["x"] * 2664, evaluator=hash_scores)
    assert not [j for j in other.to_dict()["judgements"] if "scores" in j]


@pytest.mark.parametrize("mode", ["exact", "auto"])
@cases(("perplexity", "mean"), ("logprob", "sum"))
def test_scores_are_of_the_model(score: str, summed: str, tiny_marian: Path, mode: str) -> None:
    rows = [contrast("The doctor asked.", "Der Arzt bat.", "Die Ärztin bat.", "Der Arzt bat sie.")]
    rows.append(contrast("The nurse.", "Der Pfleger.", "Die Krankenschwester."))
    evaluator = cc_hf.load_evaluator(tiny_marian, src_lang="en", tgt_lang="de", mode=mode)
    result = evaluate(rows, evaluator, score=score)
    for row, judgement in zip(rows, result.judgements, strict=True):
        plain = [plain_forward.marian(tiny_marian, row["source"], t) for t in texts_of(row)]
        logs = [float(getattr(logprobs, summed)()) for logprobs in plain]
        expected = np.exp(logs) if score == "perplexity" else logs
        np.testing.assert_allclose(judgement.scores, expected, rtol=1e-5)
        assert judgement.is_correct == (logs[0] > max(logs[1:]))
    assert score == "perplexity" or "|score:logprob|" in result.signature
    probability = result.judgements[1].probability_correct
    if score == "logprob":
        assert probability == pytest.approx(1 / (1 + np.exp(logs[1] - logs[0])), rel=1e-4)


def test_a_causal_language_model_scores_texts_without_source(tmp_path: Path) -> None:
    families.save_tiny_causal_lm(tmp_path)
    row = {"correct_translation": "Der Arzt bat sie.", "contrastive_translations": ["Der Arzt."]}
    computed = compute(
        [row], src_lang="en", tgt_lang="de", evaluator=tmp_path, prompt="", score="logprob"
    )
    plain = [plain_forward.causal_lm(tmp_path, "", t, prompt="<s>").sum() for t in texts_of(row)]
    np.testing.assert_allclose(computed["scores"][0], plain, rtol=1e-5)
    assert "|prompt:none|" in computed["signature"]


def test_close_decisions_of_a_faster_pass_are_repeated_exactly() -> None:
    class Rough(LetterEvaluator):
        def logprobs_batch(self, *sides: Any) -> Any:
            return [row + 0.01 * (len(row) % 3 - 1) for row in super().logprobs_batch(*sides)]

    rows = [contrast(f"s{i}", f"a{i}", f"bb{i}", f"ccc{i}") for i in range(200)]
    for score in ("perplexity", "logprob"):
        exact, fast = LetterEvaluator(), LetterEvaluator()
        fast.own_fast = Rough()
        result = evaluate(rows, fast, score=score, n_resamples=1)
        expected = evaluate(rows, exact, score=score, n_resamples=1)
        assert [j.verdict for j in result.judgements] == [j.verdict for j in expected.judgements]
        assert result.judgements != expected.judgements


def test_nan_scores_are_refused_naming_the_row() -> None:
    evaluator = TextEvaluator(lambda text: np.nan if text[0] == "w" else -1.0)
    rows = [{**row, "source": ""} for row in ROWS]
    fails(EvaluatorError, "row 2: letters@1 gave a score that cannot", evaluate, rows, evaluator)


def test_the_context_is_prepended_only_on_request() -> None:
    rows = [{**ROWS[0], "context": "Before."}, {**ROWS[3], "context": ""}]
    assert [r.source for r in requests(rows)] == ["s", "s", "s", "t"]
    assert [r.source for r in requests(rows, context="prepended")] == ["Before. s"] * 3 + ["t"]
    assert "|context:prepended|" in evaluate(rows, by_table, context="prepended").signature
    assert "|context:ignored|" in evaluate(rows, by_table).signature


def test_separator_and_translated_context_are_prepended_and_signed(tmp_path: Path) -> None:
    before = {"context": "Before.", "target_context": "Davor."}
    rows = [{**ROWS[0], **before}, {**ROWS[3], "context": "", "target_context": ""}]
    scored = requests(rows, context="both", separator="<sep>")
    expected = [("Before. <sep> s", f"Davor. <sep> {text}") for text in ("best", "b", "c")]
    expected.append(("t", ROWS[3]["correct_translation"]))
    assert [(r.source, r.translation) for r in scored] == expected
    scored = requests(rows, context="prepended", separator="<sep>")
    assert (scored[0].source, scored[0].translation) == ("Before. <sep> s", "best")
    scores = Mock(wraps=hash_scores, __name__="scores")
    bare = [{key: v for key, v in row.items() if key != "target_context"} for row in rows]
    (tmp_path / "before.txt").write_text("Vorher.\n\n", encoding="utf-8")
    both = functools.partial(evaluate, bare, scores, context="both", separator="<sep>")
    lines = (str(tmp_path / "before.txt"), ["Vorher.", ""], ["Anderes.", ""])
    results = [both(target_context=given) for given in lines]
    assert scores.mock_calls[0].args[1][0] == "Vorher. <sep> best"
    assert "|context:both <sep>|tgtcontext:own@" in results[0].signature
    assert results[0].signature == results[1].signature != results[2].signature
    spaced = evaluate(bare, by_table, context="prepended", separator=" <sep> ")
    assert "|context:prepended <sep>|" in spaced.signature


@cases(
    ({"context": "yes"}, r"context: expected one of ignored, prepended.*got 'yes'"),
    ({"separator": "<sep>"}, "separator: expected context prepended or both with it"),
    ({"target_context": ["a", "b"]}, "target_context: expected context both with it"),
    ({"context": "both", "target_context": ["a"]}, "target_context: expected one line.*got 1"),
    ({"context": "both"}, "row 0: target_context: expected a translation of the sentences"),
    ({"context": "both", "target_context": ["a", "b"]}, "row 1: target_context: .* got 'b'"),
)
def test_contexts_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    rows = [{**ROWS[0], "context": "Before."}, {**ROWS[3], "context": ""}]
    refuses(message, evaluate, rows, by_table, **options)
    refuses("context: .* with sentences before them", evaluate, ROWS, by_table, context="prepended")


def test_rows_without_a_translated_context_have_the_digest_of_earlier_versions() -> None:
    def digest(**given: str) -> str:
        return evaluate([{**row, **given} for row in ROWS], by_table).signature.split("|")[1]

    assert digest() == digest(target_context="") != digest(target_context="x")


def with_others(texts: Any) -> dict[str, Any]:
    return {**ROWS[0], "contrastive_translations": texts}


@cases(
    ([3], {}, "row 0: expected a reference with the keys correct_translation.*got int"),
    ([with_others("b")], {}, "row 0: contrastive_translations: expected a list, got one text"),
    ([with_others(["b", None])], {}, "row 0: contrastive_.* text that is not blank, got None"),
    ([with_others(["best"])], {}, "row 0: the correct translation"),
    ([ROWS[0]] * 3, {}, r"row 2: pair 'p': expected two rows at most.*got 3 \(rows 0, 1, 2\)"),
    (ROWS, {"score": "geometric"}, "score: expected one of perplexity.*got 'geometric'"),
    (ROWS, {"evaluator": 3}, "evaluator: expected a name, a path, an Evaluator or a.*got int"),
)
def test_bad_rows_and_options_are_refused(references: Any, options: Any, message: str) -> None:
    refuses(message, compute, references, **{"evaluator": by_table, **options})


_CHARACTERS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
_TEXT = _CHARACTERS.map(composed).filter(lambda text: not is_blank(text))


@given(st.lists(st.tuples(_TEXT, st.lists(_TEXT, max_size=3)), min_size=1, max_size=5))
def test_the_order_of_rows_and_of_contrasts_does_not_matter(rows: Any) -> None:
    def judged(step: int) -> dict[str, Any]:
        sides = [(text, [t for t in others if t != text]) for text, others in rows[::step]]
        references = [contrast("", text, *others[::step]) for text, others in sides]
        computed = compute(references, evaluator=hash_scores, n_resamples=2)
        n_scored = sum(len(left) + len(right) for left, right in contests(references))
        assert n_scored + computed["n_without_contrast"] == len(requests(references))
        return computed

    assert judged(-1)["verdicts"] == judged(1)["verdicts"][::-1]


def run(name: str, config: str, folder: Path, shared: Path, **options: Any) -> EvaluationResult:
    data = data_of(name, config, folder, shared)
    given = {"evaluator": hash_scores, **options}
    return evaluate_dataset(name, config, metric=METRIC, data_dir=data, **given)


@cases(
    ({"n_pairs": 4, "n_without_twin": 5}, "wino_x mt_en_de.translations"),
    ({"n_without_twin": 1}, "wino_x mt_en_ru.translations"),
    ({"n_ties": 0}, "wino_x lm_en_fr"),
    ({"n_without_twin": 1}, "wino_x lm_en_ru.english"),
    ({"n_without_contrast": 1}, "contrawsd de-en"),
    ({"n_ties": 0}, "contrawsd de-fr"),
    ({"n_ties": 0}, "mucow scoring.de-en"),
    ({"n_without_contrast": 0}, "mucow scoring.lt-en"),
    ({"n_without_contrast": 0}, "mucow scoring.lv-en"),
    ({"n_pairs": 300, "n_without_twin": 0}, "mt_geneval counterfactual_de.translations"),
    ({"n_ties": 0}, "mt_geneval contextual_it"),
)
def test_contrastive_data_are_evaluated(n: Any, data: str, shared: Path, tmp_path: Path) -> None:
    name, config = data.split()
    outcome = run(name, config, tmp_path, shared)
    examples = cc_hf.load_examples(name, config, data_dir=data_of(name, config, tmp_path, shared))
    assert n.items() <= outcome.counts.items()
    for example, judgement in zip(examples, outcome.judgements, strict=True):
        texts = tuple(
            map(composed, (example.correct_translation, *example.contrastive_translations))
        )  # some have invisible characters
        assert judgement.scores == tuple(hash_scores([example.source] * len(texts), texts))
        right, *others = judgement.scores
        assert judgement.is_correct == all(right > other for other in others)
    assert outcome.signature.startswith(f"cts|data:{name}/{config}@")


def test_mt_geneval_sources_get_their_context(shared: Path) -> None:
    seeing = Mock(side_effect=constant_scores, __name__="seeing")
    name = "mt_geneval", "contextual_it"
    examples = cc_hf.load_examples(*name, data_dir=shared / "upstream")
    outcome = run(*name, shared, shared, evaluator=seeing, options={"context": "prepended"})
    assert seeing.call_args.args[0][0] == f"{examples[0].extra['context']} {examples[0].source}"
    assert (outcome.scores["accuracy"], outcome.counts["n_ties"]) == (0, outcome.n)


@cases(
    ({"translations": ["x"]}, f"translations: .* {METRIC} judges"),
    ({"system": "opus"}, f"system: the metric {METRIC} judges"),
    ({"evaluator": None}, "none ships with the package for de-en"),
    ({"options": {"contxt": "x"}}, "unknown option of the.*did you mean 'context'"),
)
def test_what_is_not_taken_is_refused(options: Any, message: str, tmp_path: Path) -> None:
    data: dict[str, Any] = {"data_dir": contrawsd(tmp_path), "evaluator": hash_scores}
    refuses(message, evaluate_dataset, "contrawsd", **{**data, "metric": METRIC, **options})
    refuses(
        r"contrawsd de-en has no contrastive sources.*metrics",
        evaluate_dataset,
        "contrawsd",
        **data,
        translations=["x"],
    )
    refuses("simplegen en-de has no contrastive", evaluate_dataset, "simplegen", metric=METRIC)


def contrawsd(folder: Path) -> Path:
    return lay_out_samples("contrawsd", "de-en", folder, folder)


def test_metric_all_judges_the_evaluator_without_translations(shared: Path, tmp_path: Path) -> None:
    def by_all(**options: Any) -> ResultSet:
        data = shared / "upstream"
        return evaluate_dataset_by_all("mt_geneval", "contextual_it", data_dir=data, **options)

    actual = by_all(evaluator=hash_scores)
    (result,) = actual.results
    assert (result.metric, result.system, actual.not_run) == (METRIC, "hash_scores", {})
    given = by_all(translations=["x"] * result.n)
    assert "gender_accuracy" in [result.metric for result in given.results]
    assert METRIC not in given.not_run
    refuses(
        "no metric can judge contrawsd de-en in en",
        evaluate_dataset_by_all,
        "contrawsd",
        translations=["x"] * 3,
        data_dir=contrawsd(tmp_path),
    )
    refuses("either translations", evaluate_dataset_by_all, "simplegen", evaluator=hash_scores)


def test_evaluator_models_can_be_compared_like_systems(tmp_path: Path) -> None:
    def second(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [1 - score for score in hash_scores(sources, translations)]

    options: dict[str, Any] = {"data_dir": contrawsd(tmp_path), "metric": METRIC}
    first = evaluate_dataset("contrawsd", evaluator=hash_scores, **options)
    other = evaluate_dataset("contrawsd", evaluator=second, **options)
    (actual,) = compare({"hash_scores": first, "second": other}, n_resamples=20).systems
    assert (actual.baseline, actual.system, actual.n) == ("hash_scores", "second", 3)
    difference = other.scores["accuracy"] - first.scores["accuracy"]
    assert actual.differences["accuracy"].difference == difference


def test_the_command_line_evaluates_without_translations(tmp_path: Path) -> None:
    def output(metric: str, *options: object) -> str:
        data = "evaluate", "wino_x", "mt_en_de.translations", "--data-dir", tmp_path
        return printed_by(*data, "--metric", metric, *options, columns=200)

    rows = [MT, {**MT, "qID": "Q-2", "sentence": "Dana did not hang the artwork.", "answer": 2}]
    path = tmp_path / "demelin/wino_x/data/mt/en_de_test.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    declare_wino_x(tmp_path)
    actual = output(METRIC, "-v", "-o", tmp_path / "r.json")
    assert "cts|data:wino_x/mt_en_de.translations@local." in actual
    assert "|sys:scored|langs:en-de|eval:cc-tiny-en-de@" in actual
    assert "pair accuracy" in actual
    result = ResultSet.from_json((tmp_path / "r.json").read_text(encoding="utf-8")).results[0]
    assert [len(j.scores) for j in result.judgements] == [2, 2]
    assert ": 2 examples" in output("all")
