"""Disambiguation bias as tables: sizes of corpora (thesis, Table 3.1), senses (Table 3.3), outcomes
of pairs, the strongest attractors of each sense (Table 3.4), and the bias of sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cc_hf.reports.numbers import count
from cc_hf.reports.report_parts import Piece, ReportTable
from cc_hf.text.sense_matching import SenseCluster
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable
from cc_hf_studies.disambiguation_bias.corpus_sizes import CorpusSize
from cc_hf_studies.disambiguation_bias.tagging_summary import TaggingSummary, outcome_rows

__all__ = ["attractors_table", "bias_table", "lexicon_table", "sizes_table", "tagging_table"]

_SHOWN_SENSES = 3
_SHOWN_DAMAGED = 5


def lexicon_table(lexicon: Mapping[str, Mapping[str, SenseCluster]], *, title: str) -> ReportTable:
    """Return a row for each sense with its first target words."""
    columns = ("homograph", "sense", "target words")
    rows = [
        (homograph, name, ", ".join(cluster.senses[:_SHOWN_SENSES]))
        for homograph, clusters in lexicon.items()
        for name, cluster in clusters.items()
    ]
    return ReportTable.of(title, columns, rows, words=columns)


def sizes_table(sizes: Sequence[CorpusSize], languages: Sequence[str]) -> ReportTable:
    """Return a column for each corpus: pairs that are dropped and kept, and words (Table 3.1)."""
    rows: dict[str, list[str]] = {
        "pairs that are damaged": [count(size.n_damaged) for size in sizes],
        "pairs whose lengths differ too much": [count(size.n_length_ratio) for size in sizes],
        "pairs in other languages": [count(size.n_language) for size in sizes],
        "sentences": [count(size.n_sentences) for size in sizes],
    }
    means = [size.words_per_sentence or (None, None) for size in sizes]
    for side, lang in enumerate(languages):
        words = [(size.n_source_words, size.n_target_words)[side] for size in sizes]
        rows[f"words ({lang})"] = [count(n) for n in words]
        rows[f"words per sentence ({lang})"] = [
            "-" if mean[side] is None else f"{mean[side]:.2f}" for mean in means
        ]
    columns = ("", *(size.name for size in sizes))
    return ReportTable.of("", columns, [(name, *cells) for name, cells in rows.items()])


def tagging_table(summary: TaggingSummary, *, title: str) -> list[Piece]:
    """Return the outcomes of pairs and homographs, and the first damaged pairs."""
    rows = [(description, count(number)) for description, number in outcome_rows(summary)]
    n_clusters = sum(len(clusters) for clusters in summary.clusters.values())
    parts: list[Piece] = [
        ReportTable.of(title, ("", "number"), rows),
        (
            f"{n_clusters} senses of {len(summary.clusters)} homographs;"
            f" {summary.n_held_out:,} pairs are held out"
        ),
    ]
    parts += [
        f"damaged: line {line}: {reason}" for line, reason in summary.damaged[:_SHOWN_DAMAGED]
    ]
    return [*parts, f"signature: {summary.signature}"]


def attractors_table(
    table: AttractorTable,
    strongest: Mapping[str, Mapping[str, Sequence[tuple[str, float]]]],
    *,
    senses: Mapping[str, Mapping[str, Sequence[str]]],
    title: str,
) -> ReportTable:
    """Return a row for each sense with its strongest attractors."""
    rows = [
        (
            homograph,
            cluster,
            ", ".join(senses.get(homograph, {}).get(cluster, ())[:_SHOWN_SENSES]),
            count(table.n_pairs[homograph].get(cluster, 0)),
            ", ".join(f"{word} {value:.4g}" for word, value in words) or "-",
        )
        for homograph, clusters in strongest.items()
        for cluster, words in clusters.items()
    ]
    names = ("sense", "target words", "strongest attractors")
    columns = ("homograph", *names[:2], "pairs", names[2])
    return ReportTable.of(title, columns, rows, words=names)


def bias_table(
    means: Mapping[str, Mapping[str, float]], rows: Iterable[Mapping[str, Any]], *, title: str
) -> list[ReportTable]:
    """Return mean biases, and the sentences with the largest FREQ bias towards a wrong sense."""
    figures = [
        (association, *(f"{values[name]:.4f}" for name in ("right", "wrong", "diff")))
        for association, values in means.items()
    ]
    first = next(iter(means))
    sentences = [
        (
            row["homograph"],
            row["cluster"],
            row[f"{first}_wrong_cluster"] or "-",
            f"{row[f'{first}_diff']:+.3f}",
            row["source"],
        )
        for row in rows
    ]
    words = ("sense", "pulled to", "sentence")
    columns = ("homograph", *words[:2], "wrong - right", words[2])
    differences = ("mean over the sentences", "right", "wrong", "wrong - right")
    return [
        ReportTable.of(title, differences, figures),
        ReportTable.of(f"largest {first} bias", columns, sentences, words=words),
    ]
