"""cc-hf report systems: many systems and seeds as one table and one chart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.options import AsJson, Bleu, OneMetric
from cc_hf.cli.output import (
    check_output,
    json_text,
    print_result,
    say,
    say_written,
    write_atomically,
)
from cc_hf.cli.system_inputs import (
    Group,
    Names,
    SeqKD,
    Size,
    SystemOptions,
    Timing,
    read_systems,
)

if TYPE_CHECKING:
    from cc_hf.comparing.system_rows import SystemRow

__all__ = [
    "BySeed",
    "Figures",
    "Means",
    "SystemTable",
    "SystemsPlot",
    "Weighted",
    "check_systems_files",
    "show_systems",
    "systems",
]

Figures = Annotated[
    list[str] | None,
    typer.Option(
        "--figure",
        metavar="COLUMN",
        help=(
            "Figure to print and draw, by its name in the table, such as delta or"
            " winomt:min_accuracy. May be repeated. Default: accuracy and minimum accuracy;"
            " the chart has the latter."
        ),
    ),
]
Weighted = Annotated[
    bool,
    typer.Option("--weighted", help="Print and draw weighted accuracies, where a metric has them."),
]
SystemsPlot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        help=(
            "Draw figures by BLEU in this .svg, .png or .pdf file, with lines between the"
            " systems of a group in the order of their sizes."
        ),
    ),
]
BySeed = Annotated[
    bool, typer.Option("--by-seed", help="Draw each seed by itself, not the means over seeds.")
]
SystemTable = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help=(
            "Write the table with a row for each system and seed, in percent, to this .tsv or"
            " .csv file, which studies of systems read; - for standard output."
        ),
    ),
]
Means = Annotated[
    Path | None,
    typer.Option(
        "--means", help="Write a table with means and standard deviations over seeds to this file."
    ),
]


def systems(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="JSON files that `cc-hf evaluate --output` wrote, one for each system and seed."
        ),
    ],
    name: Names = None,
    bleu: Bleu = None,
    timing: Timing = None,
    group: Group = None,
    size: Size = None,
    seqkd: SeqKD = None,
    metric: OneMetric = None,
    figure: Figures = None,
    weighted: Weighted = False,
    plot: SystemsPlot = None,
    by_seed: BySeed = False,
    output: SystemTable = None,
    means: Means = None,
    as_json: AsJson = False,
) -> None:
    """Make a table of systems from files of results: labels, BLEU, decoding time, all figures.

    Seeds of one system are averaged for the printed table. Differences and minima are computed
    from averaged accuracies.
    """
    check_systems_files(output, plot, means)
    options = SystemOptions(name, bleu, timing, group, size, seqkd, metric)
    show_systems(
        read_systems(results, options),
        figure=figure,
        weighted=weighted,
        plot=plot,
        by_seed=by_seed,
        sizes=[text.partition("=")[2] for text in size or ()],
        output=output,
        means=means,
        as_json=as_json,
    )


def check_systems_files(output: Path | None, plot: Path | None, means: Path | None) -> None:
    """Check that the files of `show_systems` can be written, before anything is read."""
    from cc_hf.reports.tables.calibrations import check_plot

    for kind, path in {"output": output, "plot": plot, "means": means}.items():
        check_output(path, kind)
    check_plot(plot)


def show_systems(
    rows: list[SystemRow],
    *,
    figure: Sequence[str] | None,
    weighted: bool,
    plot: Path | None,
    by_seed: bool,
    sizes: Sequence[str] = (),
    output: Path | None,
    means: Path | None,
    as_json: bool,
) -> None:
    """Print the table of systems, and write what the options name."""
    from cc_hf.comparing.system_rows import mean_rows, ordered_sizes
    from cc_hf.reports.tables.system_chart import systems_plot
    from cc_hf.reports.tables.systems import (
        chosen_figures,
        drawn_figures,
        mean_columns,
        row_columns,
        systems_json,
        systems_tables,
        table_text,
    )

    averages = mean_rows(rows)
    figures = chosen_figures(averages, figure or (), is_weighted=weighted)
    if plot is not None:
        picture = systems_plot(
            [mean for row in rows for mean in mean_rows([row])] if by_seed else averages,
            figures=figures if figure else drawn_figures(figures),
            sizes=ordered_sizes(rows, sizes),
            file_format=plot.suffix.lower().removeprefix("."),
        )
        write_atomically(plot, picture)
        if missing := [mean.first.system for mean in averages if mean.bleu is None]:
            say("note", f"BLEU is not known for {', '.join(missing)}, not drawn in {plot}")
    if means is not None:
        write_atomically(means, table_text(mean_columns(averages), delimiter=_delimiter(means)))
    print_result(
        as_json,
        json_text(systems_json(rows, averages)),
        lambda: [systems_tables(averages, figures)],
        output=output,
        table=None
        if output is None
        else table_text(row_columns(rows), delimiter=_delimiter(output)),
    )
    for path in (output, means, plot):
        say_written(path)


def _delimiter(path: Path) -> str:
    return "," if path.suffix.lower() == ".csv" else "\t"
