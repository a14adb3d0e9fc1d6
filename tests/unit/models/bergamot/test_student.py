"""Students are computed as Marian computes them, whatever their configuration; others are refused."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from transformers import AutoModelForSeq2SeqLM

import cc_hf
from cc_hf.conversion.student import convert_student
from cc_hf.errors import DataError, InputError, UnknownNameError
from cc_hf.models.bergamot.modeling import recurrent_states
from cc_hf.models.bergamot.student import load_student, student_files
from cc_hf.models.location import default_evaluator
from cc_hf.systems.translate import translate_with
from tests.helpers.bergamot_models import (
    binary,
    limited_allocations,
    save_student,
    settings,
    vocabulary,
    weights,
)
from tests.helpers.bergamot_reference import ReferenceStudent
from tests.helpers.cases import cases
from tests.helpers.command_line import invoke

_SOURCES = ["The doctor asked the nurse to help her.", "The key is here.", "The doctor"]
_TRANSLATIONS = ["Der Arzt bat die Pflegerin um Hilfe.", "Der Schlüssel ist hier.", "Der Arzt"]
_TWO_VOCABULARIES = {"tied-embeddings-all": False, "dim-vocabs": [70, 64]}


def _reference(folder: Path, evaluator: Any) -> list[np.ndarray]:
    student = ReferenceStudent(next(folder.glob("model*.bin")))
    sources = evaluator.encode_sources(_SOURCES, "en", "de")
    targets = evaluator.encode_targets(_TRANSLATIONS, "en", "de")
    return list(map(student.logprobs, sources, targets))


def _same_logprobs(one: Any, other: Any) -> None:
    found, expected = (e.token_logprobs(_SOURCES, _TRANSLATIONS) for e in (one, other))
    for row, plain in zip(found, expected, strict=True):
        np.testing.assert_array_equal(row, plain)


@pytest.fixture
def student(tmp_path: Path) -> Path:
    return save_student(tmp_path / "student")


@pytest.mark.parametrize("int8", [True, False], ids=["int8", "float32"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"transformer-ffn-activation": "swish"},
        {"transformer-decoder-autoreg": "self-attention"},
        {**_TWO_VOCABULARIES, "tied-embeddings": True},
        _TWO_VOCABULARIES,
        {"dec-depth": 4, "dim-emb": 24, "transformer-heads": 3},
    ],
)
def test_logprobs_equal_plain_ones(tmp_path: Path, changes: dict[str, Any], int8: bool) -> None:
    folder = save_student(tmp_path / "student", changes, int8=int8)
    evaluator = cc_hf.load_evaluator(folder, mode="exact")
    assert (evaluator.src_lang, evaluator.tgt_lang) == ("en", "de")
    expected = _reference(folder, evaluator)
    for batch_tokens in (None, 40):
        evaluator = cc_hf.load_evaluator(folder, mode="exact", batch_tokens=batch_tokens)
        rows = evaluator.token_logprobs(_SOURCES, _TRANSLATIONS)
        for row, plain in zip(rows, expected, strict=True):
            np.testing.assert_allclose(row, plain, atol=1e-5)


def test_plain_pass_of_the_model_equals_the_packed_one(tmp_path: Path) -> None:
    folder = save_student(tmp_path / "student")
    evaluator: Any = cc_hf.load_evaluator(folder, mode="exact")
    sources = evaluator.encode_sources(_SOURCES, "en", "de")
    targets = evaluator.encode_targets(_TRANSLATIONS, "en", "de")
    plain = evaluator.logprobs_without(sources, targets, [None] * len(sources))
    for row, other in zip(evaluator.logprobs_batch(sources, targets), plain, strict=True):
        np.testing.assert_allclose(row, other, atol=1e-5)


def test_scan_equals_the_recurrence_step_by_step() -> None:
    generator = torch.Generator().manual_seed(0)
    gates, candidates = torch.rand(2, 3, 5, 4, generator=generator)
    state, states = torch.zeros(3, 4), []
    for n in range(5):
        state = gates[:, n] * state + (1 - gates[:, n]) * candidates[:, n]
        states.append(state)
    torch.testing.assert_close(recurrent_states(gates, candidates), torch.stack(states, 1))


@pytest.mark.parametrize("autoregression", ["rnn", "self-attention"])
def test_generation_with_and_without_cache_is_equal(tmp_path: Path, autoregression: str) -> None:
    folder = save_student(tmp_path / "s", {"transformer-decoder-autoreg": autoregression})
    evaluator: Any = cc_hf.load_evaluator(folder)
    ids = torch.tensor(evaluator.encode_sources(_SOURCES[:1], "en", "de"))
    for num_beams in (1, 3):
        options = {"input_ids": ids, "num_beams": num_beams, "max_length": 12}
        with_cache, without = (
            evaluator.model.generate(**options, use_cache=use_cache) for use_cache in (True, False)
        )
        assert with_cache.tolist() == without.tolist()


def test_student_translates_without_padding_tokens(tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(save_student(tmp_path / "student"))

    def translated(*sources: str) -> list[str]:
        return translate_with(evaluator, sources, num_beams=2, max_new_tokens=8)

    assert translated(*_SOURCES) == [*map("".join, map(translated, _SOURCES))]
    assert all(translated(*_SOURCES))


@pytest.mark.parametrize("changes", [{}, _TWO_VOCABULARIES], ids=["shared", "two vocabularies"])
def test_converted_student_gives_the_same_scores(tmp_path: Path, changes: dict[str, Any]) -> None:
    folder = save_student(tmp_path / "student", changes)
    converted = convert_student(folder, output=tmp_path / "converted")
    names = {path.name for path in converted.iterdir()}
    assert names >= {"model.safetensors", "source.spm", "target.spm", "config.json", "README.md"}
    before, after = (cc_hf.load_evaluator(path, mode="exact") for path in (folder, converted))
    assert (after.src_lang, after.tgt_lang) == ("en", "de")
    _same_logprobs(before, after)


def test_converted_student_is_a_model_of_transformers(tmp_path: Path) -> None:
    convert_student(save_student(tmp_path / "student"), output=tmp_path / "converted")
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "converted")
    assert type(model).__name__ == "BergamotForConditionalGeneration"
    model.train()
    loss = model(input_ids=torch.tensor([[5, 6, 0]]), labels=torch.tensor([[7, 8, 0]])).loss
    loss.backward()
    assert model.model.decoder.layers[0].recurrence.forget.weight.grad.abs().sum() > 0


def test_only_students_are_converted_and_nothing_is_overwritten(student: Path) -> None:
    with pytest.raises(InputError, match="is not an empty folder"):
        convert_student(student, output=student)
    with pytest.raises(InputError, match=r"expected a folder with model\*.bin"):
        convert_student(student.parent, output=student.parent / "converted")


def test_gzip_files_are_loaded(student: Path, tmp_path: Path) -> None:
    (tmp_path / "compressed").mkdir()
    for path in student.iterdir():
        compressed = tmp_path / "compressed" / f"{path.name}.gz"
        compressed.write_bytes(gzip.compress(path.read_bytes()))
    _same_logprobs(cc_hf.load_evaluator(student), cc_hf.load_evaluator(tmp_path / "compressed"))


@cases(
    ({"dec-cell": "gru"}, "expected the decoder cell 'ssru', the configuration says 'gru'"),
    ({"type": "s2s"}, "expected type to be 'transformer', the configuration says 's2s'"),
    ({"transformer-ffn-activation": "gelu"}, "says 'gelu'"),
    ({"tied-embeddings-src": True}, "tied-embeddings-src"),
    ({"transformer-tied-layers": [1, 1]}, "transformer-tied-layers"),
    ({"transformer-train-position-embeddings": True}, "train-position-embeddings"),
    ({"transformer-preprocess": "n"}, "transformer-preprocess"),
    ({"dim-emb": "16"}, "expected positive sizes"),
    ({"enc-depth": 10**9}, "expected positive sizes"),
    ({"dim-vocabs": [2**19, 2**19]}, "'Wemb': expected 524288 rows of 16"),
    ({"transformer-decoder-dim-ffn": 10**9}, "expected positive sizes"),
    ({"transformer-decoder-dim-ffn": 32.0}, "expected positive sizes"),
    ({"transformer-heads": 3}, "divisible by transformer-heads"),
    ({"dim-vocabs": [70]}, "two dim-vocabs"),
    ({"enc-depth": 3}, "expected a tensor 'encoder_l3_self_Wq'"),
    ({"enc-depth": 1}, "the file has .* more: encoder_l2_ffn"),
    ({"transformer-dim-ffn": 64}, r"'encoder_l1_ffn_W1': expected the shape \(16, 64\)"),
    ({"dim-emb": 32}, "'Wemb': expected 70 rows of 32"),
)
def test_wrong_settings_are_refused(changes: dict[str, Any], message: str, student: Path) -> None:
    content = binary(settings(**changes), weights(settings()))
    (student / "model.ende.intgemm.alphas.bin").write_bytes(content)
    with pytest.raises(DataError, match=message), limited_allocations(10 * len(content) + 2**21):
        cc_hf.load_evaluator(student)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["Wemb", "decoder_ff_logit_out_b", "encoder_l1_ffn_W1"])
def test_weights_that_are_not_finite_are_refused_by_the_converter(
    tmp_path: Path, name: str, value: float
) -> None:
    folder, config = save_student(tmp_path / "student"), settings()
    tensors = weights(config)
    tensors[name].flat[3] = value
    path = folder / "model.ende.intgemm.alphas.bin"
    path.write_bytes(binary(config, tensors, int8=False))
    with pytest.raises(DataError, match=rf"{path}.*'{name}': expected finite numbers.* 1 of"):
        convert_student(folder, output=tmp_path / "converted")
    assert not (tmp_path / "converted").exists()


def test_size_of_thousands_of_digits_and_a_missing_setting_are_refused(student: Path) -> None:
    text = yaml.safe_dump(settings()).replace("enc-depth: 2", f"enc-depth: 0x{'f' * 9000}")
    without = {name: value for name, value in settings().items() if name != "enc-depth"}
    for config, message in (
        (text.encode(), "expected positive sizes.* too large to show"),
        (without, "the configuration lacks enc-depth"),
    ):
        content = binary(config, weights(settings()))
        (student / "model.ende.intgemm.alphas.bin").write_bytes(content)
        with pytest.raises(DataError, match=message):
            cc_hf.load_evaluator(student)


def test_a_vocabulary_of_another_model_or_a_damaged_one_is_refused(student: Path) -> None:
    for content, message in (
        (vocabulary(size=72), "they belong to another model"),
        (b"no vocabulary", "expected a SentencePiece model"),
    ):
        (student / "vocab.ende.spm").write_bytes(content)
        with pytest.raises(DataError, match=message):
            cc_hf.load_evaluator(student)


def test_two_models_in_one_folder_are_refused(student: Path) -> None:
    (student / "model.deen.bin").write_bytes(b"")
    with pytest.raises(DataError, match="expected one model, found"):
        student_files(student)


def test_another_kind_or_language_is_refused(student: Path) -> None:
    wrong: list[tuple[dict[str, str], str]] = [
        ({"kind": "marian"}, "which 'marian' does not fit"),
        ({"tgt_lang": "fr"}, "does not support the target language 'fr'"),
    ]
    for options, message in wrong:
        with pytest.raises(InputError, match=message):
            cc_hf.load_evaluator(student, **options)


def test_unknown_pairs_are_answered_with_students() -> None:
    with pytest.raises(UnknownNameError, match="bergamot:en-pt"):
        cc_hf.load_evaluator("bergamot:en-pr")
    with pytest.raises(InputError, match="such as 'bergamot:en-fr', a student of 18 MB"):
        default_evaluator("en", "fr")


def test_model_is_in_eval_mode_and_finite(tmp_path: Path) -> None:
    files = student_files(save_student(tmp_path / "student"))
    assert files is not None
    model, tokenizer = load_student(files)
    assert not model.training
    assert tokenizer.pad_token_id == model.config.pad_token_id == 70
    assert tokenizer.batch_decode([[0, 70]]) == [""]


def test_command_converts_a_student_that_names_its_tokens(tmp_path: Path) -> None:
    folder, output = save_student(tmp_path / "student"), tmp_path / "converted"
    run = invoke("convert", folder, "--output", output)
    assert run.exit_code == 0, run.output
    assert run.stdout.split() == [str(output), "bergamot"]
    evaluator: Any = cc_hf.load_evaluator(output)
    (ids,) = evaluator.encode_sources(["The key is here."], "en", "de")
    assert evaluator.source_pieces(ids)[-1] == evaluator.target_pieces(ids)[-1] == "</s>"
