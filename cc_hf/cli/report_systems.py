"""cc-hf report systems: a table of systems, and the chart of their minimum accuracy by BLEU."""

from __future__ import annotations

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
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.comparing.system_rows import SystemRow

__all__ = ["systems"]


def systems(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            help="JSON files that `cc-hf evaluate --output` wrote, one for each system and seed."
        ),
    ] = None,
    name: Names = None,
    bleu: Bleu = None,
    timing: Timing = None,
    group: Group = None,
    size: Size = None,
    seqkd: SeqKD = None,
    metric: OneMetric = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help=(
                "Figure to print and draw, by its name in the table, such as delta or"
                " winomt:min_accuracy. May be repeated. Default: accuracy and minimum accuracy;"
                " the chart has the latter."
            ),
        ),
    ] = None,
    weighted: Annotated[
        bool,
        typer.Option(
            "--weighted", help="Print and draw weighted accuracies, where a metric has them."
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Draw figures by BLEU in this .svg, .png or .pdf file, with lines between the"
                " systems of a group in the order of their sizes."
            )
        ),
    ] = None,
    by_seed: Annotated[
        bool,
        typer.Option("--by-seed", help="Draw each seed by itself, not the means over seeds."),
    ] = False,
    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help=(
                "Use the systems of Vamvas & Sennrich (2021), appendix H, not files. Their"
                " accuracies are weighted."
            ),
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=(
                "Write the table with a row for each system and seed, in percent, to this .tsv or"
                " .csv file, which `cc-hf analyze regression` and `cc-hf analyze speed` read; -"
                " for standard output."
            ),
        ),
    ] = None,
    means: Annotated[
        Path | None,
        typer.Option(
            help="Write a table with means and standard deviations over seeds to this file."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a table of systems from files of results: labels, BLEU, decoding time, all figures.

    Seeds of one system are averaged for the printed table. Differences and minima are computed
    from averaged accuracies.
    """
    from cc_hf.reports.tables.calibrations import check_plot
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
    from cc_hf.comparing.system_rows import mean_rows, ordered_sizes

    for kind, path in {"output": output, "plot": plot, "means": means}.items():
        check_output(path, kind)
    check_plot(plot)
    options = SystemOptions(name, bleu, timing, group, size, seqkd, metric)
    rows = _rows(results, options, published=published)
    averages = mean_rows(rows)
    figures = chosen_figures(averages, figure or (), is_weighted=weighted)
    if plot is not None:
        picture = systems_plot(
            [mean for row in rows for mean in mean_rows([row])] if by_seed else averages,
            figures=figures if figure else drawn_figures(figures),
            sizes=ordered_sizes(rows, [text.partition("=")[2] for text in size or ()]),
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


def _rows(
    results: list[Path] | None, options: SystemOptions, *, published: bool
) -> list[SystemRow]:
    from cc_hf.studies.distillation.case_study import case_study_systems

    if published == bool(results):
        raise InputError("expected files of results or --published, got both or neither")
    if published:
        if options != SystemOptions():
            raise InputError(
                "--published: expected no --name, --bleu, --timing, --group, --size, --seqkd or"
                " --metric, because it has its own"
            )
        return case_study_systems()
    return read_systems(results or (), options)


def _delimiter(path: Path) -> str:
    return "," if path.suffix.lower() == ".csv" else "\t"
