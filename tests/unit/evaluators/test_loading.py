from __future__ import annotations

from pathlib import Path

import pytest

import cc_hf
from cc_hf.errors import EvaluatorError, InputError, UnknownNameError
from cc_hf.evaluators.loading import load_model
from cc_hf.evaluators.location import default_evaluator
from tests.helpers.models import save_tiny_bert, save_tiny_marian


def test_loads_once_per_options(tiny_marian: Path) -> None:
    assert cc_hf.load_evaluator(tiny_marian) is cc_hf.load_evaluator(tiny_marian)
    assert cc_hf.load_evaluator(tiny_marian, batch_tokens=7) is not cc_hf.load_evaluator(tiny_marian)
    assert load_model(tiny_marian).model is load_model(str(tiny_marian)).model


def test_a_model_that_changed_on_disk_is_loaded_anew(tmp_path: Path) -> None:
    save_tiny_marian(tmp_path, seed=1)
    first = cc_hf.load_evaluator(tmp_path)
    before = first.mean_logprobs(["The doctor."], ["Der Arzt."])
    save_tiny_marian(tmp_path, seed=2)
    second = cc_hf.load_evaluator(tmp_path)
    assert second.identity != first.identity
    assert abs(second.mean_logprobs(["The doctor."], ["Der Arzt."]) - before) > 1e-3


def test_identity_is_of_the_files_not_of_the_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        save_tiny_marian(tmp_path / name, seed=3)
    assert cc_hf.load_evaluator(tmp_path / "a").identity == cc_hf.load_evaluator(tmp_path / "b").identity


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown evaluator 'cc-tiny-en-ed'; did you mean 'cc-tiny-en-de'"):
        cc_hf.load_evaluator("cc-tiny-en-ed")


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError, match="there is no such folder"):
        cc_hf.load_evaluator(tmp_path / "missing")


def test_a_hub_model_offline_says_what_to_do() -> None:
    with pytest.raises(EvaluatorError, match=r"could not be loaded .*save the model to a folder"):
        cc_hf.load_evaluator("Helsinki-NLP/opus-mt-en-de")


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError, match="could not be loaded"):
        cc_hf.load_evaluator(tmp_path)


def test_a_model_that_is_not_seq2seq(tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError, match=r"expected a sequence-to-sequence model .* got a model of type 'bert'"):
        cc_hf.load_evaluator(save_tiny_bert(tmp_path))


def test_options_out_of_range(tiny_marian: Path) -> None:
    with pytest.raises(InputError, match="dtype: expected one of float32"):
        cc_hf.load_evaluator(tiny_marian, dtype="int3")
    for device in ("gpu9", "cuda:77", "meta"):
        with pytest.raises(InputError, match="device"):
            cc_hf.load_evaluator(tiny_marian, device=device)


def test_a_local_model_has_no_revision() -> None:
    with pytest.raises(InputError, match="a revision applies to models of the Hub only"):
        cc_hf.load_evaluator("cc-tiny-en-de", revision="main")


def test_no_default_for_other_pairs() -> None:
    with pytest.raises(InputError, match="give src_lang and tgt_lang"):
        default_evaluator("", "")
    with pytest.raises(InputError, match="no evaluator ships with the package for en-ru"):
        default_evaluator("en", "ru")
