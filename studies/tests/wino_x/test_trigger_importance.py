"""Importance of triggers by salience, and the maps that show it."""

import copy
import dataclasses
import html
import html.parser
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cc_hf_studies.wino_x.salience import (
    Salience,
    WordSalience,
    shared_words,
    trigger_importance,
    trigger_words,
)
from cc_hf_studies.wino_x.salience_maps import salience_html, salience_png
from cc_hf_studies.wino_x.trigger_importance import prediction_differences, pronoun_start
from matplotlib.image import imread
from transformers.modeling_outputs import BaseModelOutput

import cc_hf
from cc_hf.errors import InputError, TooLongError
from cc_hf.plugins.conversion.convert import convert
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.text.pieces import piece_characters
from cc_hf.text.tokenization import moses_words
from tests.helpers import families
from tests.helpers.axe import check_legible
from tests.helpers.browser import Page
from tests.helpers.fairseq_models import save_fairseq
from tests.helpers.judged import Examples, contrastive
from tests.helpers.usual import cases, fails, known, refuses


def plain_probabilities(evaluator: Any, source: Any, target: Any, pronoun: Any) -> list[float]:
    """Return the probability of the target tokens at the positions `pronoun`, with the whole
    source, then without each of its tokens.
    """
    model = evaluator.model
    encoder = copy.deepcopy(model.get_encoder())
    unused = next(i for i in range(5, encoder.embed_tokens.weight.shape[0]) if i not in source)
    with torch.no_grad():
        encoder.embed_tokens.weight[unused] = 0
    whole = torch.tensor([list(source)])
    mask = torch.ones_like(whole)
    ids = whole if model.config.model_type == "fsmt" else None
    decoder_ids = torch.tensor([[*evaluator.decoder_start, *target][:-1]])
    behind = len(evaluator.decoder_start) - 1  # logits[behind + i] give target[i]
    actual = []
    for removed in (None, *range(len(source))):
        without = whole.clone()
        if removed is not None:
            without[0, removed] = unused
        with torch.no_grad():
            states = encoder(input_ids=without, attention_mask=mask).last_hidden_state
            outputs = BaseModelOutput(last_hidden_state=states)
            given = {"input_ids": ids, "attention_mask": mask, "encoder_outputs": outputs}
            logits = model(**given, decoder_input_ids=decoder_ids, use_cache=False).logits[0]
            logprobs = logits.double().log_softmax(-1)
        actual.append(
            float(sum(logprobs[behind + index, target[index]] for index in pronoun).exp())
        )
    return actual


def example(
    name: str, source: str, translation: str, pronouns: str, referents: str = "doctor nurse"
) -> ContrastiveTranslationExample:
    """Return an example whose translations have the two pronouns for {}."""
    right, wrong = pronouns.split()
    names = ("correct_pronoun", "incorrect_pronoun", "correct_referent", "incorrect_referent")
    extra = dict(zip(names, (right, wrong, *referents.split()), strict=True))
    return contrastive(name, source, translation.format(right), translation.format(wrong), **extra)


_ASKED = "The doctor asked the nurse because it was "
_MOOD = ("in a good mood.", "Der Arzt bat sie, weil {} gute Laune hatte.")
_PROCEDURE = "It's the mechanic's procedure, isn't it?"
EXAMPLES = [
    example("a-1", _ASKED + _MOOD[0], _MOOD[1], "er sie"),
    example("a-2", f"{_ASKED}here.", "Der Arzt bat sie, weil {} da war.", "sie er", "nurse doctor"),
    example("b-1", _PROCEDURE, "Die Mechanikerin: {} hatte es.", "sie er", "mechanic procedure"),
]
_BARE = dataclasses.replace(EXAMPLES[0], extra={})
_FRENCH = dataclasses.replace(EXAMPLES[2], tgt_lang="fr")
_LONG = dataclasses.replace(EXAMPLES[0], source="it was good. " * 100)


_SHE = {"correct_pronoun": "sie", "incorrect_pronoun": "er"}


def plain(evaluator: Any, example: ContrastiveTranslationExample) -> list[float]:
    (source,) = evaluator.encode_sources([example.source], "en", "de")
    (target,) = evaluator.encode_targets([example.correct_translation], "en", "de")
    named = zip(target, evaluator.target_pieces(target), strict=True)
    pieces = ["" if i in evaluator.mark_ids else piece for i, piece in named]
    start = known(pronoun_start(example))
    wanted = {*range(start, start + len(example.extra["correct_pronoun"]))}
    characters = piece_characters(pieces, example.correct_translation)
    pronoun = [index for index, positions in enumerate(characters) if wanted & {*positions}]
    return plain_probabilities(evaluator, source, target, pronoun)


def check_against_the_plain_loop(evaluator: Any) -> list[Salience]:
    actual, skipped = prediction_differences(evaluator, EXAMPLES)
    assert skipped == {}
    for example, salience in zip(EXAMPLES, actual, strict=True):
        whole, *without = plain(evaluator, example)
        assert salience.probability == pytest.approx(whole, abs=1e-5)
        values = [value for _, value in (*subwords([salience]), *salience.marks)]
        differences = sorted(whole - probability for probability in without)
        np.testing.assert_allclose(sorted(values), differences, atol=1e-5)
        for word in salience.words:
            assert word.salience == pytest.approx(np.mean([value for _, value in word.subwords]))
            assert example.source[word.start :].startswith(word.text)
        ambiguous = salience.words[known(salience.ambiguous)]
        assert (ambiguous.text, ambiguous.start) == ("it", example.source.rfind("it"))
    return actual


def subwords(saliences: Sequence[Salience]) -> list[tuple[str, float]]:
    return [part for salience in saliences for word in salience.words for part in word.subwords]


@pytest.mark.parametrize("family", ["marian", "fsmt", "m2m_100", "nllb", "small100", "mbart", "t5"])
def test_saliences_equal_a_plain_loop(family: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"kind": family, "src_lang": "en", "tgt_lang": "de"}
    folder = families.BUILDERS[family](tmp_path)
    evaluator = cc_hf.load_evaluator(folder, batch_tokens=200, **options)
    # otherwise a loop that removes nothing would pass
    assert max(abs(value) for _, value in subwords(check_against_the_plain_loop(evaluator))) > 1e-4


def test_saliences_of_the_embedded_evaluator_equal_a_plain_loop() -> None:
    actual = check_against_the_plain_loop(cc_hf.load_evaluator("cc-tiny-en-de"))
    for example, salience in zip(EXAMPLES, actual, strict=True):
        assert [word.text for word in salience.words] == moses_words(example.source, "en")
        assert [text for text, _ in salience.marks] == ["</s>"]
    assert 0 < actual[0].probability < 1


@pytest.mark.parametrize("shared", [True, False], ids=["shared embeddings", "separate embeddings"])
def test_saliences_of_a_fairseq_model_equal_a_plain_loop(shared: bool, tmp_path: Path) -> None:
    """Its dictionaries contain only small letters; all others are unknown tokens."""
    save_fairseq(tmp_path / "in", share_all_embeddings=shared)
    folder = convert(tmp_path / "in", output=tmp_path / "out").folders[0]
    check_against_the_plain_loop(cc_hf.load_evaluator(folder))


def test_order_and_batch_size_do_not_change_saliences(tiny_marian: Path) -> None:
    wide, narrow = (cc_hf.load_evaluator(tiny_marian, batch_tokens=n) for n in (5000, 1))
    whole, _ = prediction_differences(wide, EXAMPLES)
    turned, _ = prediction_differences(narrow, EXAMPLES[::-1])
    for expected, salience in zip(whole, turned[::-1], strict=True):
        assert expected.example_id == salience.example_id
        values = [[word.salience for word in of.words] for of in (expected, salience)]
        assert values[0] == pytest.approx(values[1], abs=1e-5)


def test_the_evaluator_gives_the_same_scores_afterwards(tiny_marian: Path) -> None:
    """The removal of tokens ends with the call."""
    # scored by the forward pass of the model
    evaluator = cc_hf.load_evaluator(tiny_marian, mode="exact", dtype="bfloat16")
    pairs = (
        [example.source for example in EXAMPLES],
        [example.correct_translation for example in EXAMPLES],
    )
    before = evaluator.mean_logprobs(*pairs)
    prediction_differences(evaluator, EXAMPLES)
    np.testing.assert_array_equal(evaluator.mean_logprobs(*pairs), before)


def test_the_pronoun_that_differs_from_the_twin_is_measured() -> None:
    assert pronoun_start(EXAMPLES[0]) == EXAMPLES[0].correct_translation.index(" er ") + 1
    assert pronoun_start(EXAMPLES[1]) == EXAMPLES[1].correct_translation.rindex("sie")
    texts = ("It fell; she saw it.", "Sie fiel, sie sah es.", "Er fiel, sie sah es.")
    first = contrastive("c", *texts, **_SHE)
    assert pronoun_start(first) == 0
    different = dataclasses.replace(first, contrastive_translations=("Da fiel er hin.",))
    assert pronoun_start(different) == 10  # the last one
    assert pronoun_start(dataclasses.replace(first, correct_translation="Siehe dort.")) is None


def test_examples_that_cannot_be_measured_have_a_reason(tiny_marian: Path) -> None:
    lacking = dataclasses.replace(EXAMPLES[0], id="c-1", correct_translation="Der Arzt bat.")
    actual, skipped = prediction_differences(
        cc_hf.load_evaluator(tiny_marian), [*EXAMPLES, lacking]
    )
    assert (len(actual), skipped) == (3, {"c-1": "the pronoun 'er' is not in the translation"})


@cases(
    ([], "at least one example"),
    ([_BARE], "example 'a-1': expected translations with their"),
    ([EXAMPLES[0], _FRENCH], "example 'b-1': expected the languages en-de, got en-fr"),
    ([EXAMPLES[1], _LONG], "row 1: the source has"),
)
def test_unsuitable_rows_are_refused(examples: Examples, message: str, tiny_marian: Path) -> None:
    fails(
        (InputError, TooLongError),
        message,
        prediction_differences,
        cc_hf.load_evaluator(tiny_marian),
        examples,
    )


def test_an_unsuitable_evaluator_is_refused(tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(families.BUILDERS["causal_lm"](tmp_path))
    refuses("one sequence-to-sequence evaluator", prediction_differences, evaluator, EXAMPLES)


def sentence(name: str, text: str, values: list[float], referents: str = " ") -> Salience:
    words = text.split()
    pairs = zip(words, values, strict=True)
    rows = tuple(WordSalience(word, text.index(word), v, ((word, v),)) for word, v in pairs)
    first, second = referents.split(" ")
    marks = (("</s>", 0.0),)
    ambiguous = words.index("it")
    return Salience(name, name[:-2], text, "sie", 0.5, rows, ambiguous, marks, (first, second))


_SALIENCES = [0.1, 0.0, 0.1, 0.0, 0.1, 0.9, 0.5, 0.4, 0.3]
_LEAKED = [0.0, 0.1, 0.0, 0.1, 0.0, 0.9, 0.3]
TWINS = [
    sentence("a-1", "the cup was full because it leaked", _LEAKED, "cup lid"),
    sentence("a-2", "the cup was full because it shone a lot", _SALIENCES, "cup full"),
]


def test_triggers_are_the_words_missing_in_the_twin() -> None:
    assert trigger_words(*TWINS) == ({6}, {6, 7, 8})
    assert trigger_words(TWINS[0], TWINS[0]) == (set(), set())
    assert shared_words(["a", "b", "c"], ["x", "b"]) == [(1, 1)]
    assert shared_words([], ["a"]) == []


def test_importance_equals_that_computed_by_hand() -> None:
    actual = trigger_importance(TWINS, skipped={"x": "why"})
    triggers, others = [0.3, 0.5, 0.4, 0.3], [0.0, 0.1] * 5
    pooled = np.sqrt((3 * np.var(triggers, ddof=1) + 9 * np.var(others, ddof=1)) / 12)
    assert actual.triggers.effect == pytest.approx((np.mean(triggers) - np.mean(others)) / pooled)
    assert (actual.triggers.n_first, actual.triggers.n_second) == (4, 10)
    differences = np.array([0.3 - 0.04, 0.4 - 0.06])
    expected = differences.mean() / (differences.std(ddof=1) / np.sqrt(2))
    assert known(actual.triggers.paired).t == pytest.approx(expected)
    assert actual.as_program is not None
    assert (actual.as_program.n_first, actual.as_program.n_second) == (4, 12)  # </s> twice
    assert (actual.skipped, actual.referents) == ({"x": "why"}, None)
    assert (actual.n_sentences, actual.n_alone, actual.n_without_referents) == (2, 0, 1)


def test_effects_keep_their_sign_unlike_the_original_program() -> None:
    values = [[-word.salience for word in twin.words] for twin in TWINS]
    turned = [sentence(t.example_id, t.source, v) for t, v in zip(TWINS, values, strict=True)]
    actual, opposite = trigger_importance(TWINS), trigger_importance(turned)
    assert opposite.triggers.effect == pytest.approx(-actual.triggers.effect)
    assert opposite.as_program is not None
    assert opposite.as_program.effect == pytest.approx(known(actual.as_program).effect)
    assert opposite.as_program.effect > 0


def test_sentences_without_their_twin_are_counted() -> None:
    alone = sentence("b-1", "then it fell", [0.1, 0.2, 0.3])
    assert trigger_importance([*TWINS, alone]).n_alone == 1
    second, third = (dataclasses.replace(TWINS[0], example_id=f"a-{i}") for i in (2, 3))
    rows: Any = (
        ([alone], r"expected two sentences of one schema.*got 1 sentences"),
        ([], "got 0 sentences of as many schemas"),
        ([*TWINS, third], "schema 'a': expected two sentences, got 3"),
        ([TWINS[0], second], r"triggers: expected at least two on each.*got 0 and"),
    )
    for sentences, message in rows:
        refuses(message, trigger_importance, sentences, skipped={"a-1": "another reason"})


def salience_of(name: str, words: list[tuple[str, float]]) -> Salience:
    text, rows = "", []
    for word, value in words:
        text += " " * bool(text)
        rows.append(WordSalience(word, len(text), value, ((word, value),)))
        text += word
    said = ("<i>sie</i>", 0.25, tuple(rows), 1, (), ("<b>key", "lamp"), "<Sie> fiel.")
    return Salience(name, name[:-2], text, *said)


_START = [("<script>alert(1)</script>", 0.2), ("it", 0.4), ("&", -0.3)]
_ENDS = {"<a>-1": ("$x^", 0.1), "<a>-2": ("\"'", 0.0)}
MAPPED = [salience_of(name, [*_START, end]) for name, end in _ENDS.items()]


def shown_words(page: str) -> list[tuple[str, str, str]]:
    """Return text, classes and style of each word of the page."""
    actual = re.findall(r'class="(word[^"]*)" style="([^"]*)"[^>]*>([^<]*)<', page)
    return [(html.unescape(text), kinds, style) for kinds, style, text in actual]


def test_texts_are_not_read_as_html() -> None:
    page = salience_html(MAPPED, title="<b>")
    main = page[page.index("<main") : page.index("</main>")]
    assert not {"script", "i", "b", "sie"} & set(re.findall(r"<(\w+)", main.lower()))
    text = html.unescape(re.sub("<[^>]*>", "", page))
    for salience in MAPPED:
        assert salience.source in text
        assert f'{salience.example_id}: "<i>sie</i>", 25.0 % probable' in text
    assert "<b>" in text
    for part in ("translation: <Sie> fiel.", "correct referent: <b>key", "incorrect referent: lam"):
        assert text.count(part) == 2
    assert "referent" not in salience_html([replace(MAPPED[0], referents=("", ""))])


def test_words_of_all_sentences_are_coloured_on_one_scale() -> None:
    twin = salience_of("<a>-2", [("The", 0.2), ("it", 0.4), ("&", -0.8), ("small", 0.0)])
    words = shown_words(salience_html([MAPPED[0], twin]))
    legend, rows = words[:5], words[5:]
    values = {"-80.0": 1, "-40.0": 0.5, "0": 0, "+40.0": 0.5, "+80.0": 1}
    expected = [(text, f"--depth:{depth:.3f}") for text, depth in values.items()]
    assert [(text, style) for text, _, style in legend] == expected
    assert [kinds for _, kinds, _ in legend][::4] == ["word less", "word more"]
    assert rows == [
        ("<script>alert(1)</script>", "word more trigger", "--depth:0.250"),
        ("it", "word more it", "--depth:0.500"),
        ("&", "word less", "--depth:0.375"),
        ("$x^", "word more trigger", "--depth:0.125"),
        ("The", "word more trigger", "--depth:0.250"),
        ("it", "word more it", "--depth:0.500"),
        ("&", "word less", "--depth:1.000"),
        ("small", "word less trigger", "--depth:0.000"),
    ]


def test_sentences_without_any_effect_are_drawn() -> None:
    still = [salience_of("a-1", [("The", 0.0), ("it", 0.0)])]
    assert "--depth:0.000" in salience_html(still)
    assert salience_png(still).startswith(b"\x89PNG")


def test_a_map_is_legible_in_light_and_dark(page: Page) -> None:
    check_legible(page, salience_html(MAPPED))


def test_a_picture_shows_salience_and_triggers() -> None:
    picture, alone = (imread(io.BytesIO(salience_png(twins))) for twins in (MAPPED, MAPPED[:1]))
    red, green, blue = (picture[..., channel] for channel in range(3))
    orange = (abs(red - 1) < 0.02) & (abs(green - 140 / 255) < 0.02) & (blue < 0.02)
    assert orange.sum() > 200  # the background of "it", the most salient word
    # the end of the legend
    assert ((abs(red - 77 / 255) < 0.02) & (blue > 0.98)).sum() > 200
    assert alone.shape[0] < picture.shape[0]
    assert framed(picture) > framed(alone) + 50  # no twin, no trigger


def framed(picture: Any) -> int:
    """Return the number of pixels in the colour of frames, relative to the number of sentences."""
    return int((abs(picture[..., :3] - 0x22 / 255) < 0.01).all(axis=-1).sum())


def test_the_height_of_a_picture_follows_its_lines() -> None:
    """Wide words need more lines than estimated, narrow ones fewer."""
    for word in ("W" * 24, "i"):
        picture = imread(io.BytesIO(salience_png([salience_of("a-1", [(word, 0.1)] * 40)])))
        ink = np.flatnonzero((picture[..., :3] < 0.95).any(axis=(1, 2)))
        assert 0 < ink[0] < 60
        assert 0 < len(picture) - ink[-1] < 60


def test_empty_input_is_refused() -> None:
    for draw in (salience_html, salience_png):
        refuses("at least one sentence to draw", draw, [])
