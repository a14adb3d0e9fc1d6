"""Options that commands of the study share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.fields import Fields

if TYPE_CHECKING:
    from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon

__all__ = [
    "AttackSamples",
    "AttractorFile",
    "LexiconFields",
    "LexiconOptions",
    "Log",
    "Search",
    "Smoothing",
]

#: Fields of `LexiconOptions`.
LexiconFields = Fields(
    "lexicon language_pair", "Lexicon", rare="data_dir", defaults={"language_pair": "en-de"}
)
AttractorFile = Annotated[
    Path,
    typer.Argument(
        help="Table that `cc-hf study disambiguation_bias attractors --table` wrote.",
        metavar="TABLE",
    ),
]
AttackSamples = Annotated[
    Path,
    typer.Argument(
        help="Samples that `cc-hf study disambiguation_bias attack build` wrote (.jsonl)."
    ),
]
Smoothing = Annotated[
    float, typer.Option(min=0, help="Added to every count before PPMI is computed.")
]
Log = Annotated[
    bool, typer.Option("--log/--no-log", help="PPMI with the logarithm to base 2, or without it.")
]
Search = Annotated[
    str,
    typer.Option(
        help="Where senses are looked for: anywhere, aligned, or sentence, as the program does."
    ),
]


@dataclass(frozen=True)
class LexiconOptions:
    """Which homographs and senses are meant.

    Attributes:
        lexicon: JSON file of homographs with clusters of their translations. None for the published
            English-German lexicon of Emelin et al. (2020).
        src_lang, tgt_lang: languages of homographs and translations, ISO 639-1 codes.
        data_dir: folder with a local copy of the upstream repositories, in place of downloads.
    """

    lexicon: Path | None = None
    src_lang: str = "en"
    tgt_lang: str = "de"
    data_dir: Path | None = None

    @property
    def languages(self) -> tuple[str, str]:
        """The source and the target language."""
        return self.src_lang, self.tgt_lang

    def read(self) -> HomographLexicon:
        """Return the lexicon."""
        from cc_hf_studies.disambiguation_bias.homographs import read_lexicon

        return read_lexicon(
            self.lexicon, data_dir=self.data_dir, src_lang=self.src_lang, tgt_lang=self.tgt_lang
        )
