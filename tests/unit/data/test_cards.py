"""What the cards of the datasets say is what the data say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import DatasetCard

from cc_hf import registry
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.data.loading import declaration as load_declaration
from cc_hf.data.loading import load_examples
from cc_hf.schema import ContrastiveSourceExample

CARDS = [pytest.param(name, marks=[pytest.mark.shared] if load_declaration(name).files_of(None) else []) for name in registry.DATASETS]


@pytest.mark.parametrize("name", registry.DATASETS)
def test_front_matter_and_prose_follow_the_declaration(root: Path, name: str) -> None:
    declaration: DatasetDeclaration = registry.resolve("dataset", name)
    card = DatasetCard((root / f"cards/datasets/{name}.md").read_text(encoding="utf-8"))
    fields: dict[str, Any] = vars(card.data)
    assert fields["license"] == declaration.licence
    has_text = [c for c in declaration.configs if set(declaration.extra_keys_of(c.name)) & {"reference", "context_tgt"} or c.form is not ContrastiveSourceExample]
    languages = {c.src_lang for c in declaration.configs} | {language for c in has_text for language in c.tgt_langs}
    assert fields["language"] == sorted(languages)
    assert fields["task_categories"] == ["translation"]
    largest = max(sum(n or 0 for n in c.splits.values()) for c in declaration.configs)
    assert fields["size_categories"] == ["10K<n<100K" if largest >= 10_000 else "1K<n<10K"]
    for config in declaration.configs:
        numbers = [f"{n:,}" for n in config.splits.values() if n is not None]
        found = re.search(rf"^\| `{re.escape(config.name)}`[^|]*\| [^|]+ \| ([^|]+) \|", card.text, re.MULTILINE)
        assert found is not None, config.name
        assert all(number in found.group(1) for number in numbers)
        for key in declaration.extra_keys_of(config.name):
            assert f"`{key}`" in card.text, key
    for file in declaration.files_of(None):
        assert file.path in card.text
        assert file.commit[:7] in card.text


@pytest.mark.parametrize("name", CARDS)
def test_the_example_of_the_card_is_the_first_row(root: Path, shared: Path, name: str) -> None:
    text = (root / f"cards/datasets/{name}.md").read_text(encoding="utf-8")
    found = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert found is not None
    data_dir = shared / "upstream" if load_declaration(name).files_of(None) else None
    row = load_examples(name, data_dir=data_dir)[0].to_row()
    shown = json.loads(found.group(1))
    assert shown == {key: row[key] for key in shown}
    assert {"source", "category"} <= set(shown)
    assert {"correct_sources", "correct_translation"} & set(shown)
