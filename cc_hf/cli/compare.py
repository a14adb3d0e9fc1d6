"""cc-hf compare: results side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.output import Console, check_output, write_atomically

__all__ = ["compare"]


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(
            help=(
                "JSON files that `cc-hf evaluate --output` wrote, two or more; the first is the"
                " baseline."
            )
        ),
    ],
    metric: Annotated[
        str | None,
        typer.Option(
            help="Of files with the results of several metrics, compare those of this one."
        ),
    ] = None,
    resamples: Annotated[int, typer.Option(min=1, help="Resamples of the bootstrap.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the comparison to this JSON file.")
    ] = None,
) -> None:
    """Compare systems judged by one metric, and metrics that judged the same translations."""
    from cc_hf.reports.studies.comparisons import comparison_tables
    from cc_hf.studies.comparison import compare as compare_results
    from cc_hf.studies.comparison import read_results

    check_output(output)
    found = compare_results(read_results(results, metric=metric), n_resamples=resamples, seed=seed)
    if output is not None:
        write_atomically(output, found.to_json())
    console = Console()
    console.print(comparison_tables(found))
    for name, signature in found.signatures.items():
        console.print(Text(f"{name}: {signature}"), soft_wrap=True)
    console.print(Text(f"signature: {found.signature}"), soft_wrap=True)
