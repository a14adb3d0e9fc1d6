"""Parity with the released program of Emelin et al. 2020, see PROVENANCE.md."""

import gzip
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.corpora.parallel import file_corpus
from cc_hf.reading import read_rows
from cc_hf.studies.disambiguation_bias.attractors import AttractorTable, count_attractors
from cc_hf.studies.disambiguation_bias.homographs import TaggedPair, read_lexicon
from cc_hf.studies.disambiguation_bias.sentences import sentence_bias
from cc_hf.studies.disambiguation_bias.tagging import PairTagger, TaggingOptions
from tests.helpers.cases import cases
from tests.helpers.command_line import printed_by, read_json
from tests.helpers.lines import read_jsonl

pytestmark = pytest.mark.shared
_ROOT = Path(__file__).parents[3]


@cache
def recorded_pairs(shared: Path) -> list[TaggedPair]:
    names = ("id", "source", "reference", "homograph", "start", "src_loc", "cluster", "tgt_token")
    rows = read_jsonl(shared / "gold/wsd/pairs.jsonl")
    rows = [{**row, "start": 0} for row in rows if row["split"] == "train"]
    return [TaggedPair(*(row[name] for name in names)) for row in rows]


def without_empty(table: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    kept = {name: {k: v for k, v in clusters.items() if v} for name, clusters in table.items()}
    return {name: clusters for name, clusters in kept.items() if clusters}


@cache
def recorded_table(shared: Path) -> AttractorTable:
    words = read_json(shared / "gold/wsd/stopwords_nltk_english.json")
    lexicon = read_lexicon(data_dir=shared / "upstream")
    return count_attractors(recorded_pairs(shared), stop_words=words, lexicon=lexicon)


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
    recorded = read_json(shared / "gold/wsd/attractors_train_all.json")
    table = recorded_table(shared)
    for column, kind, values in (("freq", dict, table.counts), ("n_pairs", int, table.n_pairs)):
        assert without_empty(values) == {
            homograph: {cluster: kind(row[column]) for cluster, row in clusters.items()}
            for homograph, clusters in recorded.items()
        }


@cases(
    ("freq", {}),
    ("pmi_upstream", {"association": "pmi", "smoothing": 100}),
    ("ppmi_upstream", {"association": "ppmi", "smoothing": 100}),
    ("pmi_log2_unsmoothed", {"association": "pmi"}),
    ("ppmi_log2_unsmoothed", {"association": "ppmi"}),
    ("ppmi_thesis_literal_no_log", {"association": "ppmi", "log": False}),
)
def test_associations_of_rows_are_equal(column: str, options: dict[str, Any], shared: Path) -> None:
    table = recorded_table(shared)
    rows = [row for _, row in read_rows(shared / "gold/wsd/freq_ppmi_5homographs.tsv")]
    assert len(rows) == 1573
    for row in rows:
        value = table.association(row["homograph"], row["cluster"], row["attractor"], **options)
        assert value == pytest.approx(float(row[column]), abs=1e-12), row
    counts = [table.counts[homograph] for homograph in {row["homograph"] for row in rows}]
    assert sum(len(words) for clusters in counts for words in clusters.values()) == 1573


@pytest.mark.parametrize(("association", "smoothing"), [("freq", 0), ("ppmi", 100)])
@cases(("db_50_sentences.jsonl", 50), ("db_all_candidates.jsonl", 280))
def test_bias_of_all_recorded_sentences_is_equal(
    file: str, n: int, shared: Path, association: str, smoothing: int
) -> None:
    table, rows = recorded_table(shared), read_jsonl(shared / "gold/wsd" / file)
    assert len(rows) == n
    options: dict[str, Any] = {"association": association, "smoothing": smoothing}
    for row in rows:
        bias = sentence_bias(table, row["source"], row["homograph"], row["cluster"], **options)
        recorded = [row[f"{association}_{name}"] for name in ("correct", "wrong", "diff")]
        assert [bias.right, bias.wrong, bias.diff] == pytest.approx(recorded, abs=1e-12), row
        if bias.wrong:
            assert bias.wrong_cluster == row[f"{association}_wrong_cluster"], row


@cases(({}, 1700, 1643, 1643), ({"rule": "program", "window": 3}, 1840, 1724, 1724))
def test_tagged_pairs_have_the_recorded_senses(
    options: dict[str, Any], n_tagged: int, n_shared: int, n_equal: int, shared: Path
) -> None:
    folder = shared / "gold/wsd"
    files = (folder / f"corpus_tokenised.{lang}" for lang in ("en", "de"))
    tagger = PairTagger(read_lexicon(data_dir=shared / "upstream"), TaggingOptions(**options))
    pairs = tagger.tag(file_corpus(*files, block_pairs=100_000).read(0)).pairs
    recorded: dict[tuple[str, str], set[str]] = {}
    for row in read_jsonl(folder / "pairs.jsonl"):
        key = ("".join(row["source"].split()), row["homograph"])
        recorded.setdefault(key, set()).add(row["cluster"])
    is_same = [
        pair.cluster in recorded[key]
        for pair in pairs
        if (key := ("".join(pair.source.split()), pair.homograph)) in recorded
    ]
    assert (len(pairs), len(is_same), sum(is_same)) == (n_tagged, n_shared, n_equal)


def test_sizes_of_multi30k_are_those_of_the_page(shared: Path, tmp_path: Path) -> None:
    raw = shared / "upstream/multi30k/dataset/data/task1/raw"
    names = ("train.en", "train.de", "val.en", "val.de")
    for name in names:
        (tmp_path / name).write_bytes(gzip.decompress((raw / f"{name}.gz").read_bytes()))
    files = " ".join(str(tmp_path / name) for name in names)
    options = "--max-length-ratio 2 --min-known-words 0.5 --held-out 0.2"
    shown = printed_by(f"study disambiguation_bias count-corpus {files} {options}")
    rows = [" ".join(line.split()) for line in shown.splitlines()]
    page = (_ROOT / "docs/studies/disambiguation_bias.md").read_text(encoding="utf-8")
    for line in page.split("| | train | held-out | val |")[1].split("\n\n")[0].splitlines()[2:]:
        assert " ".join(line.replace("|", " ").split()) in rows
