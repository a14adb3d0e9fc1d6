from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import cc_hf
from cc_hf.conversion.convert import convert
from cc_hf.errors import InputError, TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.studies.wino_x.salience import (
    Salience,
    WordSalience,
    shared_words,
    trigger_importance,
    trigger_words,
)
from cc_hf.studies.wino_x.trigger_importance import prediction_differences, pronoun_start
from cc_hf.text.pieces import piece_characters
from cc_hf.text.tokenization import moses_words
from tests.helpers import families
from tests.helpers.fairseq_models import save_fairseq
from tests.studies.wino_x.plain_prediction_difference import plain_probabilities


def example(
    name: str,
    source: str,
    correct: str,
    contrastive: str,
    pronouns: tuple[str, str],
    referents: tuple[str, str] = ("doctor", "nurse"),
) -> ContrastiveTranslationExample:
    names = ("correct_pronoun", "incorrect_pronoun", "correct_referent", "incorrect_referent")
    extra = {"pair": name[:-2], **dict(zip(names, (*pronouns, *referents), strict=True))}
    return ContrastiveTranslationExample(
        name, "en", "de", source, correct, (contrastive,), "male", extra
    )


EXAMPLES = [
    example(
        "a-1",
        "The doctor asked the nurse because it was in a good mood.",
        "Der Arzt bat sie, weil er gute Laune hatte.",
        "Der Arzt bat sie, weil sie gute Laune hatte.",
        ("er", "sie"),
    ),
    example(
        "a-2",
        "The doctor asked the nurse because it was here.",
        "Der Arzt bat sie, weil sie da war.",
        "Der Arzt bat sie, weil er da war.",
        ("sie", "er"),
        ("nurse", "doctor"),
    ),
    example(
        "b-1",
        "It's the mechanic's procedure, isn't it?",
        "Die Mechanikerin: sie hatte es.",
        "Die Mechanikerin: er hatte es.",
        ("sie", "er"),
        ("mechanic", "procedure"),
    ),
]


def seq2seq(evaluator: Evaluator) -> Seq2SeqEvaluator:
    assert isinstance(evaluator, Seq2SeqEvaluator)
    return evaluator


def plain(evaluator: Seq2SeqEvaluator, one: ContrastiveTranslationExample) -> list[float]:
    (source,), (target,) = (
        evaluator.encode_sources([one.source], "en", "de"),
        evaluator.encode_targets([one.correct_translation], "en", "de"),
    )
    pieces = [
        "" if i in evaluator.mark_ids else piece
        for i, piece in zip(target, evaluator.target_pieces(target), strict=True)
    ]
    start = pronoun_start(one)
    assert start is not None
    wanted = range(start, start + len(one.extra["correct_pronoun"]))
    pronoun = [
        at
        for at, own in enumerate(piece_characters(pieces, one.correct_translation))
        if set(own) & set(wanted)
    ]
    return plain_probabilities(evaluator, source, target, pronoun)


def check_against_the_plain_loop(evaluator: Seq2SeqEvaluator) -> None:
    found, skipped = prediction_differences(evaluator, EXAMPLES)
    assert skipped == {}
    for one, salience in zip(EXAMPLES, found, strict=True):
        whole, *without = plain(evaluator, one)
        assert salience.probability == pytest.approx(whole, abs=1e-5)
        values = sorted(
            [value for word in salience.words for _, value in word.subwords]
            + [value for _, value in salience.marks]
        )
        np.testing.assert_allclose(
            values, sorted(whole - probability for probability in without), atol=1e-5
        )
        for word in salience.words:
            assert word.salience == pytest.approx(np.mean([value for _, value in word.subwords]))
            assert one.source[word.start : word.start + len(word.text)] == word.text
        assert salience.ambiguous is not None
        assert salience.words[salience.ambiguous].text == "it"
        assert salience.words[salience.ambiguous].start == one.source.rfind("it")


@pytest.mark.parametrize("family", ["marian", "fsmt", "m2m_100", "nllb", "small100", "mbart", "t5"])
def test_saliences_equal_a_plain_loop(family: str, tmp_path: Path) -> None:
    evaluator = seq2seq(
        cc_hf.load_evaluator(
            families.BUILDERS[family](tmp_path),
            kind=family,
            batch_tokens=200,
            src_lang="en",
            tgt_lang="de",
        )
    )
    check_against_the_plain_loop(evaluator)
    spread = [
        value
        for salience in prediction_differences(evaluator, EXAMPLES)[0]
        for word in salience.words
        for _, value in word.subwords
    ]
    assert max(map(abs, spread)) > 1e-4  # otherwise a loop that removes nothing would pass


def test_saliences_of_the_embedded_evaluator_equal_a_plain_loop() -> None:
    evaluator = seq2seq(cc_hf.load_evaluator("cc-tiny-en-de"))
    check_against_the_plain_loop(evaluator)
    found, _ = prediction_differences(evaluator, EXAMPLES)
    for one, salience in zip(EXAMPLES, found, strict=True):
        assert [word.text for word in salience.words] == moses_words(one.source, "en")
        assert [text for text, _ in salience.marks] == ["</s>"]
    assert 0 < found[0].probability < 1


@pytest.mark.parametrize("shared", [True, False], ids=["shared embeddings", "separate embeddings"])
def test_saliences_of_a_fairseq_model_equal_a_plain_loop(shared: bool, tmp_path: Path) -> None:
    """Its dictionaries contain only small letters; all others are unknown tokens."""
    save_fairseq(tmp_path / "in", share_all_embeddings=shared)
    evaluator = seq2seq(
        cc_hf.load_evaluator(convert(tmp_path / "in", output=tmp_path / "out").folders[0])
    )
    check_against_the_plain_loop(evaluator)


def test_order_and_batch_size_do_not_change_saliences(tiny_marian: Path) -> None:
    whole, _ = prediction_differences(
        cc_hf.load_evaluator(tiny_marian, batch_tokens=5000), EXAMPLES
    )
    turned, _ = prediction_differences(
        cc_hf.load_evaluator(tiny_marian, batch_tokens=1), EXAMPLES[::-1]
    )
    for one, other in zip(whole, turned[::-1], strict=True):
        assert one.example_id == other.example_id
        assert [word.salience for word in one.words] == pytest.approx(
            [word.salience for word in other.words], abs=1e-6
        )


def test_the_evaluator_gives_the_same_scores_afterwards(tiny_marian: Path) -> None:
    """The removal of tokens ends with the call."""
    # scored by the forward pass of the model
    evaluator = cc_hf.load_evaluator(tiny_marian, mode="exact", dtype="bfloat16")
    pairs = [one.source for one in EXAMPLES], [one.correct_translation for one in EXAMPLES]
    before = evaluator.mean_logprobs(*pairs)
    prediction_differences(evaluator, EXAMPLES)
    np.testing.assert_array_equal(evaluator.mean_logprobs(*pairs), before)


def test_the_pronoun_that_differs_from_the_twin_is_measured() -> None:
    assert pronoun_start(EXAMPLES[0]) == EXAMPLES[0].correct_translation.index(" er ") + 1
    assert pronoun_start(EXAMPLES[1]) == EXAMPLES[1].correct_translation.rindex("sie")
    first = example(
        "c-1",
        "It fell; she saw it.",
        "Sie fiel, sie sah es.",
        "Er fiel, sie sah es.",
        ("sie", "er"),
    )
    assert pronoun_start(first) == 0
    different = dataclasses.replace(first, contrastive_translations=("Da fiel er hin.",))
    assert pronoun_start(different) == 10  # the last one
    assert pronoun_start(dataclasses.replace(first, correct_translation="Siehe dort.")) is None


def test_examples_that_cannot_be_measured_have_a_reason(tiny_marian: Path) -> None:
    lacking = example(
        "c-1", "The doctor asked it.", "Der Arzt bat.", "Der Arzt bat sie.", ("er", "sie")
    )
    found, skipped = prediction_differences(cc_hf.load_evaluator(tiny_marian), [*EXAMPLES, lacking])
    assert len(found) == 3
    assert skipped == {"c-1": "the pronoun 'er' is not in the translation"}


def test_unsuitable_evaluators_and_examples_are_refused(tiny_marian: Path, tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(tiny_marian)
    with pytest.raises(InputError, match="at least one example"):
        prediction_differences(evaluator, [])
    with pytest.raises(InputError, match="example 'a-1': expected translations with their"):
        prediction_differences(evaluator, [dataclasses.replace(EXAMPLES[0], extra={})])
    with pytest.raises(InputError, match="example 'b-1': expected the languages en-de, got en-fr"):
        prediction_differences(
            evaluator, [EXAMPLES[0], dataclasses.replace(EXAMPLES[2], tgt_lang="fr")]
        )
    with pytest.raises(InputError, match="expected one sequence-to-sequence evaluator"):
        prediction_differences(
            cc_hf.load_evaluator(families.BUILDERS["causal_lm"](tmp_path)), EXAMPLES
        )
    long = dataclasses.replace(EXAMPLES[0], source="it was good. " * 100)
    with pytest.raises(TooLongError, match="row 1: the source has"):
        prediction_differences(evaluator, [EXAMPLES[1], long])


def sentence(
    name: str, text: str, values: list[float], *, referents: tuple[str, str] = ("", "")
) -> Salience:
    words = text.split()
    rows = tuple(
        WordSalience(word, text.index(word), value, ((word, value),))
        for word, value in zip(words, values, strict=True)
    )
    return Salience(
        name, name[:-2], text, "sie", 0.5, rows, words.index("it"), (("</s>", 0.0),), referents
    )


TWINS = [
    sentence(
        "a-1",
        "the cup was full because it leaked",
        [0.0, 0.1, 0.0, 0.1, 0.0, 0.9, 0.3],
        referents=("cup", "lid"),
    ),
    sentence(
        "a-2",
        "the cup was full because it shone a lot",
        [0.1, 0.0, 0.1, 0.0, 0.1, 0.9, 0.5, 0.4, 0.3],
        referents=("cup", "full"),
    ),
]


def test_triggers_are_the_words_missing_in_the_twin() -> None:
    assert trigger_words(*TWINS) == ({6}, {6, 7, 8})
    assert trigger_words(TWINS[0], TWINS[0]) == (set(), set())
    assert shared_words(["a", "b", "c"], ["x", "b"]) == [(1, 1)]
    assert shared_words([], ["a"]) == []


def test_importance_equals_that_computed_by_hand() -> None:
    found = trigger_importance(TWINS, skipped={"x": "why"})
    triggers, others = [0.3, 0.5, 0.4, 0.3], [0.0, 0.1, 0.0, 0.1, 0.0, 0.1, 0.0, 0.1, 0.0, 0.1]
    pooled = np.sqrt((3 * np.var(triggers, ddof=1) + 9 * np.var(others, ddof=1)) / 12)
    assert found.triggers.effect == pytest.approx((np.mean(triggers) - np.mean(others)) / pooled)
    assert (found.triggers.n_first, found.triggers.n_second) == (4, 10)
    assert found.triggers.paired is not None
    differences = np.array([0.3 - 0.04, 0.4 - 0.06])
    assert found.triggers.paired.t == pytest.approx(
        differences.mean() / (differences.std(ddof=1) / np.sqrt(2))
    )
    assert found.as_program is not None
    assert (found.as_program.n_first, found.as_program.n_second) == (4, 12)  # </s> twice
    assert found.skipped == {"x": "why"}
    assert (found.n_sentences, found.n_alone, found.n_without_referents, found.referents) == (
        2,
        0,
        1,
        None,
    )


def test_effects_keep_their_sign_unlike_the_original_program() -> None:
    turned = [
        dataclasses.replace(
            one,
            words=tuple(
                dataclasses.replace(w, salience=-w.salience, subwords=((w.text, -w.salience),))
                for w in one.words
            ),
        )
        for one in TWINS
    ]
    plain_found, found = trigger_importance(TWINS), trigger_importance(turned)
    assert found.triggers.effect == pytest.approx(-plain_found.triggers.effect)
    assert found.as_program is not None
    assert plain_found.as_program is not None
    assert found.as_program.effect == pytest.approx(plain_found.as_program.effect)
    assert found.as_program.effect > 0


def test_sentences_without_their_twin_are_counted() -> None:
    alone = sentence("b-1", "then it fell", [0.1, 0.2, 0.3])
    assert trigger_importance([*TWINS, alone]).n_alone == 1
    with pytest.raises(InputError, match=r"expected two sentences of one schema.*got 1 sentences"):
        trigger_importance([alone])
    with pytest.raises(InputError, match="got 0 sentences of as many schemas"):
        trigger_importance(
            [],
            skipped={"a-1": "no token of the model stands for the pronoun 'er'", "a-2": "another"},
        )
    with pytest.raises(InputError, match="schema 'a': expected two sentences, got 3"):
        trigger_importance([*TWINS, dataclasses.replace(TWINS[0], example_id="a-3")])
    with pytest.raises(InputError, match=r"triggers: expected at least two on each.*got 0 and"):
        trigger_importance([TWINS[0], dataclasses.replace(TWINS[0], example_id="a-2")])
