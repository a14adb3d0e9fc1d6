"""Parity with the released program of Emelin et al. 2020, see PROVENANCE.md."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.corpora.parallel import file_corpus
from cc_hf.studies.disambiguation_bias.attractors import AttractorTable, count_attractors
from cc_hf.studies.disambiguation_bias.homographs import TaggedPair, read_lexicon
from cc_hf.studies.disambiguation_bias.sentences import sentence_bias
from cc_hf.studies.disambiguation_bias.tagging import PairTagger, TaggingOptions

pytestmark = pytest.mark.shared


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def recorded_pairs(shared: Path, split: str) -> tuple[TaggedPair, ...]:
    return tuple(
        TaggedPair(
            row["id"],
            row["source"],
            row["reference"],
            row["homograph"],
            0,
            row["src_loc"],
            row["cluster"],
            row["tgt_token"],
        )
        for row in rows_of(shared / "gold/wsd/pairs.jsonl")
        if row["split"] == split
    )


def without_empty(table: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    seen = {
        homograph: {cluster: value for cluster, value in clusters.items() if value}
        for homograph, clusters in table.items()
    }
    return {homograph: clusters for homograph, clusters in seen.items() if clusters}


@cache
def recorded_table(shared: Path) -> AttractorTable:
    stop_words = json.loads((shared / "gold/wsd/stopwords_nltk_english.json").read_text())
    return count_attractors(
        recorded_pairs(shared, "train"),
        stop_words=stop_words,
        lexicon=read_lexicon(data_dir=shared / "upstream"),
    )


def test_the_lexicon_has_the_sizes_of_the_publication(shared: Path) -> None:
    lexicon = read_lexicon(data_dir=shared / "upstream")
    clusters = [cluster for word in lexicon.homographs.values() for cluster in word.values()]
    assert (len(lexicon.homographs), len(clusters)) == (101, 357)
    assert sum(len(cluster.senses) for cluster in clusters) == 4685
    ambiguous = [cluster.ambiguous for cluster in clusters if cluster.ambiguous]
    assert (len(ambiguous), sum(map(len, ambiguous))) == (126, 282)  # 16 lists are empty
    blacklisted = [cluster.blacklisted for cluster in clusters if cluster.blacklisted]
    assert (len(blacklisted), sum(map(len, blacklisted))) == (20, 35)


def test_counts_of_all_recorded_clusters_are_equal(shared: Path) -> None:
    recorded = json.loads((shared / "gold/wsd/attractors_train_all.json").read_text())
    table = recorded_table(shared)
    assert {
        homograph: {cluster: dict(row["freq"]) for cluster, row in clusters.items()}
        for homograph, clusters in recorded.items()
    } == without_empty(table.counts)
    assert {
        homograph: {cluster: row["n_pairs"] for cluster, row in clusters.items()}
        for homograph, clusters in recorded.items()
    } == without_empty(table.n_pairs)


@pytest.mark.parametrize(
    ("column", "options"),
    [
        ("freq", {}),
        ("pmi_upstream", {"association": "pmi", "smoothing": 100}),
        ("ppmi_upstream", {"association": "ppmi", "smoothing": 100}),
        ("pmi_log2_unsmoothed", {"association": "pmi"}),
        ("ppmi_log2_unsmoothed", {"association": "ppmi"}),
        ("ppmi_thesis_literal_no_log", {"association": "ppmi", "log": False}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_associations_of_all_recorded_rows_are_equal(
    shared: Path, column: str, options: dict[str, Any]
) -> None:
    table = recorded_table(shared)
    with (shared / "gold/wsd/freq_ppmi_5homographs.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 1573
    for row in rows:
        value = table.association(row["homograph"], row["cluster"], row["attractor"], **options)
        assert value == pytest.approx(float(row[column]), abs=1e-12), row
    n_words = sum(
        len(words)
        for homograph in {row["homograph"] for row in rows}
        for words in table.counts[homograph].values()
    )
    assert n_words == 1573


@pytest.mark.parametrize(
    ("file", "n"), [("db_50_sentences.jsonl", 50), ("db_all_candidates.jsonl", 280)]
)
def test_bias_of_all_recorded_sentences_is_equal(shared: Path, file: str, n: int) -> None:
    table, rows = recorded_table(shared), rows_of(shared / "gold/wsd" / file)
    assert len(rows) == n
    for row in rows:
        for association, smoothing in (("freq", 0), ("ppmi", 100)):
            bias = sentence_bias(
                table,
                row["source"],
                row["homograph"],
                row["cluster"],
                association=association,
                smoothing=smoothing,
            )
            recorded = [row[f"{association}_{name}"] for name in ("correct", "wrong", "diff")]
            assert [bias.right, bias.wrong, bias.diff] == pytest.approx(recorded, abs=1e-12), row
            if bias.wrong:
                assert bias.wrong_cluster == row[f"{association}_wrong_cluster"], row


@pytest.mark.parametrize(
    ("options", "n_tagged", "n_shared", "n_equal"),
    [({}, 1700, 1643, 1643), ({"rule": "program", "window": 3}, 1840, 1724, 1724)],
    ids=["recommended", "program"],
)
def test_tagged_pairs_have_the_recorded_senses(
    shared: Path, options: dict[str, Any], n_tagged: int, n_shared: int, n_equal: int
) -> None:
    folder = shared / "gold/wsd"
    corpus = file_corpus(
        folder / "corpus_tokenised.en", folder / "corpus_tokenised.de", block_pairs=100_000
    )
    lexicon = read_lexicon(data_dir=shared / "upstream")
    pairs = PairTagger(lexicon, TaggingOptions(**options)).tag(corpus.read(0)).pairs
    recorded: dict[tuple[str, str], set[str]] = {}
    for row in rows_of(folder / "pairs.jsonl"):
        recorded.setdefault(("".join(row["source"].split()), row["homograph"]), set()).add(
            row["cluster"]
        )
    clusters = [
        (pair.cluster, recorded[key])
        for pair in pairs
        if (key := ("".join(pair.source.split()), pair.homograph)) in recorded
    ]
    n_same = sum(cluster in senses for cluster, senses in clusters)
    assert (len(pairs), len(clusters), n_same) == (n_tagged, n_shared, n_equal)
