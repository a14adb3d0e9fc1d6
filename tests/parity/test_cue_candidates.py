"""The rule that finds candidates reproduces the published insertions of Vamvas & Sennrich 2021, see
PROVENANCE.md.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cc_hf.cues.mlm_insertions import discriminating_words, parse_candidates

pytestmark = pytest.mark.shared


def published(
    shared: Path, pair: str
) -> tuple[dict[str, dict[str, tuple[str, ...]]], dict[tuple[str, str], dict[str, set[str]]]]:
    """Return the candidates, and per ambiguous word and sense the insertions of each side."""
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/tasks/data/mucow"
    keys = (folder / f"{pair}.key.tsv").read_text(encoding="utf-8").splitlines()
    rows = (
        (folder / f"disambiguation_cues/{pair}.insertions.roberta-large.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    found = {}
    for key, row in zip(keys, map(json.loads, rows), strict=True):
        _, _, word, sense, _ = key.split("\t")
        found[word, sense] = {
            side: set(row[f"{side}_insertions"]) for side in ("correct", "incorrect")
        }
    text = (
        folder / f"disambiguation_cues/{pair}.insertion_candidates.roberta-large.json"
    ).read_text(encoding="utf-8")
    return parse_candidates(text), found


@pytest.mark.parametrize(
    ("pair", "n_senses", "n_dropped"), [("en-de", 362, 291), ("en-ru", 203, 150)]
)
def test_every_published_insertion_is_a_candidate(
    shared: Path, pair: str, n_senses: int, n_dropped: int
) -> None:
    candidates, insertions = published(shared, pair)
    assert len(insertions) == n_senses
    dropped = 0
    for (word, sense), sides in insertions.items():
        found = discriminating_words(candidates[word], ambiguous_word=word)[sense]
        whole = discriminating_words(candidates[word], ambiguous_word="", stop_words=())[sense]
        assert len(sides["correct"]) == len(sides["incorrect"]) == 3
        assert sides["correct"] <= set(found.correct)
        assert sides["incorrect"] <= set(found.incorrect)
        assert max(len(whole.correct), len(whole.incorrect)) <= 10
        dropped += (
            len(whole.correct) + len(whole.incorrect) - len(found.correct) - len(found.incorrect)
        )
    assert dropped == n_dropped


@pytest.mark.parametrize(
    ("cut", "n_correct", "n_incorrect"), [(10, 640, 626), (40, 913, 931), (50, 996, 996)]
)
def test_shortened_candidate_lists_miss_published_insertions(
    shared: Path, cut: int, n_correct: int, n_incorrect: int
) -> None:
    candidates, insertions = published(shared, "en-de")
    n_found = {"correct": 0, "incorrect": 0}
    for (word, sense), sides in insertions.items():
        if len(candidates[word]) == 2:
            own, (other,) = (
                candidates[word][sense],
                (words for name, words in candidates[word].items() if name != sense),
            )
            n_found["correct"] += len(
                sides["correct"]
                & set(
                    discriminating_words({"own": own, "other": other[:cut]}, ambiguous_word=word)[
                        "own"
                    ].correct
                )
            )
            n_found["incorrect"] += len(
                sides["incorrect"]
                & set(
                    discriminating_words({"own": own[:cut], "other": other}, ambiguous_word=word)[
                        "own"
                    ].incorrect
                )
            )
    assert n_found == {"correct": n_correct, "incorrect": n_incorrect}
