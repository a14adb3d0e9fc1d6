import functools
import json
import math
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pytest

import cc_hf
from cc_hf.comparing.explanation import Explanation, explain, explain_example
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.ensemble import EnsembleEvaluator, SentenceEnsembleEvaluator
from cc_hf.evaluators.scores import SCORES
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Focus
from tests.helpers.letter_evaluator import LetterEvaluator, SpelledEvaluator
from tests.helpers.usual import EN_DE, cases, evaluate_metric, fails, hash_score, refuses

evaluate = functools.partial(evaluate_metric, "contrastive_conditioning")

CORRECT = ("The [female] cook left.", "She, the cook, left.")
INCORRECT = ("The [male] cook left.", "He, the cook, left.", "It, the cook, left.")
TRANSLATION = "Die Köchin ging, «froh»."


_GENDERS: dict[str, Any] = {"correct_sources": CORRECT, "incorrect_sources": INCORRECT}


def explained(translation: str = TRANSLATION, evaluator: Any = None, **options: Any) -> Explanation:
    evaluator = evaluator or SpelledEvaluator(max_tokens=200)
    return explain(evaluator, translation, CORRECT, INCORRECT, **EN_DE, **options)


def words(explanation: Explanation) -> str:
    """Return the words, separated by spaces, without the end of the sentence."""
    assert explanation.words[-1].text == "</s>"
    return " ".join(word.text for word in explanation.words[:-1])


@pytest.mark.parametrize("score", list(SCORES))
def test_an_explanation_gives_the_judgement_of_the_metric(score: str) -> None:
    actual, evaluator = explained(score=score), SpelledEvaluator(max_tokens=200)
    (judgement,) = evaluate(
        [TRANSLATION], [{**_GENDERS, "category": "female"}], evaluator, **EN_DE, score=score
    ).judgements
    right, wrong = judgement.score_correct or nan, judgement.score_incorrect or nan
    assert actual.is_correct == judgement.is_correct
    values = (
        actual.probability_correct,
        actual.score_correct,
        actual.score_incorrect,
        actual.log_odds,
    )
    expected = (judgement.probability_correct, right, wrong, math.log(right / wrong))
    assert values == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("score", list(SCORES))
def test_contributions_sum_to_the_log_odds(score: str) -> None:
    explanation = explained(score=score)
    probability = 1 / (1 + math.exp(-explanation.log_odds))
    assert probability == pytest.approx(explanation.probability_correct, abs=1e-12)
    for parts in (explanation.tokens, explanation.words):
        total = math.fsum(part.contribution for part in parts)
        assert total == pytest.approx(explanation.log_odds, abs=1e-12)
        assert math.fsum(part.share for part in parts) == pytest.approx(1)
        assert all(0 <= part.share <= 1 for part in parts)
        for part in parts:
            assert part.difference == pytest.approx(part.logprob_correct - part.logprob_incorrect)
    for word in explanation.words:
        tokens = explanation.tokens[word.first_token : word.first_token + word.n_tokens]
        total = math.fsum(token.logprob_correct for token in tokens)
        assert word.logprob_correct == pytest.approx(total)
    assert sum(word.n_tokens for word in explanation.words) == len(explanation.tokens)


def test_the_best_source_of_each_side_is_explained() -> None:
    def score(source: str) -> float:
        return float(SpelledEvaluator(max_tokens=200).mean_logprobs([source], [TRANSLATION])[0])

    explanation = explained()
    assert explanation.correct_source == max(CORRECT, key=score)
    assert explanation.incorrect_source == max(INCORRECT, key=score)


def test_words_are_separated_from_punctuation() -> None:
    assert words(explained()) == "Die Köchin ging , « froh »."
    assert words(explained("Ärzte-Team, wie geht's?")) == "Ärzte-Team , wie geht's ?"
    assert words(explained("医者は行った。")) == " ".join("医者は行った。")
    explanation = explained("  Zwei   Wörter ")
    assert words(explanation) == "Zwei Wörter"
    assert [word.start for word in explanation.words] == [2, 9, 15]
    assert all(
        explanation.translation[word.start : word.end] == word.text
        for word in explanation.words[:-1]
    )


def test_deciding_words_are_the_fewest_that_make_up_half() -> None:
    explanation = explained()
    sign = 1 if explanation.is_correct else -1
    supports = sorted((sign * word.contribution for word in explanation.words), reverse=True)
    for_the_verdict = [support for support in supports if support > 0]
    deciding = [sign * word.contribution for word in explanation.words if word.decides]
    decide = sorted(deciding, reverse=True)
    assert decide == for_the_verdict[: len(decide)]
    assert sum(decide) >= sum(for_the_verdict) / 2 > sum(decide[:-1])
    tie = explain(SpelledEvaluator(max_tokens=200), "Ja.", ["one"], ["one "], **EN_DE)
    assert any(word.decides for word in tie.words)


def test_a_tie_has_no_deciding_words() -> None:
    class Constant(SpelledEvaluator):
        def logprobs_batch(self, sources: Any, targets: Any) -> Any:
            return [np.full(len(target), -2.0) for target in targets]

    for score in SCORES:
        explanation = explained(evaluator=Constant(max_tokens=200), score=score)
        assert (explanation.probability_correct, explanation.log_odds, explanation.is_correct) == (
            0.5,
            0.0,
            True,
        )
        assert not any(word.decides or word.share for word in explanation.words)


@cases(
    (hash_score, "Ja.", {}, r"expected an Evaluator .* got function"),
    (SpelledEvaluator(max_tokens=200), "Ja.", {"score": "mean"}, "score: expected one of"),
    (SpelledEvaluator(max_tokens=200), " ", {}, "expected a translation"),
    (LetterEvaluator(), "Ja.", {}, "letters does not name its tokens"),
)
def test_bad_input_is_refused(evaluator: Any, translation: str, options: Any, message: str) -> None:
    refuses(message, explained, translation, evaluator, **options)


def test_examples_without_two_kinds_of_sources_are_refused() -> None:
    evaluator: Any = SpelledEvaluator(max_tokens=200)
    refuses("both correct and incorrect", explain, evaluator, "Ja.", ["a"], ["a"])
    example: Any = ContrastiveTranslationExample("0", "en", "de", "a", "b", ("c",), "all")
    refuses("with contrastive sources, got", explain_example, evaluator, example, "Ja.")


def test_only_ensembles_of_equal_tokenisation_are_explained() -> None:
    members: list[Evaluator] = [SpelledEvaluator(max_tokens=200), SpelledEvaluator(max_tokens=200)]
    explanation = explained(evaluator=EnsembleEvaluator(members))
    assert explanation.probability_correct == pytest.approx(explained().probability_correct)
    refuses(
        "no token has a common probability", explained, evaluator=SentenceEnsembleEvaluator(members)
    )


def test_the_json_holds_words_and_tokens_and_no_nan() -> None:
    explanation = explained()
    row = json.loads(explanation.to_json())
    assert row["is_correct"] is explanation.is_correct
    assert (len(row["tokens"]), row["words"][1]["text"]) == (len(explanation.tokens), "Köchin")
    fails(ValueError, "not JSON compliant", replace(explanation, log_odds=math.nan).to_json)


@pytest.fixture(scope="module")
def embedded() -> cc_hf.Evaluator:
    return cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")


def test_the_embedded_evaluator_decides_by_the_word_for_doctor(embedded: cc_hf.Evaluator) -> None:
    source = "The doctor asked the nurse to help her."
    right, wrong = (source.replace("The", f"The [{cue}]") for cue in ("female", "male"))
    example = ContrastiveSourceExample(
        "0", "en", "de", source, Focus("doctor", 4), (right,), (wrong,), "female", "female"
    )
    reference = {"correct_sources": [right], "incorrect_sources": [wrong]}
    # after "Der" the noun is expected
    for doctor, is_right in (("Die Ärztin", True), ("Der Arzt", False)):
        text = f"{doctor} bat die Krankenschwester, ihr zu helfen."
        actual = explain_example(embedded, example, text)
        assert (actual.probability_correct > 0.5) == is_right
        assert words(actual) == f"{doctor} bat die Krankenschwester , ihr zu helfen ."
        decides = {word.text for word in actual.words if word.decides}
        assert set() < decides <= set(doctor.split())
        assert "".join(token.text for token in actual.tokens[:-1]) == text.replace(" ", "")
        (judgement,) = evaluate(
            [text], [{**reference, "category": "female"}], embedded, **EN_DE
        ).judgements
        assert actual.probability_correct == pytest.approx(judgement.probability_correct, abs=1e-6)


def test_unknown_characters_keep_their_position(embedded: cc_hf.Evaluator) -> None:
    explanation = explain(
        embedded,
        "Der Arzt 🎉 kam ∑∆ heim.",
        ["The [male] doctor came."],
        ["The [female] doctor came."],
    )
    assert words(explanation).startswith("Der Arzt ")
    assert {"kam", "heim"} <= set(words(explanation).split())
    letters = {i for word in explanation.words for i in range(word.start, word.end)}
    assert {
        i for i, letter in enumerate(explanation.translation) if not letter.isspace()
    } <= letters
