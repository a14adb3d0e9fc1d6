"""The pairs that are scored: WinoMT with translations of a system, by its own contrastive sources
or by partial ones (as in the metric coverage), and MuCoW with its references.

Only whole decisions are scored, with all of their contrastive sources.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.data.files.translations import read_translations
from cc_hf.data.loading import load_examples
from cc_hf.errors import InputError
from cc_hf.metrics.contrastive_conditioning import requests
from cc_hf.plugins.omissions.coverage.spans import chunks, without
from cc_hf.schema import ContrastiveSourceExample, ScoringRequest

__all__ = ["DATASETS", "Decisions", "read_decisions"]

_TRANSLATIONS = "gabrielStanovsky/mt_gender/translations/aws/en-de.txt"
#: Titles in the tables, by name.
DATASETS = {"winomt": "WinoMT", "mucow": "MuCoW", "coverage": "partial sources"}


@dataclass(frozen=True)
class Decisions:
    """Translations from English to German with their contrastive sources.

    Attributes:
        references: contrastive sources and category of each, as the metric reads them.
    """

    name: str
    translations: Sequence[str]
    references: Sequence[Mapping[str, Any]]

    @property
    def requests(self) -> list[ScoringRequest]:
        """The pairs to score."""
        return requests(self.translations, self.references)

    @property
    def texts(self) -> list[str]:
        """All texts, each once."""
        return sorted(
            {text for request in self.requests for text in (request.source, request.translation)}
        )

    def limited(self, n_pairs: int | None, *, shift: int = 0) -> Decisions:
        """Return some of the decisions, with about a given number of pairs; None for all.

        Args:
            shift: number of decisions by which the choice is moved, for other ones.
        """
        n_all = len(self.translations)
        n = (
            n_all
            if n_pairs is None
            else min(n_all, max(1, round(n_pairs * n_all / len(self.requests))))
        )
        # At even distances in the data, so that their lengths are like those of all.
        chosen = [(i * n_all // n + shift) % n_all for i in range(n)]
        return Decisions(
            self.name, [self.translations[i] for i in chosen], [self.references[i] for i in chosen]
        )


def read_decisions(name: str, data_dir: str | Path | None = None) -> Decisions:
    """Return all decisions of a dataset, one of DATASETS; no folder stands for CC_HF_DATA_DIR."""
    if name not in DATASETS:
        raise InputError(f"data: expected one of {', '.join(DATASETS)}, got {name!r}")
    folder = data_dir if data_dir is not None else os.environ.get("CC_HF_DATA_DIR")
    if not folder:
        raise InputError(
            "expected a folder of upstream repositories (DIR/owner/repository/path); pass"
            " --data-dir or set CC_HF_DATA_DIR"
        )
    dataset = "mucow" if name == "mucow" else "winomt"
    examples: list[ContrastiveSourceExample] = load_examples(dataset, data_dir=folder)
    if dataset == "winomt":
        translations: Sequence[str] = read_translations(
            Path(folder) / _TRANSLATIONS, examples
        ).translations
    else:
        translations = [example.extra["reference"] for example in examples]
    references = [
        {"correct_sources": right, "incorrect_sources": wrong, "category": example.category}
        for example in examples
        for right, wrong in [_sources(name, example)]
    ]
    return Decisions(name, translations, references)


def _sources(name: str, example: ContrastiveSourceExample) -> tuple[Sequence[str], Sequence[str]]:
    """Return the correct and the incorrect contrastive sources of an example."""
    if name != "coverage":
        return example.correct_sources, example.incorrect_sources
    source = example.source
    return [source], [without(source, span) for span in chunks(source, example.src_lang)]
