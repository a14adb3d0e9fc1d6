"""Commands of the study: figures of thesis chapter 4 over data, corpora, models and curves."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cc_hf.cli.command import (
    CommandGroup,
    NewFile,
    Outcome,
    PictureFile,
    add_command,
)
from cc_hf.cli.options import DataDir, LanguagePair
from cc_hf.errors import InputError
from cc_hf.languages import language_pair as parsed_pair
from cc_hf.records import NonEmpty
from cc_hf_studies.common.corpus_options import Aligner, CorpusFields, CorpusNames, CorpusOptions
from cc_hf_studies.common.published_command import add_published
from cc_hf_studies.wino_x.bias_commands import referent_bias, trigger_importance
from cc_hf_studies.wino_x.build_commands import build
from cc_hf_studies.wino_x.rater_commands import build_sheets, rate
from cc_hf_studies.wino_x.train_commands import CurvePlot, train

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help=(
        "Measure Wino-X, corpora and learning curves, train on Wino-X, build it for another"
        " language, and ask people."
    ),
    no_args_is_help=True,
)
_DEFAULT_CONFIGS = ("mt_en_de.translations", "lm_en_de.english", "lm_en_de")


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
    *,
    dataset: Annotated[
        str, typer.Option(help="wino_x, or a folder that `cc-hf study wino_x build` wrote.")
    ] = "wino_x",
    data_dir: DataDir = None,
) -> Outcome:
    """Measure sentences, translations, contexts and fillers in tokens.

    The figures correspond to Emelin (2023), Table 4.4.

    Example: cc-hf study wino_x lengths lm_en_de
    """
    from cc_hf.data.loading import load_examples
    from cc_hf_studies.wino_x.lengths import sequence_lengths
    from cc_hf_studies.wino_x.tables import lengths_table

    measured = {
        config: sequence_lengths(load_examples(dataset, config, data_dir=data_dir))
        for config in configs or _DEFAULT_CONFIGS
    }
    rows = {config: [asdict(length) for length in members] for config, members in measured.items()}
    return Outcome(rows, lambda: lengths_table(measured))


def corpus_pronouns(
    corpus: CorpusNames,
    *,
    language_pair: LanguagePair = "en-de",
    aligner: Aligner = "fast_align",
    options: Annotated[
        CorpusOptions,
        replace(
            CorpusFields,
            defaults={"block_pairs": 20_000},
            helps={
                "block_pairs": (
                    "Number of pairs that are aligned together. It bounds the memory, and the"
                    " signature names it."
                )
            },
        ),
    ],
    progress: bool = False,
) -> Outcome:
    """Count the pronouns that translate "it" in a parallel corpus, and all others.

    The figures correspond to Emelin (2023), Table 4.9, for translations into de, fr or ru.

    Example: cc-hf study wino_x corpus-pronouns train.en train.de
    """
    from cc_hf_studies.wino_x.pronoun_counts import corpus_pronouns as pronouns_of
    from cc_hf_studies.wino_x.tables import corpus_pronouns_tables

    languages = parsed_pair(language_pair)
    if languages[0] != "en":
        raise InputError(
            f'language_pair: expected English sources, whose "it" is counted, got {language_pair}'
        )
    parallel = options.open(corpus, languages)
    counts = pronouns_of(parallel, tgt_lang=languages[1], aligner=aligner, progress=progress)
    return Outcome(
        asdict(counts),
        lambda: corpus_pronouns_tables(
            counts, title=f"pronouns in {counts.n_pairs:,} pairs of {parallel.name}"
        ),
    )


def curve(
    curves: Annotated[
        list[Path],
        typer.Argument(help="Files learning_curve.json that `cc-hf study wino_x train` wrote."),
    ],
    *,
    plot: CurvePlot = None,
) -> Outcome:
    """Show learning curves, and draw them.

    The plot corresponds to Emelin (2023), Figures 4.3 and 4.4.

    Example: cc-hf study wino_x curve debiased/learning_curve.json
    """
    from cc_hf_studies.wino_x.tables import curve_plot, curve_tables

    loaded = {str(path): _curve(path) for path in curves}
    files = []
    if plot is not None:
        titles = {f"{row['eval']}, {row['objective']}": row for row in loaded.values()}
        drawn = titles if len(titles) == len(loaded) else loaded
        files.append(NewFile(plot, curve_plot(drawn, file_format=PictureFile.format_of(plot))))
    return Outcome(
        loaded,
        lambda: [part for row in loaded.values() for part in curve_tables(row)],
        files=files,
    )


def _curve(path: Path) -> dict[str, Any]:
    """Return a learning curve from its file."""
    from cc_hf.records import read_json

    what = "a learning curve, as `cc-hf study wino_x train` writes learning_curve.json"
    return dict(read_json(path, what, {"points": NonEmpty([None])}))


add_command(app, "build", build)
add_command(app, "train", train)
add_command(app, "referent-bias", referent_bias)
add_command(app, "trigger-importance", trigger_importance)
add_command(app, "lengths", lengths)
add_command(app, "corpus-pronouns", corpus_pronouns)
add_command(app, "curve", curve)
add_command(app, "build-sheets", build_sheets)
add_command(app, "rate", rate)
add_published(app, "wino_x", "--table 4.7", Path(__file__).parent)
