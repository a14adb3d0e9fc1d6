"""Variants within the families; their common contract is in tests/contracts."""

import functools
import json
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import MarianTokenizer

import cc_hf
from cc_hf.errors import TooLongError
from cc_hf.evaluators.families.prompt import PromptTemplate
from cc_hf.evaluators.scores import SCORES
from cc_hf.schema import ScoringRequest
from tests.helpers import families, plain_forward
from tests.helpers.models import save_target_vocabulary, save_tiny_marian, save_tiny_masked_lm
from tests.helpers.pairs import EN_DE, GENDER, PAIRS, SOURCES, TRANSLATIONS
from tests.helpers.usual import cases, compute_metric, fails, read_json, refuses

compute = functools.partial(compute_metric, "contrastive_conditioning")


_MARKS = ("<2de>", "<2en>", "<2iw>")
_PROMPT = {"prompt": "{src_lang} {source} {tgt_lang}:"}
_causal = partial(plain_forward.causal_lm, prompt="en {} de:")


@cases(
    (families.save_tiny_mbart, {"language_is_first": False}, plain_forward.mbart25, {}, "mbart-25"),
    (families.save_tiny_fsmt, {"separate": False}, plain_forward.fsmt, {}, "one vocabulary"),
    (families.save_tiny_nllb, {"legacy_behaviour": True}, plain_forward.nllb_legacy, {}, "first"),
    (
        families.save_tiny_t5,
        {"marks": _MARKS},
        partial(plain_forward.t5, prompt="<2de> "),
        {},
        "t5",
    ),
    (save_tiny_masked_lm, {"family": "roberta"}, plain_forward.masked_lm, {}, "roberta"),
    (save_tiny_masked_lm, {"family": "xlm-roberta"}, plain_forward.masked_lm, {}, "xlm-roberta"),
    (families.save_tiny_causal_lm, {}, _causal, _PROMPT, "gpt2"),
    (families.save_tiny_causal_lm, {"llama": True}, _causal, _PROMPT, "llama"),
)
def test_logprobs_of_variants_equal_a_plain_forward_pass(
    build: Any, saved: Any, plain: Any, given: Any, name: str, tmp_path: Path
) -> None:
    build(tmp_path, **saved)
    for batch_tokens in (1, 70, 4000):
        evaluator = cc_hf.load_evaluator(tmp_path, batch_tokens=batch_tokens, **given)
        actual = evaluator.token_logprobs(SOURCES, TRANSLATIONS, **EN_DE)
        for logprobs, pair in zip(actual, PAIRS, strict=True):
            np.testing.assert_allclose(logprobs, plain(tmp_path, *pair).numpy(), atol=1e-5, rtol=0)


def test_sources_are_encoded_once(tiny_marian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator: Any = cc_hf.load_evaluator(tiny_marian, batch_tokens=50_000)
    encoder = evaluator.model.get_encoder()
    monkeypatch.setitem(vars(evaluator), "packed", None)  # use the forward pass of the model
    sources, texts = ["a doctor", "a nurse"] * 4, [f"Satz {i}" for i in range(8)]
    with patch.object(encoder, "forward", wraps=encoder.forward) as forward:
        actual = evaluator.mean_logprobs(sources, texts)
    assert [len(call.kwargs["input_ids"]) for call in forward.mock_calls] == [2]
    pairs = zip(sources, texts, strict=True)
    alone = [evaluator.mean_logprobs([source], [text])[0] for source, text in pairs]
    np.testing.assert_allclose(actual, alone, atol=1e-5)


def save_multilingual_marian(folder: Path, marks: tuple[str, ...]) -> Path:
    """Save a model in which tokens such as >>deu<< replace the rarest pieces."""
    save_tiny_marian(folder)
    path = folder / "vocab.json"
    vocabulary = read_json(path)
    pieces = sorted(vocabulary, key=lambda p: vocabulary[p])[-2::-1]
    for mark, piece in zip(marks, pieces, strict=False):
        vocabulary[mark] = vocabulary.pop(piece)
    path.write_text(json.dumps(vocabulary), encoding="utf-8")
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**read_json(path), "target_lang": "mul"}), encoding="utf-8")
    return folder


def test_multilingual_marian_models_get_the_token_of_the_target_language(tmp_path: Path) -> None:
    save_multilingual_marian(tmp_path, (">>deu<<", ">>fra<<", ">>cmn_Hans<<", ">>cmn_Hant<<"))
    evaluator = cc_hf.load_evaluator(tmp_path)
    tokenizer = MarianTokenizer.from_pretrained(tmp_path)
    for lang, name in {"de": "deu", "deu": "deu", "zh": "cmn_Hans", "cmn_Hant": "cmn_Hant"}.items():
        token = tokenizer.convert_tokens_to_ids(mark := f">>{name}<<")
        assert tokenizer(f"{mark} a doctor").input_ids[0] == token != tokenizer.unk_token_id
        plain = plain_forward.marian(tmp_path, f"{mark} a doctor", "Ein Arzt.").numpy()
        languages = {"src_lang": "en", "tgt_lang": lang}
        (actual,) = evaluator.token_logprobs(["a doctor"], ["Ein Arzt."], **languages)
        np.testing.assert_allclose(actual, plain, atol=1e-5)
    for languages, message in (
        ({}, "several target languages: name one with tgt_lang"),
        ({"tgt_lang": "ru"}, "does not support the target language 'ru'"),
        ({"src_lang": "fr", "tgt_lang": "de"}, "does not support the source language 'fr'"),
    ):
        refuses(message, evaluator.mean_logprobs, ["a"], ["b"], **languages)
    other = cc_hf.load_evaluator(save_multilingual_marian(tmp_path, (">>pt_BR<<", ">>pt_PT<<")))
    message = "several variants of the target language 'pt': name one"
    refuses(message, other.mean_logprobs, ["a"], ["b"], src_lang="en", tgt_lang="pt")


def test_languages_can_be_given_by_codes_of_the_model(tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(families.save_tiny_nllb(tmp_path))
    pairs = ("en", "de"), ("eng_Latn", "deu_Latn"), ("en", "ace_Arab")
    named = [{"src_lang": source, "tgt_lang": target} for source, target in pairs]
    usual, by_own, other = (evaluator.mean_logprobs(SOURCES, TRANSLATIONS, **n) for n in named)
    np.testing.assert_array_equal(usual, by_own)
    assert abs(other - by_own).max() > 1e-3
    message = "name the target language with tgt_lang; known: af, "
    refuses(message, evaluator.mean_logprobs, ["a"], ["b"], src_lang="en")


def test_the_prompt_can_be_replaced(tmp_path: Path) -> None:
    families.save_tiny_t5(tmp_path)
    evaluator = cc_hf.load_evaluator(tmp_path, prompt="{src_lang}>{tgt_lang}: {source}")
    plain = plain_forward.t5(tmp_path, "The nurse.", "Die Pflegerin.", prompt="en>de: ")
    (actual,) = evaluator.token_logprobs(["The nurse."], ["Die Pflegerin."], **EN_DE)
    np.testing.assert_allclose(actual, plain.numpy(), atol=1e-5)
    assert evaluator.signature_fields()["prompt"] == "{src_lang}>{tgt_lang}: {source}"
    usual = cc_hf.load_evaluator(tmp_path).signature_fields()["prompt"]
    assert usual == "translate {src_name} to {tgt_name}: {source}"
    message = "names the source language; give it with src_lang"
    refuses(message, evaluator.mean_logprobs, ["a"], ["b"], tgt_lang="de")
    refuses(r"expected the field \{source\}", cc_hf.load_evaluator, tmp_path, prompt="no source")


def test_prompts_have_the_known_fields_only() -> None:
    for text in ("{source.__class__}", "{source!r}", "{other}", "{", "{source:>9}", "{0}"):
        refuses("prompt: ", PromptTemplate, text)
    assert PromptTemplate("{{{source}}}").fill("{tgt_lang} {", "en", "de") == "{{tgt_lang} {}"


def test_small100_takes_a_model_of_m2m100_and_no_source_language(tmp_path: Path) -> None:
    small = cc_hf.load_evaluator(families.save_tiny_m2m100(tmp_path), kind="small100")
    assert small.mean_logprobs(["a"], ["b"], tgt_lang="de").shape == (1,)


def test_madlad_codes_accept_older_aliases(tmp_path: Path) -> None:
    families.save_tiny_t5(tmp_path, marks=_MARKS)
    evaluator = cc_hf.load_evaluator(tmp_path)
    he, iw, de = (evaluator.encode_sources(["a"], "en", lang) for lang in ("he", "iw", "de"))
    assert he == iw != de
    to_russian, message = {**EN_DE, "tgt_lang": "ru"}, "does not support the target language 'ru'"
    refuses(message, evaluator.mean_logprobs, ["a"], ["b"], **to_russian)


def test_the_signature_states_languages_given_at_load(tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(families.save_tiny_m2m100(tmp_path), **EN_DE)
    for target, options in (("de", {}), ("fr", {"tgt_lang": "fr"})):
        computed = compute(["La doctoresse."], [GENDER], evaluator=evaluator, **options)
        assert f"|langs:en-{target}|" in computed["signature"]


@cases(("marian", True), ("nllb", True), ("fsmt", True), ("mbart", True), ("t5", False))
def test_only_float32_on_a_cpu_is_packed(family: str, is_packed: bool, tmp_path: Path) -> None:
    folder = families.BUILDERS[family](tmp_path)
    for dtype, n, expected in (
        *(("float32", 0, is_packed), ("bfloat16", 0, False)),
        ("float32", 10**6, False),  # more than the model has positions
    ):
        evaluator: Any = cc_hf.load_evaluator(folder, dtype=dtype, batch_tokens=n or None)
        evaluator.max_tokens = n or evaluator.max_tokens
        assert (evaluator.packed is not None) == expected


def test_an_empty_prompt_scores_the_translation_alone(tmp_path: Path) -> None:
    save_tiny_masked_lm(tmp_path)
    alone = cc_hf.load_evaluator(tmp_path, prompt="")
    plain = cc_hf.load_evaluator(tmp_path).mean_logprobs([""], ["Ja."])
    np.testing.assert_array_equal(alone.mean_logprobs(["The nurse."], ["Ja."]), plain)
    assert alone.signature_fields()["prompt"] == "none"
    assert cc_hf.load_evaluator(tmp_path).signature_fields()["logprob"] == "pll"


def test_masked_lms_refuse_empty_and_too_long_texts(tmp_path: Path) -> None:
    save_tiny_masked_lm(tmp_path, max_tokens=20)
    evaluator = cc_hf.load_evaluator(tmp_path)
    refuses("row 1: the translation '' has no", evaluator.mean_logprobs, ["a", "a"], ["b", ""])
    long, message = ["nurse " * 8], r"row 0: the source and the translation have \d+"
    fails(TooLongError, message, evaluator.mean_logprobs, long, long)
    cut = cc_hf.load_evaluator(tmp_path, on_too_long="truncate")
    assert 0 < len(cut.token_logprobs(["nurse"], ["nurse " * 30])[0]) < 20
    fails(TooLongError, "row 0: the source", cut.mean_logprobs, ["nurse " * 30], ["nurse"])


def test_prompt_and_translation_are_tokenized_separately(tmp_path: Path) -> None:
    folder = families.save_tiny_causal_lm(tmp_path)
    evaluator = cc_hf.load_evaluator(folder, prompt="{source}", tgt_lang="de")
    together, first = evaluator.encode_sources(["The nurse", "The nu"], "", "")
    (second,) = evaluator.encode_targets(["rse"], "", "")
    assert first + second[:-1] != together
    assert len(evaluator.token_logprobs(["The nu"], ["rse"])[0]) == len(second)
    assert len(evaluator.token_logprobs([""], ["rse"])) == 1  # a prompt without tokens follows <s>


def test_every_score_is_a_function_of_the_token_logprobs(tiny_marian: Path) -> None:
    requests = [ScoringRequest(*pair) for pair in PAIRS]
    actual = cc_hf.load_evaluator(tiny_marian).score(requests, **EN_DE)
    logprobs = [plain_forward.marian(tiny_marian, *pair) for pair in PAIRS]
    means = np.array([float(row.mean()) for row in logprobs])
    arithmetic = [float(row.exp().mean()) for row in logprobs]
    expected = {"geometric": np.exp(means), "reference": 2.0**means, "arithmetic": arithmetic}
    for name, values in expected.items():
        np.testing.assert_allclose(SCORES[name](actual), values, atol=1e-5)


def test_truncation_is_stated_in_the_signature(tiny_marian: Path) -> None:
    evaluator = cc_hf.load_evaluator(tiny_marian, on_too_long="truncate")
    assert evaluator.signature_fields()["toolong"] == "truncate"
    assert "toolong" not in cc_hf.load_evaluator(tiny_marian).signature_fields()
    scores = evaluator.score([ScoringRequest("a", "doctor nurse " * 120)], **EN_DE)
    assert scores.n_tokens.tolist() == [128]


_WORDS = ["doctor", " ", "  ", "Ärztin", "</s>", "<unk>", "<pad>", ">>de<<", ">>", "x", "🎉"]


@given(st.lists(st.lists(st.sampled_from(_WORDS) | st.text(max_size=5)).map("".join), max_size=6))
def test_token_ids_are_those_of_the_tokenizer(tiny_marian: Path, texts: list[str]) -> None:
    evaluator: Any = cc_hf.load_evaluator(tiny_marian)
    tokenizer = evaluator.tokenizer
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    assert evaluator.encode_sources(texts, "en", "de") == [tokenizer(t).input_ids for t in texts]
    expected = [tokenizer(text_target=t).input_ids for t in texts]
    assert evaluator.encode_targets(texts, "en", "de") == expected


def test_targets_have_the_ids_of_their_own_vocabulary(tmp_path: Path) -> None:
    evaluator: Any = cc_hf.load_evaluator(save_tiny_marian(tmp_path))
    evaluator.tokenizer = save_target_vocabulary(tmp_path, size=40)
    texts = ["Die Ärztin bat die Krankenschwester.", "</s> Die Ärztin", ">>de<< Ja"]
    actual = evaluator.encode_targets(texts, "en", "de")
    assert actual == evaluator.tokenizer(text_target=texts).input_ids
    assert actual != evaluator.tokenizer(texts).input_ids
    assert evaluator.encode_sources(texts, "en", "de") == evaluator.tokenizer(texts).input_ids


@cases((["a", "b"], ["c"], "2 sources and 1 translations"), ([], [], "at least one request"))
def test_bad_input_is_refused(sources: Any, texts: Any, message: str, tiny_marian: Path) -> None:
    refuses(message, cc_hf.load_evaluator(tiny_marian).mean_logprobs, sources, texts)
