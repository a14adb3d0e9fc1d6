from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import cc_hf
from cc_hf.comparing.explanation import Explanation, explain, explain_example
from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.ensemble import EnsembleEvaluator, SentenceEnsembleEvaluator
from cc_hf.evaluators.scores import SCORES
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Focus
from tests.helpers.fake_evaluator import hash_score
from tests.helpers.letter_evaluator import LetterEvaluator, SpelledEvaluator
from tests.helpers.metrics import evaluate_metric

evaluate = functools.partial(evaluate_metric, "contrastive_conditioning")

CORRECT = ("The [female] cook left.", "She, the cook, left.")
INCORRECT = ("The [male] cook left.", "He, the cook, left.", "It, the cook, left.")
TRANSLATION = "Die Köchin ging, «froh»."


def explained(translation: str = TRANSLATION, **options: Any) -> Explanation:
    return explain(
        SpelledEvaluator(max_tokens=200),
        translation,
        CORRECT,
        INCORRECT,
        src_lang="en",
        tgt_lang="de",
        **options,
    )


@pytest.mark.parametrize("score", list(SCORES))
def test_an_explanation_gives_the_judgement_of_the_metric(score: str) -> None:
    found = explained(score=score)
    reference = {
        "correct_sources": list(CORRECT),
        "incorrect_sources": list(INCORRECT),
        "category": "female",
    }
    (judgement,) = evaluate(
        [TRANSLATION],
        [reference],
        SpelledEvaluator(max_tokens=200),
        src_lang="en",
        tgt_lang="de",
        score=score,
    ).judgements
    assert judgement.score_correct is not None
    assert judgement.score_incorrect is not None
    assert found.probability_correct == pytest.approx(judgement.probability_correct, abs=1e-12)
    assert (found.score_correct, found.score_incorrect) == pytest.approx(
        (judgement.score_correct, judgement.score_incorrect), abs=1e-12
    )
    assert found.is_correct == judgement.is_correct
    assert found.log_odds == pytest.approx(
        math.log(judgement.score_correct / judgement.score_incorrect), abs=1e-12
    )


@pytest.mark.parametrize("score", list(SCORES))
def test_contributions_sum_to_the_log_odds(score: str) -> None:
    found = explained(score=score)
    assert math.fsum(token.contribution for token in found.tokens) == pytest.approx(
        found.log_odds, abs=1e-12
    )
    assert math.fsum(word.contribution for word in found.words) == pytest.approx(
        found.log_odds, abs=1e-12
    )
    assert 1 / (1 + math.exp(-found.log_odds)) == pytest.approx(
        found.probability_correct, abs=1e-12
    )
    for parts in (found.tokens, found.words):
        assert math.fsum(part.share for part in parts) == pytest.approx(1)
        assert all(0 <= part.share <= 1 for part in parts)
        assert all(
            part.difference == pytest.approx(part.logprob_correct - part.logprob_incorrect)
            for part in parts
        )
    for word in found.words:
        own = found.tokens[word.first_token : word.first_token + word.n_tokens]
        assert word.logprob_correct == pytest.approx(
            math.fsum(token.logprob_correct for token in own)
        )
    assert sum(word.n_tokens for word in found.words) == len(found.tokens)


def test_the_best_source_of_each_side_is_explained() -> None:
    found = explained()
    scores = {source: evaluate_alone(source) for source in (*CORRECT, *INCORRECT)}
    assert found.correct_source == max(CORRECT, key=scores.__getitem__)
    assert found.incorrect_source == max(INCORRECT, key=scores.__getitem__)


def evaluate_alone(source: str) -> float:
    return float(SpelledEvaluator(max_tokens=200).mean_logprobs([source], [TRANSLATION])[0])


def test_words_are_separated_from_punctuation() -> None:
    assert [word.text for word in explained().words] == [
        "Die",
        "Köchin",
        "ging",
        ",",
        "«",
        "froh",
        "».",
        "</s>",
    ]
    assert [word.text for word in explained("Ärzte-Team, wie geht's?").words] == [
        "Ärzte-Team",
        ",",
        "wie",
        "geht's",
        "?",
        "</s>",
    ]
    assert [word.text for word in explained("医者は行った。").words] == [*"医者は行った。", "</s>"]
    found = explained("  Zwei   Wörter ")
    assert [(word.text, word.start) for word in found.words] == [
        ("Zwei", 2),
        ("Wörter", 9),
        ("</s>", 15),
    ]
    assert all(found.translation[word.start : word.end] == word.text for word in found.words[:-1])


def test_deciding_words_are_the_fewest_that_make_up_half() -> None:
    found = explained()
    sign = 1 if found.is_correct else -1
    for_the_verdict = sorted(
        (sign * word.contribution for word in found.words if sign * word.contribution > 0),
        reverse=True,
    )
    decide = sorted(
        (sign * word.contribution for word in found.words if word.decides), reverse=True
    )
    assert decide == for_the_verdict[: len(decide)]
    assert sum(decide) >= sum(for_the_verdict) / 2 > sum(decide[:-1])
    tie = explain(
        SpelledEvaluator(max_tokens=200), "Ja.", ["one"], ["one "], src_lang="en", tgt_lang="de"
    )
    assert any(word.decides for word in tie.words)


def test_a_tie_has_no_deciding_words() -> None:
    class Constant(SpelledEvaluator):
        def logprobs_batch(
            self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
        ) -> list[npt.NDArray[np.float64]]:
            return [np.full(len(target), -2.0) for target in targets]

    for score in SCORES:
        found = explain(
            Constant(max_tokens=200),
            TRANSLATION,
            CORRECT,
            INCORRECT,
            src_lang="en",
            tgt_lang="de",
            score=score,
        )
        assert (found.probability_correct, found.log_odds, found.is_correct) == (0.5, 0.0, True)
        assert not any(word.decides or word.share for word in found.words)


def test_bad_input_is_refused() -> None:
    evaluator: Any = SpelledEvaluator(max_tokens=200)
    with pytest.raises(InputError, match=r"expected an Evaluator .* got function"):
        explain(hash_score, "Ja.", ["a"], ["b"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="score: expected one of"):
        explain(evaluator, "Ja.", ["a"], ["b"], score="mean")
    with pytest.raises(InputError, match="expected a translation"):
        explain(evaluator, " ", ["a"], ["b"])
    with pytest.raises(InputError, match="both correct and incorrect"):
        explain(evaluator, "Ja.", ["a"], ["a"])
    with pytest.raises(InputError, match="letters does not name its tokens"):
        explain(LetterEvaluator(), "Ja.", ["a"], ["b"])
    with pytest.raises(InputError, match="with contrastive sources, got"):
        explain_example(
            evaluator,
            ContrastiveTranslationExample("0", "en", "de", "a", "b", ("c",), "all"),  # type: ignore[arg-type]
            "Ja.",
        )


def test_only_ensembles_of_equal_tokenisation_are_explained() -> None:
    members: list[Evaluator] = [SpelledEvaluator(max_tokens=200), SpelledEvaluator(max_tokens=200)]
    found = explain(
        EnsembleEvaluator(members), TRANSLATION, CORRECT, INCORRECT, src_lang="en", tgt_lang="de"
    )
    assert found.probability_correct == pytest.approx(explained().probability_correct)
    with pytest.raises(InputError, match="no token has a common probability"):
        explain(SentenceEnsembleEvaluator(members), TRANSLATION, CORRECT, INCORRECT)


def test_the_json_holds_words_and_tokens_and_no_nan() -> None:
    found = explained()
    row = json.loads(found.to_json())
    assert row["is_correct"] is found.is_correct
    assert len(row["tokens"]) == len(found.tokens)
    assert row["words"][1]["text"] == "Köchin"
    with pytest.raises(ValueError, match="not JSON compliant"):
        replace(found, log_odds=math.nan).to_json()


@pytest.fixture(scope="module")
def embedded() -> cc_hf.Evaluator:
    return cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")


def test_the_embedded_evaluator_decides_by_the_word_for_doctor(embedded: cc_hf.Evaluator) -> None:
    source = "The doctor asked the nurse to help her."
    example = ContrastiveSourceExample(
        "0",
        "en",
        "de",
        source,
        Focus("doctor", 4),
        ("The [female] doctor asked the nurse to help her.",),
        ("The [male] doctor asked the nurse to help her.",),
        "female",
        "female",
    )
    right, wrong = (
        explain_example(embedded, example, f"{doctor} bat die Krankenschwester, ihr zu helfen.")
        for doctor in ("Die Ärztin", "Der Arzt")
    )
    assert right.probability_correct > 0.5 > wrong.probability_correct
    assert [word.text for word in right.words] == [
        "Die",
        "Ärztin",
        "bat",
        "die",
        "Krankenschwester",
        ",",
        "ihr",
        "zu",
        "helfen",
        ".",
        "</s>",
    ]
    # after "Der" the noun is expected
    for found, words in ((right, {"Die", "Ärztin"}), (wrong, {"Der", "Arzt"})):
        decides = {word.text for word in found.words if word.decides}
        assert decides
        assert decides <= words
    assert "".join(token.text for token in right.tokens[:-1]) == right.translation.replace(" ", "")
    for found in (right, wrong):
        reference = {
            "correct_sources": list(example.correct_sources),
            "incorrect_sources": list(example.incorrect_sources),
            "category": "female",
        }
        (judgement,) = evaluate(
            [found.translation], [reference], embedded, src_lang="en", tgt_lang="de"
        ).judgements
        assert found.probability_correct == pytest.approx(judgement.probability_correct, abs=1e-6)


def test_unknown_characters_keep_their_position(embedded: cc_hf.Evaluator) -> None:
    found = explain(
        embedded,
        "Der Arzt 🎉 kam ∑∆ heim.",
        ["The [male] doctor came."],
        ["The [female] doctor came."],
    )
    words = [word.text for word in found.words]
    assert [words[0], words[1], words[-1]] == ["Der", "Arzt", "</s>"]
    assert {"kam", "heim"} <= set(words)
    letters = {i for word in found.words for i in range(word.start, word.end)}
    assert {i for i, letter in enumerate(found.translation) if not letter.isspace()} <= letters
