"""Variants within the families; their common contract is in tests/contracts."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import MarianTokenizer

import cc_hf
from cc_hf.errors import InputError
from cc_hf.evaluators.families.prompt import PromptTemplate
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from tests.helpers import families, plain_forward
from tests.helpers.command_line import read_json
from tests.helpers.metrics import compute_metric
from tests.helpers.models import save_tiny_marian
from tests.helpers.pairs import EN_DE, GENDER, PAIRS, SOURCES, TRANSLATIONS

compute = functools.partial(compute_metric, "contrastive_conditioning")


@pytest.mark.parametrize(
    ("build", "plain"),
    [
        (partial(families.save_tiny_mbart, language_is_first=False), plain_forward.mbart25),
        (partial(families.save_tiny_fsmt, separate=False), plain_forward.fsmt),
        (partial(families.save_tiny_nllb, legacy_behaviour=True), plain_forward.nllb_legacy),
        (
            partial(families.save_tiny_t5, marks=("<2de>", "<2en>", "<2iw>")),
            partial(plain_forward.t5, prompt="<2de> "),
        ),
    ],
    ids=["mbart-25", "fsmt with one vocabulary", "nllb's first release", "madlad"],
)
def test_logprobs_of_variants_equal_a_plain_forward_pass(
    tmp_path: Path, build: Callable[[Path], Path], plain: Callable[[Path, str, str], torch.Tensor]
) -> None:
    build(tmp_path)
    for batch_tokens in (1, 1000):
        evaluator = cc_hf.load_evaluator(tmp_path, batch_tokens=batch_tokens)
        found = evaluator.token_logprobs(SOURCES, TRANSLATIONS, **EN_DE)
        for one, pair in zip(found, PAIRS, strict=True):
            np.testing.assert_allclose(one, plain(tmp_path, *pair).numpy(), atol=1e-5, rtol=0)


def test_the_encoder_runs_once_per_distinct_source(
    tiny_marian: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator: Any = cc_hf.load_evaluator(tiny_marian, batch_tokens=50_000)
    seen: list[int] = []
    monkeypatch.setitem(vars(evaluator), "packed", None)  # use the forward pass of the model
    handle = evaluator.model.get_encoder().register_forward_pre_hook(
        lambda _module, _args, options: seen.append(len(options["input_ids"])), with_kwargs=True
    )
    sources, texts = ["a doctor", "a nurse"] * 4, [f"Satz {i}" for i in range(8)]
    found = evaluator.mean_logprobs(sources, texts)
    handle.remove()
    assert seen == [2]
    pairs = zip(sources, texts, strict=True)
    alone = [evaluator.mean_logprobs([source], [text])[0] for source, text in pairs]
    np.testing.assert_allclose(found, alone, atol=1e-5)


def save_multilingual_marian(folder: Path, marks: tuple[str, ...]) -> Path:
    """Save a model in which tokens such as >>deu<< replace the rarest pieces."""
    save_tiny_marian(folder)
    path = folder / "vocab.json"
    vocabulary = read_json(path)
    pieces = sorted(vocabulary, key=lambda p: vocabulary[p])[-2::-1]
    for mark, piece in zip(marks, pieces, strict=False):
        vocabulary[mark] = vocabulary.pop(piece)
    path.write_text(json.dumps(vocabulary), encoding="utf-8")
    config = folder / "tokenizer_config.json"
    config.write_text(json.dumps({**read_json(config), "target_lang": "mul"}), encoding="utf-8")
    return folder


def test_multilingual_marian_models_get_the_token_of_the_target_language(tmp_path: Path) -> None:
    save_multilingual_marian(tmp_path, (">>deu<<", ">>fra<<", ">>cmn_Hans<<", ">>cmn_Hant<<"))
    evaluator = cc_hf.load_evaluator(tmp_path)
    tokenizer = MarianTokenizer.from_pretrained(tmp_path)
    marks = {"de": "deu", "deu": "deu", "zh": "cmn_Hans", "cmn_Hant": "cmn_Hant"}
    for lang, name in marks.items():
        token = tokenizer.convert_tokens_to_ids(mark := f">>{name}<<")
        assert tokenizer(f"{mark} a doctor").input_ids[0] == token != tokenizer.unk_token_id
        plain = plain_forward.marian(tmp_path, f"{mark} a doctor", "Ein Arzt.").numpy()
        languages = {"src_lang": "en", "tgt_lang": lang}
        (found,) = evaluator.token_logprobs(["a doctor"], ["Ein Arzt."], **languages)
        np.testing.assert_allclose(found, plain, atol=1e-5)
    for languages, message in (
        ({}, "several target languages: name one with tgt_lang"),
        ({"tgt_lang": "ru"}, "does not support the target language 'ru'"),
        ({"src_lang": "fr", "tgt_lang": "de"}, "does not support the source language 'fr'"),
    ):
        with pytest.raises(InputError, match=message):
            evaluator.mean_logprobs(["a"], ["b"], **languages)


def test_ambiguous_target_language_codes_are_refused(tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(save_multilingual_marian(tmp_path, (">>pt_BR<<", ">>pt_PT<<")))
    with pytest.raises(InputError, match="several variants of the target language 'pt': name one"):
        evaluator.mean_logprobs(["a"], ["b"], src_lang="en", tgt_lang="pt")


def test_languages_can_be_given_by_codes_of_the_model(tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(families.save_tiny_nllb(tmp_path))
    usual, by_own, other = (
        evaluator.mean_logprobs(SOURCES, TRANSLATIONS, src_lang=src_lang, tgt_lang=tgt_lang)
        for src_lang, tgt_lang in (("en", "de"), ("eng_Latn", "deu_Latn"), ("en", "ace_Arab"))
    )
    np.testing.assert_array_equal(usual, by_own)
    assert abs(other - by_own).max() > 1e-3
    with pytest.raises(InputError, match="name the target language with tgt_lang; known: af, "):
        evaluator.mean_logprobs(["a"], ["b"], src_lang="en")


def test_the_prompt_can_be_replaced(tmp_path: Path) -> None:
    families.save_tiny_t5(tmp_path)
    own = cc_hf.load_evaluator(tmp_path, prompt="{src_lang}>{tgt_lang}: {source}")
    plain = plain_forward.t5(tmp_path, "The nurse.", "Die Pflegerin.", prompt="en>de: ")
    (found,) = own.token_logprobs(["The nurse."], ["Die Pflegerin."], **EN_DE)
    np.testing.assert_allclose(found, plain.numpy(), atol=1e-5)
    assert own.signature_fields()["prompt"] == "{src_lang}>{tgt_lang}: {source}"
    usual = cc_hf.load_evaluator(tmp_path).signature_fields()["prompt"]
    assert usual == "translate {src_name} to {tgt_name}: {source}"
    with pytest.raises(InputError, match="names the source language; give it with src_lang"):
        own.mean_logprobs(["a"], ["b"], tgt_lang="de")
    with pytest.raises(InputError, match=r"expected the field \{source\}"):
        cc_hf.load_evaluator(tmp_path, prompt="no source")


@pytest.mark.parametrize(
    "text", ["{source.__class__}", "{source!r}", "{other}", "{", "{source:>9}", "{0}"]
)
def test_prompts_with_unknown_fields_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="prompt: "):
        PromptTemplate(text)


def test_a_prompt_is_refused_by_families_without_one(tiny_marian: Path) -> None:
    with pytest.raises(InputError, match="is of the family marian, which takes none"):
        cc_hf.load_evaluator(tiny_marian, prompt="{source}")


def test_small100_takes_a_model_of_m2m100_and_no_source_language(tmp_path: Path) -> None:
    small = cc_hf.load_evaluator(families.save_tiny_m2m100(tmp_path), kind="small100")
    assert small.mean_logprobs(["a"], ["b"], tgt_lang="de").shape == (1,)


def test_braces_in_a_source_are_not_fields_of_the_prompt() -> None:
    assert PromptTemplate("{{{source}}}").fill("{tgt_lang} {", "en", "de") == "{{tgt_lang} {}"


def test_madlad_codes_accept_older_aliases(tmp_path: Path) -> None:
    families.save_tiny_t5(tmp_path, marks=("<2de>", "<2en>", "<2iw>"))
    evaluator = cc_hf.load_evaluator(tmp_path)
    he, iw, de = (evaluator.encode_sources(["a"], "en", lang) for lang in ("he", "iw", "de"))
    assert he == iw != de
    with pytest.raises(InputError, match="does not support the target language 'ru'"):
        evaluator.mean_logprobs(["a"], ["b"], src_lang="en", tgt_lang="ru")


def test_the_signature_states_languages_given_at_load(tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(families.save_tiny_m2m100(tmp_path), **EN_DE)
    for target, options in (("de", {}), ("fr", {"tgt_lang": "fr"})):
        found = compute(["La doctoresse."], [GENDER], evaluator=evaluator, **options)
        assert f"|langs:en-{target}|" in found["signature"]


@pytest.mark.parametrize(
    ("family", "is_packed"),
    [("marian", True), ("nllb", True), ("fsmt", True), ("mbart", True), ("t5", False)],
)
def test_only_float32_on_the_cpu_uses_the_packed_pass(
    family: str, is_packed: bool, tmp_path: Path
) -> None:
    folder = families.BUILDERS[family](tmp_path)
    for dtype, expected in (("float32", is_packed), ("bfloat16", False)):
        evaluator = cc_hf.load_evaluator(folder, dtype=dtype)
        assert isinstance(evaluator, Seq2SeqEvaluator)
        assert (evaluator.packed is not None) == expected


def test_a_model_with_too_few_positions_is_not_packed(tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(families.BUILDERS["marian"](tmp_path))
    assert isinstance(evaluator, Seq2SeqEvaluator)
    evaluator.max_tokens = 10**6
    assert evaluator.packed is None
