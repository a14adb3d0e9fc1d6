"""The commands of the study sense_counts."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from cc_hf.cli.command import CommandGroup, Outcome, add_command
from cc_hf.cli.fields import Fields
from cc_hf.evaluation.material import DataOptions

__all__ = ["app"]

app = typer.Typer(cls=CommandGroup, help="Count the sentences of each sense.")


def count(
    dataset: Annotated[str, typer.Argument(help="Dataset of word senses.")] = "four_homographs",
    config: Annotated[
        str | None, typer.Argument(help="Configuration. Default: that of the dataset.")
    ] = None,
    *,
    data: Annotated[DataOptions, Fields("language_pair data_dir limit", "Data")],
) -> Outcome:
    """Print the number of sentences of each word and sense.

    `cc_hf.cli.command` adds --output, --json, --markdown, --latex and --quiet, and makes options
    of the fields of `DataOptions`.

    Example: cc-hf study sense_counts count four_homographs
    """
    examples = data.load(dataset, config).examples
    counts = Counter((example.focus.text, example.gold) for example in examples)
    return Outcome(
        [{"word": word, "sense": sense, "n": n} for (word, sense), n in counts.items()],
        lambda: [f"{word} ({sense}): {n}" for (word, sense), n in counts.items()],
    )


add_command(app, "count", count)
