"""The command `cc-hf publish sentences`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

from cc_hf.cli.command import Outcome
from cc_hf.cli.publishing import FolderOutput, Repo, Sending, SendingFields, published

__all__ = ["sentences"]


def sentences(
    *, repo: Repo, sending: Annotated[Sending, SendingFields], output: FolderOutput = None
) -> Outcome:
    """Upload the table of the four homographs to the Hub, as it is in the package.

    Example: cc-hf publish sentences --repo my-org/homographs
    """

    def build(folder: Path) -> list[Path]:
        folder.mkdir(parents=True, exist_ok=True)
        table = Path(__file__).with_name("sentences.tsv")
        return [Path(shutil.copy(table, folder))]

    return published(build, repo, "dataset", output, sending, message="Four homographs")
