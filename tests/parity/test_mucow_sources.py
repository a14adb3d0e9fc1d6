"""Parity with the program of Vamvas & Sennrich 2021 on MuCoW, see PROVENANCE.md."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.comparing.people.agreement import agreement_with_labels, read_annotations
from cc_hf.text.tokenization import moses_tokens
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.metrics import evaluate_dataset

pytestmark = pytest.mark.shared


def gold(shared: Path) -> list[dict[str, Any]]:
    with gzip.open(
        shared / "gold/contrastive_conditioning/mucow.en-de.all_samples.jsonl.gz",
        "rt",
        encoding="utf-8",
    ) as file:
        return [json.loads(line) for line in file]


def test_figures_and_every_sample_equal_the_original_program(shared: Path) -> None:
    log = (
        shared
        / "upstream/ZurichNLP/contrastive-conditioning/human_validation/mucow/data/mucow_pattern_matching.results.en-de.ensemble.log"
    )
    by_source = {
        row["sentence"]: row["translation"]
        for row in map(json.loads, log.read_text(encoding="utf-8").splitlines())
    }
    examples = cc_hf.load_examples("mucow", "en-de.emnlp2021", data_dir=shared / "upstream")
    translations = [by_source[e.source] for e in examples]
    result = evaluate_dataset(
        "mucow",
        "en-de.emnlp2021",
        translations=translations,
        evaluator=hash_scores,
        data_dir=shared / "upstream",
    )
    expected = {
        "weighted_accuracy": 0.4836721734246011,
        "weighted_accuracy_frequent": 0.47645888232373657,
        "weighted_accuracy_infrequent": 0.4917079011405862,
        "accuracy": 0.489502099580084,
        "accuracy_frequent": 0.48130841121495327,
        "accuracy_infrequent": 0.49815043156596794,
    }
    for name, value in expected.items():
        assert result.scores[name] == pytest.approx(value, abs=1e-12), name
    for example, judgement, row in zip(examples, result.judgements, gold(shared), strict=True):
        assert (list(example.correct_sources), list(example.incorrect_sources)) == (
            row["sources_correct"],
            row["sources_incorrect"],
        )
        assert (example.category, example.focus.text, judgement.translation) == (
            row["category"],
            row["src_form"],
            row["translation"],
        )
        assert (judgement.probability_correct, judgement.weight) == (
            row["probability_correct"],
            row["weight"],
        )


@pytest.mark.parametrize(
    ("config", "n_frequent", "n_infrequent"), [("en-de", 1712, 1622), ("en-ru", 923, 887)]
)
def test_cues_are_inserted_only_before_whole_words(
    shared: Path, config: str, n_frequent: int, n_infrequent: int
) -> None:
    examples = cc_hf.load_examples("mucow", config, data_dir=shared / "upstream")
    assert [sum(e.category == name for e in examples) for name in ("frequent", "infrequent")] == [
        n_frequent,
        n_infrequent,
    ]
    for example in examples:
        places = [
            token.start
            for token in moses_tokens(example.source, "en")
            if token.text == example.focus.text
        ]
        assert example.focus.start == places[0]
        assert len(example.correct_sources) == len(example.incorrect_sources) == 3
        for source in (*example.correct_sources, *example.incorrect_sources):
            cue = source[places[0] :].split(" ")[0]
            parts = [
                example.source[a:b] for a, b in zip([0, *places], [*places, None], strict=True)
            ]
            assert source == f"{cue} ".join(parts)


@pytest.mark.parametrize(("language", "n_labels", "n_skipped"), [("de", 192, 0), ("ru", 170, 1)])
def test_annotated_translations_are_found_in_the_log(
    shared: Path, language: str, n_labels: int, n_skipped: int
) -> None:
    """One Russian row is not in the test set, and another was annotated with other quotation marks,
    which are ignored.
    """
    log = (
        shared
        / f"upstream/ZurichNLP/contrastive-conditioning/human_validation/mucow/data/mucow_pattern_matching.results.en-{language}.ensemble.log"
    )
    result = evaluate_dataset(
        "mucow",
        f"en-{language}",
        translations=log,
        evaluator=hash_scores,
        data_dir=shared / "upstream",
    )
    annotations = read_annotations(
        shared / f"gold/human_validation/mucow_annotations.en-{language}.jsonl"
    )
    found = agreement_with_labels(result, annotations, skip_others=language == "ru")
    assert (found.n_labels, found.n_skipped) == (n_labels, n_skipped)
