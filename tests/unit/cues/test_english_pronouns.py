from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from cc_hf.cues.english_pronouns import with_pronouns
from cc_hf.errors import InputError

_PAIRS = [
    ("She lost her key.", "He lost his key."),
    ("I told her the truth about her.", "I told him the truth about him."),
    ("The key is hers, and SHE knows it herself.", "The key is his, and HE knows it himself."),
    ("She's late; ask her. Her car broke.", "He's late; ask him. His car broke."),
    ("They gave her bread and saw her quickly.", "They gave him bread and saw him quickly."),
    ("Her daily work is not hers.", "His daily work is not his."),
]


@pytest.mark.parametrize(("female", "male"), _PAIRS)
def test_all_pronouns_change_their_gender_and_keep_their_case(female: str, male: str) -> None:
    assert with_pronouns(female, "male") == male
    assert with_pronouns(male, "female") == female
    assert with_pronouns(female, "female") == female
    assert with_pronouns(male, "male") == male


def test_other_words_stay_as_they_are() -> None:
    text = "There, the shepherd's theses: hero, Heather, this; they and them."
    assert with_pronouns(text, "male") == with_pronouns(text, "female") == text


def test_an_unknown_gender_is_refused() -> None:
    with pytest.raises(InputError, match="gender: expected one of female, male, got 'neutral'"):
        with_pronouns("She left.", "neutral")


@pytest.mark.shared
def test_sentences_of_winomt_become_their_counterparts(shared: Path) -> None:
    path = shared / "upstream/ZurichNLP/contrastive-conditioning/tasks/data/winomt/test.tsv"
    sentences: dict[str, set[str]] = defaultdict(set)
    for line in path.read_text(encoding="utf-8").splitlines():
        gender, _, sentence, *_ = line.split("\t")
        sentences[gender].add(sentence)
    for gender, other in (("female", "male"), ("male", "female")):
        n = sum(with_pronouns(text, other) in sentences[other] for text in sentences[gender])
        # Most of the others have no counterpart, or one that differs in more than its pronouns.
        assert n / len(sentences[gender]) > 0.98
