"""cc-hf score: quality of translations against references."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.options import AsJson, FiguresOutput
from cc_hf.cli.output import check_output, json_text, print_result, say_written
from cc_hf.errors import InputError
from cc_hf.files import exists

__all__ = ["app"]

app = typer.Typer(help="Score translations against references.", no_args_is_help=True)


@app.command("bleu")
def bleu(
    translations: Annotated[
        list[str],
        typer.Option(
            metavar="[NAME=]FILE",
            help=(
                "File with one translation per line. May be repeated, once for each system."
                " Default name: that of the file."
            ),
        ),
    ],
    references: Annotated[
        Path, typer.Option(help="File with the reference of each translation, line by line.")
    ],
    tokenize: Annotated[
        str, typer.Option(help="Tokenizer of BLEU: 13a, intl, char, zh or none.")
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
        typer.Option(
            help="Dataset in whose reports the figure is shown. Default: those of all datasets."
        ),
    ] = None,
    tgt_lang: Annotated[
        str | None,
        typer.Option(help="Target language in whose reports the figure is shown. Default: any."),
    ] = None,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """Compute BLEU by sacreBLEU, with its signature.

    `--bleu FILE` of `cc-hf report` and `cc-hf leaderboard` takes the file that --output writes.
    """
    from cc_hf.reading import read_lines
    from cc_hf.reports.tables.quality import quality_table
    from cc_hf.statistics.corpus_quality import corpus_quality

    check_output(output)
    systems: dict[str, list[str]] = {}
    for text in translations:
        given, equals, path = text.partition("=")
        if not equals or exists(Path(text)):
            given, path = Path(text).stem, text
        if given in systems:
            raise InputError(f"--translations: two systems are named {given}; give NAME=FILE")
        systems[given] = read_lines(Path(path), keeps_end=True)
    results = corpus_quality(
        systems,
        read_lines(references, keeps_end=True),
        chrf=chrf,
        tokenize=tokenize,
        paired=paired,
    )
    where = {"dataset": dataset, "tgt_lang": tgt_lang}
    data = {key: value for key, value in where.items() if value}
    print_result(
        as_json,
        json_text([{**result.to_row(), **data} for result in results]),
        lambda: [quality_table(results, title=f"translations against {references}")],
        output=output,
    )
    say_written(output)
