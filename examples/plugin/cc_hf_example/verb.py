"""The command `cc-hf words`. cc_hf reads VERB to list it, and imports `words` to run it."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from cc_hf import load_examples
from cc_hf.cli.command import Outcome
from cc_hf.errors import UnknownNameError
from cc_hf.verbs import Verb

__all__ = ["VERB", "words"]

VERB = Verb(
    "cc_hf_example.verb:words",
    "Print the words that show a sense in a translation.",
    "cc-hf words machine",
)


def words(sense: Annotated[str, typer.Argument(help="A sense, such as machine.")]) -> Outcome:
    """Print the words that show a sense in a translation.

    Example: cc-hf words machine
    """
    examples = load_examples("four_homographs")
    listed = {example.gold: example.extra["correct_words"] for example in examples}
    if sense not in listed:
        raise UnknownNameError("sense", sense, listed)
    return Outcome({"sense": sense, "words": listed[sense].split()}, lambda: [Text(listed[sense])])
