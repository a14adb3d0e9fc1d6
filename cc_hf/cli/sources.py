"""cc-hf sources: the sentences of a dataset, for any system to translate."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import Config, DataFields, Dataset, TextOutput, chosen_data
from cc_hf.errors import InputError
from cc_hf.evaluation.material import DataOptions, limited_rows
from cc_hf.writing import STANDARD

__all__ = ["sources"]


def sources(
    dataset: Dataset,
    config: Config = None,
    *,
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
    data: Annotated[DataOptions, replace(DataFields, names="language_pair limit")],
    output: TextOutput = STANDARD,
) -> Outcome:
    """Print the sources of a dataset, one per line, to be translated.

    Translate them in this order, one translation per line. `cc-hf evaluate` judges that file. A
    file whose name ends in .jsonl holds id and source instead.

    Example: cc-hf sources simplegen en-de -o sources.txt
    """
    from cc_hf.data.loading import load_examples

    named = None if config is None else [config]
    declared, chosen = chosen_data(dataset, named, data.language_pair)
    name = chosen[0] if chosen else None
    examples = load_examples(declared, name, split=data.split, data_dir=data.data_dir)
    examples = [examples[row] for row in limited_rows(examples, data.limit)]
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
    key = "context" if contexts else "source"
    rows = [{"id": e.id, key: text} for e, text in zip(examples, texts, strict=True)]
    if output.suffix == ".jsonl":
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    else:
        lines = texts
        for row in rows:
            if len(row[key].splitlines()) > 1:
                raise InputError(
                    f"{dataset}: the source of example {row['id']} has more than one line:"
                    f" {row[key][:80]!r}; write a .jsonl file with --output"
                )
    return Outcome(
        rows, text="".join(f"{line}\n" for line in lines), about=f", {len(lines):,} {key}s"
    )
