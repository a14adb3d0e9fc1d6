"""Commands of the study: training, how much of the sub-words each layer of a model still tells, and
the mean of checkpoints.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import (
    CommandGroup,
    NewFile,
    Outcome,
    PictureFile,
    add_command,
)
from cc_hf.cli.options import DataDir, EvaluatorFields, Resampling
from cc_hf.cli.output import say
from cc_hf.errors import InputError, in_file
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf_studies.common.published_command import add_published
from cc_hf_studies.lexical_shortcuts.average_commands import average
from cc_hf_studies.lexical_shortcuts.train_commands import curve, train

if TYPE_CHECKING:
    from cc_hf.evaluators.base import Evaluator
    from cc_hf_studies.lexical_shortcuts.probe import Pairs

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Train models with lexical shortcuts, probe layers, and average checkpoints.",
    no_args_is_help=True,
)


def probe(
    models: Annotated[
        list[str],
        typer.Argument(
            help=(
                "Sequence-to-sequence models: names, folders, or models on the Hub. The others are"
                " compared with the first."
            )
        ),
    ],
    *,
    source: Annotated[
        Path,
        typer.Option(
            help=(
                "Sentences that the classifiers learn from, one per line; best those that the"
                " models were trained on, whose frequencies count."
            )
        ),
    ],
    target: Annotated[Path, typer.Option(help="Their translations, one per line.")],
    held_out_source: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Other sentences, which decide when the classifiers have learned enough. Default: a"
                " tenth of the sentences that are used."
            )
        ),
    ] = None,
    held_out_target: Annotated[Path | None, typer.Option(help="Their translations.")] = None,
    test_source: Annotated[
        Path | None,
        typer.Option(
            help="Sentences to test on. Default: another tenth of the sentences that are used."
        ),
    ] = None,
    test_target: Annotated[Path | None, typer.Option(help="Their translations.")] = None,
    test_dataset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[/CONFIG]",
            help=(
                "Test on the sources and correct translations of a dataset, such as"
                " wino_x/mt_en_de.translations, in place of files."
            ),
        ),
    ] = None,
    sentences: Annotated[
        int, typer.Option(min=3, help="Number of sentences to use at most, drawn at random.")
    ] = 5000,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Name of a model. Repeat it once per model. Default: that of the model."),
    ] = None,
    spacy_source: Annotated[
        str | None,
        typer.Option(
            help="spaCy pipeline that tags the sentences, for accuracy by part of speech."
        ),
    ] = None,
    spacy_target: Annotated[
        str | None, typer.Option(help="spaCy pipeline that tags the translations.")
    ] = None,
    max_epochs: Annotated[
        int, typer.Option(min=1, help="Largest number of epochs of a classifier.")
    ] = 50,
    probe_seed: Annotated[
        int,
        typer.Option(min=0, help="Seed of the classifiers and of the sentences that are drawn."),
    ] = 0,
    bf16: Annotated[
        bool,
        typer.Option(
            "--bf16",
            help="Train the classifiers with products in bf16, which some processors do faster.",
        ),
    ] = False,
    chart: Annotated[
        Path | None,
        typer.Option(help="Draw accuracy and similarity by layer to this .png, .svg or .pdf."),
        PictureFile(),
    ] = None,
    group_chart: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Draw accuracy by frequency, and by part of speech if it is known, to this .png,"
                " .svg or .pdf, as Figures 5.6 to 5.8 do."
            )
        ),
        PictureFile(),
    ] = None,
    loading: Annotated[
        LoadingOptions,
        replace(
            EvaluatorFields, names="language_pair", rare="device", settings="kind batch_tokens"
        ),
    ],
    data_dir: DataDir = None,
    bootstrap: Annotated[Bootstrap, Resampling],
    quiet: bool = False,
    progress: bool = False,
) -> Outcome:
    """Train a classifier on each layer's states to name the sub-word at their position.

    Where it names many, the layer still carries the words upwards. The method is that of Emelin
    (2023), section 5.4.1; it works for any translation model.

    Example: cc-hf study lexical_shortcuts probe my/model --source train.en --target train.de
    """
    from cc_hf.evaluators.loading import load_with
    from cc_hf_studies.lexical_shortcuts.classifier import ProbeSettings
    from cc_hf_studies.lexical_shortcuts.group_chart import probe_groups_chart
    from cc_hf_studies.lexical_shortcuts.probe import lexical_probe as probe_models
    from cc_hf_studies.lexical_shortcuts.probe import probe_texts
    from cc_hf_studies.lexical_shortcuts.tables import lexical_probe_chart, lexical_probe_tables

    tested = _pairs("test", test_source, test_target)
    if test_dataset is not None:
        if tested is not None:
            raise InputError("test_dataset: expected a dataset or --test-source, got both")
        tested = _pairs_of_dataset(test_dataset, data_dir)
    texts = probe_texts(
        _needed_pairs(source, target),
        held_out=_pairs("held-out", held_out_source, held_out_target),
        test=tested,
        sentences=sentences,
        seed=probe_seed,
    )
    exact = replace(
        loading, mode="exact", src_lang=loading.src_lang or "", tgt_lang=loading.tgt_lang or ""
    )
    loaded = [load_with(model, exact) for model in models]
    probe = probe_models(
        _named(loaded, name),
        texts,
        settings=ProbeSettings(max_epochs=max_epochs, seed=probe_seed, is_bf16=bf16),
        taggers={
            side: _tagger(pipeline, lang, side)
            for side, pipeline, lang in (
                ("encoder", spacy_source, loading.src_lang or loaded[0].src_lang),
                ("decoder", spacy_target, loading.tgt_lang or loaded[0].tgt_lang),
            )
            if pipeline is not None
        },
        bootstrap=bootstrap,
        note=None if quiet else lambda line: say("probed", line),
        progress=progress,
    )
    files = [
        NewFile(path, draw(probe, file_format=PictureFile.format_of(path)))
        for path, draw in ((chart, lexical_probe_chart), (group_chart, probe_groups_chart))
        if path is not None
    ]
    return Outcome(probe.to_json(), lambda: lexical_probe_tables(probe), files=files)


def _needed_pairs(source: Path, target: Path) -> Pairs:
    from cc_hf.reading import read_lines
    from cc_hf_studies.lexical_shortcuts.probe import Pairs

    with in_file(f"{source}, {target}"):
        return Pairs(read_lines(source), read_lines(target))


def _pairs(part: str, source: Path | None, target: Path | None) -> Pairs | None:
    if source is not None and target is not None:
        return _needed_pairs(source, target)
    if source is not None or target is not None:
        raise InputError(
            f"expected --{part}-source and --{part}-target together, got one of them; name the file"
            " of the other side, too"
        )
    return None


def _pairs_of_dataset(name: str, data_dir: Path | None) -> Pairs:
    """Return the sources and correct translations of a dataset."""
    from cc_hf.data.loading import load_examples
    from cc_hf.schema import ContrastiveTranslationExample
    from cc_hf_studies.lexical_shortcuts.probe import Pairs

    dataset, _, config = name.partition("/")
    examples = load_examples(dataset, config or None, data_dir=data_dir)
    pairs = [
        (example.source, example.correct_translation)
        for example in examples
        if isinstance(example, ContrastiveTranslationExample)
    ]
    if len(pairs) < len(examples) or not pairs:
        raise InputError(
            f"test_dataset: expected a dataset with correct translations, such as"
            f" wino_x/mt_en_de.translations, got {name}"
        )
    return Pairs([source for source, _ in pairs], [target for _, target in pairs])


def _named(loaded: list[Evaluator], names: list[str] | None) -> dict[str, Evaluator]:
    given = names or [evaluator.name for evaluator in loaded]
    if len(given) != len(loaded) or len(set(given)) < len(given):
        raise InputError(
            f"name: expected a different name for each of {len(loaded)} models, got"
            f" {', '.join(given)}"
        )
    return dict(zip(given, loaded, strict=True))


def _tagger(pipeline: str, lang: str, side: str) -> object:
    from cc_hf.text.spacy_pipelines import load_pipeline

    if not lang:
        raise InputError(
            f"language_pair: the model does not name the language of its {side}; name the pair for"
            " the tagger"
        )
    return load_pipeline(pipeline, lang, exclude=("parser", "ner", "lemmatizer"))


add_command(app, "probe", probe)
add_command(app, "average", average)
add_command(app, "train", train)
add_command(app, "curve", curve)
add_published(app, "lexical_shortcuts", "--table 5.6", Path(__file__).parent)
