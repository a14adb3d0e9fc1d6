"""cc-hf compare: results side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import AsJson, OneMetric, Resamples, Seed
from cc_hf.cli.output import check_output, print_result

__all__ = ["compare"]


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(
            help=(
                "Two or more JSON files that `cc-hf evaluate --output` wrote. The first is the"
                " baseline."
            )
        ),
    ],
    metric: OneMetric = None,
    shared: Annotated[
        bool,
        typer.Option(
            "--shared",
            help=(
                "Compare on those samples only on which every result has a verdict other than"
                " inconclusive, such as those with a valid choice in reply to every prompt. This"
                " also drops valid translations in which a metric recognises nothing."
            ),
        ),
    ] = False,
    right_alone: Annotated[
        bool,
        typer.Option(
            "--right-alone", help="Also list the samples that one result has right and no other."
        ),
    ] = False,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the comparison to this JSON file; - for standard output.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare systems, or metrics that judged the same translations.

    A difference between systems has an interval by bootstrap and p by paired approximate
    randomisation, of --resamples resamples and random exchanges.
    """
    from cc_hf.comparing.systems import compare as compare_results
    from cc_hf.comparing.systems import read_results
    from cc_hf.reports.tables.comparisons import comparison_tables

    check_output(output)
    comparison = compare_results(
        read_results(results, metric=metric),
        n_resamples=resamples,
        seed=seed,
        shared=shared,
        lists_right_alone=right_alone,
    )
    print_result(
        as_json,
        comparison.to_json(),
        lambda: [
            comparison_tables(comparison),
            *(Text(f"{name}: {text}") for name, text in comparison.signatures.items()),
            Text(f"signature: {comparison.signature}"),
        ],
        output=output,
    )
