"""The dataset four_homographs: two senses of each of four English words, for German."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from cc_hf import ContrastiveSourceExample
from cc_hf.citations import Citation
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.schema import Focus

__all__ = ["DECLARATION"]


def read(paths: Mapping[str, Path], config: str, split: str) -> Iterator[ContrastiveSourceExample]:
    """Yield the sentences of the file in this package.

    Args:
        paths: downloaded files by their upstream path; none, because the dataset declares none.
        config: name of a configuration.
        split: name of a split.
    """
    with Path(__file__).with_name("sentences.tsv").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file, delimiter="\t")):
            yield ContrastiveSourceExample(
                id=str(number),
                src_lang="en",
                tgt_lang="de",
                source=row["source"],
                focus=Focus(row["focus"], row["source"].index(row["focus"])),
                correct_sources=(row["correct_source"],),
                incorrect_sources=(row["incorrect_source"],),
                category=row["focus"],
                gold=row["sense"],
                extra={key: row[key] for key in ("correct_words", "incorrect_words")},
            )


DECLARATION = DatasetDeclaration(
    name="four_homographs",
    title="Four homographs",
    description="Two senses of each of four English words, with the German words for each sense.",
    licence="cc0-1.0",
    homepage="https://example.org/four_homographs",
    citation_keys=(
        Citation(
            """@misc{four-homographs,
    title = "Four Homographs",
    author = "{The authors of the example}",
    year = "2026",
    url = "https://example.org/four_homographs",
}""",
            "https://example.org/four_homographs",
        ),
    ),
    revision="1.0.0",
    cues="appositions",
    files=(),
    configs=(ConfigDeclaration("en-de", "English-German", ("de",), {"test": 8}),),
    default_config="en-de",
    extra_keys=("correct_words", "incorrect_words"),
    read=read,
)
