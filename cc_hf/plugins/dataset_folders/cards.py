"""Generate parts of dataset cards: the tables in the cards of cc_hf's datasets, whose prose is in
cards/, and the whole card of a dataset that a user made from a file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from cc_hf.citations import citation, citation_markdown
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.records import write_record
from cc_hf.reports.formats.markdown import markdown_code, markdown_text
from cc_hf.reports.numbers import count
from cc_hf.schema import FORMS, ProbingExample

__all__ = [
    "custom_card",
    "homograph_card",
    "rows_loaded_by",
    "size_category",
    "sizes_table",
    "wino_x_card",
    "yaml_text",
]

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
{loading}.

## Source data and curation
The rows come from {file}. The author has to add where they are from.

### Data statement
The author has to add it: curation rationale, language variety, speaker demographic, annotator demographic, speech situation and text characteristics.

## Limits
The author has to add known defects.

### Biases
The author has to add known biases.

## Licence
Unknown. The author has to add it.

## Paper
- [Vamvas & Sennrich 2021]({url}): the method.

## Citation
{citation}

## Contact
The author has to add it.
"""
_HOMOGRAPH_CARD = """---
pretty_name: {pretty_name}
language: {languages}
license: unknown
task_categories: [translation]
size_categories: [{size}]
tags: [word-sense-disambiguation, machine-translation]
---
# {title}

{n} sentences with a homograph whose sense the context decides, made with cc_hf. Does the translation of a system have the right one?

## Supported tasks
Evaluation of word sense disambiguation in machine translation. The metric `homograph_accuracy` of cc_hf judges translations on this dataset.

## Languages
{language_codes}

## Size
| configuration | rows | what it is |
|---|---:|---|
{configurations}

The categories of all rows are:

{categories}
{signatures}
## Structure
### Fields
`id`, `src_lang`, `tgt_lang`, `source`, `focus` (the homograph as written and its first character), `category`, `gold` (the cluster of the right sense),
and in `extra` strings: `homograph` (its lemma), `cluster`, `senses` (JSON: cluster -> words that show it) and other columns.

### An instance
```json
{example}
```

## Example
{loading}. `cc-hf evaluate FOLDER {config} --translations FILE --metric homograph_accuracy` judges a system.

## Source data and curation
{source} The author has to add where the sentences are from.

### Data statement
The author has to add it: curation rationale, language variety, speaker demographic, annotator demographic, speech situation and text characteristics.

## Limits
The author has to add known defects.

### Biases
The author has to add known biases.

## Licence
Unknown. The author has to add it: that of the sentences, and that of the list of senses.

## Paper
- [Emelin et al. 2020]({url}): disambiguation bias, and the outcomes of the metric.

## Citation
{citation}

## Contact
The author has to add it.
"""
_WINO_X_CARD = """---
pretty_name: {pretty_name}
language: {languages}
license: unknown
task_categories: [translation]
size_categories: [{size}]
tags: [coreference-resolution, commonsense, machine-translation]
---
# {title}

{n} samples in which "it" can stand for two nouns, made with cc_hf as Wino-X was made. Which noun is meant takes common sense.

## Supported tasks
Evaluation of pronouns in machine translation, and of language models. In cc_hf the metric `contrastive_translation_scoring` asks a model, and
`contrastive_conditioning` judges the translations of any system.

## Languages
{language_codes}

## Size
| configuration | rows | what it is |
|---|---:|---|
{configurations}

The categories of all rows are:

{categories}

## Structure
### Fields
Those of Wino-X in cc_hf: the sentence with "it" or the sentences with a filled gap, and in `extra` the schema (`pair`), pronouns and their genders, or
context and fillers. Both sentences of a schema are here, or neither.

### An instance
```json
{example}
```

## Example
{loading}. `cc-hf evaluate FOLDER {config}` judges a model or a system.

## Source data and curation
{source} The signature is {signature}.

| filter | sentences | removes |
|---|---:|---|
{filters}

### Data statement
The author has to add it: curation rationale, language variety, speaker demographic, annotator demographic, speech situation and text characteristics.

## Limits
The filters before translation are lists and a dictionary of English, without a parser; person, animal or adjective can be missed. Fillers are located by
word alignment. Only the pronoun is replaced: words that agree with the noun are those of the translated noun. Articles can be read wrongly, such as the German "der" of a
feminine dative. The author has to have a sample read.

### Biases
The author has to add known biases.

## Licence
Unknown. The author has to add it. WinoGrande is licensed under CC-BY; translations may have terms of their own.

## Paper
- [Emelin & Sennrich 2021]({url}): Wino-X.
- [Sakaguchi et al. 2020]({second_url}): WinoGrande.

## Citation
{citation}

## Contact
The author has to add it.
"""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def size_category(n_rows: int) -> str:
    """Return the category of a number of rows, as the Hub's `size_categories` names it."""
    return next((name for limit, name in _SIZES if n_rows < limit), "n>1M")


def rows_loaded_by(repo: str | None, config: str) -> str:
    """Return the sentence that says how a published dataset is loaded, without a full stop.

    Args:
        repo: ORGANISATION/NAME on the Hub; None for a folder that has no name there.

    Examples:
        >>> rows_loaded_by("org/winomt", "default")
        '`datasets.load_dataset("org/winomt", "default")` loads the rows'
    """
    name = "FOLDER" if repo is None else json.dumps(repo)
    code = markdown_code(f"datasets.load_dataset({name}, {json.dumps(config, ensure_ascii=False)})")
    return f"{code} loads the rows"


def sizes_table(
    declaration: DatasetDeclaration, sizes: Mapping[str, Mapping[str, int | None]] | None = None
) -> str:
    """Return a Markdown table of the configurations in `sizes`; None for all, as declared."""
    rows = [
        "| configuration | format | examples | languages | what it is |",
        "|---|---|---|---|---|",
    ]
    for config in declaration.configs:
        if sizes is not None and config.name not in sizes:
            continue
        default = " (default)" if config.name == declaration.default_config else ""
        splits = config.splits if sizes is None else sizes[config.name]
        numbers = {split: "unknown" if n is None else count(n) for split, n in splits.items()}
        examples = (
            numbers["test"]
            if list(numbers) == ["test"]
            else ", ".join(f"{split} {n}" for split, n in numbers.items())
        )
        rows.append(
            f"| `{config.name}`{default} | {FORMS[config.form]} | {examples} | {config.src_lang} →"
            f" {', '.join(config.tgt_langs)}{', any other' * config.takes_any_target} |"
            f" {config.description} |"
        )
    return "\n".join(rows)


def homograph_card(
    declaration: DatasetDeclaration,
    signatures: Mapping[str, str] | None = None,
    *,
    repo: str | None = None,
) -> str:
    """Return README.md for homographs: rows of a user's file, or challenge sets.

    The author has to add licence, provenance and known defects. `signatures` say by configuration
    how it was made.
    """
    rows = {
        config.name: [
            example
            for split in config.splits
            for example in declaration.read({}, config.name, split)
        ]
        for config in declaration.configs
    }
    examples = [example for members in rows.values() for example in members]
    config = declaration.config(None)
    paper = citation("emelin-2020")
    lines = [
        f"- {markdown_code(c)}: {markdown_code(text)}" for c, text in (signatures or {}).items()
    ]
    return _HOMOGRAPH_CARD.format(
        config=config.name,
        loading=rows_loaded_by(repo, config.name),
        configurations="\n".join(
            f"| {markdown_code(c.name)} | {len(rows[c.name]):,} | {markdown_text(c.description)} |"
            for c in declaration.configs
        ),
        signatures="\n## Signatures\n" + "\n".join(lines) + "\n" if lines else "",
        source=markdown_text(declaration.description),
        pretty_name=yaml_text(f"{config.name}: homographs"),
        title=markdown_text(f"{config.name}: homographs"),
        url=paper.url,
        citation=citation_markdown([paper]),
        **_common_parts(declaration, examples),
    )


def wino_x_card(
    declaration: DatasetDeclaration, signature: str, filters: Sequence[tuple[str, int, str]]
) -> str:
    """Return README.md for Wino-X of one's own. The author has to add licence and known defects."""
    rows = {
        config.name: list(declaration.read({}, config.name, "test"))
        for config in declaration.configs
    }
    config = declaration.config(None)
    first, second = (citation(key) for key in declaration.citation_keys)
    title = f"{config.name}: Wino-X of one's own"
    return _WINO_X_CARD.format(
        config=config.name,
        loading=rows_loaded_by(None, config.name),
        configurations="\n".join(
            f"| {markdown_code(c.name)} | {len(rows[c.name]):,} | {markdown_text(c.description)} |"
            for c in declaration.configs
        ),
        filters="\n".join(
            f"| {markdown_code(name)} | {n:,} | {markdown_text(what)} |"
            for name, n, what in filters
        ),
        signature=markdown_code(signature),
        source=markdown_text(declaration.description),
        pretty_name=yaml_text(title),
        title=markdown_text(title),
        url=first.url,
        second_url=second.url,
        citation=citation_markdown([first, second]),
        **_common_parts(declaration, [example for part in rows.values() for example in part]),
    )


def _common_parts(declaration: DatasetDeclaration, examples: Sequence[Any]) -> dict[str, str]:
    """Return the parts that every card of a user's dataset has."""
    numbers = Counter(example.category for example in examples)
    config = declaration.config(None)
    targets = {example.tgt_lang for example in examples}
    if len(config.tgt_langs) == 1:  # rows without a target language, which the user named
        targets |= {*config.tgt_langs}
    languages = sorted({config.src_lang, *targets} - {""})
    return {
        "language_codes": ", ".join(map(markdown_code, languages)),
        "languages": json.dumps(languages),
        "size": size_category(len(examples)),
        "n": count(len(examples)),
        "categories": "\n".join(
            f"- {markdown_code(name)}: {n:,}" for name, n in sorted(numbers.items())
        ),
        "example": json.dumps(write_record(examples[0]), ensure_ascii=False, indent=1),
    }


def custom_card(declaration: DatasetDeclaration, repo: str | None = None) -> str:
    """Return README.md for a user's dataset, without licence, provenance and known defects."""
    config = declaration.config(None)
    if config.form is ProbingExample:
        return homograph_card(declaration, repo=repo)
    examples = list(declaration.read({}, config.name, "test"))
    paper = citation("vamvas-sennrich-2021")
    return _CARD.format(
        loading=rows_loaded_by(repo, config.name),
        config_code=markdown_code(config.name),
        pretty_name=yaml_text(f"{config.name} in contrastive format"),
        title=markdown_text(f"{config.name} in contrastive format"),
        file=markdown_code(config.description.removeprefix("made from ")),
        url=paper.url,
        citation=citation_markdown([paper]),
        **_common_parts(declaration, examples),
    )


def yaml_text(text: str) -> str:
    """Return a text as a double-quoted YAML scalar in one line.

    Examples:
        >>> print(yaml_text('a: "b"'))
        "a: \\"b\\""
    """
    quoted: str = yaml.safe_dump(
        " ".join(text.split()), default_style='"', allow_unicode=True, width=float("inf")
    )
    return quoted.strip()
