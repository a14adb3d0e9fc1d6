"""cc-hf compare --by seed: many systems and seeds as one table and one chart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, OutputFile, PictureFile
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import Results
from cc_hf.plugins.seeds.system_inputs import SystemOptions, read_systems

if TYPE_CHECKING:
    from cc_hf.plugins.seeds.system_rows import SystemRow

__all__ = [
    "Figures",
    "Means",
    "SystemOptionsFields",
    "SystemTable",
    "SystemsPlot",
    "seeds",
    "systems_outcome",
]

#: Fields of `cc_hf.plugins.seeds.system_inputs.SystemOptions`.
SystemOptionsFields = Fields("names bleu timing metric", "Systems", rare="group size seqkd")
_TABLE = OutputFile((".tsv", ".csv"))
Figures = Annotated[
    list[str] | None,
    typer.Option(
        "--figure",
        metavar="COLUMN",
        help=(
            "Figure to print and draw, such as delta, ratio_male_female or winomt:min_accuracy."
            " May be repeated. Default: accuracy and minimum accuracy; the chart has the latter."
        ),
    ),
]
SystemTable = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help=(
            "Write the table with a row for each system and seed, in percent, to this .tsv or .csv"
            " file, which studies of systems read."
        ),
    ),
    _TABLE,
]
Means = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write means and standard deviations over seeds to this .tsv or .csv file.",
    ),
    _TABLE,
]
SystemsPlot = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help=(
            "Draw figures by BLEU in this .svg, .png or .pdf file, with lines between the systems"
            " of a group in the order of their sizes."
        ),
    ),
    PictureFile(),
]


def seeds(
    results: Results,
    *,
    systems: Annotated[SystemOptions, SystemOptionsFields],
    figure: Figures = None,
    table: SystemTable = None,
    means: Means = None,
    plot: SystemsPlot = None,
) -> Outcome:
    """Make a table of systems and seeds: figures, BLEU, decoding time.

    Seeds of one system are averaged for the printed table, with standard deviations. Differences,
    minima and ratios are computed from averaged accuracies, as in SimpleGEN (Renduchintala et al.
    2021).

    Example: cc-hf compare --by seed tiny.json other.json --table systems.tsv
    """
    rows, notes = read_systems(results, systems)
    return systems_outcome(
        rows,
        figure=figure,
        plot=plot,
        sizes=[text.partition("=")[2] for text in systems.size or ()],
        table=table,
        means=means,
        notes=notes,
    )


def systems_outcome(
    rows: Sequence[SystemRow],
    *,
    figure: Sequence[str] | None,
    plot: Path | None,
    weighted: bool = False,
    each_seed: bool = False,
    sizes: Sequence[str] = (),
    table: Path | None,
    means: Path | None,
    notes: Sequence[str] = (),
) -> Outcome:
    """Return the table of systems, and the files that the options name."""
    from cc_hf.plugins.seeds.chart import systems_plot
    from cc_hf.plugins.seeds.system_rows import mean_rows, ordered_sizes
    from cc_hf.plugins.seeds.table import (
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
    files = [
        NewFile(path, table_text(columns, delimiter="," if path.suffix == ".csv" else "\t"))
        for path, columns in ((table, row_columns(rows)), (means, mean_columns(averages)))
        if path is not None
    ]
    if plot is not None:
        picture = systems_plot(
            [mean for row in rows for mean in mean_rows([row])] if each_seed else averages,
            figures=figures if figure else drawn_figures(figures),
            sizes=ordered_sizes(rows, sizes),
            file_format=PictureFile.format_of(plot),
        )
        files.append(NewFile(plot, picture))
        if missing := [mean.first.system for mean in averages if mean.bleu is None]:
            notes = [*notes, f"BLEU is not known for {', '.join(missing)}, not drawn in {plot}"]
    return Outcome(
        systems_json(rows, averages),
        lambda: systems_tables(averages, figures),
        files=files,
        notes=notes,
    )
