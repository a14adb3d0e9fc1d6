"""cc-hf study disambiguation_bias build-challenge, correlate: sentences that a system may get
wrong, and what predicts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cc_hf.cli.command import NewFile, Outcome
from cc_hf.cli.options import DataDir, NewFolder, OneMetric
from cc_hf.errors import InputError
from cc_hf.reports.numbers import percent
from cc_hf_studies.disambiguation_bias.command_options import (
    AttractorFile,
    LexiconFields,
    LexiconOptions,
    Log,
    Smoothing,
)

if TYPE_CHECKING:
    from cc_hf.results import EvaluationResult
    from cc_hf_studies.disambiguation_bias.challenge import ChallengeSets
    from cc_hf_studies.disambiguation_bias.results import JudgedSentences

__all__ = ["build_challenge", "correlate"]


def build_challenge(
    table: AttractorFile,
    pairs: Annotated[
        Path,
        typer.Argument(
            help=(
                "Pool of sentences: a .jsonl file as `cc-hf study disambiguation_bias tag` writes"
                " it, of a corpus on which the system was not trained."
            )
        ),
    ],
    *,
    output: NewFolder,
    number: Annotated[
        int, typer.Option("--number", "-n", min=1, help="Number of sentences of each set.")
    ] = 3000,
    by: Annotated[
        str,
        typer.Option(
            help=(
                "Bias by which the most biased sentences are chosen: freq_diff, ppmi_diff,"
                " freq_wrong or ppmi_wrong."
            )
        ),
    ] = "freq_diff",
    max_per_homograph: Annotated[
        int | None,
        typer.Option(min=1, help="Largest number of sentences with one homograph in a set."),
    ] = None,
    min_tokens: Annotated[
        int, typer.Option(min=1, help="Smallest number of tokens of a sentence.")
    ] = 10,
    lexicon: Annotated[LexiconOptions, LexiconFields],
    smoothing: Smoothing = 0.0,
    log: Log = True,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random set.")] = 0,
) -> Outcome:
    """Write challenge sets: the most biased sentences, random ones, and the rarest senses.

    The folder holds a card, and Parquet files for each of the three sets. `cc-hf evaluate FOLDER
    most_biased --metric homograph_accuracy` judges a system on them. See Emelin (2023), section
    3.2.2.

    Example: cc-hf study disambiguation_bias build-challenge table.json pairs.jsonl -o sets
    """
    from cc_hf.plugins.dataset_folders.building import build_dataset_folder
    from cc_hf.plugins.dataset_folders.cards import homograph_card
    from cc_hf_studies.disambiguation_bias.attractors import read_table
    from cc_hf_studies.disambiguation_bias.challenge import challenge_sets
    from cc_hf_studies.disambiguation_bias.homographs import read_pairs

    chosen = challenge_sets(
        read_pairs(pairs),
        read_table(table),
        lexicon.read(),
        n=number,
        by=by,
        smoothing=smoothing,
        log=log,
        seed=seed,
        max_per_homograph=max_per_homograph,
        min_tokens=min_tokens,
    )
    declared = chosen.declaration(name=pairs.name)
    build_dataset_folder(
        declared,
        list(chosen.sets),
        output=output,
        card=homograph_card(declared, chosen.signatures),
    )
    return Outcome(
        {
            "folder": str(output),
            "n_pool": chosen.n_pool,
            "n_short": chosen.n_short,
            "sets": {name: len(examples) for name, examples in chosen.sets.items()},
            "signatures": dict(chosen.signatures),
        },
        lambda: _lines(chosen),
        files=[NewFile(output, None)],
    )


def _lines(chosen: ChallengeSets) -> Iterator[str]:
    for name, examples in chosen.sets.items():
        rare = sum(example.category == "rare" for example in examples)
        yield f"{name}: {len(examples):,} sentences, {rare:,} with a rare sense"
        yield f"  signature: {chosen.signatures[name]}"
    share = chosen.overlap("most_biased", "rarest")
    yield (
        f"pool: {chosen.n_pool:,} sentences, and {chosen.n_short:,} that are too short;"
        f" {percent(share, digits=2)} % of the most biased are among the rarest"
    )


def correlate(
    result: Annotated[
        Path, typer.Argument(help="Result of `cc-hf evaluate --output`, of any metric.")
    ],
    *,
    dataset: Annotated[
        str | None,
        typer.Option(
            help=(
                "Dataset of the result: the folder of challenge sets, or a file with the columns"
                " homograph and cluster."
            )
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Table that `cc-hf study disambiguation_bias attractors --table` wrote. Default:"
                " the bias that the challenge sets hold."
            )
        ),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Bias of the sentences that `cc-hf study disambiguation_bias score --rows` wrote,"
                " without --dataset."
            )
        ),
    ] = None,
    metric: OneMetric = None,
    undecided: Annotated[
        str, typer.Option(help="What an inconclusive verdict counts as: right, wrong or ignored.")
    ] = "right",
    smoothing: Smoothing = 0.0,
    log: Log = True,
    data_dir: DataDir = None,
) -> Outcome:
    """Test whether bias predicts errors: rank-biserial correlation, U test, size of the effect.

    The figures correspond to Emelin (2023), Tables 3.7 and 3.8.

    Example: cc-hf study disambiguation_bias correlate result.json --dataset sets
    """
    from cc_hf_studies.common.one_result import read_result
    from cc_hf_studies.disambiguation_bias.prediction import error_rate_by_bias, predict_errors
    from cc_hf_studies.disambiguation_bias.prediction_tables import error_prediction_tables
    from cc_hf_studies.disambiguation_bias.results import judged_sentences
    from cc_hf_studies.disambiguation_bias.side_by_side import CORRELATION

    if (dataset is None) == (rows is None):
        raise InputError(
            "expected --dataset or --rows, which hold the bias of the sentences, got"
            f" {'neither' if rows is None else 'both'}"
        )
    judged = read_result(result, metric=metric)
    bias = _bias(judged, dataset, rows, table, smoothing=smoothing, log=log, data_dir=data_dir)
    sentences = judged_sentences(judged, bias, undecided=undecided)
    prediction = predict_errors(sentences.features, sentences.is_error)
    groups = {
        name: error_rate_by_bias(sentences.features[name], sentences.is_error)
        for name in ("freq_diff", "ppmi_diff")
        if name in sentences.features
    }
    return Outcome(
        {
            "study": CORRELATION,
            "system": judged.system or result.stem,
            "data": judged.config or judged.dataset,
            "of": judged.signature,
            "undecided": undecided,
            "n_undecided": sentences.n_undecided,
            "n_unknown": sentences.n_unknown,
            **asdict(prediction),
            "error_rate_by_bias": {
                name: [group.to_dict() for group in members] for name, members in groups.items()
            },
        },
        lambda: [
            *error_prediction_tables(
                prediction, groups, title=f"{judged.system or result.stem}: {judged.metric}"
            ),
            *_left_out(sentences),
            f"of: {judged.signature}",
        ],
    )


def _left_out(sentences: JudgedSentences) -> list[str]:
    counts = {
        "inconclusive verdicts": sentences.n_undecided,
        "verdicts on sentences without bias": sentences.n_unknown,
    }
    return [f"ignored: {n} {what}" for what, n in counts.items() if n]


def _bias(
    result: EvaluationResult,
    dataset: str | None,
    rows: Path | None,
    table: Path | None,
    *,
    smoothing: float,
    log: bool,
    data_dir: Path | None,
) -> dict[str, dict[str, Any]]:
    """Return the bias of the sentences of a result by id."""
    from cc_hf.data.files.custom import custom_rows
    from cc_hf.reports.inputs import read_examples
    from cc_hf_studies.disambiguation_bias.attractors import read_table
    from cc_hf_studies.disambiguation_bias.results import bias_of_examples, bias_of_rows

    if rows is not None:
        if table is not None:
            raise InputError("expected either --rows, which hold the bias, or --table, got both")
        return bias_of_rows(
            (str(row.get("id", where.line - 1)), row) for where, row in custom_rows(rows)
        )
    examples: Sequence[Any] = read_examples(result, dataset=dataset, data_dir=data_dir)[0] or ()
    counts = None if table is None else read_table(table)
    return bias_of_examples(examples, counts, smoothing=smoothing, log=log)
