"""The fine-tuning example judges a model, trains it on the dev set, and judges it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

from cc_hf.data.readers.mt_geneval import read
from cc_hf.evaluation.material import Material
from cc_hf.results import EvaluationResult
from examples import gender_fine_tuning
from tests.helpers.mt_geneval_files import pairs


def test_a_model_is_judged_before_and_after_two_steps(
    tiny_marian: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    examples = list(read(pairs(tmp_path), "counterfactual_de", "dev"))
    loaded: list[tuple[Any, ...]] = []

    def load_material(dataset: str, config: str, *, split: str, data_dir: Any) -> Material:
        loaded.append((dataset, config, split))
        return Material("en", "de", examples)

    monkeypatch.setattr(gender_fine_tuning, "load_material", load_material)
    options = "--cpu --steps 2 --batch-size 2 --learning-rate 1e-2 --beams 1"
    gender_fine_tuning.main(f"{options} --model {tiny_marian} --output {tmp_path}/out".split())
    # Never trained on the test set, and judged on nothing else.
    assert [split for _, _, split in loaded] == ["test", "dev", "test"]
    folders = (tiny_marian, tmp_path / "out/model")
    models = [AutoModelForSeq2SeqLM.from_pretrained(folder) for folder in folders]
    before, after = (model.state_dict() for model in models)
    assert any(not torch.equal(before[name], after[name]) for name in before)
    printed = capsys.readouterr().out
    for time in ("before", "after"):
        text = (tmp_path / f"out/{time}.gender_accuracy.json").read_text(encoding="utf-8")
        result = EvaluationResult.from_json(text)
        assert (result.n, result.counts["n_pairs"], result.system) == (4, 2, time)
    assert "| gender accuracy: pair accuracy | " in printed
    assert "| gender quality gap: BLEU gap, 0 is best | " in printed
