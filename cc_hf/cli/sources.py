"""cc-hf sources: the sentences of a dataset, for any system to translate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.options import Config, DataDir, Dataset, Limit, Split
from cc_hf.cli.output import STANDARD, check_output, say_written, write_atomically
from cc_hf.errors import InputError

__all__ = ["sources"]


def sources(
    dataset: Dataset,
    config: Config = None,
    split: Split = "test",
    limit: Limit = None,
    contexts: Annotated[
        bool,
        typer.Option(
            "--contexts",
            help=(
                "Print the sentences before each source in place of it, and a blank line where"
                " there are none. Their translations are the target_context of"
                " contrastive_translation_scoring."
            ),
        ),
    ] = False,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help=(
                "File to write; - for standard output. If its name ends in .jsonl, it contains id"
                " and source; otherwise one source per line."
            ),
        ),
    ] = STANDARD,
    data_dir: DataDir = None,
) -> None:
    """Print the sources of a dataset, one per line, for any system to translate.

    Translate them in this order, one translation per line. `cc-hf evaluate` judges that file.
    """
    import json

    from cc_hf.data.loading import load_examples

    check_output(output)
    examples = load_examples(dataset, config, split=split, data_dir=data_dir)[:limit]
    texts = [example.source for example in examples]
    if contexts:
        texts = [e.extra["context"] if "source_with_context" in e.extra else "" for e in examples]
        if not any(texts):
            raise InputError(
                "--contexts: expected a dataset with sentences before its sources (contextual_* of"
                f" mt_geneval), got {dataset}"
            )
    elif not all(texts):
        raise InputError(
            f"{dataset}: the examples have no sources to translate; this configuration judges"
            " evaluators"
        )
    if output.suffix == ".jsonl":
        key = "context" if contexts else "source"
        rows = zip(examples, texts, strict=True)
        lines = [json.dumps({"id": e.id, key: text}, ensure_ascii=False) for e, text in rows]
    else:
        lines = texts
        for number, line in enumerate(lines):
            if len(line.splitlines()) > 1:
                raise InputError(
                    f"{dataset}: the source of example {examples[number].id} has more than one"
                    f" line: {line[:80]!r}; write a .jsonl file with --output"
                )
    write_atomically(output, "".join(f"{line}\n" for line in lines))
    say_written(output, f", {len(lines):,} {'contexts' if contexts else 'sources'}")
