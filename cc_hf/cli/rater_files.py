"""Options and files of the commands that write sheets for raters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome
from cc_hf.cli.output import check_output
from cc_hf.errors import InputError
from cc_hf.files import exists, is_file, resolved

if TYPE_CHECKING:
    from cc_hf.comparing.people.sheets import SheetKey

__all__ = [
    "DrawSeed",
    "KeyOutput",
    "Raters",
    "Sheets",
    "SheetsOutput",
    "check_rater_files",
    "sheets_outcome",
]

SheetsOutput = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help=(
            "New folder to write. It contains guidelines.md and a sheet for each rater, rater1.csv"
            " and so on."
        ),
        metavar="DIR",
        rich_help_panel="Output",
    ),
]
KeyOutput = Annotated[
    Path,
    typer.Option(
        help="Write what raters must not see to this .json, which must lie outside the folder."
    ),
]
Raters = Annotated[int, typer.Option(min=1, help="Number of raters.")]
DrawSeed = Annotated[int, typer.Option("--seed", min=0, help="Seed of what is drawn at random.")]
Sheets = Annotated[
    list[Path],
    typer.Argument(
        help="The filled sheets, one of each rater. Cells are separated by commas, semicolons or"
        " tabs."
    ),
]


def check_rater_files(folder: Path, key: Path) -> None:
    """Check that sheets and key can be written, and that raters will not see the key.

    Args:
        folder: the folder of the sheets; it is created later if its parent exists.

    Raises:
        InputError: for a folder that cannot be made or holds other files, or a key within it.
    """
    check_output(key, "key")
    if is_file(folder):
        raise InputError(f"output: expected a folder for the sheets, {folder} is a file")
    if resolved(key).is_relative_to(resolved(folder)):
        raise InputError(
            f"key: expected a file outside the folder of the sheets, {folder}, got {key}; raters"
            " must not see it"
        )
    if exists(folder) and any(folder.iterdir()):
        raise InputError(
            f"output: expected a new or empty folder, {folder} holds files, which may be filled"
            " sheets; choose another"
        )
    check_output(folder / "guidelines.md" if exists(folder) else folder)


def sheets_outcome(
    sheet_key: SheetKey, folder: Path, key: Path, *, n_raters: int, seed: int
) -> Outcome:
    """Make the folder, and return the guidelines, the sheets and the key as files to write.

    Args:
        seed: decides the order of each sheet.
    """
    from cc_hf.comparing.people.sheets import key_text, rater_files

    files = rater_files(sheet_key, n_raters=n_raters, seed=seed)
    folder.mkdir(exist_ok=True)
    n_rows = f", {len(sheet_key.rows):,} rows"
    return Outcome(
        {"folder": str(folder), "key": str(key), "n_rows": len(sheet_key.rows)},
        files=[
            *(
                NewFile(folder / name, text, "" if name.endswith(".md") else n_rows)
                for name, text in files.items()
            ),
            NewFile(key, key_text(sheet_key), ", which raters must not see"),
        ],
    )
