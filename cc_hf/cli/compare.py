"""cc-hf compare: results side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import OneMetric, Resamples, Seed
from cc_hf.cli.output import Console, check_output, write_atomically

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
    resamples: Resamples = 1000,
    seed: Seed = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the comparison to this JSON file.")
    ] = None,
) -> None:
    """Compare systems, or metrics that judged the same translations."""
    from cc_hf.reports.studies.comparisons import comparison_tables
    from cc_hf.studies.comparison import compare as compare_results
    from cc_hf.studies.comparison import read_results

    check_output(output)
    comparison = compare_results(
        read_results(results, metric=metric), n_resamples=resamples, seed=seed
    )
    if output is not None:
        write_atomically(output, comparison.to_json())
    console = Console()
    console.print(comparison_tables(comparison))
    for name, signature in comparison.signatures.items():
        console.print(Text(f"{name}: {signature}"), soft_wrap=True)
    console.print(Text(f"signature: {comparison.signature}"), soft_wrap=True)
