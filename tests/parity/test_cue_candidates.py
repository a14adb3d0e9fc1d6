"""The rule that finds candidates reproduces the published insertions of Vamvas & Sennrich 2021, see
PROVENANCE.md.
"""

from pathlib import Path

import pytest

from cc_hf.cues.mlm_insertions import discriminating_words, parse_candidates
from cc_hf.reading import read_text, text_lines
from tests.helpers.usual import cases, read_jsonl

pytestmark = pytest.mark.shared


def published(
    shared: Path, pair: str
) -> tuple[dict[str, dict[str, tuple[str, ...]]], dict[tuple[str, str], dict[str, set[str]]]]:
    """Return the candidates, and per ambiguous word and sense the insertions of each side."""
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/tasks/data/mucow"
    start = f"disambiguation_cues/{pair}"
    rows = read_jsonl(folder / f"{start}.insertions.roberta-large.jsonl")
    found = {}
    for key, row in zip(text_lines(folder / f"{pair}.key.tsv"), rows, strict=True):
        _, _, word, sense, _ = key.split("\t")
        sides = ("correct", "incorrect")
        found[word, sense] = {side: set(row[f"{side}_insertions"]) for side in sides}
    candidates = read_text(folder / f"{start}.insertion_candidates.roberta-large.json")
    return parse_candidates(candidates), found


@cases(("en-de", 362, 291), ("en-ru", 203, 150))
def test_published_cues_are_found(pair: str, n_senses: int, n_dropped: int, shared: Path) -> None:
    candidates, insertions = published(shared, pair)
    assert len(insertions) == n_senses
    dropped = 0
    for (word, sense), sides in insertions.items():
        found = discriminating_words(candidates[word], ambiguous_word=word)[sense]
        whole = discriminating_words(candidates[word], ambiguous_word="", stop_words=())[sense]
        for side in ("correct", "incorrect"):
            words, all_words = getattr(found, side), getattr(whole, side)
            assert len(sides[side]) == 3
            assert sides[side] <= set(words)
            assert len(all_words) <= 10
            dropped += len(all_words) - len(words)
    assert dropped == n_dropped


@cases((10, 640, 626), (40, 913, 931), (50, 996, 996))
def test_short_lists_miss_some(cut: int, n_correct: int, n_incorrect: int, shared: Path) -> None:
    candidates, insertions = published(shared, "en-de")
    n_found = {"correct": 0, "incorrect": 0}
    for (word, sense), sides in insertions.items():
        if len(candidates[word]) == 2:
            own = candidates[word][sense]
            (other,) = (words for name, words in candidates[word].items() if name != sense)
            for side, lists in (
                ("correct", {"own": own, "other": other[:cut]}),
                ("incorrect", {"own": own[:cut], "other": other}),
            ):
                found = discriminating_words(lists, ambiguous_word=word)["own"]
                n_found[side] += len(sides[side] & set(getattr(found, side)))
    assert n_found == {"correct": n_correct, "incorrect": n_incorrect}
