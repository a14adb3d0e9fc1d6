"""cc-hf analyze seeds, uncertain, evaluator-agreement: questions to results alone."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import AsJson, DataDir, FiguresOutput, OneMetric, Resamples, Seed
from cc_hf.cli.output import check_output, json_text, print_result, say
from cc_hf.errors import InputError

__all__ = ["evaluator_agreement", "seeds", "uncertain"]


def seeds(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="JSON files that `cc-hf evaluate --output` wrote, one for each system and seed."
        ),
    ],
    name: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Name of a system. Repeat the option once for each file; files with the same name"
                " are seeds of one system. Default: the name of the system or of the file, without"
                " the part seedN (base-seed1 and base-seed2 are base)."
            )
        ),
    ] = None,
    metric: OneMetric = None,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """Average the figures of systems over random seeds, with standard deviations.

    Differences, minima and ratios are computed from averaged accuracies, as in SimpleGEN
    (Renduchintala et al. 2021).
    """
    from cc_hf.comparing.seeds import averages_of_systems, name_without_seed
    from cc_hf.data.files.result_files import read_result_file, system_names
    from cc_hf.reports.tables.result_lists import seed_tables

    check_output(output)
    if name and len(name) != len(results):
        raise InputError(
            f"--name: expected one for each file of results, {len(results)} in all, got {len(name)}"
        )
    read = [
        (path, result)
        for path in results
        for result in read_result_file(path).results
        if metric in (None, result.metric)
    ]
    if not read:
        raise InputError(f"expected results of the metric {metric}, got none")
    given = dict(zip(results, name or [], strict=False))
    names = [
        given.get(path) or name_without_seed(system)
        for (path, _), system in zip(read, system_names(read), strict=True)
    ]
    averages = averages_of_systems(
        [(system, result) for system, (_, result) in zip(names, read, strict=True)]
    )
    print_result(
        as_json,
        json_text({"averages": [average.to_dict() for average in averages]}),
        lambda: [seed_tables(averages)],
        output=output,
    )


def uncertain(
    result: Annotated[
        Path,
        typer.Argument(
            help=(
                "JSON file that `cc-hf evaluate --output` wrote. With --metric all, it also says"
                " what other metrics read in the translations."
            )
        ),
    ],
    within: Annotated[
        float,
        typer.Option(
            min=0, max=50, help="Largest distance of the probability to 50 %, in percentage points."
        ),
    ] = 5,
    metric: OneMetric = None,
    show: Annotated[int, typer.Option(min=0, help="Number of samples to print.")] = 20,
    dataset: Annotated[
        str | None,
        typer.Option(
            help=(
                "Dataset or file that contains the sources. Default: the dataset that the result"
                " names."
            )
        ),
    ] = None,
    data_dir: DataDir = None,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """List samples on which the evaluator is not sure: hints of neutral translations.

    See Vamvas & Sennrich (2021), section 3.6.
    """
    from cc_hf.comparing.uncertain import uncertain_samples
    from cc_hf.data.files.result_files import read_result_file
    from cc_hf.reports.inputs import read_examples
    from cc_hf.reports.tables.result_lists import uncertain_tables

    check_output(output)
    read = read_result_file(result).results
    with_probabilities = [
        r
        for r in read
        if metric in (None, r.metric)
        and any(j.probability_correct is not None for j in r.judgements)
    ]
    if len(with_probabilities) != 1:
        names = ", ".join(r.metric for r in with_probabilities or read)
        raise InputError(
            f"{result}: expected one result with probabilities, such as that of"
            f" contrastive_conditioning, got {names}; name the metric with --metric"
        )
    [judged] = with_probabilities
    examples, notes = read_examples(judged, dataset=dataset, data_dir=data_dir)
    samples = uncertain_samples(
        judged,
        others=[r for r in read if r is not judged and r.judgements],
        examples=examples or (),
        within=within / 100,
    )
    for note in notes:
        say("note", note)
    print_result(
        as_json,
        json_text(samples.to_dict()),
        lambda: [
            uncertain_tables(samples, judged, n_shown=show),
            Text(f"signature: {samples.signature}"),
        ],
        output=output,
    )


def evaluator_agreement(
    results: Annotated[
        list[Path],
        typer.Argument(
            help=(
                "JSON files that `cc-hf evaluate --output` wrote, for several systems that"
                " several evaluators judged."
            ),
        ),
    ],
    figure: Annotated[
        str, typer.Option(help="Score by which systems are ranked, such as min_accuracy.")
    ] = "accuracy",
    metric: OneMetric = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """Correlate how evaluators rank systems.

    The method is that of Vamvas & Sennrich (2021), section 3.5.
    """
    from cc_hf.comparing.metrics import evaluator_agreement as agreement_of
    from cc_hf.comparing.systems import read_results
    from cc_hf.reports.tables.base import own_judge_lines
    from cc_hf.reports.tables.metrics import evaluator_agreement_tables

    check_output(output)
    read = read_results(results, metric=metric)
    agreement = agreement_of(read, figure=figure, n_resamples=resamples, seed=seed)
    print_result(
        as_json,
        json_text(asdict(agreement)),
        lambda: [evaluator_agreement_tables(agreement), *own_judge_lines(read.items())],
        output=output,
    )
