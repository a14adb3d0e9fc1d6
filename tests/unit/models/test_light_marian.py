"""Both roads to a Marian folder, the light one and that of transformers, give the same."""

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

import cc_hf
from cc_hf.errors import EvaluatorError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.loading import evaluator_of
from cc_hf.models import pretrained
from cc_hf.models.light_marian import LightMarian, LightMarianTokenizer, light_marian
from cc_hf.models.location import TINY_EN_DE
from cc_hf.models.pretrained import load_model
from tests.helpers.models import (
    MARIAN_MARKS,
    SIZES,
    save_marian,
    save_target_vocabulary,
    save_tiny_marian,
    trained_pieces,
)
from tests.helpers.pairs import PAIRS, SOURCES, TRANSLATIONS
from tests.helpers.usual import cases, read_json

ODD_TEXTS = [
    "",
    " ",
    "\t\n",
    "word " * 400,
    "a" * 3000,
    "Наука и жизнь",
    "東京で雪が降る。",
    "שלום عليكم",
    "e\u0301 \u00e9 \ufb01 \u200b\u00ad\u2028 \x00 \x07",
    "👩🏽‍⚕️ 𝒲",
    "\u201equotes\u201c \u00ab and \u00bb ... \u2026 '' `` -- \u2014",
    "</s>",
    "a </s> b<unk>c <pad>",
    "< /s> <un k>",
    ">>deu<< a doctor",
    ">>deu<<",
    ">>nobody<<  two  blanks",
    ">>open a doctor",
    " >>deu<< after a blank",
    ">><< a >>deu<< b",
    ">>a</s><< b",
    "▁ ▁▁word",
]


@pytest.fixture(autouse=True, scope="module")
def _models_of_this_module() -> Iterator[None]:
    """A process keeps models, and a test elsewhere may have made this one whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretrained, "_MODELS", pretrained.Recent(pretrained.KEPT_MODELS))
        yield


def light_of(folder: Path | str) -> tuple[LightMarian, LightMarianTokenizer] | None:
    return light_marian(folder, lambda: (None, None))


def both(folder: Path | str) -> tuple[Any, Any]:
    """Return the evaluator by the light road, and by that of transformers."""
    # A process keeps evaluators, and another test may have run this one: the copy prepares anew.
    light: Any = copy.copy(cc_hf.load_evaluator(folder, mode="exact", cache=False))
    vars(light).pop("packed", None)
    assert isinstance(light.scoring_model, LightMarian)
    loaded = load_model(folder)
    whole: Any = evaluator_of(loaded.model, loaded.tokenizer)
    whole.batch_tokens = light.batch_tokens
    return light, whole


def assert_same(folder: Path | str, texts: list[str], tgt_lang: str = "") -> None:
    light, whole = both(folder)
    for evaluator in (light, whole):
        evaluator.max_tokens = 10**6
    for encode in ("encode_sources", "encode_targets"):
        assert getattr(light, encode)(texts, "", tgt_lang) == getattr(whole, encode)(
            texts, "", tgt_lang
        )
    assert light.encode_targets(texts, "", tgt_lang) == whole.tokenizer(text_target=texts).input_ids
    rows = whole.encode_targets(texts, "", tgt_lang)
    assert light.decode_targets(rows) == whole.decode_targets(rows)
    assert light.mark_ids == whole.mark_ids
    assert light.source_pieces(rows[-1]) == whole.source_pieces(rows[-1])
    sources, targets = ([request[side] for request in PAIRS] for side in (0, 1))
    actual, expected = (
        evaluator.mean_logprobs(sources, targets, tgt_lang=tgt_lang) for evaluator in (light, whole)
    )
    np.testing.assert_array_equal(actual, expected)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_marian(tmp_path_factory.mktemp("marian"))


def test_the_embedded_judge_has_the_same_ids_and_scores() -> None:
    assert_same("cc-tiny-en-de", [*ODD_TEXTS, *SOURCES, *TRANSLATIONS])


@cases(
    {},
    {"scale_embedding": True},
    {"activation_function": "gelu"},
    {"activation_function": "swish"},
    {"activation_function": "silu", "normalize_before": True, "static_position_embeddings": True},
    {"share_encoder_decoder_embeddings": False},
    {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
    {"encoder_layers": 1, "decoder_layers": 3, "decoder_ffn_dim": 24},
)
def test_models_of_other_settings_have_the_same_scores(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    pieces = trained_pieces(vocab_size=70, **MARIAN_MARKS)
    sizes = {**SIZES, "max_position_embeddings": 64, "init_std": 0.5, **settings}
    save_marian(tmp_path, pieces, seed=1, has_bias=True, **sizes)
    assert_same(tmp_path, ODD_TEXTS)


def test_two_vocabularies_have_the_same_ids(tmp_path: Path) -> None:
    save_tiny_marian(tmp_path)
    save_target_vocabulary(tmp_path, size=40).save_pretrained(tmp_path)
    assert_same(tmp_path, ODD_TEXTS)


def test_several_target_languages_have_the_same_ids(tmp_path: Path) -> None:
    save_tiny_marian(tmp_path)
    path = tmp_path / "vocab.json"
    vocabulary = read_json(path)
    pieces = sorted(vocabulary, key=lambda piece: vocabulary[piece])[-2::-1]
    for mark, piece in zip((">>deu<<", ">>fra<<"), pieces, strict=False):
        vocabulary[mark] = vocabulary.pop(piece)
    path.write_text(json.dumps(vocabulary), encoding="utf-8")
    assert_same(tmp_path, ODD_TEXTS, "de")


@given(text=st.text())
def test_any_text_has_the_same_ids(text: str) -> None:
    light, whole = both("cc-tiny-en-de")
    expected = whole.tokenizer([text], verbose=False).input_ids
    assert light.encode_sources([text], "en", "de") == expected
    rows = whole.encode_targets([text], "en", "de")
    assert light.decode_targets(rows) == whole.decode_targets(rows)


def test_identity_and_signature_are_the_same() -> None:
    light: Evaluator = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact", cache=False)
    loaded = load_model("cc-tiny-en-de")
    assert light.identity == loaded.identity == TINY_EN_DE.identity
    assert (light.src_lang, light.tgt_lang) == (loaded.src_lang, loaded.tgt_lang)
    kind = light.cache_identity()["class"]
    assert kind == "cc_hf.evaluators.families.marian.MarianEvaluator"


def test_scoring_imports_neither_transformers_nor_sacremoses() -> None:
    program = (
        "import sys, cc_hf;"
        "judge = cc_hf.load_evaluator('cc-tiny-en-de', cache=False);"
        "judge.decode_targets([judge.encode_targets(['Ein Satz.'], 'en', 'de')[0]]);"
        "judge.mean_logprobs(['It snows.'], ['Es schneit.']);"
        "print(*{m.partition('.')[0] for m in sys.modules}, 'torch._dynamo' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert not {"transformers", "sacremoses", "True"} & {*done.stdout.split()}


def test_a_model_that_was_asked_for_computes(tiny: Path) -> None:
    evaluator: Any = cc_hf.load_evaluator(tiny, mode="exact", cache=False).with_mode("exact")
    before = evaluator.mean_logprobs(SOURCES[:1], TRANSLATIONS[:1])
    model = evaluator.model
    assert type(model).__name__ == "MarianMTModel"
    assert evaluator.scoring_model is model
    np.testing.assert_array_equal(evaluator.mean_logprobs(SOURCES[:1], TRANSLATIONS[:1]), before)


def test_the_model_of_changed_files_is_refused(tmp_path: Path) -> None:
    evaluator: Any = cc_hf.load_evaluator(save_tiny_marian(tmp_path), cache=False)
    (tmp_path / "generation_config.json").unlink()
    with pytest.raises(EvaluatorError, match="the files of the model changed"):
        _ = evaluator.model


def changed(folder: Path, name: str, **settings: object) -> None:
    content = read_json(folder / name)
    (folder / name).write_text(json.dumps({**content, **settings}), encoding="utf-8")


def spoil_weight(folder: Path) -> None:
    path = folder / "model.safetensors"
    weights = load_file(path)
    weights["model.encoder.layers.0.fc1.bias"][0] = torch.nan
    save_file(weights, path, metadata={"format": "pt"})


@cases(
    lambda folder: changed(folder, "config.json", quantization_config={}),
    lambda folder: changed(folder, "config.json", auto_map={}),
    lambda folder: changed(folder, "config.json", activation_function="tanh"),
    lambda folder: changed(folder, "config.json", vocab_size=69),
    lambda folder: changed(folder, "config.json", d_model="16"),
    lambda folder: changed(folder, "config.json", encoder_layers=3),
    lambda folder: changed(folder, "generation_config.json", top_p=2),
    lambda folder: changed(folder, "tokenizer_config.json", clean_up_tokenization_spaces=True),
    lambda folder: changed(folder, "tokenizer_config.json", sp_model_kwargs={"alpha": 0.1}),
    lambda folder: (folder / "target.spm").unlink(),
    lambda folder: (folder / "source.spm").write_bytes(b"no model"),
    lambda folder: (folder / "vocab.json").write_text("[]"),
    lambda folder: (folder / "vocab.json").write_text("{"),
    lambda folder: (folder / "special_tokens_map.json").write_text("{}"),
    lambda folder: (folder / "model.safetensors.index.json").write_text("{}"),
    lambda folder: (folder / "model.safetensors").write_bytes(b"torn"),
    spoil_weight,
)
def test_whatever_is_unusual_is_left_to_transformers(change: Any, tmp_path: Path) -> None:
    save_tiny_marian(tmp_path)
    assert light_of(tmp_path) is not None
    change(tmp_path)
    assert light_of(tmp_path) is None
