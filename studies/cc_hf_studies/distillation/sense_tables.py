"""Counts of word senses, as a table."""

from __future__ import annotations

from cc_hf.data.files.sense_counts import sense_of
from cc_hf.reports.numbers import count, percent
from cc_hf.reports.report_parts import Piece, ReportTable
from cc_hf_studies.distillation.senses import SenseCounts

__all__ = ["senses_table"]

_SHOWN = 12
_SHOWN_DAMAGED = 5


def senses_table(counts: SenseCounts, *, title: str) -> list[Piece]:
    """Return the most frequent ambiguous words with their senses."""
    by_word: dict[str, list[str]] = {}
    for name in counts.counts:
        by_word.setdefault(sense_of(name)[0], []).append(name)
    numbers = {word: sum(counts.counts[n] for n in names) for word, names in by_word.items()}
    frequent = set(counts.frequent)
    table: list[tuple[str, ...]] = []
    words = sorted((word for word in by_word if numbers[word]), key=lambda w: -numbers[w])
    for word in words[:_SHOWN]:
        for name in sorted(by_word[word], key=lambda n: -counts.counts[n]):
            table.append(
                (
                    name,
                    count(counts.counts[name]),
                    percent(counts.counts[name] / numbers[word]),
                    "frequent" if name in frequent else "infrequent",
                )
            )
    total = sum(counts.counts.values())
    lines = [
        f"{len(words):,} of {len(by_word):,} ambiguous words occur with a sense, in"
        f" {total:,} pairs (a pair can have several); {len(by_word) - len(words):,} do not"
    ]
    if len(words) > _SHOWN:
        lines.append(f"the {_SHOWN} most frequent words are shown")
    if counts.n_damaged:
        lines.append(
            f"{counts.n_damaged:,} of {counts.n_pairs:,} pairs have no text on a side or cannot be"
            " read; they are not counted"
        )
        lines += [f"line {line}: {reason}" for line, reason in counts.damaged[:_SHOWN_DAMAGED]]
    lines.append(f"signature: {counts.signature}")
    return [ReportTable.of(title, ("sense", "pairs", "% of its word", "category"), table), *lines]
