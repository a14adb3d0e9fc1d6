"""The command `cc-hf words`, and the public name `words_of_sense`. cc_hf reads VERB to list the
command, and imports `words` to run it.
"""

from __future__ import annotations

from typing import Annotated

import typer

from cc_hf import load_examples
from cc_hf.cli.command import Outcome
from cc_hf.errors import UnknownNameError
from cc_hf.verbs import Verb

__all__ = ["VERB", "words", "words_of_sense"]

VERB = Verb(
    "cc_hf_example.verb:words",
    "Print the words that show a sense in a translation.",
    "cc-hf words machine",
)


def words_of_sense(sense: str) -> list[str]:
    """Return the words that show a sense. Other packages get this function by its public name."""
    examples = load_examples("four_homographs")
    listed: dict[str, list[str]] = {
        example.gold: example.extra["correct_words"].split() for example in examples
    }
    if sense not in listed:
        raise UnknownNameError("sense", sense, listed)
    return listed[sense]


def words(sense: Annotated[str, typer.Argument(help="A sense, such as machine.")]) -> Outcome:
    """Print the words that show a sense in a translation.

    Example: cc-hf words machine
    """
    listed = words_of_sense(sense)
    return Outcome({"sense": sense, "words": listed}, lambda: [" ".join(listed)])
