"""Parity with the program of Vamvas & Sennrich 2021 on WinoMT, see PROVENANCE.md."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cc_hf
from tests.helpers.fake_evaluator import coarse_scores, constant_scores, hash_scores
from tests.helpers.metrics import evaluate_dataset

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def gold(shared: Path) -> list[dict[str, Any]]:
    with gzip.open(
        shared / "gold/contrastive_conditioning/winomt.en-de.all_samples.jsonl.gz",
        "rt",
        encoding="utf-8",
    ) as file:
        return [json.loads(line) for line in file]


def run(
    shared: Path, scores: Callable[..., Any], config: str = "emnlp2021"
) -> cc_hf.EvaluationResult:
    translations = (
        shared
        / "upstream/ZurichNLP/contrastive-conditioning/human_validation/winomt/data/aws.de.full.txt"
    )
    return evaluate_dataset(
        "winomt",
        config,
        translations=translations,
        tgt_lang="de",
        evaluator=scores,
        data_dir=shared / "upstream",
    )


def test_figures_equal_those_of_the_original_program(shared: Path) -> None:
    result = run(shared, hash_scores)
    assert result.n == 3648
    expected = {
        "weighted_accuracy": 0.508531592728199,
        "weighted_accuracy_male": 0.5115173337026266,
        "weighted_accuracy_female": 0.5055327312369751,
        "weighted_min_accuracy": 0.5055327312369751,
        "accuracy": 0.5098684210526315,
        "accuracy_male": 0.5049288061336255,
        "accuracy_female": 0.5148188803512623,
        "min_accuracy": 0.5049288061336255,
    }
    for name, value in expected.items():
        assert result.scores[name] == pytest.approx(value, abs=1e-12), name


def test_every_sample_equals_that_of_the_original_program(
    shared: Path, gold: list[dict[str, Any]]
) -> None:
    examples = cc_hf.load_examples("winomt", "emnlp2021", data_dir=shared / "upstream")
    judgements = run(shared, hash_scores).judgements
    assert len(examples) == len(judgements) == len(gold) == 3648
    for example, judgement, row in zip(examples, judgements, gold, strict=True):
        assert example.correct_sources == (row["source_correct"],)
        assert example.incorrect_sources == (row["source_incorrect"],)
        assert (example.source, example.category, judgement.translation) == (
            row["sentence"],
            row["category"],
            row["translation"],
        )
        assert judgement.probability_correct == row["probability_correct"]
        assert judgement.is_correct == row["is_correct"]
        assert judgement.weight == row["weight"]


@pytest.mark.parametrize(("name", "scores"), [("const", constant_scores), ("quant", coarse_scores)])
def test_figures_with_ties_equal_those_of_the_original_program(
    shared: Path, name: str, scores: Callable[..., Any]
) -> None:
    gold = json.loads(
        (shared / "gold/contrastive_conditioning/ties.json").read_text(encoding="utf-8")
    )
    result = run(shared, scores)
    for kind, prefix in (("unweighted", ""), ("weighted", "weighted_")):
        expected = gold[f"winomt.en-de.{name}.{kind}"]
        assert result.scores[f"{prefix}accuracy"] == pytest.approx(
            expected["total_accuracy"], abs=1e-12
        )
        for category in ("male", "female"):
            assert result.scores[f"{prefix}accuracy_{category}"] == pytest.approx(
                expected[f"accuracy_{category}"], abs=1e-12
            )
        assert result.scores[f"{prefix}min_accuracy"] == pytest.approx(
            expected["min_accuracy"], abs=1e-12
        )
        assert result.counts["n_correct"] == expected["n_correct"]
        assert result.counts["n_ties"] == expected["n_p_exactly_half"]
    weights = [j.weight for j in result.judgements]
    assert weights[:50] == gold[f"winomt.en-de.{name}.weighted"]["weights_first_50"]
    probabilities = [j.probability_correct for j in result.judgements]
    for key, values in (("weights_sha256", weights), ("probabilities_sha256", probabilities)):
        assert (
            hashlib.sha256(",".join(map(repr, values)).encode()).hexdigest()
            == gold[f"winomt.en-de.{name}.weighted"][key]
        )


def test_the_default_configuration_only_inserts_one_cue(shared: Path) -> None:
    examples = cc_hf.load_examples("winomt", data_dir=shared / "upstream")
    assert len(examples) == 3648
    assert np.unique([e.id for e in examples]).size == 3648
    for example in examples:
        other = {"male": "female", "female": "male"}[example.gold]
        for (source,), gender in (
            (example.correct_sources, example.gold),
            (example.incorrect_sources, other),
        ):
            cue = f"[{gender}] "
            assert source.count("[") == 1
            assert source.replace(cue, "", 1) == example.source
            assert source[source.index(cue) + len(cue) :].startswith(example.focus.text)
        assert example.focus.text.lower() == example.extra["occupation"].lower()


def test_rows_damaged_by_the_original_program_are_the_recorded_ones(shared: Path) -> None:
    default, program = (
        cc_hf.load_examples("winomt", config, data_dir=shared / "upstream")
        for config in ("default", "emnlp2021")
    )
    quirks = json.loads(
        (shared / "gold/contrastive_conditioning/winomt_quirks.json").read_text(encoding="utf-8")
    )
    listed = {str(row) for rows in quirks["idx"].values() for row in rows}
    assert len(listed) == 147  # of all 3888 rows, the neutral ones included
    different = {
        a.id
        for a, b in zip(default, program, strict=True)
        if a.correct_sources != b.correct_sources
    }
    assert different == listed & {e.id for e in default}


def test_stereotype_configurations_have_their_published_sizes(shared: Path) -> None:
    for config, n in (("pro", 1582), ("anti", 1586)):
        assert len(cc_hf.load_examples("winomt", config, data_dir=shared / "upstream")) == n
