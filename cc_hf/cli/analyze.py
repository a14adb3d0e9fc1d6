"""cc-hf analyze: studies over results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from cc_hf.cli.output import write_atomically

__all__ = ["app"]

app = typer.Typer(help="Studies over results.", no_args_is_help=True)


@app.callback()
def _main() -> None:
    pass


@app.command("human-agreement")
def human_agreement(
    result: Annotated[Path, typer.Argument(help="JSON that `cc-hf evaluate --output` wrote.")],
    annotations: Annotated[Path, typer.Option(help="JSONL with index or testset_line (the example's id), translation, binarized_annotator1 and 2, gold_gender.")],
    skip_others: Annotated[bool, typer.Option("--skip-others", help="Leave out annotated translations that are not those judged.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the figures to this JSON file.")] = None,
) -> None:
    """Share of human labels that a result agrees with, unweighted and weighted (Vamvas & Sennrich 2021, Table 2)."""
    import json
    from dataclasses import asdict

    from cc_hf.analysis.human_agreement import agreement_with_labels, read_annotations
    from cc_hf.data.translations import read_lines
    from cc_hf.results import EvaluationResult

    judged = EvaluationResult.from_json("\n".join(read_lines(result)))
    found = agreement_with_labels(judged, read_annotations(annotations), skip_others=skip_others)
    table = Table(title="agreement with human labels", title_justify="left")
    for column in ("", "n labels", "agreement %", "95 % interval"):
        table.add_column(column, justify="right")
    for name, value, interval in (("unweighted", found.agreement, found.interval), ("weighted", found.weighted_agreement, found.weighted_interval)):
        table.add_row(name, str(found.n_labels), f"{100 * value:.2f}", f"{100 * interval.low:.1f} – {100 * interval.high:.1f}")
    console = Console()
    console.print(table)
    console.print(
        f"human {found.labels[0]}: judged {found.confusion[0]}, human {found.labels[1]}: judged {found.confusion[1]} (columns {', '.join(found.labels)})", highlight=False
    )
    if found.n_skipped:
        console.print(f"{found.n_skipped} annotated translations are not those judged and were left out", highlight=False)
    console.print(f"signature: {judged.signature}", soft_wrap=True, highlight=False, markup=False)
    if output is not None:
        write_atomically(output, json.dumps({**asdict(found), "signature": judged.signature}, indent=1) + "\n")
