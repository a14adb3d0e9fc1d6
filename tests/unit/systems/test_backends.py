"""Systems translate in int8 and by another library, and say so."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import cc_hf
from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError
from cc_hf.systems.backends import prepare
from cc_hf.systems.system import System
from cc_hf.systems.text_files import translate_file
from cc_hf.systems.translate import translate, translate_with
from tests.helpers import families
from tests.helpers.cases import cases
from tests.helpers.contract_cases import study_cases
from tests.helpers.lines import write_lines
from tests.helpers.refusals import fails, refuses

_SOURCES = ["The doctor asked the nurse to help her.", "The mechanic greeted the guard.", "Yes."]
_EN_DE: dict[str, Any] = {"src_lang": "en", "tgt_lang": "de"}


@pytest.mark.parametrize("num_beams", [1, 5])
@cases(("int8", "torch"), ("fp32", "ctranslate2"), ("int8", "ctranslate2"))
def test_the_embedded_model_translates_alike(precision: str, backend: str, num_beams: int) -> None:
    if backend == "ctranslate2":
        pytest.importorskip("ctranslate2")
    options: dict[str, Any] = {"num_beams": num_beams}
    plain = translate(_SOURCES, "cc-tiny-en-de", **options)
    options |= {"precision": precision, "backend": backend}
    assert translate(_SOURCES, "cc-tiny-en-de", **options) == plain


@pytest.mark.parametrize("family", ["marian", "nllb"])
@pytest.mark.parametrize("num_beams", [1, 4])
def test_ctranslate2_searches_as_transformers(tmp_path: Path, family: str, num_beams: int) -> None:
    pytest.importorskip("ctranslate2")
    model = cc_hf.load_evaluator(families.BUILDERS[family](tmp_path), **_EN_DE)
    options: dict[str, Any] = {"num_beams": num_beams, "max_new_tokens": 6}
    found = translate_with(prepare(model, backend="ctranslate2"), _SOURCES, **options)
    assert found == translate_with(model, _SOURCES, **options)


@pytest.mark.parametrize(
    "family", ["fsmt", "t5", *(name for cases in study_cases().values() for name in cases.families)]
)
def test_every_linear_layer_is_converted_to_int8_in_a_copy(tmp_path: Path, family: str) -> None:
    model: Any = cc_hf.load_evaluator(families.BUILDERS[family](tmp_path), **_EN_DE)
    before = translate_with(model, _SOURCES, num_beams=2, max_new_tokens=5)
    int8: Any = prepare(model, precision="int8")
    assert not [m for m in int8.model.modules() if type(m) is torch.nn.Linear]
    assert len(translate_with(int8, _SOURCES, num_beams=2, max_new_tokens=5)) == len(_SOURCES)
    assert translate_with(model, _SOURCES, num_beams=2, max_new_tokens=5) == before


def test_members_of_an_ensemble_are_converted_each(tmp_path: Path) -> None:
    folder = families.BUILDERS["marian"](tmp_path)
    options: dict[str, Any] = {"num_beams": 2, "max_new_tokens": 5}
    ensemble, alone = (
        translate_with(prepare(cc_hf.load_evaluator(model), precision="int8"), _SOURCES, **options)
        for model in ([folder, folder], [folder])
    )
    assert ensemble == alone


def test_a_model_that_fails_to_convert_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    # the tiny vocabulary lacks words that the converter adds to that of M2M100
    model = cc_hf.load_evaluator(families.BUILDERS["m2m_100"](tmp_path), **_EN_DE)
    with pytest.raises(EvaluatorError, match=r"could not convert the model \(.*\); use torch"):
        prepare(model, backend="ctranslate2")


def test_fp32_by_torch_is_the_model_itself() -> None:
    model = cc_hf.load_evaluator("cc-tiny-en-de")
    assert prepare(model) is model


def test_what_is_not_converted_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ctranslate2")
    tiny = cc_hf.load_evaluator("cc-tiny-en-de")
    other, averaging = (tmp_path / name for name in ("fsmt", "average_attention"))
    for folder in (other, averaging):
        folder.mkdir()
        families.BUILDERS[folder.name](folder)
    for model, options, message in (
        (other, {"backend": "ctranslate2"}, "type marian or m2m_100, which CTranslate2 runs, got"),
        (averaging, {"backend": "ctranslate2"}, "which CTranslate2 runs, got average_attention"),
        (["cc-tiny-en-de"] * 2, {"backend": "ctranslate2"}, "runs no ensembles"),
        ("cc-tiny-en-de", {"precision": "int4"}, "precision"),
        ("cc-tiny-en-de", {"backend": "onnx"}, "backend"),
    ):
        refuses(message, prepare, cc_hf.load_evaluator(model), **options)
    halved = cc_hf.load_evaluator("cc-tiny-en-de", dtype="bfloat16")
    with pytest.raises(InputError, match="on the CPU in float32 for int8 by torch, got bfloat16"):
        prepare(halved, precision="int8")
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    fails(MissingDependencyError, "pip install ctranslate2", prepare, tiny, backend="ctranslate2")


def test_the_signature_of_a_translated_file_names_precision_and_backend(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "source.txt", ["The doctor is here."])
    model = cc_hf.load_evaluator("cc-tiny-en-de")
    summary = translate_file(model, source, tmp_path / "int8.de", precision="int8")
    assert "/beam5/int8 torch|" in summary.signature
    assert (tmp_path / "int8.de").read_text(encoding="utf-8") == "Der Arzt ist hier.\n"


def test_a_system_names_how_it_computes_only_where_it_is_not_as_usual() -> None:
    assert System("m", 1).signature("m@1") == "m@1/beam1"
    assert System("m", 1, backend="ctranslate2").signature("m@1") == "m@1/beam1/fp32 ctranslate2"
    signature = System("m", 1, "<s>", precision="int8").signature("m@1")
    assert signature == "m@1/beam1/int8 torch/context <s>"
