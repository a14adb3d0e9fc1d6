"""cc-hf report: results as a page, as tables and as plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import Bleu, DataDir, Quiet, Resamples, Seed
from cc_hf.cli.output import Console, check_output, write_atomically
from cc_hf.errors import InputError
from cc_hf.files import resolved

if TYPE_CHECKING:
    from cc_hf.reports.report import Report
    from cc_hf.reports.samples import System

__all__ = ["report"]


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
            help="Write the tables as LaTeX to this file. They need the package booktabs."
        ),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(help="Write the plots to this folder.", metavar="DIR")
    ] = None,
    plot_format: Annotated[
        str, typer.Option("--format", help="File format of the plots: png or svg.")
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
    data_dir: DataDir = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Write a report: systems side by side, by category and sample by sample.

    Without a file or folder to write, the tables are printed as Markdown.
    """
    from cc_hf.data.quality_scores import read_quality_scores
    from cc_hf.reports.formats.markdown import markdown_report
    from cc_hf.reports.inputs import read_examples, read_report_systems
    from cc_hf.reports.report import build_report
    from cc_hf.studies.human_agreement.annotations import read_annotations

    outputs = {"html": html, "markdown": markdown, "latex": latex}
    for kind, path in outputs.items():
        check_output(path, kind)
    _check_folder(plots)
    systems, notes = read_report_systems(results, name, quality=read_quality_scores(bleu))
    examples, example_notes = read_examples(
        next(iter(systems[0].results.values())), dataset=dataset, data_dir=data_dir
    )
    labels = [label for path in annotations or [] for label in read_annotations(path)]
    contents = build_report(
        systems,
        baseline=_baseline(baseline, systems),
        examples=examples,
        annotations=labels,
        notes=[*notes, *example_notes],
        n_resamples=resamples,
        seed=seed,
    )
    written: dict[Path, str | bytes] = _texts(contents, outputs)
    pictures = _pictures(contents, plots, plot_format)
    for path, content in {**written, **pictures}.items():
        write_atomically(path, content)
    if plots is None and not written:  # the notes are part of the Markdown
        Console().print(Text(markdown_report(contents)), soft_wrap=True, end="")
    elif not quiet:
        console = Console(stderr=True)
        for note in contents.notes:
            console.print(Text(f"note: {note}"), soft_wrap=True)
        for path in [*written, *pictures]:
            console.print(Text(f"written: {path}"), soft_wrap=True)


def _texts(report: Report, paths: Mapping[str, Path | None]) -> dict[Path, str | bytes]:
    from cc_hf.reports.formats.latex import latex_report
    from cc_hf.reports.formats.markdown import markdown_report
    from cc_hf.reports.page.page import html_page

    writers = {"html": html_page, "markdown": markdown_report, "latex": latex_report}
    return {path: writers[kind](report) for kind, path in paths.items() if path is not None}


def _pictures(report: Report, folder: Path | None, file_format: str) -> dict[Path, bytes]:
    if folder is None:
        return {}
    from cc_hf.reports.formats.plots import plots

    pictures = plots(report, file_format=file_format)
    folder.mkdir(exist_ok=True)
    return {folder / name: content for name, content in pictures.items()}


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
