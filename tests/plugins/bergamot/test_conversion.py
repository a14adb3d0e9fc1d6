"""Students become models of transformers, which score the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

import cc_hf
from cc_hf.errors import DataError
from cc_hf.plugins.bergamot.conversion import convert_student
from tests.helpers import bergamot_models as made
from tests.helpers.usual import fails, printed_by, refuses


@pytest.mark.parametrize("changes", [{}, made.TWO_VOCABULARIES], ids=["shared", "two vocabularies"])
def test_converted_student_gives_the_same_scores(tmp_path: Path, changes: dict[str, Any]) -> None:
    folder = made.save_student(tmp_path / "student", changes)
    converted = convert_student(folder, output=tmp_path / "converted")
    names = {path.name for path in converted.iterdir()}
    assert names >= {"model.safetensors", "source.spm", "target.spm", "config.json", "README.md"}
    before, after = (cc_hf.load_evaluator(path, mode="exact") for path in (folder, converted))
    assert (after.src_lang, after.tgt_lang) == ("en", "de")
    made.same_logprobs(before, after)


def test_converted_student_is_a_model_of_transformers(tmp_path: Path) -> None:
    student = made.save_student(tmp_path / "student")
    converted = convert_student(student, output=tmp_path / "converted")
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(converted)
    assert type(model).__name__ == "BergamotForConditionalGeneration"
    model.train()
    model(input_ids=torch.tensor([[5, 6, 0]]), labels=torch.tensor([[7, 8, 0]])).loss.backward()
    assert model.model.decoder.layers[0].recurrence.forget.weight.grad.abs().sum() > 0
    # Padding starts the decoder, as a vector of zeros, which training must not move.
    gradient = model.model.decoder.embed_tokens.weight.grad
    assert not gradient[model.config.pad_token_id].any()
    assert gradient[5].any()


def test_only_students_are_converted_and_nothing_is_overwritten(tmp_path: Path) -> None:
    student = made.save_student(tmp_path / "student")
    refuses("is not an empty folder", convert_student, student, output=student)
    parent, message = student.parent, r"expected a folder with model\*.bin"
    refuses(message, convert_student, parent, output=parent / "converted")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["Wemb", "decoder_ff_logit_out_b", "encoder_l1_ffn_W1"])
def test_the_converter_refuses_weights_not_finite(tmp_path: Path, name: str, value: float) -> None:
    folder, tensors = made.save_student(tmp_path / "student"), made.weights(made.settings())
    tensors[name].flat[3] = value
    path = folder / "model.ende.intgemm.alphas.bin"
    path.write_bytes(made.binary(made.settings(), tensors, int8=False))
    message = rf"{path}.*'{name}': expected finite numbers.* 1 of"
    fails(DataError, message, convert_student, folder, output=tmp_path / "converted")
    assert not (tmp_path / "converted").exists()


def test_command_converts_a_student_that_names_its_tokens(tmp_path: Path) -> None:
    folder, output = made.save_student(tmp_path / "student"), tmp_path / "converted"
    assert printed_by("convert", folder, "--output", output).split() == [str(output), "bergamot"]
    evaluator: Any = cc_hf.load_evaluator(output)
    (ids,) = evaluator.encode_sources(["The key is here."], "en", "de")
    assert evaluator.source_pieces(ids)[-1] == evaluator.target_pieces(ids)[-1] == "</s>"
