"""The card of a dataset that another package adds, written from its declaration."""

from __future__ import annotations

import json
from collections.abc import Mapping

from cc_hf.citations import citation, citation_markdown
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.plugins.dataset_folders.cards import rows_loaded_by, sizes_table, yaml_text
from cc_hf.reports.formats.markdown import markdown_text

__all__ = ["declared_card"]

_CARD = """---
pretty_name: {pretty_name}
language: {languages}
license: {licence}
task_categories: [translation]
tags: [machine-translation]
---
# {title}

{description}

## Size
{sizes}

## Example
{loading}.

## Source data and licence
Licence: {licence_text}. {homepage}

## Citation
{citation}
"""


def declared_card(
    declaration: DatasetDeclaration,
    sizes: Mapping[str, Mapping[str, int | None]],
    repo: str | None = None,
) -> str:
    """Return README.md for a dataset that another package adds, from what it declares."""
    title = declaration.title or declaration.name
    configs = [config for config in declaration.configs if config.name in sizes]
    languages = {lang for config in configs for lang in (config.src_lang, *config.tgt_langs)}
    return _CARD.format(
        pretty_name=yaml_text(title),
        languages=json.dumps(sorted(languages)),
        licence=yaml_text(declaration.licence),
        title=markdown_text(title),
        description=markdown_text(declaration.description),
        sizes=sizes_table(declaration, sizes),
        loading=rows_loaded_by(repo, configs[0].name),
        licence_text=markdown_text(declaration.licence),
        homepage=markdown_text(declaration.homepage),
        citation=citation_markdown([*map(citation, declaration.citation_keys)]),
    )
