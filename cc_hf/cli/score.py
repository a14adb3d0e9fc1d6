"""cc-hf score: quality of translations against references."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.errors import InputError
from cc_hf.files import exists
from cc_hf.languages import language_pair as parsed_pair

__all__ = ["score"]

_WHERE = "Where reports show the figure"


def score(
    translations: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]FILE...",
            help=(
                "Files with one translation per line, one file for each system. Default name: that"
                " of the file."
            ),
        ),
    ],
    *,
    references: Annotated[
        Path, typer.Option(help="File with the reference of each translation, line by line.")
    ],
    tokenize: Annotated[
        str,
        typer.Option(
            help=(
                "Tokenizer of BLEU: 13a, intl, char, zh, none, or t2t-de (German by Moses with"
                " compounds split, as in get_ende_bleu.sh of tensor2tensor, without smoothing)."
            )
        ),
    ] = "13a",
    chrf: Annotated[bool, typer.Option("--chrf", help="Compute chrF, too.")] = False,
    paired: Annotated[
        str | None,
        typer.Option(
            help=(
                "Paired test between the first system and each other: ar (approximate"
                " randomisation)."
            )
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(help="Dataset of the sentences. Default: any.", rich_help_panel=_WHERE),
    ] = None,
    language_pair: Annotated[
        str | None,
        typer.Option(
            "--language-pair",
            "-l",
            help="Source and target language, such as en-de. Default: any.",
            rich_help_panel=_WHERE,
        ),
    ] = None,
) -> Outcome:
    """Score translations against references, by BLEU and chrF.

    The figures are those of sacreBLEU, with its signatures. Option --bleu of other commands takes
    the file that --output writes.

    Example: cc-hf score tiny.txt --references references.txt
    """
    from cc_hf.reading import read_lines
    from cc_hf.reports.tables.quality import quality_table
    from cc_hf.statistics.corpus_quality import corpus_quality

    where = {"dataset": dataset, "tgt_lang": language_pair and parsed_pair(language_pair)[1]}
    systems: dict[str, list[str]] = {}
    for text in translations:
        given, equals, path = text.partition("=")
        if not equals or exists(Path(text)):
            given, path = Path(text).stem, text
        if given in systems:
            raise InputError(f"translations: two systems are named {given}; give NAME=FILE")
        systems[given] = read_lines(Path(path), keeps_end=True)
    results = corpus_quality(
        systems,
        read_lines(references, keeps_end=True),
        chrf=chrf,
        tokenize=tokenize,
        paired=paired,
    )
    data = {key: value for key, value in where.items() if value}
    return Outcome(
        [{**result.to_row(), **data} for result in results],
        lambda: [quality_table(results, title=f"translations against {references}")],
    )
