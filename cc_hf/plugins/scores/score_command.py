"""cc-hf score: quality of translations against references, and other metrics beside a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import Resampling
from cc_hf.errors import InputError, in_file
from cc_hf.files import exists
from cc_hf.languages import language_pair as parsed_pair
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["score"]

_TOKENIZER = "13a"
_WHERE = "Where reports show the figure"


def score(
    translations: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]FILE...",
            help=(
                "Files with one translation per line, one file for each system. Default name: that"
                " of the file. Without --references: tables of segment scores of other metrics."
            ),
        ),
    ],
    *,
    references: Annotated[
        Path | None,
        typer.Option(help="File with the reference of each translation, line by line."),
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Result of `cc-hf evaluate` on the same samples, to see whether the segment scores"
                " tell right from wrong as it does."
            )
        ),
    ] = None,
    tokenize: Annotated[
        str,
        typer.Option(
            help=(
                "Tokenizer of BLEU: 13a, intl, char, zh, none, or t2t-de (German by Moses with"
                " compounds split, as in get_ende_bleu.sh of tensor2tensor, without smoothing)."
            )
        ),
    ] = _TOKENIZER,
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
    bootstrap: Annotated[Bootstrap, Resampling],
) -> Outcome:
    """Score translations against references, by BLEU and chrF.

    The figures are those of sacreBLEU, with its signatures. Option --bleu of other commands takes
    the file that --output writes.

    Without --references, the files are tables of segment scores by other metrics, with a column of
    numbers for each, or METRIC-good and METRIC-bad for a correct and a wrong translation.

    Example: cc-hf score tiny.txt --references references.txt
    """
    if references is None:
        unused: dict[str, object] = {"paired": paired, "dataset": dataset}
        unused |= {"language_pair": language_pair, "tokenize": tokenize != _TOKENIZER}
        return _beside(translations, beside, unused, bootstrap)
    if beside is not None:
        raise InputError(
            "references, beside: expected one of the two, references of translations or a result"
            " beside segment scores, got both"
        )
    if paired is None and bootstrap != Bootstrap():
        raise InputError("n_resamples, seed: expected --paired with them, got none")
    from cc_hf.plugins.scores.quality import corpus_quality
    from cc_hf.plugins.scores.tables import quality_table
    from cc_hf.reading import read_lines

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
        chrf=True,
        tokenize=tokenize,
        paired=paired,
        bootstrap=bootstrap,
    )
    data = {key: value for key, value in where.items() if value}
    return Outcome(
        [{**result.to_row(), **data} for result in results],
        lambda: quality_table(results, title=f"translations against {references}"),
    )


def _beside(
    files: Sequence[str], beside: Path | None, unused: Mapping[str, object], bootstrap: Bootstrap
) -> Outcome:
    """Return how other metrics do on segments."""
    from cc_hf.data.files.result_files import read_result_file
    from cc_hf.plugins.scores.segment_scores import read_segment_scores
    from cc_hf.plugins.scores.segments import pair_figures, segment_figures
    from cc_hf.plugins.scores.tables import pair_table, segment_table

    if given := [name for name, value in unused.items() if value]:
        raise InputError(f"{given[0]}: expected --references beside it, got none")
    results = () if beside is None else read_result_file(beside).results
    judge = next((result for result in results if result.judgements), None)
    if beside is not None and judge is None:
        raise InputError(f"{beside}: expected a result with judgements of single translations")
    if judge is None and bootstrap != Bootstrap():
        raise InputError("n_resamples, seed: expected --beside with them, got none")
    rows, tables, notes = [], [], []
    for path in map(Path, files):
        segments = read_segment_scores(path)
        if segments.scores and judge is None:
            raise InputError(
                f"{path}: {next(iter(segments.scores))} has one score for a segment, which says"
                " nothing alone; give --beside RESULT, or --references if these are translations"
            )
        with in_file(path):
            pairs = pair_figures(segments, judge)
            singles = segment_figures(segments, judge, **bootstrap.options) if judge else []
        if judge is not None and segments.n < len(judge.judgements):
            notes.append(f"{path}: {segments.n:,} of the {len(judge.judgements):,} samples")
        title = f"{path}{f' beside {beside}' if beside else ''}"
        rows.append(
            {
                "file": str(path),
                "segments": [*map(asdict, singles)],
                "pairs": [figure.to_row() for figure in pairs],
            }
        )
        if singles:
            tables.append(segment_table(singles, title=title))
        if pairs:
            tables.append(pair_table(pairs, title=title))
    return Outcome(rows, lambda: tables, notes=notes)
