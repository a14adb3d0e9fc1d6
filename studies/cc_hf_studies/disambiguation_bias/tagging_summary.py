"""What became of the pairs of a corpus, and the attractors in a file of tagged pairs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError
from cc_hf.files import file_sha256, is_file
from cc_hf.reading import AS_WRITTEN
from cc_hf.records import read_json
from cc_hf.signature import parse
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable, count_attractors
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon, read_pairs
from cc_hf_studies.disambiguation_bias.tagging import OUTCOMES

__all__ = [
    "TaggingSummary",
    "count_file",
    "outcome_rows",
    "read_summary",
    "summary_path",
]


@dataclass(frozen=True)
class TaggingSummary:
    """The outcomes of the pairs of a corpus.

    Attributes:
        corpus: hash of all texts, block by block.
        outcomes: key of `cc_hf_studies.disambiguation_bias.tagging.OUTCOMES` -> number.
        damaged: line (1-based) and fault of the first 1000 damaged pairs.
        clusters: homograph -> id of a cluster -> number of pairs that are not held out.
    """

    signature: str
    corpus: str
    n_pairs: int
    outcomes: Mapping[str, int]
    n_held_out: int
    damaged: tuple[tuple[int, str], ...]
    clusters: Mapping[str, Mapping[str, int]]

    def to_json(self) -> str:
        """Return the summary as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"


def summary_path(pairs: str | Path) -> Path:
    """Return where the summary of a file of tagged pairs lies."""
    return Path(pairs).with_suffix(".summary.json")


def read_summary(pairs: str | Path) -> Mapping[str, Any]:
    """Return the summary beside a file of tagged pairs."""
    path = summary_path(pairs)
    if not is_file(path):
        return {}
    what = "the summary of tagged pairs"
    return dict(read_json(path, what, {"signature": str}, remedy=AS_WRITTEN))


def count_file(
    path: str | Path, lexicon: HomographLexicon, *, stop_words: Collection[str] = ()
) -> AttractorTable:
    """Count the attractors in a file of tagged pairs."""
    summary = read_summary(path)
    tagging = str(summary.get("signature", ""))
    fields = parse(tagging)[1] if tagging else {}
    if fields and fields.get("lexicon") != lexicon.sha256[:7]:
        raise InputError(
            f"{path}: expected the lexicon with which the pairs were tagged,"
            f" {fields.get('lexicon')}, got {lexicon.sha256[:7]}; name its file"
        )
    table = count_attractors(
        read_pairs(path),
        stop_words=stop_words,
        lexicon=lexicon,
        src_lang=lexicon.src_lang,
        lemmatizer="none" if fields.get("lemmas") == "none" else "simplemma",
        tagging=tagging,
    )
    return replace(table, corpus=str(summary.get("corpus", "")) or file_sha256(Path(path))[:7])


def outcome_rows(summary: TaggingSummary) -> Iterator[tuple[str, int]]:
    """Yield the outcomes of pairs and homographs: descriptions in words, with their numbers."""
    yield "pairs in the corpus", summary.n_pairs
    for key, description in OUTCOMES.items():
        yield description, summary.outcomes[key]
