"""Where the translations of systems come from: a file beside the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cc_hf.errors import FileError
from cc_hf.files import is_file
from cc_hf.tables.rows import TABLES, read_rows

__all__ = ["ORIGINS", "SystemOrigin", "read_origins"]

#: File in a folder of results with the origins of the systems' translations: tab-separated, with
#: the columns system, year, source and licence, in any order, and a header.
ORIGINS = "systems.tsv"
_COLUMNS = ("system", "year", "source", "licence")


@dataclass(frozen=True, slots=True)
class SystemOrigin:
    """Where the translations of a system come from."""

    system: str
    year: str = ""  # "" if unknown
    source: str = ""  # who published them; an address in it is shown as a link
    licence: str = ""


def read_origins(folder: Path) -> Mapping[str, SystemOrigin]:
    """Read the file `ORIGINS` of a folder."""
    path = folder / ORIGINS
    if not is_file(path):
        return {}
    origins: dict[str, SystemOrigin] = {}
    for where, row in read_rows(path, TABLES, dict.fromkeys(_COLUMNS), has_quotes=False):
        if unknown := sorted(row.keys() - {*_COLUMNS}):
            raise FileError(path, f"expected {', '.join(_COLUMNS)}, got the column {unknown[0]!r}")
        origin = SystemOrigin(**{name: cell.strip() for name, cell in row.items()})
        if not origin.system or origin.system in origins:
            raise FileError(
                where, f"system: expected a name that has no other line, got {origin.system!r}"
            )
        origins[origin.system] = origin
    return origins
