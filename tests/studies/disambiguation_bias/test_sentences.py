from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import datasets
import pytest

from cc_hf.errors import InputError, UnknownNameError
from cc_hf.studies.disambiguation_bias.attractors import AttractorTable
from cc_hf.studies.disambiguation_bias.homographs import TaggedPair, write_pairs
from cc_hf.studies.disambiguation_bias.sentences import (
    BiasColumns,
    SentenceBias,
    score_file,
    scored_rows,
    sentence_bias,
)
from tests.helpers.lines import read_jsonl, write_lines
from tests.helpers.refusals import fails

COUNTS = {"bat": {"1": Counter(ball=3), "2": Counter(night=6, ball=1), "3": Counter()}}
TABLE = AttractorTable(COUNTS, {"bat": {"1": 3, "2": 6}}, lexicon="0a")
ROWS = [
    TaggedPair("0", "A ball hit the bat .", "...", "bat", 15, 4, "1", "..."),
    TaggedPair("1", "A bat at night", "...", "bat", 2, 1, "1", "..."),
    TaggedPair("2", "A bat", "...", "bat", 2, 1, "3", "..."),
]


def test_all_tokens_count_and_repeated_words_count_twice() -> None:
    bias = sentence_bias(TABLE, "Ball, ball and bat!", "bat", "1")
    assert bias == SentenceBias(right=1.0, wrong=2 / 6, wrong_cluster="2")
    assert bias.diff == pytest.approx(-4 / 6)


def test_the_strongest_wrong_sense_is_found_for_each_association() -> None:
    sentence = (TABLE, "night ball ball ball ball", "bat", "3")
    biases = [sentence_bias(*sentence, association=name) for name in ("freq", "ppmi")]
    assert [bias.wrong_cluster for bias in biases] == ["1", "1"]
    assert biases[0].wrong == 12 / 5
    assert biases[1].wrong > 0


def test_a_sentence_without_words_or_attractors_has_no_bias() -> None:
    assert sentence_bias(TABLE, "", "bat", "1") == SentenceBias(0.0, 0.0, "2")
    alone = AttractorTable({"bat": {"1": Counter(ball=1)}}, {"bat": {"1": 1}})
    assert sentence_bias(alone, "ball", "bat", "1") == SentenceBias(1.0, 0.0, "")
    assert sentence_bias(alone, "ball", "bat", "2") == SentenceBias(0.0, 1.0, "1")


def test_a_homograph_or_cluster_that_is_not_in_the_table_is_refused() -> None:
    for homograph, cluster, message in (
        ("cat", "1", "unknown homograph 'cat'; did you mean 'bat'"),
        ("bat", "9", "unknown cluster of 'bat' '9'"),
    ):
        fails(UnknownNameError, message, sentence_bias, TABLE, "x", homograph, cluster)
        row = TaggedPair("5", "x", "...", homograph, 0, 0, cluster, "...")
        with pytest.raises(InputError, match=r"p.jsonl: pair 5: expected a homograph and a cluste"):
            list(scored_rows([row], BiasColumns(TABLE), where="p.jsonl"))


def test_columns_are_added_by_map() -> None:
    dataset = datasets.Dataset.from_list(
        [{"source": r.source, "homograph": r.homograph, "cluster": r.cluster} for r in ROWS]
    )
    mapped = dataset.map(BiasColumns(TABLE, ("freq", "pmi")), batched=True, batch_size=2)
    columns = product(("freq", "pmi"), ("right", "wrong", "wrong_cluster", "diff"))
    assert mapped.column_names[3:] == ["_".join(column) for column in columns]
    assert mapped["freq_diff"][:] == [1 / 6 - 3 / 6, 6 / 4, 0.0]


def test_a_file_is_scored_in_batches(tmp_path: Path) -> None:
    pairs, output = tmp_path / "pairs.jsonl", tmp_path / "rows.jsonl"
    write_pairs(pairs, ROWS * 800)
    means, largest = score_file(pairs, BiasColumns(TABLE), output=output, top=2)
    rows = read_jsonl(output)
    assert (len(rows), rows[1]["freq_diff"]) == (2400, 1.5)
    assert [row["id"] for row in largest] == ["1", "1"]
    assert means["freq"]["right"] == pytest.approx((0.5 + 0 + 0) / 3)
    assert score_file(pairs, BiasColumns(TABLE), top=0) == (means, [])


def test_a_file_without_pairs_is_refused(tmp_path: Path) -> None:
    pairs = write_lines(tmp_path / "pairs.jsonl", [""])
    with pytest.raises(InputError, match=r"pairs.jsonl: expected sentence pairs, got none; tag"):
        score_file(pairs, BiasColumns(TABLE))
