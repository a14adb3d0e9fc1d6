"""Parity with the program of Vamvas & Sennrich 2021 on WinoMT, see PROVENANCE.md."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from tests.helpers.cases import cases
from tests.helpers.command_line import read_json
from tests.helpers.fake_evaluator import coarse_scores, constant_scores, hash_scores
from tests.helpers.lines import read_jsonl
from tests.helpers.metrics import evaluate_dataset

pytestmark = pytest.mark.shared


def load(shared: Path, config: str = "default") -> list[Any]:
    return cc_hf.load_examples("winomt", config, data_dir=shared / "upstream")


def run(shared: Path, scores: Callable[..., Any]) -> cc_hf.EvaluationResult:
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/human_validation/winomt/data"
    options: dict[str, Any] = {"tgt_lang": "de", "data_dir": shared / "upstream"}
    options["translations"] = folder / "aws.de.full.txt"
    return evaluate_dataset("winomt", "emnlp2021", evaluator=scores, **options)


def test_figures_equal_those_of_the_original_program(shared: Path) -> None:
    result = run(shared, hash_scores)
    assert result.n == 3648
    names = ("accuracy", "accuracy_male", "accuracy_female", "min_accuracy")
    weighted = (0.508531592728199, 0.5115173337026266, 0.5055327312369751, 0.5055327312369751)
    plain = (0.5098684210526315, 0.5049288061336255, 0.5148188803512623, 0.5049288061336255)
    for prefix, expected in (("weighted_", weighted), ("", plain)):
        figures = tuple(result.scores[f"{prefix}{name}"] for name in names)
        assert figures == pytest.approx(expected, abs=1e-12)


def test_every_sample_equals_that_of_the_original_program(shared: Path) -> None:
    folder = shared / "gold/contrastive_conditioning"
    gold = read_jsonl(folder / "winomt.en-de.all_samples.jsonl.gz")
    examples, judgements = load(shared, "emnlp2021"), run(shared, hash_scores).judgements
    assert len(examples) == len(judgements) == len(gold) == 3648
    for example, judgement, row in zip(examples, judgements, gold, strict=True):
        names = ("probability_correct", "is_correct", "weight", "translation")
        assert {
            **{name: getattr(judgement, name) for name in names},
            **{"sentence": example.source, "category": example.category},
            "source_correct": "|".join(example.correct_sources),
            "source_incorrect": "|".join(example.incorrect_sources),
        }.items() <= row.items()


@cases(("const", constant_scores), ("quant", coarse_scores))
def test_figures_with_ties_are_equal(name: str, scores: Callable[..., Any], shared: Path) -> None:
    gold = read_json(shared / "gold/contrastive_conditioning/ties.json")
    result = run(shared, scores)
    names = ("accuracy_male", "accuracy_female", "min_accuracy")
    for kind, prefix in (("unweighted", ""), ("weighted", "weighted_")):
        expected = gold[f"winomt.en-de.{name}.{kind}"]
        figures = {"accuracy": expected["total_accuracy"], **{key: expected[key] for key in names}}
        found = {key: result.scores[f"{prefix}{key}"] for key in figures}
        assert found == pytest.approx(figures, abs=1e-12)
        assert result.counts["n_correct"] == expected["n_correct"]
        assert result.counts["n_ties"] == expected["n_p_exactly_half"]
    weighted = gold[f"winomt.en-de.{name}.weighted"]
    weights = [j.weight for j in result.judgements]
    assert weights[:50] == weighted["weights_first_50"]
    probabilities = [j.probability_correct for j in result.judgements]
    for key, values in (("weights_sha256", weights), ("probabilities_sha256", probabilities)):
        assert hashlib.sha256(",".join(map(repr, values)).encode()).hexdigest() == weighted[key]


def test_the_default_configuration_only_inserts_one_cue(shared: Path) -> None:
    examples = load(shared)
    assert len(examples) == len({e.id for e in examples}) == 3648
    for example in examples:
        other = {"male": "female", "female": "male"}[example.gold]
        (correct,), (incorrect,) = example.correct_sources, example.incorrect_sources
        for source, gender in ((correct, example.gold), (incorrect, other)):
            cue = f"[{gender}] "
            assert (source.count("["), source.replace(cue, "", 1)) == (1, example.source)
            assert source[source.index(cue) + len(cue) :].startswith(example.focus.text)
        assert example.focus.text.lower() == example.extra["occupation"].lower()


def test_rows_damaged_by_the_original_program_are_the_recorded_ones(shared: Path) -> None:
    pairs = [*zip(load(shared), load(shared, "emnlp2021"), strict=True)]
    quirks = read_json(shared / "gold/contrastive_conditioning/winomt_quirks.json")
    listed = {str(row) for rows in quirks["idx"].values() for row in rows}
    assert len(listed) == 147  # of all 3888 rows, the neutral ones included
    different = {a.id for a, b in pairs if a.correct_sources != b.correct_sources}
    assert different == listed & {a.id for a, _ in pairs}


def test_stereotype_configurations_have_their_published_sizes(shared: Path) -> None:
    assert [len(load(shared, config)) for config in ("pro", "anti")] == [1582, 1586]
    examples = load(shared, "pairs")
    assert len(examples) == 3164
    missing = {str(line) for line in range(1584)} - {e.extra["pair"] for e in examples}
    assert missing == {"1569", "1571"}  # the program of Manna et al. 2025 leaves out 1569 and 1572
    known = {e.source for e in load(shared, "all")}
    assert [e.id for e in examples if e.source not in known] == ["536.pro", "537.pro"]
