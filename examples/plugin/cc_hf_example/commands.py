"""The commands of the study sense_counts."""

from __future__ import annotations

from collections import Counter

import typer

import cc_hf

__all__ = ["app"]

app = typer.Typer(help="Count the sentences of each sense.")


@app.command("count")
def count(
    dataset: str = typer.Option("four_homographs", help="Dataset of word senses."),
    config: str | None = typer.Option(None, help="Configuration. Default: that of the dataset."),
) -> None:
    """Print the number of sentences of each word and sense."""
    examples = cc_hf.load_examples(dataset, config)
    for (word, sense), n in Counter((e.focus.text, e.gold) for e in examples).items():
        typer.echo(f"{word}\t{sense}\t{n}")
