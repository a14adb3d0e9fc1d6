"""Wino-X from files to figures: every sample by MT and LM scoring, and swapped answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.results import EvaluationResult
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.families import save_tiny_m2m100
from tests.helpers.judged import Examples
from tests.helpers.lines import read_jsonl
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.models import save_tiny_masked_lm
from tests.helpers.wino_x_schemas import lay_out, lm_rows, swapped

METRIC = "contrastive_translation_scoring"
Rows = list[dict[str, Any]]
Score = Callable[[Sequence[str], Sequence[str]], list[float]]


@pytest.fixture(scope="module")
def translation_model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return cc_hf.load_evaluator(save_tiny_m2m100(tmp_path_factory.mktemp("m2m100")))


@pytest.fixture(scope="module")
def masked_model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("masked")
    return cc_hf.load_evaluator(save_tiny_masked_lm(folder, max_tokens=300))


def judged(config: str, folder: Path, evaluator: Any) -> EvaluationResult:
    return evaluate_dataset("wino_x", config, metric=METRIC, data_dir=folder, evaluator=evaluator)


@pytest.mark.shared
def test_every_sample_can_be_scored_by_mt_and_lm_evaluators(
    shared: Path, tmp_path: Path, translation_model: Any, masked_model: Any
) -> None:
    paths = sorted((shared / "gold/wino_x").glob("*.jsonl"))
    counted = {}
    for path in paths:
        part, _, _, _, lang = path.stem.partition(".")[0].split("_")
        rows, folder = read_jsonl(path), tmp_path / path.stem
        lay_out(folder, part, rows, lang=lang)
        if part == "mt":
            configs, evaluator = [f"mt_en_{lang}.translations"], translation_model
        else:
            configs, evaluator = [f"lm_en_{lang}"], masked_model
            configs += [f"lm_en_{lang}.english"] if rows[0]["option1_en"] else []
        for name in configs:
            found = judged(name, folder, evaluator)
            assert [j.example_id for j in found.judgements] == [row["qID"] for row in rows]
            assert {len(j.scores) for j in found.judgements} == {2}
            assert all(0 < score < 1 for j in found.judgements for score in j.scores)
            n_correct = sum(j.is_correct for j in found.judgements)
            assert n_correct == found.counts["n_correct"]
            assert n_correct == round(found.scores["accuracy"] * len(rows))
        if part == "mt":
            texts = [row[f"translation{row['answer']}"] for row in rows]
            options = {"data_dir": folder, "evaluator": translation_model}
            conditioned = evaluate_dataset("wino_x", f"mt_en_{lang}", translations=texts, **options)
            assert [j.example_id for j in conditioned.judgements] == [row["qID"] for row in rows]
        counted[path.stem] = len(rows)
    assert (len(counted), sum(counted.values())) == (11, 136)
    assert counted["mt_wino_x_en_ru.mixedscript"] == 1


def both(
    part: str, rows: Rows, folder: Path, config: str, evaluator: Any
) -> list[tuple[EvaluationResult, Examples]]:
    found = []
    for name, some in (("plain", rows), ("swapped", swapped(rows))):
        lay_out(folder / name, part, some)
        examples = cc_hf.load_examples("wino_x", config, data_dir=folder / name)
        found.append((judged(config, folder / name, evaluator), examples))
    return found


@pytest.mark.shared
@pytest.mark.parametrize("config", ["mt_en_de.translations", "lm_en_de", "lm_en_de.english"])
def test_swapped_translations_keep_every_figure(shared: Path, tmp_path: Path, config: str) -> None:
    """No judgement, interval, count of pairs or bias changes either."""
    rows = lm_rows(90)
    if config.startswith("mt"):
        rows = read_jsonl(shared / "gold/wino_x/bias/synthetic.en_de.jsonl")
    assert swapped(swapped(rows)) == [{key: row[key] for key in row} for row in rows]
    (plain, examples), (other, turned) = both(config[:2], rows, tmp_path, config, hash_scores)
    answers, others = ([int(e.extra["answer"]) for e in part] for part in (examples, turned))
    assert answers == [3 - answer for answer in others]
    for name in ("n", "scores", "intervals", "counts", "categories", "judgements"):
        assert getattr(plain, name) == getattr(other, name), name
    assert plain.counts["n_pairs"] == len(rows) // 2
    assert 0 < plain.scores["pair_accuracy"] < plain.scores["accuracy"] < 1


@pytest.mark.shared
def test_swapping_keeps_all_scores(shared: Path, tmp_path: Path, translation_model: Any) -> None:
    rows = read_jsonl(shared / "gold/wino_x/mt_wino_x_en_de.thesis.jsonl")
    (plain, _), (other, _) = both("mt", rows, tmp_path, "mt_en_de.translations", translation_model)
    for name in ("scores", "intervals", "counts", "judgements"):
        assert getattr(plain, name) == getattr(other, name), name
