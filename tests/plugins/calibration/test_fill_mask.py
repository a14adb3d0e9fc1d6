import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cc_hf.errors import CCError
from cc_hf.plugins.calibration.fill_mask import MaskedLM, load_masked_lm
from tests.helpers.models import save_tiny_masked_lm
from tests.helpers.usual import cases, fails, refuses

_SOURCES = [
    "The doctor asked the nurse to help her with the procedure.",
    "The mechanic greeted the receptionist because she was in a good mood.",
    "doctor",
    "The nurse asked the doctor.",
]
_STARTS = [4, 4, 0, 20]
_FAMILIES = {"roberta": "<mask>", "bert": "[MASK]", "xlm-roberta": "<mask>"}


@pytest.fixture(scope="module", params=_FAMILIES)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> MaskedLM:
    folder = save_tiny_masked_lm(tmp_path_factory.mktemp("mlm"), family=request.param)
    return load_masked_lm(folder, device="cpu")


@torch.inference_mode()
def one_by_one(lm: MaskedLM, source: str, start: int) -> dict[str, float]:
    """Score by a naive loop: one sentence at a time, with each word's token looked up by text."""
    token = lm.tokenizer.mask_token
    encoded = lm.tokenizer(f"{source[:start]}{token} {source[start:]}", return_tensors="pt")
    position = encoded["input_ids"][0].tolist().index(lm.tokenizer.mask_token_id)
    logits = lm.model(encoded["input_ids"], encoded["attention_mask"]).logits
    probabilities = logits[0, position].softmax(-1)
    actual = {}
    for number in range(len(probabilities)):
        token = lm.tokenizer.convert_ids_to_tokens(number)
        for mark in ("Ġ", "▁"):
            if token.startswith(mark) and token[1:].isalpha() and token[1:].isascii():
                actual[token[1:]] = float(probabilities[number])
        if lm.tokenizer.mask_token == "[MASK]" and token.isalpha() and token.isascii():
            actual[token] = float(probabilities[number])
    return actual


def test_batched_logprobs_equal_a_loop(loaded: MaskedLM, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = loaded.mask(_SOURCES, _STARTS)
    assert not any(text.is_cut for text in texts)
    actual = dict(loaded.word_logprobs(texts))
    assert sorted(actual) == [0, 1, 2, 3]
    indices = {word: i for i, word in enumerate(loaded.words)}
    for i, (source, start) in enumerate(zip(_SOURCES, _STARTS, strict=True)):
        naive = one_by_one(loaded, source, start)
        assert len(naive) > 15
        assert {word for word in loaded.words if word.isalpha() and word.isascii()} == set(naive)
        for word, probability in naive.items():
            assert actual[i][indices[word]] == pytest.approx(math.log(probability), abs=1e-4), word
    # one sentence per batch
    monkeypatch.setattr("cc_hf.plugins.calibration.fill_mask._BATCH_LOGITS", 1)
    alone = dict(loaded.word_logprobs(texts))
    assert all(np.allclose(alone[i], actual[i], atol=1e-5) for i in actual)


def test_the_order_of_texts_does_not_change_logprobs(loaded: MaskedLM) -> None:
    texts = loaded.mask(_SOURCES, _STARTS)
    forward = [(_SOURCES[i], row.tobytes()) for i, row in loaded.word_logprobs(texts)]
    backward = [(_SOURCES[3 - i], row.tobytes()) for i, row in loaded.word_logprobs(texts[::-1])]
    assert forward == backward


def test_the_vocabulary_holds_only_tokens_that_begin_a_word(loaded: MaskedLM) -> None:
    assert {"doctor", "The"} & set(loaded.words)
    assert len(set(loaded.words)) == len(loaded.words)
    assert all(w == w.strip() != "" for w in loaded.words)
    assert not [w for w in loaded.words if w.startswith(("Ġ", "▁", "##", "[unused"))]
    assert not {*loaded.words} & {*loaded.tokenizer.all_special_tokens}


def test_long_sources_are_truncated_to_a_window_around_the_mask(tmp_path: Path) -> None:
    text = " ".join(letter * 2 for letter in "abcdefghijklmnopqrstuvwxyz")
    lm = load_masked_lm(
        save_tiny_masked_lm(tmp_path, [text] * 3, family="bert", vocab_size=200, max_tokens=9),
        device="cpu",
    )
    for focus, kept in (
        ("nn", "kk ll mm [MASK] nn oo pp"),
        ("aa", "[MASK] aa bb cc dd ee ff"),
        ("zz", "uu vv ww xx yy [MASK] zz"),
    ):
        (actual,) = lm.mask([text], [text.index(focus)])
        tokens = lm.tokenizer.convert_ids_to_tokens(list(actual.ids))
        assert tokens == ["[CLS]", *kept.split(), "[SEP]"]
        assert (actual.is_cut, tokens[actual.mask_at]) == (True, "[MASK]")
    (short,) = lm.mask(["aa bb cc dd ee ff"], [3])
    assert (len(short.ids), short.is_cut) == (9, False)
    assert np.isfinite(next(iter(lm.word_logprobs([short])))[1]).all()


def test_the_longest_input_is_that_of_the_model(tmp_path: Path) -> None:
    lm = load_masked_lm(save_tiny_masked_lm(tmp_path, max_tokens=12), device="cpu")
    lm.tokenizer.model_max_length = 10**30
    unlimited = MaskedLM(lm.model, lm.tokenizer, name="x", identity="y")
    # 14 positions, of which RoBERTa skips two
    assert lm.max_tokens == unlimited.max_tokens == 12
    (text,) = unlimited.mask(["The doctor " * 20], [4])
    assert len(text.ids) == 12
    assert len(list(unlimited.word_logprobs([text]))) == 1


def test_bad_input_is_refused(loaded: MaskedLM) -> None:
    sources = ["a doctor", f"a {loaded.tokenizer.mask_token} doctor"]
    refuses("row 1: the source holds '.*', the mask token", loaded.mask, sources, [0, 0])
    refuses("cue position: expected 0 to 2, got 7", loaded.mask, ["abc"], [7])
    assert loaded.mask([], []) == []


@cases(
    ("./nowhere", {}, r"no masked language model at '\./nowhere'"),
    ("nobody/nothing", {"device": "cpu"}, "could not be loaded"),
    ("", {"device": "cpu"}, "could not be loaded"),
    ("marian", {"device": "cpu"}, "could not be loaded"),
    ("", {"device": "abacus"}, "device"),
    ("", {"revision": "main"}, "has none"),
)
def test_other_models_are_refused(
    name: str, options: Any, message: str, tmp_path: Path, tiny_marian: Path
) -> None:
    folders = {"": tmp_path, "marian": tiny_marian}
    fails(CCError, message, load_masked_lm, folders.get(name, name), **options)


def test_the_identity_depends_only_on_the_files(tmp_path: Path) -> None:
    first, again, other = (
        load_masked_lm(save_tiny_masked_lm(tmp_path / name, seed=seed), device="cpu")
        for name, seed in {"a": 1, "b": 1, "c": 2}.items()
    )
    assert first.signature_name == f"a@{first.identity}"
    assert first.identity == again.identity != other.identity
    assert len(first.identity) == 12
