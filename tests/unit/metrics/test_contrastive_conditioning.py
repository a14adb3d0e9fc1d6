import functools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.errors import CacheError, EvaluatorError, InputError, ResultWarning
from cc_hf.normalization import composed, is_blank
from cc_hf.results import EvaluationResult
from tests.helpers.usual import (
    cases,
    compute_metric,
    constant_scores,
    evaluate_metric,
    fails,
    hash_score,
    hash_scores,
    refuses,
)

compute = functools.partial(compute_metric, "contrastive_conditioning")
evaluate = functools.partial(evaluate_metric, "contrastive_conditioning")

_SIDES = {"correct_sources": ["a [male] x"], "incorrect_sources": ["a [female] x"]}
GOOD = {**_SIDES, "category": "male"}
_CHARACTERS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
_TEXT = _CHARACTERS.map(composed).filter(lambda text: not is_blank(text))
_COLUMNS = {
    f"{side}_sources": st.lists(_TEXT.map(f"{side} {{}}".format), min_size=1, max_size=3)
    for side in ("correct", "incorrect")
}
_REFERENCES = st.fixed_dictionaries({**_COLUMNS, "category": st.sampled_from(["male", "female"])})


def run(predictions: Any, references: Any, evaluator: Any = hash_scores, **options: Any) -> Any:
    given = {"evaluator": evaluator, "src_lang": "en", "tgt_lang": "de", "n_resamples": 20}
    return compute(predictions, references, **{**given, **options})


@given(st.lists(st.tuples(_TEXT, _REFERENCES), min_size=1, max_size=12))
def test_probability_is_the_share_of_the_best_scores(rows: list[tuple[str, Any]]) -> None:
    texts, references = [t for t, _ in rows], [r for _, r in rows]
    probabilities = run(texts, references, clean=False)["probability_correct"]
    for (translation, reference), probability in zip(rows, probabilities, strict=True):
        correct = max(hash_score(s, translation) for s in reference["correct_sources"])
        incorrect = max(hash_score(s, translation) for s in reference["incorrect_sources"])
        assert probability == pytest.approx(correct / (correct + incorrect), abs=1e-15)


def test_the_result_has_the_documented_keys() -> None:
    result = run(["x", "y"], [GOOD, {**GOOD, "category": "female"}])
    weighted = "weighted_accuracy weighted_min_accuracy weighted_accuracy_female"
    for name in f"accuracy min_accuracy accuracy_male {weighted}".split():
        low, high = result["intervals"].get(name, (0, 1))
        assert 0 <= low <= result[name] <= high <= 1
        note = result["interval_notes"].get(name, "")
        assert name in result["intervals"] or note.startswith("no interval: ")
    assert result["n"] == 2
    assert result["signature"].startswith("cc|data:own@")
    assert "|n:2|" in result["signature"]


@cases(("correct", 3), ("incorrect", 0))
def test_ties_are_counted_and_a_warning_says_what_they_count_as(ties: str, n_correct: int) -> None:
    """A constant evaluator does not look perfect. As incorrect, ties count in the paper's text."""
    options = {} if ties == "correct" else {"ties": ties}
    with pytest.warns(ResultWarning, match=f"3 of 3 judgements are ties, which count as {ties}"):
        result = run(["x"] * 3, [GOOD] * 3, constant_scores, **options)
    counts = result["accuracy"], result["n_ties"], result["n_correct"]
    assert counts == (n_correct / 3, 3, n_correct)
    assert result["probability_correct"] == [0.5] * 3
    assert f"|tie:{ties}|" in result["signature"]


def test_an_evaluator_function_gets_the_pairs_unchanged() -> None:
    scores = Mock(return_value=[0.5] * 4, __name__="scores")
    run(["x", "x"], [GOOD, GOOD], scores)
    assert scores.mock_calls == [call(["a [male] x", "a [female] x"] * 2, ["x"] * 4)]


@cases(
    (["x"], ["text"], "row 0: expected a reference with the keys"),
    (["x"], [{"category": "a"}], "lacks correct_sources, incorrect_sources"),
    (["x"], [{**GOOD, "incorrect_sources": []}], "row 0: incorrect_sources: expected a list"),
    (["x"], [{**GOOD, "incorrect_sources": "a"}], "incorrect_sources: expected a list"),
    (["x"], [{**GOOD, "correct_sources": [" "]}], "expected a text that is not blank"),
    (["x"], [{**GOOD, "incorrect_sources": ["a [male] x"]}], "row 0: the same source is both"),
    (["x"], [{**GOOD, "category": 3}], "row 0: category: expected a string or nothing, got 3"),
)
def test_bad_input_is_refused_with_its_row(predictions: Any, references: Any, message: str) -> None:
    refuses(message, run, predictions, references)


@cases(
    (lambda s, t: [0.5], r"shape \(1,\) for 2 pairs"),
    (lambda s, t: [0.5] * 3, r"shape \(3,\) for 2 pairs"),
    (lambda s, t: [0.5, math.nan], "row 0: the evaluator function returned nan"),
    (lambda s, t: [-0.1, 0.5], r"returned -0\.1 \(1 such scores\)"),
    (lambda s, t: [math.inf, 0.5], "returned inf"),
    (lambda s, t: None, "shape"),
    (lambda s, t: ["a", "b"], "expected one number per pair"),
    (lambda s, t: ["0.5", "0.5"], "expected one number per pair"),
    (lambda s, t: [10**400] * 2, "expected one number per pair.*too large"),
    (lambda s, t: [[0.5], [0.5, 0.5]], "expected one number per pair"),
    (lambda s, t: (0.5 for _ in s), "expected one number per pair"),
    (lambda s, t: np.array([1 + 1j, 1]), "expected one number per pair.* got values"),
    (lambda s, t: torch.ones(2, requires_grad=True), r"one number per pair.*\.detach\(\)"),
    (lambda s, t: torch.ones(2, dtype=torch.bfloat16), r"one number per pair.*\.detach\(\)"),
    (lambda s, t: [1 / 0], r"failed on rows 0 to 0 \(2 pairs\): ZeroDivisionError: division"),
    (lambda s: [1.0, 1.0], "failed on rows 0 to 0 .*TypeError"),
)
def test_bad_scores_of_a_function_are_refused(scores: Callable[..., Any], message: str) -> None:
    fails(EvaluatorError, message, run, ["x"], [GOOD], scores)


def test_errors_of_an_evaluator_function_are_kept_as_the_cause() -> None:
    refuses(r"^not these$", run, ["x"], [GOOD], Mock(side_effect=InputError("not these")))
    with pytest.raises(EvaluatorError, match=r"rows 0 to 2 .*no network") as raised:
        run(["x", "y", "z"], [GOOD] * 3, Mock(side_effect=OSError("no network")))
    assert isinstance(raised.value.__cause__, OSError)


def test_scores_whose_sum_overflows_can_be_compared() -> None:
    scores = [1e308, 1e308, 1.5e308, 0.5e308, 0.5e308, 1.5e308]
    result = run(["x", "y", "z"], [GOOD] * 3, lambda s, t: scores)
    assert (result["probability_correct"], result["n_ties"]) == ([0.5, 0.75, 0.25], 1)
    assert run(["x"], [GOOD], lambda s, t: [0.0] * len(s))["probability_correct"] == [0.5]


def test_a_bad_seed_is_refused_before_anything_is_scored() -> None:
    refuses("seed: .* integer", run, ["x"], [GOOD], lambda s, t: pytest.fail("scored"), seed="a")


@cases(
    ("cc-tiny-de", {}, "did you mean 'cc-tiny-en-de'"),
    (3, {}, r"evaluator: expected a name, a path, an.*got int"),
    ("cc-tiny-en-de", {"score": "bleu"}, r"score: expected one of arithmetic.*got 'bleu'"),
    ("cc-tiny-en-de", {"score": ["bleu"]}, r"score: expected one of arith.*got \['bleu'\]"),
    (hash_scores, {"ties": "half"}, "ties: expected"),
    (hash_scores, {"on_blank": "drop"}, "on_blank: expected one of error, incorrect, got 'd"),
    ([1, 2], {}, r"evaluator: expected names or paths, got 1 \(int\) as member 0"),
    (["cc-tiny-en-de", None], {}, "evaluator: expected names or.*got None .* as member 1"),
    ({"cc-tiny-en-de"}, {}, "evaluator: expected a name, a path, an Evaluator or a.*got set"),
    ("x" * 5000, {}, "evaluator: expected at most 4096 characters"),
    ("x/" + "x" * 5000, {}, "evaluator: expected at most 4096 characters"),
    ("x" * 300, {}, "unknown evaluator"),
    ("nllb", {}, "Known: bergamot:SOURCE-TARGET, cc-tiny-en-de, a folder, ORGANISATION/MODEL of"),
    ("x/" + "x" * 300, {"cache": True, "revision": "a" * 40}, "the model could not be loaded"),
    ("a\0b", {}, "without null characters"),
    ("\ud800", {}, "valid Unicode"),
    ("cc-tiny-en-de", {"batch_tokens": "many"}, "batch_tokens: expected an.*got 'many'"),
    ("cc-tiny-en-de", {"batch_tokens": "9", "cache": True}, "expected an .* least 1, got '9'"),
    ("cc-tiny-en-de", {"batch_tokens": 1.5}, "batch_tokens: expected an integer"),
    ("cc-tiny-en-de", {"batch_tokens": math.nan}, "batch_tokens: expected an integer"),
    ("cc-tiny-en-de", {"cache": 3}, "cache: expected True, False or a path, got 3"),
    ("cc-tiny-en-de", {"cache": "x" * 5000}, "cache: expected at most 4096 characters"),
    ("cc-tiny-en-de", {"cache": "x" * 300}, "cannot be written"),
    ("cc-tiny-en-de", {"kind": ["marian"]}, "kind: expected a string"),
    ("cc-tiny-en-de", {"mode": ["exact"]}, "mode: expected one of"),
    ("cc-tiny-en-de", {"device": ["cpu"]}, "device: expected a string, got"),
    ("cc-tiny-en-de", {"revision": 3}, "revision: expected a string"),
)
def test_wrong_evaluators_and_options_are_refused(
    evaluator: Any, options: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fails(
        (InputError, EvaluatorError, CacheError), message, run, ["x"], [GOOD], evaluator, **options
    )


def test_geometric_and_reference_scores_give_the_same_judgements(tiny_marian: Path) -> None:
    predictions = ["Der Arzt bat.", "Die Ärztin ging.", "Ein Koch."]
    logits = {}
    for score in ("geometric", "reference", "arithmetic"):
        outcome = run(predictions, [GOOD] * 3, tiny_marian, score=score)
        assert f"|score:{score}|" in outcome["signature"]
        probabilities = np.array(outcome["probability_correct"])
        logits[score] = np.log(probabilities / (1 - probabilities))
    np.testing.assert_allclose(logits["reference"], logits["geometric"] * math.log(2), atol=1e-9)


def test_results_of_older_versions_can_be_read() -> None:
    result = evaluate(["x", "y"], [GOOD, GOOD], hash_scores, n_resamples=10)
    older = json.loads(result.to_json())
    for judgement in older["judgements"]:
        del judgement["verdict"], judgement["predicted"], judgement["gold"]
    for category in older["categories"]:
        del category["n_inconclusive"]
    assert EvaluationResult.from_json(json.dumps(older)) == result


def test_category_is_optional() -> None:
    rows = [{k: v for k, v in GOOD.items() if k != "category"}, {**GOOD, "category": ""}]
    assert "accuracy_all" in run(["x", "y"], rows)


def test_the_digest_of_own_data_changes_with_pairs_and_not_with_empty_names() -> None:
    paired = [{**GOOD, "pair": name} for name in ("", "a", "b")]
    signatures = [run(["x", "y"], [row] * 2)["signature"] for row in (GOOD, *paired)]
    assert signatures[0] == signatures[1]
    assert len({*signatures}) == 3


def test_a_blank_translation_counts_as_incorrect_if_the_option_says_so() -> None:
    rows = [GOOD, {**GOOD, "category": "female"}]
    result = run(["x", " "], rows, on_blank="incorrect")
    assert result["probability_correct"][1] == 0
    assert (result["n_blank"], result["accuracy_female"]) == (1, 0.0)
    assert "|blank:incorrect|" in result["signature"]
    assert "blank" not in run(["x", "y"], rows, on_blank="incorrect")["signature"]
