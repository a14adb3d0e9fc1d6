"""How slices add sections to a report. A slice has a `SectionHook` in the registry; the page,
Markdown and LaTeX show the sections that the hooks build, and the report itself knows no slice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.errors import UnknownNameError
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Section

__all__ = ["SectionHook", "read_section_files"]


@dataclass(frozen=True, slots=True)
class SectionHook:
    """How a slice adds a section to a report.

    `build` is called only for a report whose examples have one of `keys`, or that has the content
    of one of `files`; for every report if the hook has neither. The module of a hook is imported
    with every report, so it imports the rest of its slice within functions.

    Attributes:
        build: returns the section of a report; None if there is nothing to show.
        keys: keys of `Example.extra`.
        files: name -> function that reads a file for the section. The names are those of
            `Report.section_inputs`, and no two sections have the same.
    """

    build: Callable[[Report], Section | None]
    keys: frozenset[str] = frozenset()
    files: Mapping[str, Callable[[Path], Any]] = field(default_factory=dict)

    def applies_to(self, keys: Set[str], inputs: Mapping[str, Any]) -> bool:
        """Return whether `build` is called for a report, by the keys of its examples and its
        inputs.
        """
        is_for_all = not self.keys and not self.files
        return is_for_all or bool(self.keys & keys or self.files.keys() & inputs.keys())


def read_section_files(paths: Mapping[str, Path | None]) -> dict[str, Any]:
    """Read the files that were given, not None, by their names in `SectionHook.files`."""
    given = {name: path for name, path in paths.items() if path is not None}
    if not given:
        return {}
    readers = {
        name: read
        for hook in registry.load_all("report section").values()
        for name, read in hook.files.items()
    }
    if unknown := next((name for name in given if name not in readers), None):
        raise UnknownNameError("file for a section", unknown, readers)
    return {name: readers[name](path) for name, path in given.items()}
