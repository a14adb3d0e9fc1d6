"""cc-hf compare --by sample: the samples on which the evaluator is not sure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import OneMetric
from cc_hf.errors import InputError

__all__ = ["samples"]


def samples(
    result: Annotated[
        Path,
        typer.Argument(
            help=(
                "Result of `cc-hf evaluate --output`. With --metric all, it also says what other"
                " metrics read in the translations."
            )
        ),
    ],
    *,
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
) -> Outcome:
    """List samples on which the evaluator is not sure.

    Such a translation may keep the ambiguity of its source. See Vamvas & Sennrich (2021), section
    3.6.

    Example: cc-hf compare --by sample tiny.json --show 5
    """
    from cc_hf.comparing.uncertain import uncertain_samples
    from cc_hf.data.files.result_files import read_result_file
    from cc_hf.reports.inputs import read_examples
    from cc_hf.reports.tables.comparisons import uncertain_tables

    read = read_result_file(result).results
    with_probabilities = [
        r
        for r in read
        if metric in (None, r.metric)
        and (
            any(j.probability_correct is not None for j in r.judgements)
            or any(row.probability_counted is not None for row in r.readings)
        )
    ]
    if len(with_probabilities) != 1:
        names = ", ".join(r.metric for r in with_probabilities or read)
        raise InputError(
            f"{result}: expected one result with probabilities, such as that of"
            f" contrastive_conditioning, got {names}; name the metric with --metric"
        )
    [judged] = with_probabilities
    examples, notes = read_examples(judged, dataset=dataset)
    uncertain = uncertain_samples(
        judged,
        others=[r for r in read if r is not judged and r.judgements],
        examples=examples or (),
        within=within / 100,
    )
    return Outcome(
        uncertain.to_dict(),
        lambda: [
            *uncertain_tables(uncertain, judged, n_shown=show),
            f"signature: {uncertain.signature}",
        ],
        notes=notes,
    )
