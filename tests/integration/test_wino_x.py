"""Wino-X from files to figures: every sample by MT and LM scoring, and swapped answers."""

from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.results import EvaluationResult
from tests.helpers.families import save_tiny_m2m100
from tests.helpers.judged import Examples
from tests.helpers.models import save_tiny_masked_lm
from tests.helpers.usual import evaluate_dataset, hash_scores, read_jsonl
from tests.helpers.wino_x_schemas import lay_out, lm_rows, swapped

METRIC = "contrastive_translation_scoring"
Rows = list[dict[str, Any]]
Judged = tuple[EvaluationResult, Examples]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return a model of translation and a masked one."""
    translating = save_tiny_m2m100(tmp_path_factory.mktemp("m2m100"))
    masked = save_tiny_masked_lm(tmp_path_factory.mktemp("masked"), max_tokens=300)
    return [cc_hf.load_evaluator(translating), cc_hf.load_evaluator(masked)]


def judged(config: str, folder: Path, evaluator: Any) -> EvaluationResult:
    return evaluate_dataset("wino_x", config, metric=METRIC, data_dir=folder, evaluator=evaluator)


def test_every_sample_can_be_scored(shared: Path, tmp_path: Path, models: Any) -> None:
    paths = sorted((shared / "gold/wino_x").glob("*.jsonl"))
    counted = {}
    for path in paths:
        part, _, _, _, lang = path.stem.partition(".")[0].split("_")
        rows, folder = read_jsonl(path), tmp_path / path.stem
        lay_out(folder, part, rows, lang=lang)
        if part == "mt":
            configs, evaluator = [f"mt_en_{lang}.translations"], models[0]
        else:
            configs, evaluator = [f"lm_en_{lang}"], models[1]
            configs += [f"lm_en_{lang}.english"] if rows[0]["option1_en"] else []
        for name in configs:
            actual = judged(name, folder, evaluator)
            assert [j.example_id for j in actual.judgements] == [row["qID"] for row in rows]
            assert {len(j.scores) for j in actual.judgements} == {2}
            assert all(0 < score < 1 for j in actual.judgements for score in j.scores)
            n_correct = sum(j.is_correct for j in actual.judgements)
            assert n_correct == actual.counts["n_correct"]
            assert n_correct == round(actual.scores["accuracy"] * len(rows))
        if part == "mt":
            texts = [row[f"translation{row['answer']}"] for row in rows]
            conditioned = evaluate_dataset(
                "wino_x", f"mt_en_{lang}", translations=texts, data_dir=folder, evaluator=models[0]
            )
            assert [j.example_id for j in conditioned.judgements] == [row["qID"] for row in rows]
        counted[path.stem] = len(rows)
    assert (len(counted), sum(counted.values())) == (11, 136)
    assert counted["mt_wino_x_en_ru.mixedscript"] == 1


def both(part: str, rows: Rows, folder: Path, config: str, evaluator: Any) -> list[Judged]:
    actual = []
    for name, some in (("plain", rows), ("swapped", swapped(rows))):
        lay_out(folder / name, part, some)
        examples = cc_hf.load_examples("wino_x", config, data_dir=folder / name)
        actual.append((judged(config, folder / name, evaluator), examples))
    return actual


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
