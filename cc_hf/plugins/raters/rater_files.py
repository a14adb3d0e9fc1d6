"""Options and files of the commands that write sheets for raters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome

if TYPE_CHECKING:
    from cc_hf.plugins.raters.sheets import SheetKey

__all__ = [
    "DrawSeed",
    "KeyOutput",
    "RaterFiles",
    "Raters",
    "SheetsOutput",
]

SheetsOutput = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help=(
            "New folder to write. It contains guidelines.md and a sheet for each rater, rater1.csv"
            " and so on. Or a new .json: a campaign that `pearmut add` takes."
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
Raters = Annotated[int, typer.Option(min=2, help="Number of raters.")]
DrawSeed = Annotated[int, typer.Option("--seed", min=0, help="Seed of what is drawn at random.")]


@dataclass(frozen=True)
class RaterFiles:
    """Where the sheets and their key are written, which is checked at once.

    Attributes:
        output: the folder of the sheets, or the file of a campaign of Pearmut.
    """

    output: Path
    key: Path
    n_raters: int
    seed: int  # decides the order of each sheet

    def __post_init__(self) -> None:
        from cc_hf.plugins.raters.sheets import check_sheet_files

        check_sheet_files(self.output, self.key)

    def outcome(self, sheet_key: SheetKey) -> Outcome:
        """Make the folder, and return the guidelines, the sheets and the key as files to write."""
        from cc_hf.plugins.raters.sheets import key_text

        n_drawn = sum(len(row.origins) for row in sheet_key.rows)
        notes = [
            f"{n_drawn:,} translations were drawn, which are on {len(sheet_key.rows):,} rows: where"
            " texts are equal, people label them once"
        ]
        n_rows = f", {len(sheet_key.rows):,} rows"
        return Outcome(
            {"folder": str(self.output), "key": str(self.key), "n_rows": len(sheet_key.rows)},
            files=[
                *(
                    NewFile(path, text, "" if path.suffix == ".md" else n_rows)
                    for path, text in self._texts(sheet_key).items()
                ),
                NewFile(self.key, key_text(sheet_key), ", which raters must not see"),
            ],
            notes=notes if n_drawn > len(sheet_key.rows) else [],
        )

    def _texts(self, sheet_key: SheetKey) -> dict[Path, str]:
        """Return what raters see, by file."""
        from cc_hf.plugins.raters.pearmut_campaign import campaign_text
        from cc_hf.plugins.raters.sheets import is_campaign, rater_files

        options = {"n_raters": self.n_raters, "seed": self.seed}
        if is_campaign(self.output):
            return {self.output: campaign_text(sheet_key, self.output.stem, **options)}
        self.output.mkdir(exist_ok=True)
        files = rater_files(sheet_key, **options)
        return {self.output / name: text for name, text in files.items()}
