"""Commands of the study: figures of thesis chapter 4 over data, corpora, models and curves."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from cc_hf.cli.command import CommandGroup
from cc_hf.cli.corpora import (
    CorpusColumns,
    CorpusConfig,
    CorpusNames,
    CorpusSplit,
    Streaming,
    open_corpus,
)
from cc_hf.cli.options import AsJson, DataDir, FiguresOutput, Quiet
from cc_hf.cli.output import (
    check_output,
    json_text,
    print_result,
    say_written,
    shows_progress,
    write_atomically,
)
from cc_hf.studies.wino_x.bias_commands import referent_bias, trigger_importance
from cc_hf.studies.wino_x.make_commands import make
from cc_hf.studies.wino_x.train_commands import train

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help=(
        "Measure Wino-X, corpora and learning curves, train on Wino-X, and make it for another"
        " language."
    ),
    no_args_is_help=True,
)
app.command("make")(make)
app.command("train")(train)
app.command("referent-bias")(referent_bias)
app.command("trigger-importance")(trigger_importance)

_DEFAULT_CONFIGS = ("mt_en_de.translations", "lm_en_de.english", "lm_en_de")


@app.command("lengths")
def lengths(
    configs: Annotated[
        list[str] | None,
        typer.Argument(
            help=(
                "Configurations with translations or gaps. Default: mt_en_de.translations,"
                " lm_en_de.english and lm_en_de."
            )
        ),
    ] = None,
    dataset: Annotated[
        str, typer.Option(help="wino_x, or a folder that `cc-hf study wino_x make` wrote.")
    ] = "wino_x",
    data_dir: DataDir = None,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """Measure sentences, translations, contexts and fillers in tokens.

    The figures correspond to Emelin (2023), Table 4.4.
    """
    from cc_hf.data.loading import load_examples
    from cc_hf.studies.wino_x.lengths import sequence_lengths
    from cc_hf.studies.wino_x.tables import lengths_table

    check_output(output)
    measured = {
        config: sequence_lengths(load_examples(dataset, config, data_dir=data_dir))
        for config in configs or _DEFAULT_CONFIGS
    }
    rows = {config: [asdict(length) for length in members] for config, members in measured.items()}
    print_result(as_json, json_text(rows), lambda: lengths_table(measured), output=output)


@app.command("corpus-pronouns")
def corpus_pronouns(
    corpus: CorpusNames,
    tgt_lang: Annotated[
        str, typer.Option(help="Language of the translations: de, fr or ru.")
    ] = "de",
    config: CorpusConfig = None,
    split: CorpusSplit = "train",
    columns: CorpusColumns = None,
    streaming: Streaming = False,
    aligner: Annotated[str, typer.Option(help="Aligner: fast_align or eflomal.")] = "fast_align",
    block_pairs: Annotated[
        int,
        typer.Option(
            min=1,
            help=(
                "Pairs of the corpus that are aligned together. It bounds the memory, and the"
                " signature names it."
            ),
        ),
    ] = 20_000,
    output: FiguresOutput = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Count the pronouns that translate "it" in a parallel corpus, and all others.

    The figures correspond to Emelin (2023), Table 4.9.
    """
    from cc_hf.studies.wino_x.pronoun_counts import corpus_pronouns as pronouns_of
    from cc_hf.studies.wino_x.tables import corpus_pronouns_tables

    check_output(output)
    parallel = open_corpus(
        corpus,
        ("en", tgt_lang),
        config=config,
        split=split,
        columns=columns,
        streaming=streaming,
        block_pairs=block_pairs,
    )
    counts = pronouns_of(
        parallel, tgt_lang=tgt_lang, aligner=aligner, progress=shows_progress(quiet=quiet)
    )
    print_result(
        as_json,
        json_text(asdict(counts)),
        lambda: corpus_pronouns_tables(
            counts, title=f"pronouns in {counts.n_pairs:,} pairs of {parallel.name}"
        ),
        output=output,
    )


@app.command("curve")
def curve(
    curves: Annotated[
        list[Path],
        typer.Argument(help="Files learning_curve.json that `cc-hf study wino_x train` wrote."),
    ],
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw accuracy and BLEU over size in this .svg, .png or .pdf file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show learning curves, and draw them.

    The plot corresponds to Emelin (2023), Figures 4.3 and 4.4.
    """
    from cc_hf.reports.tables.calibrations import check_plot
    from cc_hf.studies.wino_x.tables import curve_plot, curve_tables

    check_plot(plot)
    check_output(plot, "plot")
    loaded = {str(path): _curve(path) for path in curves}
    if plot is not None:
        titles = {f"{row['eval']}, {row['objective']}": row for row in loaded.values()}
        drawn = titles if len(titles) == len(loaded) else loaded
        write_atomically(plot, curve_plot(drawn, file_format=plot.suffix.lower()[1:]))
    print_result(
        as_json,
        json_text(loaded),
        lambda: [part for row in loaded.values() for part in curve_tables(row)],
        output=None,
    )
    say_written(plot)


def _curve(path: Path) -> dict[str, Any]:
    """Return a learning curve from its file."""
    from cc_hf.reading import NonEmpty, read_json

    what = "a learning curve, as `cc-hf study wino_x train` writes learning_curve.json"
    return dict(read_json(path, what, {"points": NonEmpty([None])}))
