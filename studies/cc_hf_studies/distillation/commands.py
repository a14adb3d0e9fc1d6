"""Commands of the study: counts of word senses and gendered occupations, and the case study."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import (
    CommandGroup,
    NewFile,
    Outcome,
    OutputFile,
    add_command,
    shown_command,
)
from cc_hf.cli.options import DataDir, LanguagePair
from cc_hf.errors import InputError
from cc_hf.files import exists, is_file
from cc_hf.languages import language_pair as parsed_pair
from cc_hf.plugins.raters.published import PRINTED
from cc_hf_studies.common.corpus_options import CorpusFields, CorpusOptions, Lemmatizer
from cc_hf_studies.common.published_command import add_published
from cc_hf_studies.distillation.regression_commands import regression, systems
from cc_hf_studies.distillation.train_commands import train

if TYPE_CHECKING:
    from cc_hf.data.corpora.parallel import Corpus, StreamCorpus
    from cc_hf_studies.distillation.gender_flows import OccupationCounts

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Count word senses and genders of occupations, and regress scores of distilled systems.",
    no_args_is_help=True,
)
add_command(app, "regression", regression)
add_command(app, "systems", systems)
add_command(app, "train", train)

_Source = Annotated[
    str | None,
    typer.Option(
        help=(
            "File with one source sentence per line; or a dataset: a folder of `save_to_disk`, a"
            " .parquet, .jsonl or .csv file, or a name on the Hub."
        )
    ),
]
_SourceColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With a dataset: column of the sources, such as translation.en. Default: source.",
    ),
]
_CORPUS = replace(CorpusFields, names="config split streaming", rare="block_pairs processes")


def senses(
    *,
    source: _Source = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="File with the translation of each line; with a dataset, the name of a column."
        ),
    ] = None,
    lexicon: Annotated[
        str,
        typer.Option(
            metavar="mucow|FILE",
            help=(
                "Senses to count: mucow for those of MuCoW, or a JSON file of counts, whose"
                " numbers are ignored."
            ),
        ),
    ] = "mucow",
    language_pair: LanguagePair = "en-de",
    lemmatizer: Lemmatizer = "simplemma",
    source_column: _SourceColumn = None,
    options: Annotated[CorpusOptions, _CORPUS],
    data_dir: DataDir = None,
    progress: bool = False,
) -> Outcome:
    """Count the senses of ambiguous words in parallel text (Vamvas & Sennrich 2021, appendix A).

    `cc-hf evaluate mucow --counts FILE` takes the file that --output writes: frequent and
    infrequent senses are then those of your own training data.

    Example: cc-hf study distillation senses --source train.en --target train.de -o counts.json
    """
    from cc_hf_studies.distillation.sense_tables import senses_table
    from cc_hf_studies.distillation.senses import (
        SenseCounter,
        count_senses,
        mucow_senses,
        read_senses,
    )

    if source is None or not target or len(target) > 1:
        raise InputError(
            "expected --source FILE and one --target FILE, or a dataset as --source and a column as"
            " --target"
        )
    src_lang, tgt_lang = parsed_pair(language_pair)
    names = (
        mucow_senses(src_lang, tgt_lang, data_dir=data_dir)
        if lexicon == "mucow"
        else read_senses(lexicon)
    )
    corpus = _corpus(source, target, source_column, options)
    counts = count_senses(
        corpus,
        SenseCounter(names, tgt_lang, lemmatizer=lemmatizer),
        n_processes=options.processes,
        progress=progress,
    )
    return Outcome(counts.to_json(), lambda: senses_table(counts, title=f"senses in {corpus.name}"))


def occupations(
    *,
    source: _Source = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE",
            help=(
                "File with the translation of each line; with a dataset, the name of a column. Give"
                " the option once for each stage, such as the training data, the teacher's"
                " translations and the student's."
            ),
        ),
    ] = None,
    average: Annotated[
        list[Path] | None,
        typer.Option(
            help=(
                "JSON file of this command. Give the option once for each seed, in place of"
                " --source: means and standard deviations are shown."
            )
        ),
    ] = None,
    forms: Annotated[
        Path | None,
        typer.Option(
            help=(
                "JSON file, occupation to src_forms, tgt_forms_male and tgt_forms_female. Default:"
                " the released forms of 48 occupations, English to German."
            )
        ),
    ] = None,
    women: Annotated[
        Path | None,
        typer.Option(
            help=(
                "TSV or CSV file with the columns occupation and percent_women, to correlate with"
                " the share of female forms, such as the table of Zhao et al. (2018)."
            )
        ),
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Write the flows to this SVG file."), OutputFile()
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page to this HTML file."), OutputFile()
    ] = None,
    occupation: Annotated[
        list[str] | None,
        typer.Option(help="With --html: also draw the flows of this one. May be repeated."),
    ] = None,
    source_column: _SourceColumn = None,
    options: Annotated[CorpusOptions, _CORPUS],
    data_dir: DataDir = None,
    progress: bool = False,
) -> Outcome:
    """Count male and female forms of occupations in parallel text, stage by stage.

    The method is that of Vamvas & Sennrich (2021), section 4.1 and appendix A. Without --source and
    --average, the counts that they released are shown, en-de, beside the figures that they print.

    Example: cc-hf study distillation occupations --html flows.html
    """
    from cc_hf_studies.distillation.flow_charts import flows_page, flows_svg, flows_tables
    from cc_hf_studies.distillation.gender_flows import (
        average_counts,
        correlate_female_shares,
        read_occupation_counts,
        read_women,
    )
    from cc_hf_studies.distillation.published_counts import printed_shares, published_counts

    if average and source is not None:
        raise InputError("expected --source FILE or --average FILE, got both")
    is_released = source is None and not average
    if is_released and target:
        raise InputError("expected --source FILE with --target, got --target alone")
    shares_of_women = None if women is None else read_women(women)
    if is_released:
        counts = published_counts(data_dir)
        title = "occupations, as released with Vamvas & Sennrich (2021)"
    elif average:
        counts = average_counts([read_occupation_counts(path) for path in average])
        title = f"occupations, mean of {len(average)} runs"
    else:
        counts = _counted(
            str(source),
            target,
            forms,
            source_column,
            options,
            data_dir=data_dir,
            progress=progress,
        )
        title = f"occupations in {source}"
    correlations = (
        () if shares_of_women is None else correlate_female_shares(counts, shares_of_women)
    )
    files = []
    if svg is not None:
        files.append(NewFile(svg, flows_svg(counts, title=title)))
    printed = printed_shares() if is_released else {}
    if html is not None:
        page = flows_page(
            counts,
            title=title,
            occupations=occupation or (),
            printed=printed,
            command=shown_command(),
        )
        files.append(NewFile(html, page))
    row = asdict(counts)
    if printed:
        row["printed"] = printed
    if correlations:
        row["women"] = [asdict(correlation) for correlation in correlations]
    return Outcome(
        row,
        lambda: flows_tables(counts, title=title, women=correlations, printed=printed),
        files=files,
    )


def _counted(
    source: str,
    target: list[str] | None,
    forms: Path | None,
    source_column: str | None,
    options: CorpusOptions,
    *,
    data_dir: Path | None,
    progress: bool,
) -> OccupationCounts:
    """Return the counts in the translations of each stage."""
    from cc_hf_studies.distillation.occupations import (
        OccupationCounter,
        count_occupations,
        read_occupation_forms,
    )
    from cc_hf_studies.distillation.published_counts import published_forms

    if not target:
        raise InputError("expected --target FILE, once for each stage, got none")
    stages: dict[str, str] = {}
    for text in target:
        given, equals, path = text.partition("=")
        name, path = (given, path) if equals and not exists(Path(text)) else (Path(text).name, text)
        if name in stages:
            raise InputError(f"target: two stages are named {name}; give them as NAME=FILE")
        stages[name] = path
    occupations = published_forms(data_dir) if forms is None else read_occupation_forms(forms)
    corpus = _corpus(source, list(stages.values()), source_column, options)
    return count_occupations(
        corpus,
        OccupationCounter(occupations),
        stages=list(stages),
        n_processes=options.processes,
        progress=progress,
    )


def _corpus(
    source: str, targets: list[str], source_column: str | None, options: CorpusOptions
) -> Corpus | StreamCorpus:
    """Return the corpus in files if the source is a text file, else in a dataset."""
    from cc_hf.data.corpora.parallel import DATASET_SUFFIXES, file_corpus

    if is_file(source) and Path(source).suffix.lower() not in DATASET_SUFFIXES:
        if source_column or options.config or options.streaming:
            raise InputError(
                f"source: expected a dataset with --source-column, --config or --streaming, got"
                f" the text file {source}"
            )
        return file_corpus(source, *targets, block_pairs=options.block_pairs)
    return options.open_dataset(source, ("", ""), (source_column or "source", *targets))


add_command(app, "senses", senses)
add_command(app, "occupations", occupations)
add_published(app, "distillation", "--table 3", Path(__file__).parent, PRINTED)
