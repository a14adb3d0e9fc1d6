"""cc-hf report: results as a page, as tables and as plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import Bleu, DataDir, Quiet, Resamples, Seed
from cc_hf.cli.output import Console, check_output, write_atomically
from cc_hf.cli.report_systems import systems as report_systems
from cc_hf.cli.subcommands import CommandWithSubcommands
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.files import file_slug, resolved

if TYPE_CHECKING:
    from cc_hf.reports.report import Report
    from cc_hf.reports.samples import System

__all__ = ["ReportCommand", "report"]


class ReportCommand(CommandWithSubcommands):
    """The command `report`, with the command `report systems`."""

    functions = MappingProxyType({"systems": report_systems})


def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="JSON files that `cc-hf evaluate --output` wrote, one for each system.",
        ),
    ],
    html: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Write a page with tables, plots and all samples to this file. The page needs"
                " no network."
            )
        ),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the tables as Markdown to this file.")
    ] = None,
    latex: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Write a table for a paper as LaTeX to this file, and all tables to a second file"
                " beside it whose name ends in -all."
            )
        ),
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=(
                "Figure in the LaTeX table: its name in the results, such as min_accuracy, with the"
                " metric before it if several have it (METRIC:NAME), or bleu. Repeat the option for"
                " up to six. Default: those that say most by each metric."
            ),
        ),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(help="Write the plots to this folder.", metavar="DIR")
    ] = None,
    plot_format: Annotated[
        str, typer.Option("--format", help="File format of the plots: png, svg or pdf.")
    ] = "png",
    baseline: Annotated[
        str | None,
        typer.Option(
            help=(
                "System with which the others are compared: its name or its file. Default: the"
                " first system."
            )
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Name of a system. Repeat the option once for each file; files with the same"
                " name belong to one system. Default: the names in the results (`cc-hf evaluate"
                " --name`), else those of the files."
            )
        ),
    ] = None,
    bleu: Bleu = None,
    weighted: Annotated[
        bool,
        typer.Option(
            "--weighted",
            help=(
                "Show the weighted minimum accuracy against BLEU, as Vamvas & Sennrich (2021),"
                " Figure 5, where a metric has weights."
            ),
        ),
    ] = False,
    annotations: Annotated[
        list[Path] | None,
        typer.Option(
            help=(
                "JSONL file of human labels, as for `cc-hf analyze human-agreement`. May be"
                " repeated."
            )
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help=(
                "Dataset or file that contains the samples, such as your own file of sources"
                " and cues. Default: the dataset that the results name."
            )
        ),
    ] = None,
    attractors: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Table that `cc-hf study disambiguation_bias attractors --output` wrote: show the"
                " words that go with"
                " each sense of the homographs with most errors."
            )
        ),
    ] = None,
    data_dir: DataDir = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Write a report: systems side by side, by category and sample by sample.

    Results on several datasets become one page that begins with an overview of them, has a section
    for each, and no samples. `cc-hf report systems` makes a table of many systems and seeds.

    Without a file or folder to write, the tables are printed as Markdown.
    """
    from cc_hf.comparing.people.annotations import read_annotations
    from cc_hf.data.files.quality_scores import read_quality_scores
    from cc_hf.reports.inputs import read_examples, read_report_systems
    from cc_hf.reports.report import build_report
    from cc_hf.reports.sections import read_section_files

    if figure and latex is None:
        raise InputError("--figure: expected --latex FILE with it, whose table shows the figure")
    outputs = {"html": html, "markdown": markdown, "latex": latex}
    for kind, path in outputs.items():
        check_output(path, kind)
    _check_folder(plots)
    groups, notes = read_report_systems(results, name, quality=read_quality_scores(bleu))
    if len(groups) > 1 and (dataset or annotations):
        raise InputError(
            "--dataset and --annotations: expected results on one dataset, got results on"
            f" {len(groups)}; make one report for each"
        )
    names = [system.name for systems in groups for system in systems]
    chosen = _baseline(baseline, [system for systems in groups for system in systems])
    if chosen is not None and chosen not in names:
        raise UnknownNameError("baseline", chosen, names)
    labels = [label for path in annotations or [] for label in read_annotations(path)]
    section_inputs = read_section_files({"attractors": attractors})
    reports = []
    for systems in groups:
        examples, example_notes = read_examples(
            next(iter(systems[0].results.values())), dataset=dataset, data_dir=data_dir
        )
        reports.append(
            replace(
                build_report(
                    systems,
                    baseline=chosen if chosen in [system.name for system in systems] else None,
                    examples=examples,
                    annotations=labels,
                    notes=[*notes, *example_notes],
                    n_resamples=resamples,
                    seed=seed,
                    section_inputs=section_inputs,
                ),
                is_weighted=weighted,
            )
        )
    written: dict[Path, str | bytes] = _texts(reports, outputs, figure or [])
    pictures = _pictures(reports, plots, plot_format)
    for path, content in {**written, **pictures}.items():
        write_atomically(path, content)
    if plots is None and not written:  # the notes are part of the Markdown
        Console().print(Text(_markdown(reports)), soft_wrap=True, end="")
    elif not quiet:
        console = Console(stderr=True)
        for note in dict.fromkeys(note for contents in reports for note in contents.notes):
            console.print(Text(f"note: {note}"), soft_wrap=True)
        for path in [*written, *pictures]:
            console.print(Text(f"written: {path}"), soft_wrap=True)


def _texts(
    reports: Sequence[Report], paths: Mapping[str, Path | None], figures: Sequence[str]
) -> dict[Path, str | bytes]:
    from cc_hf.reports.formats.latex import latex_paper_table, latex_report

    writers = {"html": _html, "markdown": _markdown}
    texts: dict[Path, str | bytes] = {
        path: writers[kind](reports)
        for kind, path in paths.items()
        if path is not None and kind in writers
    }
    if (latex := paths["latex"]) is not None:
        everything = latex.with_name(f"{latex.stem}-all{latex.suffix}")
        check_output(everything, "latex")
        texts[latex] = "\n".join(
            latex_paper_table(report, figures, details=everything.name) for report in reports
        )
        texts[everything] = "\n".join(map(latex_report, reports))
    return texts


def _html(reports: Sequence[Report]) -> str:
    from cc_hf.reports.collection import build_collection
    from cc_hf.reports.page.collection_page import collection_page
    from cc_hf.reports.page.page import html_page

    if len(reports) == 1:
        return html_page(reports[0])
    return collection_page(build_collection(reports))


def _markdown(reports: Sequence[Report]) -> str:
    from cc_hf.reports.collection import build_collection
    from cc_hf.reports.formats.markdown import markdown_collection, markdown_report

    if len(reports) == 1:
        return markdown_report(reports[0])
    return markdown_collection(build_collection(reports))


def _pictures(
    reports: Sequence[Report], folder: Path | None, file_format: str
) -> dict[Path, bytes]:
    """Return the plots by their paths; with several datasets, their names begin with the data."""
    if folder is None:
        return {}
    from cc_hf.reports.formats.plots import plots

    pictures = {}
    for report in reports:
        first = report.first
        data = file_slug(" ".join((first.dataset, first.config, first.tgt_lang)))
        beginning = f"{data}." if len(reports) > 1 else ""
        for name, content in plots(report, file_format=file_format).items():
            pictures[folder / f"{beginning}{name}"] = content
    folder.mkdir(exist_ok=True)
    return pictures


def _check_folder(folder: Path | None) -> None:
    if folder is None:
        return
    if resolved(folder, "plots").exists() and not folder.is_dir():
        raise InputError(f"plots: expected a folder, {folder} is a file")
    check_output(folder / "plot" if folder.is_dir() else folder, "plots")


def _baseline(name_or_path: str | None, systems: Sequence[System]) -> str | None:
    """Return the name of a system, which may be given by its file."""
    if name_or_path in [system.name for system in systems]:
        return name_or_path
    by_path = {path: system.name for system in systems for path in system.files}
    return name_or_path if name_or_path is None else by_path.get(name_or_path, name_or_path)
