"""Sections that studies add to a report. A study names a `SectionHook` in the registry; the page,
Markdown and LaTeX show the sections that the hooks build, and the report itself knows no study.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from cc_hf.errors import UnknownNameError
from cc_hf.registry import section_hooks

# A report and its tables are `Any` here: their modules import this one, and types count as imports.
__all__ = ["Section", "SectionHook", "SectionPart", "build_sections", "read_section_files"]


@dataclass(frozen=True, slots=True)
class SectionPart:
    """A table of a section, and what the page shows with it.

    Attributes:
        table: the `cc_hf.reports.report_tables.ReportTable`, which every format shows.
        heading: what is above the table on the page; "" for the title of the table.
        chart: what is beside the table on the page; None for nothing.
        classes: CSS classes of the table on the page.
    """

    table: Any
    heading: str = ""
    chart: Markup | None = None
    classes: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report.

    Attributes:
        name: the id of the section on the page, which no other section has.
        link: its name in the contents of the page.
        title: its title on the page.
        lead: the text below the title; "" for none.
        parts: its tables, in order.
        is_on_page: whether the page has the section; if not, only Markdown and LaTeX have its
            tables.
    """

    name: str
    link: str
    title: str
    lead: str
    parts: tuple[SectionPart, ...]
    is_on_page: bool = True


@dataclass(frozen=True, slots=True)
class SectionHook:
    """How a study adds a section to a report.

    The module of a hook is imported with every report, so it imports the rest of its study within
    functions. `build` is called only for a report whose examples have one of `keys`, or that has
    the content of one of `files`.

    Attributes:
        build: returns the section of a `cc_hf.reports.report.Report`; None if there is nothing to
            show.
        keys: keys of `Example.extra`.
        files: name -> function that reads a file for the section. The names are those of
            `Report.section_inputs`, and no two studies have the same.
    """

    build: Callable[[Any], Section | None]
    keys: frozenset[str] = frozenset()
    files: Mapping[str, Callable[[Path], Any]] = field(default_factory=dict)


def read_section_files(paths: Mapping[str, Path | None]) -> dict[str, Any]:
    """Read the files that were given for sections of studies.

    Args:
        paths: name, as in `SectionHook.files` -> file; None for a file that was not given.

    Returns:
        Name -> what the study reads from the file, for `build_report`.

    Raises:
        UnknownNameError: for a name that no study reads.
        InputError: for a file that the study cannot read.
    """
    given = {name: path for name, path in paths.items() if path is not None}
    if not given:
        return {}
    readers = {name: read for hook in section_hooks() for name, read in hook.files.items()}
    if unknown := next((name for name in given if name not in readers), None):
        raise UnknownNameError("file for a section", unknown, readers)
    return {name: readers[name](path) for name, path in given.items()}


def build_sections(report: Any) -> tuple[Section, ...]:
    """Return the sections that studies add to a report; `Report.sections` keeps them.

    Args:
        report: a `cc_hf.reports.report.Report`.

    Raises:
        InputError: for examples, or content of a file, that a study cannot use.
    """
    keys = {key for sample in report.samples if sample.example for key in sample.example.extra}
    built = (
        hook.build(report)
        for hook in section_hooks()
        if hook.keys & keys or hook.files.keys() & report.section_inputs.keys()
    )
    return tuple(section for section in built if section is not None)
