"""Wino-X from files to biases: swapped answers, and models with known bias."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.studies.wino_x.referent_bias import ReferentBias, referent_bias
from cc_hf.studies.wino_x.referent_choices import choices_of_result
from cc_hf.studies.wino_x.trigger_importance import prediction_differences
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.families import save_tiny_m2m100
from tests.helpers.judged import Examples
from tests.helpers.lines import read_jsonl
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.wino_x_schemas import lay_out, lm_rows, mt_rows, swapped

Rows = list[dict[str, Any]]
Score = Callable[[Sequence[str], Sequence[str]], list[float]]


def examples_of(rows: Rows, folder: Path, config: str = "mt_en_de.translations") -> Examples:
    lay_out(folder, config[:2], rows)
    examples: Examples = cc_hf.load_examples("wino_x", config, data_dir=folder)
    return examples


def bias_of(
    score: Score, rows: Rows, folder: Path, config: str = "mt_en_de.translations"
) -> ReferentBias:
    examples = examples_of(rows, folder, config)
    options: dict[str, Any] = {"data_dir": folder, "evaluator": score}
    result = evaluate_dataset("wino_x", config, metric="contrastive_translation_scoring", **options)
    return referent_bias(choices_of_result(result, examples))


def plain_and_swapped(measure: Callable[[Rows, Path], Any], rows: Rows, folder: Path) -> list[Any]:
    return [measure(rows, folder / "plain"), measure(swapped(rows), folder / "swapped")]


@pytest.mark.shared
@pytest.mark.parametrize("config", ["mt_en_de.translations", "lm_en_de", "lm_en_de.english"])
def test_swapping_translations_keeps_the_bias(shared: Path, tmp_path: Path, config: str) -> None:
    rows = lm_rows(90)
    if config.startswith("mt"):
        rows = read_jsonl(shared / "gold/wino_x/bias/synthetic.en_de.jsonl")
    plain, other = plain_and_swapped(
        lambda some, folder: bias_of(hash_scores, some, folder, config), rows, tmp_path
    )
    assert plain == other


@pytest.mark.shared
def test_swapping_translations_keeps_saliences_of_a_model(shared: Path, tmp_path: Path) -> None:
    rows = read_jsonl(shared / "gold/wino_x/mt_wino_x_en_de.thesis.jsonl")
    model: Any = cc_hf.load_evaluator(save_tiny_m2m100(tmp_path / "model"))

    def measure(some: Rows, folder: Path) -> Any:
        return prediction_differences(model, examples_of(some, folder))

    plain, other = plain_and_swapped(measure, rows, tmp_path)
    assert plain == other


def test_a_model_that_prefers_masculine_pronouns_has_gender_bias(tmp_path: Path) -> None:
    draw = random.Random(0)

    def score(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [1.0 if ", weil er " in text else draw.random() for text in translations]

    found = bias_of(score, mt_rows(96), tmp_path)
    assert found.genders["male"].n_preferred == found.genders["male"].n_offered == 128
    one = found.test("gender", "male")
    assert one.strength == one.attainable == pytest.approx(2 / 3)
    assert one.test.p_value < 1e-12
    assert found.test("position").size == "none"
