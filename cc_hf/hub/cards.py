"""The card of a dataset that a user made from a file; the cards of cc_hf's own datasets are prose in cards/."""

from __future__ import annotations

import json
from collections import Counter

from cc_hf.citations import citation
from cc_hf.data.declaration import DatasetDeclaration

__all__ = ["custom_card"]

_CARD = """---
pretty_name: {title}
language: {languages}
task_categories: [translation]
size_categories: [{size}]
tags: [contrastive-conditioning, machine-translation]
---
# {title}

{n} sources in contrastive format, made from `{file}` with cc_hf: one translation of each is judged under sources that carry correct and incorrect
disambiguation cues.

## Categories
{categories}

## Example
```json
{example}
```

## Citation of the method
```bibtex
{bibtex}
```
"""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def custom_card(declaration: DatasetDeclaration) -> str:
    """README.md of the folder; licence, provenance and known defects are the author's to add."""
    config = declaration.config(None)
    examples = list(declaration.read({}, config.name, "test"))
    numbers = Counter(example.category for example in examples)
    languages = sorted({config.src_lang, *(example.tgt_lang for example in examples)} - {""})
    return _CARD.format(
        title=f"{config.name} in contrastive format",
        languages=json.dumps(languages),
        size=next((name for limit, name in _SIZES if len(examples) < limit), "n>1M"),
        n=f"{len(examples):,}",
        file=config.description.removeprefix("made from "),
        categories="\n".join(f"- `{name}`: {n:,}" for name, n in sorted(numbers.items())),
        example=json.dumps(examples[0].to_row(), ensure_ascii=False, indent=1),
        bibtex=citation("vamvas-sennrich-2021").bibtex,
    )
