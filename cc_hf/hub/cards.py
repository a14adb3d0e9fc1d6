"""Generate parts of dataset cards: the tables in the cards of cc_hf's datasets, whose prose is in
cards/, and the whole card of a dataset that a user made from a file.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping

import yaml

from cc_hf.citations import citation
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.errors import InputError
from cc_hf.reports.formats.markdown import markdown_code, markdown_text
from cc_hf.schema import FORMS

__all__ = ["custom_card", "sizes_table", "with_block", "yaml_text"]

_CARD = """---
pretty_name: {pretty_name}
language: {languages}
license: unknown
task_categories: [translation]
size_categories: [{size}]
tags: [contrastive-conditioning, machine-translation]
---
# {title}

{n} sources in contrastive format, made from {file} with cc_hf. Each source has contrastive sources that carry correct and incorrect disambiguation cues.
A translation of the source is judged under them.

## Supported tasks
Evaluation of disambiguation in machine translation. The metric `contrastive_conditioning` of cc_hf judges translations on this dataset.

## Languages
{language_codes}

## Size
{n} rows in the configuration {config_code}. The categories are:

{categories}

## Structure
### Fields
`id`, `src_lang`, `tgt_lang`, `source`, `focus` (the words in question and their first character), `correct_sources`, `incorrect_sources`, `category`,
`gold`, and in `extra` the other columns of the file.

### An instance
```json
{example}
```

## Example
`datasets.load_dataset(FOLDER_OR_REPOSITORY, "{config}")` loads the rows.

## Source data and curation
The rows come from {file}. The author has to add where they are from.

## Limits
The author has to add known defects.

## Licence
Unknown. The author has to add it.

## Paper
- [Vamvas & Sennrich 2021]({url}): the method.

## Citation
```bibtex
{bibtex}
```

## Contact
The author has to add it.
"""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def sizes_table(
    declaration: DatasetDeclaration, sizes: Mapping[str, Mapping[str, int | None]] | None = None
) -> str:
    """Return a Markdown table of the configurations of a dataset.

    Args:
        declaration: the declaration of the dataset.
        sizes: configuration -> {split: number of rows}; configurations that are missing here are
            omitted. None for all configurations with the declared sizes.
    """
    rows = [
        "| configuration | format | examples | languages | what it is |",
        "|---|---|---|---|---|",
    ]
    for config in declaration.configs:
        if sizes is not None and config.name not in sizes:
            continue
        default = " (default)" if config.name == declaration.default_config else ""
        splits = config.splits if sizes is None else sizes[config.name]
        numbers = {split: "unknown" if n is None else f"{n:,}" for split, n in splits.items()}
        examples = (
            numbers["test"]
            if list(numbers) == ["test"]
            else ", ".join(f"{split} {n}" for split, n in numbers.items())
        )
        rows.append(
            f"| `{config.name}`{default} | {FORMS[config.form]} | {examples} | {config.src_lang} →"
            f" {', '.join(config.tgt_langs)} | {config.description} |"
        )
    return "\n".join(rows)


def with_block(text: str, name: str, body: str) -> str:
    """Return the text with the content of a generated block replaced.

    Args:
        text: a card.
        name: the name in the markers of the block.
        body: the new content.

    Raises:
        InputError: if there is no such block.
    """
    pattern = re.compile(rf"(<!-- {name}: generated -->\n).*?(<!-- end -->)", re.DOTALL)
    if not pattern.search(text):
        raise InputError(f"expected a block {name!r} between markers, got none")
    return pattern.sub(lambda match: f"{match.group(1)}{body}\n{match.group(2)}", text)


def custom_card(declaration: DatasetDeclaration) -> str:
    """Return README.md for a dataset made from a user's file. The author has to add licence,
    provenance and known defects.

    Args:
        declaration: the declaration of a custom dataset.
    """
    config = declaration.config(None)
    examples = list(declaration.read({}, config.name, "test"))
    numbers = Counter(example.category for example in examples)
    languages = sorted({config.src_lang, *(example.tgt_lang for example in examples)} - {""})
    paper = citation("vamvas-sennrich-2021")
    return _CARD.format(
        config=config.name,
        config_code=markdown_code(config.name),
        language_codes=", ".join(map(markdown_code, languages)),
        pretty_name=yaml_text(f"{config.name} in contrastive format"),
        title=markdown_text(f"{config.name} in contrastive format"),
        languages=json.dumps(languages),
        size=next((name for limit, name in _SIZES if len(examples) < limit), "n>1M"),
        n=f"{len(examples):,}",
        file=markdown_code(config.description.removeprefix("made from ")),
        categories="\n".join(
            f"- {markdown_code(name)}: {n:,}" for name, n in sorted(numbers.items())
        ),
        example=json.dumps(examples[0].to_row(), ensure_ascii=False, indent=1),
        url=paper.url,
        bibtex=paper.bibtex,
    )


def yaml_text(text: str) -> str:
    """Return a text as a double-quoted YAML scalar in one line.

    Args:
        text: plain text.

    Examples:
        >>> print(yaml_text('a: "b"'))
        "a: \\"b\\""
    """
    quoted: str = yaml.safe_dump(
        " ".join(text.split()), default_style='"', allow_unicode=True, width=float("inf")
    )
    return quoted.strip()
